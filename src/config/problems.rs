//! Collects the problems of an input and reports them at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::value::Place;
use crate::Error;
use crate::io::progress::visible;

/// Maximum width of a line of an explanation.
const WIDTH: usize = 100;
/// Indentation that aligns explanations with the text after `error: `.
const INDENT: &str = "       ";
/// Longer values are shortened in messages.
const MAX_VALUE_LENGTH: usize = 60;
/// Maximum number of problems that are reported; the others are only counted.
const MAX_REPORTED: usize = 50;
/// Maximum number of messages that are stored; only the first ones are reported.
const MAX_STORED: usize = 1 << 12;

/// All problems found so far, and the data needed to describe them.
pub(super) struct Problems {
    input: String,
    overrides: Vec<String>,
    messages: RefCell<Vec<(Place, String)>>,
    /// (section, key) that readers requested.
    known: RefCell<Vec<(String, &'static str)>>,
    /// (place, section, key) that no reader requested, and whether it is a table.
    unknown: RefCell<BTreeMap<(Place, String, String), bool>>,
    /// Number of problems that were not stored.
    not_stored: Cell<usize>,
}

impl Problems {
    /// An empty list for the input called `input` with these overrides.
    pub(super) fn new(input: &str, overrides: &[String]) -> Self {
        Problems {
            input: on_one_line(input),
            overrides: overrides.iter().map(|text| on_one_line(text)).collect(),
            messages: RefCell::default(),
            known: RefCell::default(),
            unknown: RefCell::default(),
            not_stored: Cell::default(),
        }
    }

    /// Add a problem at `place`: `problem` is the mistake; the lines of `advice` give allowed values or a remedy.
    pub(super) fn add(&self, place: Place, problem: &str, advice: &str) {
        if self.messages.borrow().len() == MAX_STORED {
            return self.not_stored.set(self.not_stored.get() + 1);
        }
        let place_name = match place {
            Place::Input => self.input.clone(),
            Place::Line(line) => format!("{}:{line}", self.input),
            Place::Override(index) => format!("--set {}", self.overrides[index]),
        };
        let mut message = format!("error: {place_name}: {problem}");
        for line in wrap(advice) {
            message.push('\n');
            message.push_str(INDENT);
            message.push_str(&line);
        }
        self.messages.borrow_mut().push((place, message));
    }

    /// Register `key` of `section` as read.
    pub(super) fn add_known(&self, section: &str, key: &'static str) {
        let mut known = self.known.borrow_mut();
        if !known.iter().any(|(s, k)| s == section && *k == key) {
            known.push((section.to_owned(), key));
        }
    }

    /// Whether `key` of `section` is read.
    pub(super) fn is_known(&self, section: &str, key: &str) -> bool {
        self.known.borrow().iter().any(|(s, k)| s == section && *k == key)
    }

    /// Record `key` in `section`, which does not read it.
    pub(super) fn unknown(&self, place: Place, section: &str, key: &str, is_table: bool) {
        self.unknown.borrow_mut().insert((place, section.to_owned(), key.to_owned()), is_table);
    }

    /// The value `read`, or an error with all problems.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, Error> {
        let unknown = self.unknown.take();
        // Sorted by place: entries after these cannot be among the first.
        for ((place, section, key), is_table) in unknown.iter().take(MAX_REPORTED) {
            self.report_unknown(*place, section, key, *is_table);
        }
        let omitted = self.not_stored.get() + unknown.len().saturating_sub(MAX_REPORTED);
        let mut messages = self.messages.into_inner();
        match read {
            Some(value) if messages.is_empty() => Ok(value),
            _ => {
                messages.sort_by_key(|(place, _)| *place);
                // Both ends of an axis may have the same problem.
                messages.dedup();
                let count = messages.len() + omitted;
                let reported = messages.into_iter().map(|(_, message)| message).take(MAX_REPORTED);
                let mut lines: Vec<String> = reported.collect();
                if count > lines.len() {
                    lines.push(format!("... and {} more", count - lines.len()));
                }
                lines.push(match count {
                    1 => "1 error; nothing was run".to_owned(),
                    n => format!("{n} errors; nothing was run"),
                });
                Err(Error::Config(lines))
            }
        }
    }

    /// Report an unknown key, with the closest key or the section where it belongs.
    fn report_unknown(&self, place: Place, section: &str, key: &str, is_table: bool) {
        let known = self.known.borrow();
        let here: Vec<&str> =
            known.iter().filter(|(s, _)| s == section).map(|(_, key)| *key).collect();
        let elsewhere = known.iter().find(|(s, k)| *k == key && !s.is_empty());
        let suggestion = closest(key, &here);
        let shown = shorten(key);
        if section.is_empty() && is_table {
            let hint = suggestion
                .map_or(String::new(), |suggestion| format!("; did you mean [{suggestion}]?"));
            let advice =
                if suggestion.is_some() { String::new() } else { listed("sections: ", &here) };
            return self.add(place, &format!("unknown section [{shown}]{hint}"), &advice);
        }
        let problem = if section.is_empty() {
            format!("`{shown}` is outside any section")
        } else {
            format!("unknown key `{shown}` in [{section}]")
        };
        match (elsewhere, suggestion) {
            (Some((home, _)), _) => {
                self.add(place, &format!("{problem}; it belongs in [{home}]"), "")
            }
            (None, Some(suggestion)) if !section.is_empty() => {
                self.add(place, &format!("{problem}; did you mean `{suggestion}`?"), "");
            }
            _ if section.is_empty() => self.add(place, &problem, &listed("sections: ", &here)),
            _ => self.add(place, &problem, &listed(&format!("[{section}] takes "), &here)),
        }
    }
}

/// The entry of `names` closest to `typed`, if it is close enough to be a misspelling.
pub(super) fn closest<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    names
        .iter()
        // The edit distance is at least this difference, and it is expensive for long texts.
        .filter(|name| 3 * length.abs_diff(name.len()) <= name.len().max(3))
        .map(|name| (strsim::damerau_levenshtein(&typed, name), *name))
        .filter(|(distance, name)| 3 * distance <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// "; did you mean ...?" if one of `names` is close to `word`.
pub(crate) fn hint(word: &str, names: &[&str]) -> String {
    closest(word, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// `before` and the names in backticks.
pub(super) fn listed(before: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{before}{}", names.join(", "))
}

/// A name on one line for a message, with special characters escaped.
fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\u000a")
}

/// At most [`MAX_VALUE_LENGTH`] characters on one line.
pub(super) fn shorten(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= MAX_VALUE_LENGTH {
        return line;
    }
    line.chars().take(MAX_VALUE_LENGTH - 3).chain("...".chars()).collect()
}

/// `text` in lines of at most [`WIDTH`] characters, broken between words and at line ends.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && INDENT.len() + line.len() + 1 + word.len() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
