//! How many lines a block takes, and into how many chunks they are cut.

use std::collections::HashSet;

use super::super::DeviceInfo;
use super::super::ends::Lines;
use super::super::lines::bank_row;
use super::body::Room;
use crate::backend::SweepConfig;
use crate::real::Precision;

/// Registers of 32 bits that a quarter of a multiprocessor has for its warps, and a thread at most.
const REGISTERS: usize = 16384;
const MOST_REGISTERS: usize = 255;
/// Threads of a warp.
const WARP: usize = 32;
/// Bytes of on-chip memory that the system takes beside each block. NVRTC 13 counts them as memory of the kernel itself for sm_90, so
/// that a block may ask for so much less than the device says.
const SYSTEM: usize = 1 << 10;
/// Threads that a multiprocessor holds, registers that each needs beside 8 a point of its chunk and the values of its points, and the
/// points of a chunk, what is best first. The registers are what `ptxas` was seen to need without spills. Long chunks exchange less: separators that lie twice as far apart know half as many others.
const RESIDENT: [(usize, usize, [usize; 5]); 2] =
    [(256, 56, [8, 7, 6, 5, 4]), (512, 48, [4, 5, 6, 8, 7])];
/// Threads of a block at least, where there are lines enough.
const THREADS: usize = 128;
/// Bytes of neighbouring points in memory that a tile of lines along y or z is wide: two of the sectors that caches are
/// filled by, or one.
const TILE_BYTES: [usize; 2] = [64, 32];
/// Half a sector, where lines are too long for that; the next block finds the rest in the second cache.
const NARROW_BYTES: [usize; 1] = [16];
/// Bytes of the number of a place on chip.
const PLACE: usize = 2;

/// The tile of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Chunks of a line.
    pub(super) chunks: usize,
    /// Points of the longest of them.
    pub(super) length: usize,
    /// Lines of a block.
    pub(super) lanes: usize,
    /// Blocks that a multiprocessor has registers and on-chip memory for.
    pub(super) resident: usize,
    /// Words on chip from one point of the chunks to the next.
    pub(super) stride: usize,
    /// Words on chip that say where each point of a tile along x is staged, where that is no plain function of the thread.
    pub(super) places: usize,
    /// Words on chip that operators take: one field of the tile, what chunks exchange, tables, and places.
    pub(super) words: usize,
    pub(super) room: Room,
    /// Whether it takes sectors by halves.
    is_narrow: bool,
}

impl Shape {
    /// Those that a device can start for lines with half-bandwidths up to `p`, what is best first. A thread has 255 registers: with 8
    /// points in f64 that is room for 8 values of a point, and 256 threads of a multiprocessor can park 12 more in 226 KiB; or 128 of twice
    /// as many threads and half as many points. A sweep is no kernel where neither holds its values, which is so
    ///
    /// - where lines have more points than 512 threads take by 4 or 256 by 8: along x 2048, along y and z, where a block takes two
    ///   lines at least, 1024 in f64; more in f32, as far as there is room;
    /// - where its values need more on-chip memory than the device has, even with fields loaded again: the last sweep of a stage on
    ///   1024 points, several sweeps on fewer where a block may take less than 226 KiB.
    ///
    /// What is `asked` for is not left to choose: there may be fewer of them, or none. `words` are those on chip that so many chunks of a
    /// line exchange, and those of the tables of a block.
    pub(super) fn all(
        lines: Lines,
        p: usize,
        precision: Precision,
        info: &DeviceInfo,
        asked: SweepConfig,
        words: impl Fn(usize) -> [usize; 2],
    ) -> Vec<Self> {
        let size = precision.bytes();
        let mut all: Vec<Self> = Vec::new();
        let asked_bytes = asked.lines.map(|lines| [lines * size]);
        let widths = match &asked_bytes {
            Some(bytes) => &[&bytes[..]][..],
            None => &[&TILE_BYTES[..], &NARROW_BYTES],
        };
        for bytes in widths {
            let mut some = Vec::new();
            for (held, others, lengths) in RESIDENT {
                let is_asked = |length: &usize| asked.points.is_none_or(|points| points == *length);
                for length in lengths.into_iter().filter(is_asked) {
                    for bytes in *bytes {
                        let tile = if lines.inner == 1 { 1 } else { bytes / size };
                        let shape = Self::new(
                            lines,
                            (p, precision),
                            [length, tile],
                            (held, others),
                            (info.on_chip, asked),
                            &words,
                        );
                        if asked.resident.is_none_or(|blocks| shape.holds(blocks, held)) {
                            some.push(shape);
                        }
                    }
                }
            }
            some.sort_by_key(|shape| !shape.is_even(lines.points));
            some.retain(|shape| {
                lines.points >= 2
                    && shape.threads() <= info.block_threads
                    && shape.words * size + SYSTEM <= info.on_chip
                    && (asked.resident.is_none() || shape.fits(size, info.on_chip))
            });
            all.extend(some);
        }
        // Tiles of several widths are one where a block takes more lines than any of them has.
        let mut known = HashSet::new();
        all.retain(|shape| known.insert((shape.chunks, shape.lanes, shape.room)));
        all
    }

