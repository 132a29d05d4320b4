//! Numbers of an input with their ranges, for fields that serde reads and writes: `#[serde(deserialize_with = "positive")]`.
//!
//! A field is a number or an `Option` of a number. Without one of these functions, a decimal number must be finite.

use std::fmt;
use std::path::PathBuf;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A decimal number in a range; whole numbers are accepted.
struct Decimal {
    /// Description of the range: "a positive finite number".
    description: &'static str,
    contains: fn(f64) -> bool,
}

impl Visitor<'_> for Decimal {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description)
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<f64, E> {
        let error = || E::invalid_value(Unexpected::Float(x), &self);
        (self.contains)(x).then_some(x).ok_or_else(error)
    }

    // Above 2⁵³ an integer is rounded, as it would be if typed with a decimal point.
    fn visit_i64<E: Error>(self, x: i64) -> Result<f64, E> {
        self.visit_f64(x as f64)
    }
}

fn decimal<'de, T: From<f64>, D: Deserializer<'de>>(
    input: D,
    description: &'static str,
    contains: fn(f64) -> bool,
) -> Result<T, D::Error> {
    input.deserialize_any(Decimal { description, contains }).map(T::from)
}

/// 0 < x < ∞.
pub(crate) fn positive<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a positive finite number", |x| x > 0.0 && x.is_finite())
}

/// 0 ≤ x < ∞.
pub(crate) fn not_negative<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "zero or a positive finite number", |x| x >= 0.0 && x.is_finite())
}

/// 0 ≤ x ≤ 1.
pub(crate) fn fraction<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a number from 0 to 1", |x| (0.0..=1.0).contains(&x))
}

/// 0 < x < 1.
pub(crate) fn below_one<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a number between 0 and 1, both excluded", |x| x > 0.0 && x < 1.0)
}

/// 1 < x < ∞.
pub(crate) fn above_one<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a finite number greater than 1", |x| x > 1.0 && x.is_finite())
}

/// 0 < x ≤ ∞: a Reynolds number.
pub(crate) fn reynolds<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a positive number, or inf for no viscosity", |x| x > 0.0)
}

/// −½ < x < ½.
pub(crate) fn within_half<'de, T: From<f64>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    decimal(d, "a number between -0.5 and 0.5, both excluded", |x| x > -0.5 && x < 0.5)
}

/// 0 < x < ∞, as an entry of an array or alone.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Positive(#[serde(deserialize_with = "positive")] pub(crate) f64);

/// 0 ≤ x < ∞.
#[derive(Deserialize)]
pub(crate) struct NotNegative(#[serde(deserialize_with = "not_negative")] pub(crate) f64);

/// A whole number from `MIN` to `MAX`.
struct Whole<N, const MIN: i64, const MAX: i64>(N);

impl<'de, N: TryFrom<i64>, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<N, MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let n = input.deserialize_any(InRange(MIN, MAX))?;
        let error = |_| Error::invalid_value(Unexpected::Signed(n), &InRange(MIN, MAX));
        N::try_from(n).map(Whole).map_err(error)
    }
}

struct InRange(i64, i64);

impl Visitor<'_> for InRange {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(min, i64::MAX) => write!(f, "a whole number, at least {min}"),
            Self(min, max) => write!(f, "a whole number from {min} to {max}"),
        }
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<i64, E> {
        let error = || E::invalid_value(Unexpected::Signed(n), &self);
        (self.0..=self.1).contains(&n).then_some(n).ok_or_else(error)
    }
}

/// A whole number from `MIN` to `MAX`: `"whole::<usize, 1, 8, _, _>"`.
pub(crate) fn whole<'de, N, const MIN: i64, const MAX: i64, T, D>(input: D) -> Result<T, D::Error>
where
    N: TryFrom<i64>,
    T: From<N>,
    D: Deserializer<'de>,
{
    Whole::<N, MIN, MAX>::deserialize(input).map(|Whole(n)| T::from(n))
}

/// A whole number, 1 or more.
pub(crate) fn count<'de, T: From<u64>, D: Deserializer<'de>>(input: D) -> Result<T, D::Error> {
    whole::<u64, 1, { i64::MAX }, T, D>(input)
}

/// Three whole numbers from `MIN` to `MAX`, one per axis.
pub(crate) fn three<'de, N, const MIN: i64, const MAX: i64, T, D>(input: D) -> Result<T, D::Error>
where
    N: TryFrom<i64>,
    T: From<[N; 3]>,
    D: Deserializer<'de>,
{
    let numbers = <[Whole<N, MIN, MAX>; 3]>::deserialize(input)?;
    Ok(T::from(numbers.map(|Whole(n)| n)))
}

/// An absolute path, so that the resolved input also works from another directory.
pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Serialize "auto" for a value that the program chooses.
pub(crate) fn or_auto<T: Serialize, S: Serializer>(
    value: &Option<T>,
    output: S,
) -> Result<S::Ok, S::Error> {
    or_word(value, "auto", output)
}

/// Serialize "none" for an absent value.
pub(crate) fn or_none<T: Serialize, S: Serializer>(
    value: &Option<T>,
    output: S,
) -> Result<S::Ok, S::Error> {
    or_word(value, "none", output)
}

fn or_word<T: Serialize, S: Serializer>(
    value: &Option<T>,
    word: &str,
    output: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.serialize(output),
        None => output.serialize_str(word),
    }
}
