//! A scalar field in host memory.

use std::ops::{Deref, DerefMut};

use aligned_vec::{AVec, ConstAlign};

use crate::real::Real;

/// One value a point, `[k][j][i]` with i fastest, aligned to cache lines.
#[derive(Clone, Debug)]
pub struct Field<T>(AVec<T, ConstAlign<64>>);

impl<T: Real> Field<T> {
    /// A field of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self(AVec::from_iter(64, std::iter::repeat_n(T::ZERO, len)))
    }
}

impl<T> Deref for Field<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Field<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
