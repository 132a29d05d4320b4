//! Number of lines per block, and number of chunks per line.

use std::collections::HashSet;

use super::super::DeviceInfo;
use super::super::ends::Lines;
use super::super::lines::bank_row;
use super::body::Capacity;
use crate::backend::SweepConfig;
use crate::real::Precision;

/// 32-bit registers of a quarter of a multiprocessor, and largest number per thread.
const REGISTERS: usize = 16384;
const MAX_REGISTERS: usize = 255;
/// Threads per warp.
const WARP: usize = 32;
/// Bytes of on-chip memory that the system takes per block. NVRTC 13 counts them as memory of the kernel itself for
/// sm_90, so that a block may request this much less than the device reports.
const SYSTEM_BYTES: usize = 1 << 10;
/// Number of threads per multiprocessor; registers per thread in addition to 8 per point of its chunk and the values of
/// its points; and chunk lengths, best first. The register numbers are those that `ptxas` needed without spills. Long
/// chunks exchange less: separators twice as far apart couple to half as many others.
const RESIDENT: [(usize, usize, [usize; 5]); 2] =
    [(256, 56, [8, 7, 6, 5, 4]), (512, 48, [4, 5, 6, 8, 7])];
/// Smallest number of threads per block, if there are enough lines.
const MIN_THREADS: usize = 128;
/// Width in bytes of a tile of lines along y or z, over neighbouring points in memory: two cache sectors, or one.
const TILE_BYTES: [usize; 2] = [64, 32];
/// Half a sector, if lines are too long for full sectors; the next block finds the other half in the L2 cache.
const NARROW_BYTES: [usize; 1] = [16];
/// Bytes of an on-chip index.
const INDEX_BYTES: usize = 2;

/// The tile of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Number of chunks per line.
    pub(super) chunks: usize,
    /// Points of the longest chunk.
    pub(super) length: usize,
    /// Lines per block.
    pub(super) lanes: usize,
    /// Blocks per multiprocessor that fit in registers and on-chip memory.
    pub(super) resident: usize,
    /// On-chip words between points j and j + 1 of the chunks.
    pub(super) stride: usize,
    /// On-chip words for the staging index of each point of a tile along x, if the index is not a simple function of the
    /// thread.
    pub(super) index_words: usize,
    /// On-chip words that operators use: one field of the tile, exchanged values of chunks, tables, and indices.
    pub(super) words: usize,
    pub(super) capacity: Capacity,
    /// Whether it loads half sectors.
    is_narrow: bool,
}

impl Shape {
    /// Returns the blocks that a device can start for lines with half-bandwidths up to `p`, best first. A thread has 255
    /// registers: with 8 points in f64 they hold 8 values per point, and 256 threads of a multiprocessor can park 12 more
    /// in 226 KiB. Alternatively a thread has 128 registers, with twice as many threads of half as many points each. A
    /// sweep is not one kernel if neither holds its values, which is the case
    ///
    /// - if lines have more points than 512 threads take by 4 or 256 by 8: along x 2048, along y and z, where a block
    ///   takes at least two lines, 1024 in f64; more in f32, as far as memory allows;
    /// - if its values need more on-chip memory than the device has, even with fields loaded again: the last sweep of a
    ///   stage on 1024 points, several sweeps on fewer if a block may take less than 226 KiB.
    ///
    /// Blocks that do not match `requested` are left out: there may be fewer blocks, or none. `words` returns, for a number
    /// of chunks, the on-chip words that they exchange per line, and the words of the tables per block.
    pub(super) fn all(
        lines: Lines,
        p: usize,
        precision: Precision,
        info: &DeviceInfo,
        requested: SweepConfig,
        words: impl Fn(usize) -> [usize; 2],
    ) -> Vec<Self> {
        let size = precision.bytes();
        let mut all: Vec<Self> = Vec::new();
        let requested_bytes = requested.lines.map(|lines| [lines * size]);
        let widths = match &requested_bytes {
            Some(bytes) => &[&bytes[..]][..],
            None => &[&TILE_BYTES[..], &NARROW_BYTES],
        };
        for bytes in widths {
            let mut some = Vec::new();
            for (resident_threads, extra_registers, lengths) in RESIDENT {
                let is_requested =
                    |length: &usize| requested.points.is_none_or(|points| points == *length);
                for length in lengths.into_iter().filter(is_requested) {
                    for bytes in *bytes {
                        let tile = if lines.inner == 1 { 1 } else { bytes / size };
                        let shape = Self::new(
                            lines,
                            (p, precision),
                            [length, tile],
                            (resident_threads, extra_registers),
                            (info.on_chip, requested),
                            &words,
                        );
                        if requested.resident.is_none_or(|n| shape.belongs_to(n, resident_threads))
                        {
                            some.push(shape);
                        }
                    }
                }
            }
            some.sort_by_key(|shape| !shape.is_even(lines.points));
            some.retain(|shape| {
                lines.points >= 2
                    && shape.threads() <= info.block_threads
                    && shape.words * size + SYSTEM_BYTES <= info.on_chip
                    && (requested.resident.is_none() || shape.fits(size, info.on_chip))
            });
            all.extend(some);
        }
        // Tiles of several widths coincide if a block takes more lines than any of the widths.
        let mut known = HashSet::new();
        all.retain(|shape| known.insert((shape.chunks, shape.lanes, shape.capacity)));
        all
    }

