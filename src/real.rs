//! The two floating-point formats that fields come in.

use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::simd::Vectors;

/// What formulas compute with.
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

macro_rules! number {
    ($t:ty) => {
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
    };
}
number!(f32);
number!(f64);

/// Values that may be sent to another rank as the bytes that they are.
///
/// # Safety
/// Every byte of a value is set, none belongs to an address, and any bytes are a value.
pub unsafe trait Plain: Copy {}

// SAFETY: numbers are.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: two numbers, one behind the other.
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
    /// What the user types.
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

    /// What is generic over the format, as that of this one: by it code that is compiled once for each format is reached from
    /// code that is generic.
    #[doc(hidden)]
    fn concrete<F: Family>(of: F::Of<Self>) -> Concrete<F>;
}

/// Types that are generic over the format of numbers.
#[doc(hidden)]
pub trait Family {
    /// That of numbers of the format `T`.
    type Of<T: Real>;
}

/// A type of a family with its format.
#[doc(hidden)]
pub enum Concrete<F: Family> {
    /// 32 bit.
    F32(F::Of<f32>),
    /// 64 bit.
    F64(F::Of<f64>),
}

macro_rules! real {
    ($t:ident, $precision:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const PRECISION: Precision = Precision::$precision;
            const EPSILON: f64 = <$t>::EPSILON as f64;

            #[inline(always)]
            fn f64(self) -> f64 {
                self.into()
            }

            fn concrete<F: Family>(of: F::Of<$t>) -> Concrete<F> {
                Concrete::$precision(of)
            }
        }
    };
}
real!(f32, F32);
real!(f64, F64);
