//! Where the planes of the operands of one stage lie.

use super::{BlockCoupling, slot};

/// Slot after slot, in each the planes of one operand after those of another: what goes to one neighbour lies together.
/// Counted in planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First plane of every operand's part of every slot: `[operand][slot]`.
    pub starts: Vec<Vec<usize>>,
    /// First plane of every slot, and of what would follow the last one.
    pub slots: Vec<usize>,
}

impl Layout {
    /// From the planes of every slot of every operand: `[operand][slot]`.
    ///
    /// # Panics
    /// Where the operands differ in their number of slots.
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

    /// For the slots with a fixed meaning only, which come first in every layout.
    pub(crate) fn of_ends<'a, T: 'a>(ends: impl Iterator<Item = &'a BlockCoupling<T>>) -> Self {
        Self::new(&ends.map(|ends| ends.widths().to_vec()).collect::<Vec<_>>())
    }

    /// Planes of all slots together.
    pub fn planes(&self) -> usize {
        self.slots.last().copied().unwrap_or(0)
    }
}

/// The planes of one operand in the slots with a fixed meaning.
pub(crate) type PlaneOffsets = [usize; slot::FREE];