    /// Returns the same block with `fewer` fewer values per point in registers, if some remain.
    pub(super) fn with_fewer(self, fewer: usize) -> Option<Self> {
        let registers = self.capacity.registers.checked_sub(fewer).filter(|left| *left > 0)?;
        Some(Self { capacity: Capacity { registers, ..self.capacity }, ..self })
    }

    fn new(
        lines: Lines,
        (p, precision): (usize, Precision),
        [length, tile]: [usize; 2],
        (resident_threads, extra_registers): (usize, usize),
        (on_chip, requested): (usize, SweepConfig),
        words: &impl Fn(usize) -> [usize; 2],
    ) -> Self {
        let n = lines.points;
        let chunks = n.div_ceil(length).min(n / (2 * p).max(2)).max(1);
        let usual = tile.max(MIN_THREADS / chunks / tile * tile);
        let lanes = requested.lines.unwrap_or(usual).min(lines.count);
        let (length, threads) = (n.div_ceil(chunks), chunks * lanes);
        let warps = threads.div_ceil(WARP);
        let resident = requested.resident.unwrap_or(resident_blocks(resident_threads, warps));
        let row = bank_row(precision);
        let gathers = lines.inner == 1 && length < row;
        let stride = threads.next_multiple_of(row) + if gathers { row / length } else { 0 };
        let is_plain = lines.inner > 1 || (chunks * length == n && threads.is_multiple_of(length));
        let index_words =
            if is_plain { 0 } else { (length * threads * INDEX_BYTES).div_ceil(precision.bytes()) };
        let [exchanged, tables] = words(chunks);
        let words = length * stride + exchanged * lanes + tables + index_words;
        let share = REGISTERS / (WARP * (resident * warps).div_ceil(4));
        let registers = (share / 8 * 8).min(MAX_REGISTERS);
        let free = registers.saturating_sub(extra_registers + 8 * length);
        let share = ((on_chip + SYSTEM_BYTES) / resident).min(on_chip).saturating_sub(SYSTEM_BYTES);
        let words_left = (share / precision.bytes()).saturating_sub(words);
        let capacity = Capacity {
            registers: free * 4 / (length * precision.bytes()),
            on_chip: words_left / (length * stride),
        };
        let is_narrow = lines.inner > 1 && tile * precision.bytes() <= NARROW_BYTES[0];
        Self { chunks, length, lanes, resident, stride, index_words, words, capacity, is_narrow }
    }

    /// Whether `requested` blocks belong to the entry of [`RESIDENT`] with `resident_threads` threads: the first entry with enough
    /// threads, or the last.
    fn belongs_to(&self, requested: usize, resident_threads: usize) -> bool {
        let warps = self.threads().div_ceil(WARP);
        let entries = RESIDENT.map(|(threads, ..)| threads);
        let first =
            entries.into_iter().find(|threads| resident_blocks(*threads, warps) >= requested);
        first.or(entries.last().copied()) == Some(resident_threads)
    }

    /// Whether its blocks fit in on-chip memory, for numbers of `size` bytes.
    fn fits(&self, size: usize, on_chip: usize) -> bool {
        self.resident * (self.words * size + SYSTEM_BYTES) <= on_chip + SYSTEM_BYTES
    }

    /// Whether it is efficient enough to save another pass: full sectors, and chunks of equal length, whose constants are
    /// in the kernel text.
    pub(super) fn is_good(&self, points: usize) -> bool {
        self.is_even(points) && !self.is_narrow
    }

    /// Whether all chunks have the same length.
    pub(super) fn is_even(&self, points: usize) -> bool {
        self.chunks * self.length == points
    }

    pub(super) fn threads(&self) -> usize {
        self.chunks * self.lanes
    }

    /// Returns the number of values per block that do not fit in registers, with `live` values per point.
    pub(super) fn excess_values(&self, live: usize) -> usize {
        live.saturating_sub(self.capacity.registers) * self.length * self.threads()
    }

    /// Returns the on-chip words of a block, with `parked` parked values per point.
    pub(super) fn on_chip(&self, parked: usize) -> usize {
        self.words + parked * self.length * self.stride
    }
}

/// Returns the number of blocks of `warps` warps on a multiprocessor with `threads` threads.
fn resident_blocks(threads: usize, warps: usize) -> usize {
    (threads / (WARP * warps)).max(1)
}
