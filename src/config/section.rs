//! A section of the input: reads its keys one by one or, with serde, all keys of a struct. Keys that no reader requests are
//! problems.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;

use serde::Deserialize;

use super::problems::{Problems, closest, hint, listed, shorten};
use super::reader::{Keys, Reader, Refusal};
use super::value::{Entry, Place, Table, Value};

/// A table of the input, or its place if it is absent.
pub(super) struct Section<'a> {
    /// Dotted path: `output.fields`; empty at the top.
    name: String,
    /// Whether the user chose the last part of the name: messages about a key then include the section.
    user_named: bool,
    place: Place,
    table: Option<&'a Table>,
    problems: &'a Problems,
    /// Keys whose values were rejected.
    pub(super) refused: RefCell<Vec<&'static str>>,
}

/// The value at a key.
pub(super) struct Item<'a> {
    pub(super) key: &'static str,
    /// Its name in messages.
    name: Cow<'static, str>,
    place: Place,
    pub(super) value: &'a Value,
    problems: &'a Problems,
}

impl<'a> Item<'a> {
    /// Report that the value cannot be used: `key = value: why`, and lines of advice.
    pub(super) fn reject(&self, why: impl Display, advice: &str) {
        let value = shorten(&self.value.to_string());
        self.problems.add(self.place, &format!("{} = {value}: {why}", self.name), advice);
    }

    /// Report that the value has another type than `allowed`.
    pub(super) fn wrong_type(&self, allowed: impl Display) {
        self.reject(format!("found {}, must be {allowed}", self.value.kind()), "");
    }

    /// Report a refusal of serde. `auto`: the key also accepts "auto".
    pub(super) fn refuse(&self, why: Refusal, auto: bool) {
        if let Some(sentence) = why.sentence(self.value, auto) {
            let (why, advice) = why_and_advice(&sentence);
            self.reject(why, advice);
        }
    }

    /// This value as a section.
    pub(super) fn as_section(&self, parent: &str) -> Option<Section<'a>> {
        let Value::Table(table) = self.value else { return None };
        let dot = if parent.is_empty() { "" } else { "." };
        let name = format!("{parent}{dot}{}", self.key);
        Some(Section::new(name, self.place, Some(table), self.problems))
    }
}

impl<'a> Section<'a> {
    /// The whole input.
    pub(super) fn top(table: &'a Table, problems: &'a Problems) -> Self {
        Section::new(String::new(), Place::Input, Some(table), problems)
    }

    fn new(name: String, place: Place, table: Option<&'a Table>, problems: &'a Problems) -> Self {
        Section { name, user_named: false, place, table, problems, refused: RefCell::default() }
    }

