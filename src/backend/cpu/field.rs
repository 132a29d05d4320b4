//! A scalar field in host memory.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use aligned_vec::{AVec, RuntimeAlign};

use super::memory::CACHE_LINE;
use crate::huge_pages::{self, HUGE_PAGE};
use crate::real::Real;

/// Large fields start at one of this many different offsets from a huge page, which differ by this many cache lines.
/// Otherwise the same point of all fields would map to one cache set, which holds eight lines.
const START_OFFSETS: usize = 16;
const OFFSET_CACHE_LINES: usize = 73;

/// One value per point, `[k][j][i]` with i fastest, aligned to cache lines.
#[derive(Debug)]
pub struct Field<T> {
    memory: AVec<T, RuntimeAlign>,
    /// Offset of the first value.
    start: usize,
}

impl<T: Real> Field<T> {
    /// Creates a field of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        static FIELDS: AtomicUsize = AtomicUsize::new(0);
        let huge = len * size_of::<T>() >= HUGE_PAGE;
        let start = match huge {
            true => {
                FIELDS.fetch_add(1, Relaxed) % START_OFFSETS * OFFSET_CACHE_LINES * CACHE_LINE
                    / size_of::<T>()
            }
            false => 0,
        };
        let len = start + len;
        let mut memory = AVec::with_capacity(if huge { HUGE_PAGE } else { CACHE_LINE }, len);
        if huge {
            huge_pages::request(memory.as_mut_ptr(), len * size_of::<T>());
        }
        memory.resize(len, T::ZERO);
        Self { memory, start }
    }
}

impl<T: Real> Clone for Field<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for Field<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start..]
    }
}

impl<T> DerefMut for Field<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..]
    }
}
