//! A checked reader of one TOML table: every key that is asked for is known, all others are problems.

use std::fmt::Display;

use super::problems::{Problems, closest, hint, listed, shorten};
use super::value::{Place, Table, Value};

/// Numbers that a key may take.
#[derive(Clone, Copy)]
pub(super) struct Range {
    /// In words: "a positive number".
    words: &'static str,
    contains: fn(f64) -> bool,
}

pub(super) const FINITE: Range = Range { words: "a finite number", contains: f64::is_finite };
pub(super) const POSITIVE: Range =
    Range { words: "a positive finite number", contains: |x| x > 0.0 && x.is_finite() };
pub(super) const POSITIVE_OR_INF: Range =
    Range { words: "a positive number, or inf for no viscosity", contains: |x| x > 0.0 };
pub(super) const NOT_NEGATIVE: Range =
    Range { words: "zero or a positive finite number", contains: |x| x >= 0.0 && x.is_finite() };
pub(super) const ABOVE_ONE: Range =
    Range { words: "a finite number greater than 1", contains: |x| x > 1.0 && x.is_finite() };
pub(super) const FILTER_ALPHA: Range = Range {
    words: "a number between -0.5 and 0.5, both excluded",
    contains: |x| x > -0.5 && x < 0.5,
};

/// A table of the input, or the place where it could stand.
pub(super) struct Section<'a> {
    /// Dotted path: `output.fields`; empty at the top.
    name: String,
    place: Place,
    table: Option<&'a Table>,
    problems: &'a Problems,
}

/// What stands at a key.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    key: &'static str,
    place: Place,
    pub(super) value: &'a Value,
    problems: &'a Problems,
}

/// What [`Section::word_or_table`] finds.
pub(super) enum WordOrTable<'a, T> {
    Word(T),
    Table(Section<'a>),
}

impl<'a> Item<'a> {
    /// The value cannot be used: `key = value: why`, and lines of advice.
    pub(super) fn reject(&self, why: impl Display, advice: &str) {
        let value = shorten(&self.value.to_string());
        self.problems.add(self.place, &format!("{} = {value}: {why}", self.key), advice);
    }

    /// The value is of another type than `allowed`.
    pub(super) fn wrong_type(&self, allowed: impl Display) {
        self.reject(format!("found {}, must be {allowed}", self.value.kind()), "");
    }

    /// This value as a section.
    pub(super) fn as_section(&self, parent: &str) -> Option<Section<'a>> {
        let Value::Table(table) = self.value else { return None };
        let name =
            if parent.is_empty() { self.key.to_owned() } else { format!("{parent}.{}", self.key) };
        Some(Section { name, place: self.place, table: Some(table), problems: self.problems })
    }
}

impl<'a> Section<'a> {
    /// The whole input.
    pub(super) fn top(table: &'a Table, problems: &'a Problems) -> Self {
        Section { name: String::new(), place: Place::Input, table: Some(table), problems }
    }

