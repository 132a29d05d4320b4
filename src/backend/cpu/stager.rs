//! Loading the blocks of a tile one by one, after prefetching, while operators are applied.

use pulp::Simd;

use super::copy::Load;
use super::program::{Loaded, Slot};
use super::rows::{BLOCK, Rows};
use super::run::Job;
use super::tile::Group;
use crate::real::Real;

/// Number of blocks that are prefetched before they are loaded.
const PREFETCH_BLOCKS: usize = 3;

/// The part of a tile that is still to be loaded.
pub(super) struct Stager<'a, T> {
    tile: Group,
    /// The fields that are loaded, then those that are only prefetched.
    loads: &'a [Loaded],
    prefetches: &'a [Slot],
    rows: Rows<T>,
    /// Whether the last block comes first.
    backward: bool,
    /// Next block and field to be prefetched, and to be loaded.
    prefetched: (usize, usize),
    loaded: (usize, usize),
    /// Progress within a block of all fields: steps done, times fields.
    progress: usize,
}

impl<'a, T: Real> Stager<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        job: &Job<'_, T>,
        tile: Group,
        loads: &'a [Loaded],
        prefetches: &'a [Slot],
        rows: Rows<T>,
        backward: bool,
    ) -> Self {
        // Fields that begin a sum come last.
        let needed = match job.weights.beta {
            0.0 => loads.iter().take_while(|loaded| !loaded.is_old_sum).count(),
            _ => loads.len(),
        };
        let loads = &loads[..needed];
        Self {
            tile,
            loads,
            prefetches,
            rows,
            backward,
            prefetched: (0, 0),
            loaded: (0, 0),
            progress: 0,
        }
    }

    /// Number of fields.
    #[inline(always)]
    fn fields(&self) -> usize {
        self.loads.len() + self.prefetches.len()
    }

    /// One of `steps` steps in which all fields of a block are loaded.
    #[inline(always)]
    pub(super) fn step<S: Simd>(&mut self, simd: S, job: &Job<'_, T>, steps: usize) {
        self.progress += self.fields();
        while self.progress >= steps {
            self.progress -= steps;
            self.load(simd, job);
        }
    }

    /// Loads all remaining blocks.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&mut self, simd: S, job: &Job<'_, T>) {
        if self.fields() == 0 {
            return;
        }
        while self.loaded.0 < self.rows.blocks() {
            self.load(simd, job);
        }
    }

    #[inline(always)]
    fn load<S: Simd>(&mut self, simd: S, job: &Job<'_, T>) {
        if self.loaded == (0, 0) {
            for _ in 0..PREFETCH_BLOCKS {
                self.prefetch(job);
            }
        }
        self.prefetch(job);
        let (block, field) = self.loaded;
        if block == self.rows.blocks() {
            return;
        }
        if let Some(Loaded { field, to, .. }) = self.loads.get(field) {
            let block = self.block(block);
            let points = job.points(*field, self.tile, block * BLOCK);
            let to = self.rows.of_block(block).at(*to);
            let (field, column_stride) = (job.field(*field), self.rows.column_stride);
            simd.vectorize(Load { points, field, to, column_stride, prefetch_ahead: false });
        }
        self.loaded = after(self.loaded, self.fields());
    }

    #[inline(always)]
    fn prefetch(&mut self, job: &Job<'_, T>) {
        let (block, field) = self.prefetched;
        if block < self.rows.blocks() {
            let field = match self.loads.get(field) {
                Some(loaded) => loaded.field,
                None => self.prefetches[field - self.loads.len()],
            };
            job.points(field, self.tile, self.block(block) * BLOCK).prefetch(job.field(field));
            self.prefetched = after(self.prefetched, self.fields());
        }
    }

    #[inline(always)]
    fn block(&self, index: usize) -> usize {
        if self.backward { self.rows.blocks() - 1 - index } else { index }
    }
}

/// The next field, or the first field of the next block.
#[inline(always)]
fn after((block, field): (usize, usize), fields: usize) -> (usize, usize) {
    if field + 1 == fields { (block + 1, 0) } else { (block, field + 1) }
}
