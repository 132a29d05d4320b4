//! Loading the blocks of a tile one by one, after prefetching, while operators are applied.

use pulp::Simd;

use super::copy::Load;
use super::program::{Loaded, Slot};
use super::rows::{BLOCK, Rows};
use super::run::Job;
use super::tile::Group;
use crate::real::Real;

/// Number of blocks that are prefetched before they are loaded.
const AHEAD: usize = 3;

/// The part of a tile that is still to be loaded.
pub(super) struct Stager<'a, T> {
    tile: Group,
    /// The fields that are loaded, then those that are only prefetched.
    loads: &'a [Loaded],
    fetches: &'a [Slot],
    rows: Rows<T>,
    /// Whether the last block comes first.
    up: bool,
    /// Next block and field to be prefetched, and to be loaded.
    fetched: (usize, usize),
    loaded: (usize, usize),
    /// Progress within a block of all fields: steps done, times fields.
    credit: usize,
}

impl<'a, T: Real> Stager<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        job: &Job<'_, T>,
        tile: Group,
        loads: &'a [Loaded],
        fetches: &'a [Slot],
        rows: Rows<T>,
        up: bool,
    ) -> Self {
        // Fields that begin a sum come last.
        let needed = match job.weights.beta {
            0.0 => loads.iter().take_while(|loaded| !loaded.begins).count(),
            _ => loads.len(),
        };
        let loads = &loads[..needed];
        Self { tile, loads, fetches, rows, up, fetched: (0, 0), loaded: (0, 0), credit: 0 }
    }

    /// Number of fields.
    #[inline(always)]
    fn fields(&self) -> usize {
        self.loads.len() + self.fetches.len()
    }

    /// One of `steps` steps in which all fields of a block are loaded.
    #[inline(always)]
    pub(super) fn step<S: Simd>(&mut self, simd: S, job: &Job<'_, T>, steps: usize) {
        self.credit += self.fields();
        while self.credit >= steps {
            self.credit -= steps;
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
            for _ in 0..AHEAD {
                self.fetch(job);
            }
        }
        self.fetch(job);
        let (block, field) = self.loaded;
        if block == self.rows.blocks() {
            return;
        }
        if let Some(Loaded { field, to, .. }) = self.loads.get(field) {
            let block = self.block(block);
            let points = job.points(*field, self.tile, block * BLOCK);
            let to = self.rows.of_block(block).at(*to);
            let (field, apart) = (job.field(*field), self.rows.column);
            simd.vectorize(Load { points, field, to, apart, ahead: false });
        }
        self.loaded = after(self.loaded, self.fields());
    }

    #[inline(always)]
    fn fetch(&mut self, job: &Job<'_, T>) {
        let (block, field) = self.fetched;
        if block < self.rows.blocks() {
            let field = match self.loads.get(field) {
                Some(loaded) => loaded.field,
                None => self.fetches[field - self.loads.len()],
            };
            job.points(field, self.tile, self.block(block) * BLOCK).fetch(job.field(field));
            self.fetched = after(self.fetched, self.fields());
        }
    }

    #[inline(always)]
    fn block(&self, index: usize) -> usize {
        if self.up { self.rows.blocks() - 1 - index } else { index }
    }
}

/// The next field, or the first field of the next block.
#[inline(always)]
fn after((block, field): (usize, usize), fields: usize) -> (usize, usize) {
    if field + 1 == fields { (block + 1, 0) } else { (block, field + 1) }
}