    /// The same with so many values of a point fewer in registers, as long as some are left.
    pub(super) fn with_fewer(self, fewer: usize) -> Option<Self> {
        let registers = self.room.registers.checked_sub(fewer).filter(|left| *left > 0)?;
        Some(Self { room: Room { registers, ..self.room }, ..self })
    }

    fn new(
        lines: Lines,
        (p, precision): (usize, Precision),
        [length, tile]: [usize; 2],
        (held, others): (usize, usize),
        (on_chip, asked): (usize, SweepConfig),
        words: &impl Fn(usize) -> [usize; 2],
    ) -> Self {
        let n = lines.points;
        let chunks = n.div_ceil(length).min(n / (2 * p).max(2)).max(1);
        let usual = tile.max(THREADS / chunks / tile * tile);
        let lanes = asked.lines.unwrap_or(usual).min(lines.count);
        let (length, threads) = (n.div_ceil(chunks), chunks * lanes);
        let warps = threads.div_ceil(WARP);
        let resident = asked.resident.unwrap_or(blocks(held, warps));
        let row = bank_row(precision);
        let gathers = lines.inner == 1 && length < row;
        let stride = threads.next_multiple_of(row) + if gathers { row / length } else { 0 };
        let is_plain = lines.inner > 1 || (chunks * length == n && threads.is_multiple_of(length));
        let places =
            if is_plain { 0 } else { (length * threads * PLACE).div_ceil(precision.bytes()) };
        let [exchanged, tables] = words(chunks);
        let words = length * stride + exchanged * lanes + tables + places;
        let share = REGISTERS / (WARP * (resident * warps).div_ceil(4));
        let registers = (share / 8 * 8).min(MOST_REGISTERS);
        let free = registers.saturating_sub(others + 8 * length);
        let share = ((on_chip + SYSTEM) / resident).min(on_chip).saturating_sub(SYSTEM);
        let words_left = (share / precision.bytes()).saturating_sub(words);
        let room = Room {
            registers: free * 4 / (length * precision.bytes()),
            on_chip: words_left / (length * stride),
        };
        let is_narrow = lines.inner > 1 && tile * precision.bytes() <= NARROW_BYTES[0];
        Self { chunks, length, lanes, resident, stride, places, words, room, is_narrow }
    }

    /// Whether so many blocks are of the line of [`RESIDENT`] with `held` threads: the first that has as many, or the last.
    fn holds(&self, asked: usize, held: usize) -> bool {
        let warps = self.threads().div_ceil(WARP);
        let lines = RESIDENT.map(|(held, ..)| held);
        let first = lines.into_iter().find(|held| blocks(*held, warps) >= asked);
        first.or(lines.last().copied()) == Some(held)
    }

    /// Whether on-chip memory has room for its blocks, in numbers of `size` bytes.
    fn fits(&self, size: usize, on_chip: usize) -> bool {
        self.resident * (self.words * size + SYSTEM) <= on_chip + SYSTEM
    }

    /// Whether it is worth another pass less: whole sectors, and chunks of one length, whose numbers are in the text.
    pub(super) fn is_good(&self, points: usize) -> bool {
        self.is_even(points) && !self.is_narrow
    }

    /// Whether chunks are of one length.
    pub(super) fn is_even(&self, points: usize) -> bool {
        self.chunks * self.length == points
    }

    pub(super) fn threads(&self) -> usize {
        self.chunks * self.lanes
    }

    /// Values of a block that there are no registers for where `live` of a point are in registers.
    pub(super) fn lacking(&self, live: usize) -> usize {
        live.saturating_sub(self.room.registers) * self.length * self.threads()
    }

    /// Words on chip of a block in all, `parked` values of a point parked.
    pub(super) fn on_chip(&self, parked: usize) -> usize {
        self.words + parked * self.length * self.stride
    }
}

/// Blocks of so many warps that a multiprocessor holds which holds so many threads.
fn blocks(threads: usize, warps: usize) -> usize {
    (threads / (WARP * warps)).max(1)
}
