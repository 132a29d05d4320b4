//! A section of the input: its keys one by one or, by serde, all that a struct has. Keys that nobody asked for are problems.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;

use serde::Deserialize;

use super::problems::{Problems, closest, hint, listed, shorten};
use super::reader::{Keys, Reader, Refusal};
use super::value::{Entry, Place, Table, Value};

/// A table of the input, or the place where it could stand.
pub(super) struct Section<'a> {
    /// Dotted path: `output.fields`; empty at the top.
    name: String,
    /// Whether the user gave it the last part of its name: then messages about a key say in which it stands.
    of_user: bool,
    place: Place,
    table: Option<&'a Table>,
    problems: &'a Problems,
    /// Keys whose values were refused.
    pub(super) refused: RefCell<Vec<&'static str>>,
}

/// What stands at a key.
pub(super) struct Item<'a> {
    pub(super) key: &'static str,
    /// What messages call it.
    name: Cow<'static, str>,
    place: Place,
    pub(super) value: &'a Value,
    problems: &'a Problems,
}

impl<'a> Item<'a> {
    /// The value cannot be used: `key = value: why`, and lines of advice.
    pub(super) fn reject(&self, why: impl Display, advice: &str) {
        let value = shorten(&self.value.to_string());
        self.problems.add(self.place, &format!("{} = {value}: {why}", self.name), advice);
    }

    /// The value is of another type than `allowed`.
    pub(super) fn wrong_type(&self, allowed: impl Display) {
        self.reject(format!("found {}, must be {allowed}", self.value.kind()), "");
    }

