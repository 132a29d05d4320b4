//! Rows of numbers in the vector registers of an instruction set: left to itself, the compiler cuts the lanes of a recurrence
//! into registers of every width.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

use crate::real::{Number, Real};

/// Numbers of which a vector register holds several.
pub trait Vectors: Copy {
    /// A register of the instruction set `S`.
    type Vector<S: Simd>: Copy;

    /// A row as whole registers, and what is left.
    fn split<S: Simd>(row: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    /// The same to be written.
    fn split_mut<S: Simd>(row: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
    /// A register that begins with these numbers, fewer than it holds.
    fn load<S: Simd>(simd: S, part: &[Self]) -> Self::Vector<S>;
    /// What a register begins with.
    fn store<S: Simd>(simd: S, part: &mut [Self], vector: Self::Vector<S>);

    /// The same number everywhere.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// a + b.
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a − b.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b + c in the cheapest way that `S` has: rounded once where there is such an instruction.
    fn fma<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// a / b.
    fn over<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// −a.
    fn negative<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// |a|.
    fn size<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// √a.
    fn root<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
}

macro_rules! vectors {
    ($t:ident $s:ident $split:ident $split_mut:ident $load:ident $store:ident
     $splat:ident $add:ident $sub:ident $mul:ident $fma:ident
     $div:ident $neg:ident $abs:ident $sqrt:ident) => {
        impl Vectors for $t {
            type Vector<S: Simd> = S::$s;

            #[inline(always)]
            fn split<S: Simd>(row: &[$t]) -> (&[S::$s], &[$t]) {
                S::$split(row)
            }
            #[inline(always)]
            fn split_mut<S: Simd>(row: &mut [$t]) -> (&mut [S::$s], &mut [$t]) {
                S::$split_mut(row)
            }
            #[inline(always)]
            fn load<S: Simd>(simd: S, part: &[$t]) -> S::$s {
                simd.$load(part)
            }
            #[inline(always)]
            fn store<S: Simd>(simd: S, part: &mut [$t], vector: S::$s) {
                simd.$store(part, vector);
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: $t) -> S::$s {
                simd.$splat(x)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn fma<S: Simd>(simd: S, a: S::$s, b: S::$s, c: S::$s) -> S::$s {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn over<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$div(a, b)
            }
            #[inline(always)]
            fn negative<S: Simd>(simd: S, a: S::$s) -> S::$s {
                simd.$neg(a)
            }
            #[inline(always)]
            fn size<S: Simd>(simd: S, a: S::$s) -> S::$s {
                simd.$abs(a)
            }
            #[inline(always)]
            fn root<S: Simd>(simd: S, a: S::$s) -> S::$s {
                simd.$sqrt(a)
            }
        }
    };
}
vectors!(f32 f32s as_simd_f32s as_mut_simd_f32s partial_load_f32s partial_store_f32s
         splat_f32s add_f32s sub_f32s mul_f32s mul_add_e_f32s
         div_f32s neg_f32s abs_f32s sqrt_f32s);
vectors!(f64 f64s as_simd_f64s as_mut_simd_f64s partial_load_f64s partial_store_f64s
         splat_f64s add_f64s sub_f64s mul_f64s mul_add_e_f64s
         div_f64s neg_f64s abs_f64s sqrt_f64s);

/// The numbers of a row that are in one register.
#[derive(Clone, Copy)]
pub(crate) struct Part<S> {
    simd: S,
    at: usize,
}

impl<S: Simd> Part<S> {
    /// Those of `row`.
    #[inline(always)]
    pub(crate) fn of<T: Vectors, const L: usize>(self, row: &[T; L]) -> T::Vector<S> {
        let (whole, rest) = T::split::<S>(row);
        match whole.get(self.at) {
            Some(vector) => *vector,
            None => T::load(self.simd, rest),
        }
    }
}

/// A row of L numbers, register by register.
#[inline(always)]
pub(crate) fn row<S: Simd, T: Vectors + Default, const L: usize>(
    simd: S,
    f: impl Fn(Part<S>) -> T::Vector<S>,
) -> [T; L] {
    let mut row = [T::default(); L];
    let (whole, rest) = T::split_mut::<S>(&mut row);
    let count = whole.len();
    for (at, to) in whole.iter_mut().enumerate() {
        *to = f(Part { simd, at });
    }
    if !rest.is_empty() {
        T::store(simd, rest, f(Part { simd, at: count }));
    }
    row
}

/// c x.
#[inline(always)]
pub(crate) fn scaled<S: Simd, T: Vectors + Default, const L: usize>(
    simd: S,
    c: T,
    x: &[T; L],
) -> [T; L] {
    let c = T::splat(simd, c);
    row(simd, |part| T::times(simd, part.of(x), c))
}

/// c x + y.
#[inline(always)]
pub(crate) fn added<S: Simd, T: Vectors + Default, const L: usize>(
    simd: S,
    c: T,
    x: &[T; L],
    y: &[T; L],
) -> [T; L] {
    let c = T::splat(simd, c);
    row(simd, |part| T::fma(simd, c, part.of(x), part.of(y)))
}

/// Numbers in one register, as one number of a formula: every operation is done on all of them.
pub(crate) struct Packed<S: Simd, T: Vectors>(pub(crate) S, pub(crate) T::Vector<S>);

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
        // SAFETY: it has no bytes, and stands for instructions that the machine has: formulas are evaluated where one is given.
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
            // SAFETY: a register is so many numbers.
            unsafe { *numbers.add(at) = (*numbers.add(at)).powf(exponent) };
        }
        Self(self.0, vector)
    }
}
