//! Formulas on whole vector registers.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

use crate::real::{Number, Real};
use crate::simd::Vectors;

/// A register of numbers in the role of one number of a formula: every operation applies to all of them.
pub(super) struct Packed<S: Simd, T: Vectors>(S, pub(super) T::Vector<S>);

impl<S: Simd, T: Vectors> Clone for Packed<S, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Simd, T: Vectors> Copy for Packed<S, T> {}

macro_rules! packed {
    ($($of:ident $by:ident $does:ident),*) => {$(
        impl<S: Simd, T: Vectors> $of for Packed<S, T> {
            type Output = Self;
            #[inline(always)]
            fn $by(self, other: Self) -> Self {
                Self(self.0, T::$does(self.0, self.1, other.1))
            }
        }
    )*};
}
packed!(Add add plus, Sub sub minus, Mul mul times, Div div over);

impl<S: Simd, T: Vectors> Neg for Packed<S, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0, T::negative(self.0, self.1))
    }
}

impl<S: Simd, T: Real> Number for Packed<S, T> {
    #[inline(always)]
    fn of(x: f64) -> Self {
        const { assert!(size_of::<S>() == 0) };
        // SAFETY: the type has no bytes, and represents instructions that the machine has: formulas are evaluated only
        // where such a token exists.
        let simd: S = unsafe { std::mem::transmute_copy(&()) };
        Self(simd, T::splat(simd, T::of(x)))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0, T::root(self.0, self.1))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0, T::size(self.0, self.1))
    }

    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        let mut vector = self.1;
        let numbers = std::ptr::from_mut(&mut vector).cast::<T>();
        for at in 0..size_of::<T::Vector<S>>() / size_of::<T>() {
            // SAFETY: a register consists of this many numbers.
            unsafe { *numbers.add(at) = (*numbers.add(at)).powf(exponent) };
        }
        Self(self.0, vector)
    }
}