    /// What serde refuses. `auto`: the key takes "auto", too.
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
        Section { name, of_user: false, place, table, problems, refused: RefCell::default() }
    }

    /// What stands at `key`, which is known from now on.
    pub(super) fn get(&self, key: &'static str) -> Option<Item<'a>> {
        self.problems.know(&self.name, key);
        let entry = self.table?.get(key)?;
        let name = match self.of_user {
            true => format!("{}.{key}", self.name).into(),
            false => key.into(),
        };
        Some(Item { key, name, place: entry.place, value: &entry.value, problems: self.problems })
    }

    /// Whether anything stands at `key`, right or wrong.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// Whether the user gives `key` another value than `word`.
    pub(super) fn has_other_than(&self, key: &'static str, word: &str) -> bool {
        self.get(key).is_some_and(|item| !item.value.is_word(word))
    }

    /// Whether the user wrote the section.
    pub(super) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// None of `keys` is there, and one of them must be.
    pub(super) fn missing(&self, keys: &[&str], advice: &str) {
        let mistyped =
            self.table.into_iter().flatten().find(|(key, _)| {
                !self.problems.knows(&self.name, key) && closest(key, keys).is_some()
            });
        if let Some((key, entry)) = mistyped {
            return self.problems.unknown(entry.place, &self.name, key, false);
        }
        let found = format!("[{}] needs {}", self.name, listed("", keys).replace(", ", " or "));
        // A section that only an override made lacks its keys in the input, not in the override.
        let place = match self.place {
            Place::Override(_) if !self.name.contains('.') => Place::Input,
            place => place,
        };
        self.problems.add(place, &found, advice);
    }

    /// The value at `key` is of the right type and range, and still cannot be used; the user gave it, or it is what the case brings.
    pub(super) fn reject_value(&self, key: &'static str, why: &str, advice: &str) {
        match self.get(key) {
            Some(item) => item.reject(why, advice),
            None => self.problems.add(self.place, &format!("{}.{key}: {why}", self.name), advice),
        }
    }

    /// The same by a sentence whose further lines are advice.
    pub(super) fn reject_sentence(&self, key: &'static str, sentence: &str) {
        let (why, advice) = why_and_advice(sentence);
        self.reject_value(key, why, advice);
    }

    /// The user may not give `key` a value.
    pub(super) fn forbid(&self, key: &'static str, why: &str, advice: &str) {
        if let Some(item) = self.get(key) {
            item.reject(why, advice);
        }
    }

    /// Whether both keys are there, of which only one can be: what it does.
    pub(super) fn refuse_both(&self, key: &'static str, other: &'static str, does: &str) -> bool {
        let are_both = [key, other].map(|key| self.has(key)) == [true; 2];
        if are_both {
            let why = format!("stands beside `{key}`; only one of them {does}");
            self.reject_value(other, &why, "");
        }
        are_both
    }

    /// What stands at `key` is wrong: a sentence that names the key; further lines are advice.
    pub(super) fn reject_key(&self, key: &str, sentence: &str) {
        let place = self.table.and_then(|table| table.get(key)).map_or(self.place, |e| e.place);
        let (found, advice) = why_and_advice(sentence);
        self.problems.add(place, found, advice);
    }

    /// The section is wrong as a whole, if it is there.
    pub(super) fn reject(&self, why: &str, advice: &str) {
        if self.table.is_some() {
            self.problems.add(self.place, &format!("[{}] {why}", self.name), advice);
        }
    }

    /// A section of the top level, empty where the user left it out.
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

    /// Every table in this section by its key, which is a name of the user's own; `example` shows one.
    pub(super) fn tables(&self, example: &str) -> Vec<(&'a str, Section<'a>)> {
        let mut tables = Vec::new();
        for (key, Entry { place, value }) in self.table.into_iter().flatten() {
            let name = format!("{}.{key}", self.name);
            if let Value::Table(table) = value {
                let section = Section::new(name, *place, Some(table), self.problems);
                tables.push((&**key, Section { of_user: true, ..section }));
            } else {
                let found = format!("{name}: found {}, must be a table", value.kind());
                self.problems.add(*place, &found, &format!("for example {example}"));
            }
        }
        tables
    }

    /// What serde reads from the value at `key`; `None` where nothing stands there, or what was told to be wrong.
    pub(super) fn value<T: Deserialize<'a>>(&self, key: &'static str) -> Option<T> {
        let item = self.get(key)?;
        T::deserialize(Reader(item.value)).map_err(|why| item.refuse(why, false)).ok()
    }

    /// The same of a key that must be there; `advice` says what may stand at it.
    pub(super) fn needed<T: Deserialize<'a>>(&self, key: &'static str, advice: &str) -> Option<T> {
        if !self.has(key) {
            self.missing(&[key], advice);
        }
        self.value(key)
    }

    /// What serde reads from the keys that `T` has. Those whose values were told to be wrong have their defaults.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Option<T> {
        self.read_or_auto(&[])
    }

    /// The same, where the keys in `auto` may say "auto", which is as good as nothing.
    pub(super) fn read_or_auto<T: Deserialize<'a>>(&self, auto: &[&'static str]) -> Option<T> {
        self.read_by(auto, |keys| T::deserialize(keys))
    }

    /// The same by `read`.
    pub(super) fn read_by<T>(
        &self,
        auto: &[&'static str],
        read: impl Fn(Keys<'a, '_>) -> Result<T, Refusal>,
    ) -> Option<T> {
        loop {
            match read(Keys { section: self, auto, fields: [].iter(), next: None }) {
                Ok(value) => return Some(value),
                Err(Refusal::Told) => {}
                Err(other) => {
                    self.reject(&format!("cannot be read: {other}"), "");
                    return None;
                }
            }
        }
    }

    /// One of the words that stand for something.
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

    /// The same of a key that must be there.
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

    /// Some of the words that stand for something, each once; `what` one of them is.
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
                (Some(at), _) => format!("`{}` stands twice", names[at]),
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

    /// The table at `key`, or what one of the `words` in its place stands for. `example` shows a table.
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
        let meant = words.iter().find(|(name, _)| item.value.is_word(name));
        match item.value {
            _ if meant.is_some() => {}
            Value::String(word) if !names.is_empty() => {
                let found = format!("unknown{}", hint(word, &names));
                item.reject(found, &format!("allowed: {allowed}"));
            }
            _ => item.wrong_type(allowed),
        }
        meant.map(|(_, value)| Err(*value))
    }

    /// The table at `key`.
    pub(super) fn table(&self, key: &'static str, example: &str) -> Option<Section<'a>> {
        self.table_or::<()>(key, &[], example)?.ok()
    }

    /// The table at `key`; `None` for "none", too.
    pub(super) fn table_or_none(&self, key: &'static str, example: &str) -> Option<Section<'a>> {
        self.table_or(key, &[("none", ())], example)?.ok()
    }

    /// All keys of this section have been asked for: the others are unknown.
    pub(super) fn finish(&self) {
        for (key, entry) in self.table.into_iter().flatten() {
            if !self.problems.knows(&self.name, key) {
                let is_table = matches!(entry.value, Value::Table(_));
                self.problems.unknown(entry.place, &self.name, key, is_table);
            }
        }
    }
}

/// The first line of a sentence, which says what is wrong, and those that say what to do.
fn why_and_advice(sentence: &str) -> (&str, &str) {
    sentence.split_once('\n').unwrap_or((sentence, ""))
}
