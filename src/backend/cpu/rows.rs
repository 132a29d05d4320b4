//! Memory of a thread: the rows of a tile of lines, block by block.
//!
//! A row is one point of every line of the tile, one cache line. 32 rows of one quantity form a block; the blocks of
//! all quantities for the same points follow each other, with an unused row between them, so that data used together do
//! not share a set of the L1 cache.

use super::field::Field;
use super::memory::CACHE_LINE;
use crate::huge_pages::HUGE_PAGE;
use crate::real::Real;
use crate::scheme::MAX_WIDTH;

/// Rows per block. Decisions made once per block cost less in longer blocks; with 64 rows the quantities of a block no
/// longer fit in the L1 cache.
pub(super) const BLOCK: usize = 32;

/// Rows of a block are processed in groups of this size: the valid rows of the last block, and padding that fills the
/// last group.
pub(super) const GROUP: usize = 8;

/// Lines per tile.
pub(super) const fn lanes<T>() -> usize {
    CACHE_LINE / size_of::<T>()
}

/// Distance between the blocks of two quantities, in numbers: an odd number of rows, so that equal rows of all
/// quantities are in different sets of the L1 cache.
pub(super) const fn block_len<T>() -> usize {
    (BLOCK + 1) * lanes::<T>()
}

/// Storage location of a quantity within the blocks of all quantities for the same points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Offset from the first of them, in numbers; the reused blocks lie before it.
    offset: isize,
    /// All bits set if the quantity is stored for all points, 0 if it has a single block that is reused.
    mask: usize,
}

impl Place {
    /// Whether the quantity is stored for all points, and its offset in numbers from the start of such quantities, see
    /// [`Blocks::starts`].
    #[cfg(target_arch = "x86_64")]
    pub(super) fn address(self) -> (bool, isize) {
        (self.mask != 0, self.offset)
    }

    /// Location number `at` of the quantities stored for all points.
    pub(super) fn line<T>(at: usize) -> Self {
        Self { offset: (at * block_len::<T>()).cast_signed(), mask: usize::MAX }
    }

    /// Location number `at` of the blocks that are reused for the next points.
    pub(super) fn block<T>(at: usize) -> Self {
        Self { offset: -((at + 1) * block_len::<T>()).cast_signed(), mask: 0 }
    }
}

/// The blocks of all quantities for the same points.
#[derive(Clone, Copy)]
pub(super) struct Blocks<T> {
    /// The first block of a line.
    first: *mut T,
    /// Distance from there to this block, in numbers.
    offset: usize,
}

impl<T: Real> Blocks<T> {
    /// Start of the quantities that are stored for all points, in this block, and of those that are reused, which lie
    /// before it.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn starts(self) -> [*mut T; 2] {
        [self.first.wrapping_add(self.offset), self.first]
    }

    /// The block of one quantity.
    #[inline(always)]
    pub(super) fn at(self, place: Place) -> *mut T {
        self.first.wrapping_offset(place.offset).wrapping_add(self.offset & place.mask)
    }
}

/// Memory needed by a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// Number of blocks stored for all points.
    pub(super) line: usize,
    /// Number of blocks that are reused.
    pub(super) block: usize,
    /// Number of rows that are carried from one block to the next.
    pub(super) carried: usize,
}

/// Rows of the widest operand window of a block, and of its right-hand sides.
const WINDOW: usize = BLOCK + 2 * MAX_WIDTH;
const SHARED: usize = WINDOW + BLOCK;

/// The memory of one thread. It grows when a larger program is first run and is kept.
pub(super) struct Scratch<T>(Field<T>);

impl<T: Real> Default for Scratch<T> {
    fn default() -> Self {
        Self(Field::zeros(0))
    }
}

impl<T: Real> Scratch<T> {
    /// Provides memory for `columns` tiles of lines of `points` points.
    pub(super) fn rows(&mut self, needs: Needs, points: usize, columns: usize) -> Rows<T> {
        let blocks = points.div_ceil(BLOCK);
        let carried = (SHARED + needs.carried) * lanes::<T>();
        let shared = needs.block * block_len::<T>();
        let column_stride = carried + shared + blocks * needs.line * block_len::<T>();
        let len = columns * column_stride;
        if self.0.len() < len {
            self.0 = Field::zeros(len.max(HUGE_PAGE / size_of::<T>()));
        }
        let start = self.0.as_mut_ptr();
        let first = start.wrapping_add(carried + shared);
        Rows {
            carried: start,
            first,
            block_stride: needs.line * block_len::<T>(),
            column_stride,
            points,
        }
    }
}

/// The rows of one program in the memory of a thread.
#[derive(Clone, Copy)]
pub(super) struct Rows<T> {
    carried: *mut T,
    /// The first block of a line.
    first: *mut T,
    /// Distance from one block of a quantity to the next, in numbers.
    block_stride: usize,
    /// Size of one of several tiles, in numbers.
    pub(super) column_stride: usize,
    pub(super) points: usize,
}

impl<T: Real> Rows<T> {
    /// Start of the memory of all tiles.
    pub(super) fn start(self) -> *mut T {
        self.carried
    }

    /// The memory of tile `index` of those that are processed together.
    pub(super) fn of_column(self, index: usize) -> Self {
        let moved = |at: *mut T| at.wrapping_add(index * self.column_stride);
        Self { carried: moved(self.carried), first: moved(self.first), ..self }
    }

    pub(super) fn blocks(self) -> usize {
        self.points.div_ceil(BLOCK)
    }

    /// Number of valid rows of block `index`.
    #[inline(always)]
    pub(super) fn valid_rows(self, index: usize) -> usize {
        BLOCK.min(self.points - index * BLOCK)
    }

    /// The same number, padded to complete groups.
    #[inline(always)]
    pub(super) fn padded_rows(self, index: usize) -> usize {
        self.valid_rows(index).next_multiple_of(GROUP)
    }

    /// Block `index` of all quantities.
    #[inline(always)]
    pub(super) fn of_block(self, index: usize) -> Blocks<T> {
        Blocks { first: self.first, offset: index * self.block_stride }
    }

    /// Row `m` of a quantity that is stored for all points.
    #[inline(always)]
    pub(super) fn row(self, place: Place, m: usize) -> *mut T {
        self.of_block(m / BLOCK).at(place).wrapping_add(m % BLOCK * lanes::<T>())
    }

    /// Block and row offset of row `m`, which wraps around the line beyond the last point.
    #[inline(always)]
    pub(super) fn wrapped(self, m: usize) -> (Blocks<T>, usize) {
        let m = if m < self.points { m } else { m % self.points };
        (self.of_block(m / BLOCK), m % BLOCK * lanes::<T>())
    }

    #[inline(always)]
    pub(super) fn carried(self, at: usize) -> *mut T {
        self.carried.wrapping_add((SHARED + at) * lanes::<T>())
    }

    /// Workspace for the rows of an operand that a block reads, and for the right-hand sides of its rows.
    pub(super) fn window(self) -> *mut T {
        self.carried
    }

    pub(super) fn right_hand_sides(self) -> *mut T {
        self.carried.wrapping_add(WINDOW * lanes::<T>())
    }

    pub(super) fn offset(self, row: *mut T, count: usize) -> *mut T {
        row.wrapping_add(count * lanes::<T>())
    }

    pub(super) fn copy(self, from: *const T, to: *mut T, count: usize) {
        // SAFETY: rows of this thread's memory.
        unsafe { from.copy_to(to, count * lanes::<T>()) };
    }

    /// The same memory for lines of fewer points.
    pub(super) fn with_points(self, points: usize) -> Self {
        Self { points, ..self }
    }
}