    /// The value at `key`, which is registered as known.
    pub(super) fn get(&self, key: &'static str) -> Option<Item<'a>> {
        self.problems.add_known(&self.name, key);
        let entry = self.table?.get(key)?;
        let name = match self.user_named {
            true => format!("{}.{key}", self.name).into(),
            false => key.into(),
        };
        Some(Item { key, name, place: entry.place, value: &entry.value, problems: self.problems })
    }

    /// Whether `key` has a value, valid or not.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// Whether the user gives `key` a value other than `word`.
    pub(super) fn has_other_than(&self, key: &'static str, word: &str) -> bool {
        self.get(key).is_some_and(|item| !item.value.is_word(word))
    }

    /// Whether the user wrote the section.
    pub(super) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// Report that none of `keys` is given although one of them is required.
    pub(super) fn missing(&self, keys: &[&str], advice: &str) {
        let mistyped = self.table.into_iter().flatten().find(|(key, _)| {
            !self.problems.is_known(&self.name, key) && closest(key, keys).is_some()
        });
        if let Some((key, entry)) = mistyped {
            return self.problems.unknown(entry.place, &self.name, key, false);
        }
        let problem = format!("[{}] needs {}", self.name, listed("", keys).replace(", ", " or "));
        // If only an override created the section, the keys are missing in the input, not in the override.
        let place = match self.place {
            Place::Override(_) if !self.name.contains('.') => Place::Input,
            place => place,
        };
        self.problems.add(place, &problem, advice);
    }

    /// Report a value at `key` that has the right type and range but cannot be used; it comes from the user or from the case.
    pub(super) fn reject_value(&self, key: &'static str, why: &str, advice: &str) {
        match self.get(key) {
            Some(item) => item.reject(why, advice),
            None => self.problems.add(self.place, &format!("{}.{key}: {why}", self.name), advice),
        }
    }

    /// The same with a sentence whose further lines are advice.
    pub(super) fn reject_sentence(&self, key: &'static str, sentence: &str) {
        let (why, advice) = why_and_advice(sentence);
        self.reject_value(key, why, advice);
    }

    /// Report that the user may not set `key`.
    pub(super) fn forbid(&self, key: &'static str, why: &str, advice: &str) {
        if let Some(item) = self.get(key) {
            item.reject(why, advice);
        }
    }

    /// Whether both of two exclusive keys are given, which is reported; `does` is the role of the key.
    pub(super) fn refuse_both(&self, key: &'static str, other: &'static str, does: &str) -> bool {
        let both_given = [key, other].map(|key| self.has(key)) == [true; 2];
        if both_given {
            let why = format!("cannot be combined with `{key}`; only one of them {does}");
            self.reject_value(other, &why, "");
        }
        both_given
    }

    /// Report a wrong value at `key` with a sentence that names the key; further lines are advice.
    pub(super) fn reject_key(&self, key: &str, sentence: &str) {
        let place = self.table.and_then(|table| table.get(key)).map_or(self.place, |e| e.place);
        let (problem, advice) = why_and_advice(sentence);
        self.problems.add(place, problem, advice);
    }

    /// Reject the section as a whole, if it is present.
    pub(super) fn reject(&self, why: &str, advice: &str) {
        if self.table.is_some() {
            self.problems.add(self.place, &format!("[{}] {why}", self.name), advice);
        }
    }

    /// A section of the top level, empty if the user omitted it.
    pub(super) fn section(&self, key: &'static str) -> Section<'a> {
        let found = self.get(key).and_then(|item| {
            let section = item.as_section(&self.name);
            if section.is_none() {
                item.wrong_type(format!("a section [{key}]"));
            }
            section
        });
        found.unwrap_or_else(|| Section::new(key.into(), Place::Input, None, self.problems))
    }

    /// Every table in this section by its key, a name chosen by the user; `example` shows one.
    pub(super) fn tables(&self, example: &str) -> Vec<(&'a str, Section<'a>)> {
        let mut tables = Vec::new();
        for (key, Entry { place, value }) in self.table.into_iter().flatten() {
            let name = format!("{}.{key}", self.name);
            if let Value::Table(table) = value {
                let section = Section::new(name, *place, Some(table), self.problems);
                tables.push((&**key, Section { user_named: true, ..section }));
            } else {
                let problem = format!("{name}: found {}, must be a table", value.kind());
                self.problems.add(*place, &problem, &format!("for example {example}"));
            }
        }
        tables
    }

    /// The value at `key`, read by serde; `None` if it is absent or was reported as wrong.
    pub(super) fn value<T: Deserialize<'a>>(&self, key: &'static str) -> Option<T> {
        let item = self.get(key)?;
        T::deserialize(Reader(item.value)).map_err(|why| item.refuse(why, false)).ok()
    }

    /// The same for a required key; `advice` lists the allowed values.
    pub(super) fn needed<T: Deserialize<'a>>(&self, key: &'static str, advice: &str) -> Option<T> {
        if !self.has(key) {
            self.missing(&[key], advice);
        }
        self.value(key)
    }

