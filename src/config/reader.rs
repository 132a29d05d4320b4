//! serde deserializer for a section and its values. A value that serde rejects is reported with its key; then the section is read
//! again without it, so that all problems of a section are reported.

use std::collections::btree_map;
use std::fmt::Display;
use std::slice::Iter;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::problems::{hint, listed, shorten};
use super::section::{Item, Section};
use super::value::{Entry, Value};

/// Why a value cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{self:?}")]
pub(super) enum Refusal {
    /// Already reported; the key is not read again.
    Reported,
    /// The value has another type than this description.
    Type(String),
    /// The value is outside this range.
    Range(String),
    /// An entry of an array does not match this description.
    Entry { found: String, allowed: String },
    /// The value is none of these words.
    Word(Vec<&'static str>),
    /// A complete sentence.
    Sentence(String),
}

impl Refusal {
    /// The problem of `value`, with advice in further lines; `None` if it was already reported. `auto`: "auto" is also allowed.
    pub(super) fn sentence(self, value: &Value, auto: bool) -> Option<String> {
        let (is_string, kind) = (matches!(value, Value::String(_)), value.kind());
        let auto_or = if auto { "\"auto\" or " } else { "" };
        Some(match self {
            Refusal::Reported => return None,
            Refusal::Type(allowed) if auto && is_string => format!("must be {auto_or}{allowed}"),
            Refusal::Type(allowed) => format!("found {kind}, must be {auto_or}{allowed}"),
            Refusal::Range(allowed) => format!("must be {allowed}"),
            Refusal::Entry { found, allowed } => {
                format!("found {}, each must be {allowed}", shorten(&found))
            }
            Refusal::Word(mut names) => {
                if auto {
                    names.insert(0, "auto");
                }
                let found = match value {
                    Value::String(word) => format!("unknown{}", hint(word, &names)),
                    Value::Array(_) => "unknown".to_owned(),
                    _ => format!("found {kind}, must be a string"),
                };
                format!("{found}\n{}", listed("allowed: ", &names))
            }
            Refusal::Sentence(text) => text,
        })
    }
}

impl Error for Refusal {
    fn custom<T: Display>(sentence: T) -> Self {
        Refusal::Sentence(sentence.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Refusal::Type(allowed.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Refusal::Range(allowed.to_string())
    }
}

/// The keys of a section that serde reads into a struct; all keys of the struct are registered as known.
pub(super) struct Keys<'a, 's> {
    pub(super) section: &'s Section<'a>,
    /// Keys for which "auto" is equivalent to leaving them out.
    pub(super) auto: &'s [&'static str],
    pub(super) fields: Iter<'static, &'static str>,
    pub(super) next: Option<Item<'a>>,
}

impl<'a> Deserializer<'a> for Keys<'a, '_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_map(self)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_map(Keys { fields: fields.iter(), ..self })
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'a> MapAccess<'a> for Keys<'a, '_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        for key in self.fields.by_ref() {
            let Some(item) = self.section.get(key) else { continue };
            let is_auto = self.auto.contains(key) && item.value.is_word("auto");
            if !is_auto && !self.section.refused.borrow().contains(key) {
                self.next = Some(item);
                return seed.deserialize(StrDeserializer::new(key)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        let item = self.next.take().ok_or_else(|| Refusal::custom("a value before its key"))?;
        seed.deserialize(Reader(item.value)).map_err(|why| {
            self.section.refused.borrow_mut().push(item.key);
            item.refuse(why, self.auto.contains(&item.key));
            Refusal::Reported
        })
    }
}

/// A value for serde.
pub(super) struct Reader<'a>(pub(super) &'a Value);

/// Replaces the first entry of a value that is not an array: serde then reports the type that an entry must have.
static PLACEHOLDER: [Value; 1] = [Value::Other { kind: "nothing", text: String::new() }];

impl<'a> Reader<'a> {
    /// `length` entries, or at least one.
    fn entries<V: Visitor<'a>>(
        self,
        length: Option<usize>,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let Value::Array(values) = self.0 else {
            let entries = length.map_or("entries".to_owned(), |n| format!("{n} entries"));
            return Err(match visitor.visit_seq(Entries(PLACEHOLDER.iter())) {
                Err(Refusal::Entry { allowed, .. }) => {
                    Refusal::Type(format!("an array of {entries}, each {allowed}"))
                }
                _ => Refusal::Type(format!("an array of {entries}")),
            });
        };
        let sentence = match length {
            Some(length) if values.len() != length => {
                format!("found {} entries, must be {length}", values.len())
            }
            None if values.is_empty() => "must have at least one entry".into(),
            _ => return visitor.visit_seq(Entries(values.iter())),
        };
        Err(Refusal::Sentence(sentence))
    }
}

impl<'a> Deserializer<'a> for Reader<'a> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Array(values) => visitor.visit_seq(Entries(values.iter())),
            Value::Table(_) => Err(Error::invalid_type(Unexpected::Map, &visitor)),
            Value::Other { kind, .. } => {
                Err(Error::invalid_type(Unexpected::Other(kind), &visitor))
            }
        }
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0.as_number() {
            Some(value) if value.is_finite() => visitor.visit_f64(value),
            Some(_) => Err(Refusal::Range("a finite number".into())),
            None => Err(Refusal::Type("a finite number".into())),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::Boolean(value) => visitor.visit_bool(*value),
            _ => Err(Refusal::Type("true or false".into())),
        }
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::String(text) if text.is_empty() => {
                Err(Refusal::Sentence("must not be empty".into()))
            }
            Value::String(text) => visitor.visit_borrowed_str(text),
            _ => Err(Refusal::Type("a string".into())),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::String(word) if words.contains(&&**word) => {
                visitor.visit_enum(word.as_str().into_deserializer())
            }
            _ => Err(Refusal::Word(words.to_vec())),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::Table(table) => {
                visitor.visit_map(TableEntries { entries: table.iter(), value: None })
            }
            _ => Err(Refusal::Type("a table, such as { name = 1.0 }".into())),
        }
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::Table(_) => self.deserialize_map(visitor),
            _ => Err(Refusal::Type(listed("a table of ", keys))),
        }
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.entries(None, visitor)
    }

    fn deserialize_tuple<V: Visitor<'a>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.entries(Some(length), visitor)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str bytes byte_buf unit unit_struct tuple_struct
        identifier ignored_any
    }
}

/// The entries of a table. A problem of a value is reported as a sentence with its key.
struct TableEntries<'a> {
    entries: btree_map::Iter<'a, String, Entry>,
    value: Option<(&'a str, &'a Value)>,
}

impl<'a> MapAccess<'a> for TableEntries<'a> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        let Some((key, entry)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, &entry.value));
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        let (key, value) =
            self.value.take().ok_or_else(|| Refusal::custom("a value before its key"))?;
        seed.deserialize(Reader(value)).map_err(|why| match why.sentence(value, false) {
            Some(why) => {
                Refusal::Sentence(format!("{key} = {}: {why}", shorten(&value.to_string())))
            }
            None => Refusal::Reported,
        })
    }
}

/// The entries of an array.
struct Entries<'a>(Iter<'a, Value>);

impl<'a> SeqAccess<'a> for Entries<'a> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refusal> {
        let Some(value) = self.0.next() else { return Ok(None) };
        let read = seed.deserialize(Reader(value)).map_err(|why| match why {
            Refusal::Type(allowed) | Refusal::Range(allowed) => {
                Refusal::Entry { found: value.to_string(), allowed }
            }
            other => other,
        });
        read.map(Some)
    }
}
