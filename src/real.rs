//! The two floating-point formats of fields.

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::simd::Vectors;

/// Number type of formulas.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest number of this format.
    fn of(x: f64) -> Self;
    /// √self.
    fn sqrt(self) -> Self;
    /// |self|.
    fn abs(self) -> Self;
    /// self to a constant power.
    fn powf(self, exponent: f64) -> Self;
}

/// Values that may be sent to another rank as raw bytes.
///
/// # Safety
/// Every byte of a value is initialised, none is part of an address, and any bytes form a valid value.
pub unsafe trait Plain: Copy {}

// SAFETY: two contiguous numbers.
unsafe impl Plain for Complex<f64> {}

/// Floating-point format of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 64 bit.
    #[default]
    F64,
    /// 32 bit.
    F32,
}

impl Precision {
    /// Name in an input file.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }

    /// Spacing of the numbers next to 1.
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::F64 => f64::EPSILON,
            Precision::F32 => f32::EPSILON.into(),
        }
    }

    /// The nearest number of this format.
    pub(crate) fn rounded(self, x: f64) -> f64 {
        match self {
            Precision::F64 => x,
            Precision::F32 => f32::of(x).into(),
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F64 => 8,
            Precision::F32 => 4,
        }
    }
}

/// `f32` or `f64`.
pub trait Real:
    Number
    + Plain
    + Default
    + Debug
    + Display
    + PartialOrd
    + Send
    + Sync
    + 'static
    + AddAssign
    + SubAssign
    + Vectors
{
    /// 0.
    const ZERO: Self;
    /// This format.
    const PRECISION: Precision;
    /// Spacing of the numbers next to 1.
    const EPSILON: f64;

    /// Exact value.
    fn f64(self) -> f64;

    /// Values of this format.
    fn values(of: Cow<'_, [Self]>) -> Values<'_>;
}

macro_rules! real {
    ($t:ident, $precision:ident) => {
        impl Number for $t {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn powf(self, exponent: f64) -> Self {
                self.powf(Number::of(exponent))
            }
        }

        // SAFETY: plain numbers.
        unsafe impl Plain for $t {}

        impl Real for $t {
            const ZERO: Self = 0.0;
            const PRECISION: Precision = Precision::$precision;
            const EPSILON: f64 = <$t>::EPSILON as f64;

            #[inline(always)]
            fn f64(self) -> f64 {
                self.into()
            }

            fn values(of: Cow<'_, [$t]>) -> Values<'_> {
                Values::$precision(of)
            }
        }

        impl From<Vec<$t>> for Values<'_> {
            fn from(values: Vec<$t>) -> Self {
                Self::$precision(values.into())
            }
        }
    };
}
real!(f32, F32);
real!(f64, F64);

/// The bytes of numbers.
pub(crate) fn bytes_of<T: Real>(values: &[T]) -> &[u8] {
    // SAFETY: f32 and f64 have no padding, and every address is valid for bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of numbers, for writing.
pub(crate) fn bytes_of_mut<T: Real>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any four or eight bytes are an f32 or f64.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// Values in the precision that they were computed in.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// 32 bit.
    F32(Cow<'a, [f32]>),
    /// 64 bit.
    F64(Cow<'a, [f64]>),
}

impl Values<'_> {
    /// `len` zeros.
    pub fn zeros(precision: Precision, len: usize) -> Self {
        match precision {
            Precision::F32 => vec![0.0_f32; len].into(),
            Precision::F64 => vec![0.0_f64; len].into(),
        }
    }

    /// Format of the values.
    pub fn precision(&self) -> Precision {
        match self {
            Self::F32(_) => Precision::F32,
            Self::F64(_) => Precision::F64,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `at`.
    pub fn at(&self, at: usize) -> f64 {
        match self {
            Self::F32(values) => values[at].into(),
            Self::F64(values) => values[at],
        }
    }

    /// Sets value `at` to the nearest number to `value`.
    pub fn set(&mut self, at: usize, value: f64) {
        match self {
            Self::F32(values) => values.to_mut()[at] = Number::of(value),
            Self::F64(values) => values.to_mut()[at] = value,
        }
    }

    /// Iterates over all values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        (0..self.len()).map(|at| self.at(at))
    }

    /// The bytes of the values.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(values) => bytes_of(values),
            Self::F64(values) => bytes_of(values),
        }
    }

    /// The bytes of the values, for writing.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::F32(values) => bytes_of_mut(values.to_mut()),
            Self::F64(values) => bytes_of_mut(values.to_mut()),
        }
    }

    /// Returns the values, rounded if they have more digits than `precision`.
    pub fn with_precision(self, precision: Precision) -> Self {
        match (self, precision) {
            (Self::F64(values), Precision::F32) => {
                values.iter().map(|x| f32::of(*x)).collect::<Vec<_>>().into()
            }
            (Self::F32(values), Precision::F64) => {
                values.iter().map(|x| f64::from(*x)).collect::<Vec<_>>().into()
            }
            (same, _) => same,
        }
    }

    /// Returns the values in their own memory.
    pub fn into_owned(self) -> Values<'static> {
        match self {
            Self::F32(values) => Values::F32(Cow::Owned(values.into_owned())),
            Self::F64(values) => Values::F64(Cow::Owned(values.into_owned())),
        }
    }
}

impl From<Values<'_>> for Vec<f64> {
    fn from(values: Values<'_>) -> Self {
        match values {
            Values::F64(values) => values.into_owned(),
            Values::F32(_) => values.iter().collect(),
        }
    }
}