    /// The struct `T` read from its keys. Keys with rejected values have their defaults.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Option<T> {
        self.read_or_auto(&[])
    }

    /// The same, where the keys in `auto` may be "auto", which is equivalent to leaving them out.
    pub(super) fn read_or_auto<T: Deserialize<'a>>(&self, auto: &[&'static str]) -> Option<T> {
        self.read_by(auto, |keys| T::deserialize(keys))
    }

    /// The same with the function `read`.
    pub(super) fn read_by<T>(
        &self,
        auto: &[&'static str],
        read: impl Fn(Keys<'a, '_>) -> Result<T, Refusal>,
    ) -> Option<T> {
        loop {
            match read(Keys { section: self, auto, fields: [].iter(), next: None }) {
                Ok(value) => return Some(value),
                Err(Refusal::Reported) => {}
                Err(other) => {
                    self.reject(&format!("cannot be read: {other}"), "");
                    return None;
                }
            }
        }
    }

    /// The value of one of the named choices.
    pub(super) fn choice<T: Clone>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let item = self.get(key)?;
        let chosen = choices.iter().find(|(name, _)| item.value.is_word(name));
        if chosen.is_none() {
            item.refuse(Refusal::Word(choices.iter().map(|(name, _)| *name).collect()), false);
        }
        chosen.map(|(_, value)| value.clone())
    }

    /// The same for a required key.
    pub(super) fn needed_choice<T: Clone>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        if !self.has(key) {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.missing(&[key], &listed("allowed: ", &names));
        }
        self.choice(key, choices)
    }

    /// Several of the named choices, each at most once; `what` names one of them in messages.
    pub(super) fn choices<T: Clone + PartialEq>(
        &self,
        key: &'static str,
        choices: &[T],
        name: impl Fn(&T) -> &str,
        what: &str,
    ) -> Option<Vec<T>> {
        let item = self.get(key)?;
        let names: Vec<&str> = choices.iter().map(&name).collect();
        let allowed = listed("allowed: ", &names);
        let Value::Array(values) = item.value else {
            item.wrong_type(format!("an array of names, such as [{:?}]", names[0]));
            return None;
        };
        if values.is_empty() {
            item.reject(format!("must name at least one {what}"), &allowed);
            return None;
        }
        let mut chosen: Vec<T> = Vec::with_capacity(values.len());
        for value in values {
            let why = match (names.iter().position(|name| value.is_word(name)), value) {
                (Some(at), _) if !chosen.contains(&choices[at]) => {
                    chosen.push(choices[at].clone());
                    continue;
                }
                (Some(at), _) => format!("`{}` appears twice", names[at]),
                (None, Value::String(word)) => {
                    format!("no such {what} as `{}`{}", shorten(word), hint(word, &names))
                }
                (None, _) => format!("found {}, each must be a string", value.kind()),
            };
            item.reject(why, &allowed);
            return None;
        }
        Some(chosen)
    }

    /// The table at `key`, or the value of one of the `words` that may replace it. `example` shows a table.
    pub(super) fn table_or<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
        example: &str,
    ) -> Option<Result<Section<'a>, T>> {
        let item = self.get(key)?;
        if let Some(section) = item.as_section(&self.name) {
            return Some(Ok(section));
        }
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let allowed = match names.is_empty() {
            true => format!("a table such as {example}"),
            false => format!("{}, or {example}", listed("", &names)),
        };
        let chosen = words.iter().find(|(name, _)| item.value.is_word(name));
        match item.value {
            _ if chosen.is_some() => {}
            Value::String(word) if !names.is_empty() => {
                let why = format!("unknown{}", hint(word, &names));
                item.reject(why, &format!("allowed: {allowed}"));
            }
            _ => item.wrong_type(allowed),
        }
        chosen.map(|(_, value)| Err(*value))
    }

    /// The table at `key`.
    pub(super) fn table(&self, key: &'static str, example: &str) -> Option<Section<'a>> {
        self.table_or::<()>(key, &[], example)?.ok()
    }

    /// The table at `key`; `None` for "none", too.
    pub(super) fn table_or_none(&self, key: &'static str, example: &str) -> Option<Section<'a>> {
        self.table_or(key, &[("none", ())], example)?.ok()
    }

    /// Report the keys of this section that no reader requested: they are unknown.
    pub(super) fn finish(&self) {
        for (key, entry) in self.table.into_iter().flatten() {
            if !self.problems.is_known(&self.name, key) {
                let is_table = matches!(entry.value, Value::Table(_));
                self.problems.unknown(entry.place, &self.name, key, is_table);
            }
        }
    }
}

/// The first line of a sentence (the problem), and the further lines (the advice).
fn why_and_advice(sentence: &str) -> (&str, &str) {
    sentence.split_once('\n').unwrap_or((sentence, ""))
}
