//! Storage layout of the planes of the operands of one stage.

use super::{BlockCoupling, slot};

/// Slots follow one another, and within a slot the planes of all operands, so that the data for one neighbour are
/// contiguous. Counted in planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First plane of every operand's part of every slot: `[operand][slot]`.
    pub starts: Vec<Vec<usize>>,
    /// First plane of every slot, and the total number of planes at the end.
    pub slots: Vec<usize>,
}

impl Layout {
    /// Builds the layout from the number of planes of every slot of every operand: `[operand][slot]`.
    ///
    /// # Panics
    /// If the operands differ in their number of slots.
    pub fn new(widths: &[Vec<usize>]) -> Self {
        let count = widths.first().map_or(0, Vec::len);
        assert!(widths.iter().all(|widths| widths.len() == count), "plans of different methods");
        let mut starts = vec![Vec::with_capacity(count); widths.len()];
        let mut slots = Vec::with_capacity(count + 1);
        let mut next = 0;
        for slot in 0..count {
            slots.push(next);
            for (starts, widths) in starts.iter_mut().zip(widths) {
                starts.push(next);
                next += widths[slot];
            }
        }
        slots.push(next);
        Self { starts, slots }
    }

    /// Layout of the slots with a fixed meaning only, which come first in every layout.
    pub(crate) fn of_ends<'a, T: 'a>(ends: impl Iterator<Item = &'a BlockCoupling<T>>) -> Self {
        Self::new(&ends.map(|ends| ends.widths().to_vec()).collect::<Vec<_>>())
    }

    /// Number of planes of all slots together.
    pub fn planes(&self) -> usize {
        self.slots.last().copied().unwrap_or(0)
    }
}

/// Plane offsets of one operand in the slots with a fixed meaning.
pub(crate) type PlaneOffsets = [usize; slot::FREE];
