//! What is wrong with an input, gathered and told at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::value::Place;
use crate::Error;
use crate::io::progress::visible;

/// The widest line of an explanation.
const WIDTH: usize = 100;
/// Explanations stand under the text after `error: `.
const INDENT: &str = "       ";
/// Longer values are cut in messages.
const SHOWN: usize = 60;
/// So many problems are told; the others are counted.
const TOLD: usize = 50;
/// So many messages are kept, of which the first are told.
const KEPT: usize = 1 << 12;

/// Everything found wrong so far, and what is needed to say it well.
pub(super) struct Problems {
    input: String,
    overrides: Vec<String>,
    messages: RefCell<Vec<(Place, String)>>,
    /// (section, key) that readers asked for.
    known: RefCell<Vec<(String, &'static str)>>,
    /// (place, section, key) that no reader asked for, and whether it is a table.
    unknown: RefCell<BTreeMap<(Place, String, String), bool>>,
    /// Problems beyond those messages.
    more: Cell<usize>,
}

impl Problems {
    /// None yet, in the input called `input` with these overrides.
    pub(super) fn new(input: &str, overrides: &[String]) -> Self {
        Problems {
            input: on_a_line(input),
            overrides: overrides.iter().map(|text| on_a_line(text)).collect(),
            messages: RefCell::default(),
            known: RefCell::default(),
            unknown: RefCell::default(),
            more: Cell::default(),
        }
    }

    /// A problem at `place`: what was found, and in further lines what is allowed or what to do.
    pub(super) fn add(&self, place: Place, found: &str, advice: &str) {
        if self.messages.borrow().len() == KEPT {
            return self.more.set(self.more.get() + 1);
        }
        let place_name = match place {
            Place::Input => self.input.clone(),
            Place::Line(line) => format!("{}:{line}", self.input),
            Place::Override(index) => format!("--set {}", self.overrides[index]),
        };
        let mut message = format!("error: {place_name}: {found}");
        for line in wrap(advice) {
            message.push('\n');
            message.push_str(INDENT);
            message.push_str(&line);
        }
        self.messages.borrow_mut().push((place, message));
    }

    /// A reader takes `key` in `section`.
    pub(super) fn know(&self, section: &str, key: &'static str) {
        let mut known = self.known.borrow_mut();
        if !known.iter().any(|(s, k)| s == section && *k == key) {
            known.push((section.to_owned(), key));
        }
    }

    /// Whether a reader takes `key` in `section`.
    pub(super) fn knows(&self, section: &str, key: &str) -> bool {
        self.known.borrow().iter().any(|(s, k)| s == section && *k == key)
    }

    /// `key` stands in `section`, whose reader does not take it.
    pub(super) fn unknown(&self, place: Place, section: &str, key: &str, is_table: bool) {
        self.unknown.borrow_mut().insert((place, section.to_owned(), key.to_owned()), is_table);
    }

    /// What was read, or all that is wrong with it.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, Error> {
        let unknown = self.unknown.take();
        // In the order of their places: one behind these cannot be among the first.
        for ((place, section, key), is_table) in unknown.iter().take(TOLD) {
            self.tell_unknown(*place, section, key, *is_table);
        }
        let more = self.more.get() + unknown.len().saturating_sub(TOLD);
        let mut messages = self.messages.into_inner();
        match read {
            Some(value) if messages.is_empty() => Ok(value),
            _ => {
                messages.sort_by_key(|(place, _)| *place);
                // Both ends of an axis may have one problem.
                messages.dedup();
                let count = messages.len() + more;
                let told = messages.into_iter().map(|(_, message)| message).take(TOLD);
                let mut lines: Vec<String> = told.collect();
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

    /// An unknown key, with the key that was meant or the section where it belongs.
    fn tell_unknown(&self, place: Place, section: &str, key: &str, is_table: bool) {
        let known = self.known.borrow();
        let here: Vec<&str> =
            known.iter().filter(|(s, _)| s == section).map(|(_, key)| *key).collect();
        let elsewhere = known.iter().find(|(s, k)| *k == key && !s.is_empty());
        let meant = closest(key, &here);
        let shown = shorten(key);
        if section.is_empty() && is_table {
            let hint = meant.map_or(String::new(), |meant| format!("; did you mean [{meant}]?"));
            let advice = if meant.is_some() { String::new() } else { listed("sections: ", &here) };
            return self.add(place, &format!("unknown section [{shown}]{hint}"), &advice);
        }
        let found = if section.is_empty() {
            format!("`{shown}` stands outside any section")
        } else {
            format!("unknown key `{shown}` in [{section}]")
        };
        match (elsewhere, meant) {
            (Some((home, _)), _) => {
                self.add(place, &format!("{found}; it belongs in [{home}]"), "")
            }
            (None, Some(meant)) if !section.is_empty() => {
                self.add(place, &format!("{found}; did you mean `{meant}`?"), "");
            }
            _ if section.is_empty() => self.add(place, &found, &listed("sections: ", &here)),
            _ => self.add(place, &found, &listed(&format!("[{section}] takes "), &here)),
        }
    }
}

/// The one of `names` that `typed` was probably meant to be.
pub(super) fn closest<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    names
        .iter()
        // The distance is no smaller, and that of a long text takes long to find.
        .filter(|name| 3 * length.abs_diff(name.len()) <= name.len().max(3))
        .map(|name| (strsim::damerau_levenshtein(&typed, name), *name))
        .filter(|(distance, name)| 3 * distance <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// "; did you mean ...?", where one of `names` is near to `word`.
pub(crate) fn hint(word: &str, names: &[&str]) -> String {
    closest(word, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// `before` and the names in backticks.
pub(super) fn listed(before: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{before}{}", names.join(", "))
}

/// A name as it stands in a message, whatever is in it.
fn on_a_line(text: &str) -> String {
    visible(text).replace('\n', "\\u000a")
}

/// At most [`SHOWN`] characters on one line.
pub(super) fn shorten(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 3).chain("...".chars()).collect()
}

/// `text` in lines of at most [`WIDTH`] characters, broken between words and where it has line ends.
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