    /// What stands at `key`, which is known from now on.
    pub(super) fn get(&self, key: &'static str) -> Option<Item<'a>> {
        self.problems.know(&self.name, key);
        let entry = self.table?.get(key)?;
        Some(Item { key, place: entry.place, value: &entry.value, problems: self.problems })
    }

    /// Whether anything stands at `key`, right or wrong.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
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

    /// The value at `key` is of the right type and range, and still cannot be used.
    pub(super) fn reject_value(&self, key: &'static str, why: &str, advice: &str) {
        if let Some(item) = self.get(key) {
            item.reject(why, advice);
        }
    }

    /// What stands at `key` is wrong: a sentence that names the key.
    pub(super) fn reject_key(&self, key: &str, sentence: &str) {
        let place = self.table.and_then(|table| table.get(key)).map_or(self.place, |e| e.place);
        self.problems.add(place, sentence, "");
    }

    /// The section is wrong as a whole.
    pub(super) fn reject(&self, why: &str, advice: &str) {
        self.problems.add(self.place, &format!("[{}] {why}", self.name), advice);
    }

    /// Whether the user typed this section.
    pub(super) fn is_present(&self) -> bool {
        self.table.is_some()
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
        found.unwrap_or_else(|| Section {
            name: key.to_owned(),
            place: Place::Input,
            table: None,
            problems: self.problems,
        })
    }

    /// The table at `key`; `example` shows one.
    pub(super) fn table(&self, key: &'static str, example: &str) -> Option<Section<'a>> {
        let item = self.get(key)?;
        let section = item.as_section(&self.name);
        if section.is_none() {
            item.wrong_type(format!("a table such as {example}"));
        }
        section
    }

    /// A number in `range`; whole numbers will do.
    pub(super) fn number(&self, key: &'static str, range: Range) -> Option<f64> {
        let item = self.get(key)?;
        let Some(value) = item.value.as_number() else {
            item.wrong_type(range.words);
            return None;
        };
        if !(range.contains)(value) {
            item.reject(format!("must be {}", range.words), "");
            return None;
        }
        Some(value)
    }

    /// `N` numbers in `range`, one per axis.
    pub(super) fn numbers<const N: usize>(
        &self,
        key: &'static str,
        range: Range,
    ) -> Option<[f64; N]> {
        let inside = |value: &Value| value.as_number().filter(|&number| (range.contains)(number));
        self.array(key, range.words, inside)
    }

    /// Numbers in `range`, at least one.
    pub(super) fn any_numbers(&self, key: &'static str, range: Range) -> Option<Vec<f64>> {
        let inside = |value: &Value| value.as_number().filter(|&number| (range.contains)(number));
        self.list(key, None, range.words, inside)
    }

    /// `N` whole numbers from `least` to `most`, one per axis.
    pub(super) fn integers<const N: usize>(
        &self,
        key: &'static str,
        least: i32,
        most: i32,
    ) -> Option<[i32; N]> {
        let inside = |value: &Value| match value {
            Value::Integer(value) => {
                i32::try_from(*value).ok().filter(|value| (least..=most).contains(value))
            }
            _ => None,
        };
        self.array(key, &format!("a whole number from {least} to {most}"), inside)
    }

    /// `N` values that `take` takes; each must be what `words` say.
    fn array<T, const N: usize>(
        &self,
        key: &'static str,
        words: &str,
        take: impl Fn(&Value) -> Option<T>,
    ) -> Option<[T; N]> {
        self.list(key, Some(N), words, take)?.try_into().ok()
    }

    /// The same, `length` values or at least one.
    fn list<T>(
        &self,
        key: &'static str,
        length: Option<usize>,
        words: &str,
        take: impl Fn(&Value) -> Option<T>,
    ) -> Option<Vec<T>> {
        let item = self.get(key)?;
        let entries = length.map_or("entries".to_owned(), |n| format!("{n} entries"));
        let Value::Array(values) = item.value else {
            item.wrong_type(format!("an array of {entries}, each {words}"));
            return None;
        };
        if let Some(length) = length.filter(|&length| values.len() != length) {
            item.reject(format!("found {} entries, must be {length}", values.len()), "");
            return None;
        }
        if values.is_empty() {
            item.reject("must have at least one entry", "");
            return None;
        }
        let mut taken = Vec::with_capacity(values.len());
        for value in values {
            let Some(inside) = take(value) else {
                let value = shorten(&value.to_string());
                item.reject(format!("found {value}, each must be {words}"), "");
                return None;
            };
            taken.push(inside);
        }
        Some(taken)
    }

    /// A whole number from `least` to `most`.
    pub(super) fn integer(&self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        let item = self.get(key)?;
        let allowed = if most == u64::MAX {
            format!("a whole number, at least {least}")
        } else {
            format!("a whole number from {least} to {most}")
        };
        let Value::Integer(value) = item.value else {
            item.wrong_type(allowed);
            return None;
        };
        let value = u64::try_from(*value).ok().filter(|value| (least..=most).contains(value));
        if value.is_none() {
            item.reject(format!("must be {allowed}"), "");
        }
        value
    }

    /// A whole number from `least` to `most`; `None` for "auto" too.
    pub(super) fn integer_or_auto(&self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        match self.get(key)?.value {
            Value::String(word) if word == "auto" => None,
            Value::String(_) => {
                let allowed = format!("must be \"auto\" or a whole number from {least} to {most}");
                self.reject_value(key, &allowed, "");
                None
            }
            _ => self.integer(key, least, most),
        }
    }

    /// `N` whole numbers from `least` to `most`, one per axis; `None` for "auto" too.
    pub(super) fn integers_or_auto<const N: usize>(
        &self,
        key: &'static str,
        least: i32,
        most: i32,
    ) -> Option<[i32; N]> {
        match self.get(key)?.value {
            Value::String(word) if word == "auto" => None,
            Value::Array(_) => self.integers(key, least, most),
            _ => {
                let allowed = format!(
                    "must be \"auto\" or an array of {N} whole numbers from {least} to {most}"
                );
                self.reject_value(key, &allowed, "");
                None
            }
        }
    }

    /// Any text but the empty one.
    pub(super) fn text(&self, key: &'static str) -> Option<&'a str> {
        let item = self.get(key)?;
        match item.value {
            Value::String(text) if !text.is_empty() => Some(text),
            Value::String(_) => {
                item.reject("must not be empty", "");
                None
            }
            _ => {
                item.wrong_type("a string");
                None
            }
        }
    }

    /// One of the words that stand for something.
    pub(super) fn choice<T: Clone>(&self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let item = self.get(key)?;
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let Value::String(word) = item.value else {
            let found = item.value.kind();
            item.reject(format!("found {found}, must be a string"), &listed("allowed: ", &names));
            return None;
        };
        let chosen = choices.iter().find(|(name, _)| name == word).map(|(_, value)| value.clone());
        if chosen.is_none() {
            item.reject(format!("unknown{}", hint(word, &names)), &listed("allowed: ", &names));
        }
        chosen
    }

    /// Some of the words that stand for something, each once; `what` one of them is.
    pub(super) fn choices<T: Clone>(
        &self,
        key: &'static str,
        choices: &[(&str, T)],
        what: &str,
    ) -> Option<Vec<T>> {
        let item = self.get(key)?;
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let allowed = listed("allowed: ", &names);
        let Value::Array(values) = item.value else {
            item.wrong_type(format!("an array of names, such as [{:?}]", names[0]));
            return None;
        };
        if values.is_empty() {
            item.reject(format!("must name at least one {what}"), &allowed);
            return None;
        }
        let mut chosen: Vec<usize> = Vec::new();
        for value in values {
            let Value::String(word) = value else {
                item.reject(format!("found {}, each must be a string", value.kind()), &allowed);
                return None;
            };
            let Some(at) = names.iter().position(|name| name == word) else {
                let hint = hint(word, &names);
                item.reject(format!("no such {what} as `{}`{hint}", shorten(word)), &allowed);
                return None;
            };
            if chosen.contains(&at) {
                item.reject(format!("`{word}` stands twice"), "");
                return None;
            }
            chosen.push(at);
        }
        Some(chosen.into_iter().map(|at| choices[at].1.clone()).collect())
    }

    /// Whether `word` stands at `key`, alone or as the one entry of an array.
    pub(super) fn is_word_or_its_list(&self, key: &'static str, word: &str) -> bool {
        let is_word = |value: &Value| matches!(value, Value::String(text) if text == word);
        self.get(key).is_some_and(|item| match item.value {
            Value::Array(values) => values.len() == 1 && is_word(&values[0]),
            value => is_word(value),
        })
    }

    /// true or false.
    pub(super) fn boolean(&self, key: &'static str) -> Option<bool> {
        let item = self.get(key)?;
        let Value::Boolean(value) = item.value else {
            item.wrong_type("true or false");
            return None;
        };
        Some(*value)
    }

    /// One of `words`, or a table such as `example`.
    pub(super) fn word_or_table<T: Clone>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
        example: &str,
    ) -> Option<WordOrTable<'a, T>> {
        let item = self.get(key)?;
        if let Some(section) = item.as_section(&self.name) {
            return Some(WordOrTable::Table(section));
        }
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let allowed = format!("{}, or {example}", listed("", &names));
        let Value::String(word) = item.value else {
            item.wrong_type(allowed);
            return None;
        };
        match words.iter().find(|(name, _)| name == word) {
            Some((_, value)) => Some(WordOrTable::Word(value.clone())),
            None => {
                item.reject(
                    format!("unknown{}", hint(word, &names)),
                    &format!("allowed: {allowed}"),
                );
                None
            }
        }
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
