//! How many lines a block takes, and into how many chunks they are cut.

/// Points of a chunk, what has spilled least first.
const LENGTHS: [usize; 3] = [4, 8, 2];
/// Registers of 32 bits of a multiprocessor and of a thread at most, and those that a thread needs beside the values of its
/// points.
const REGISTERS: usize = 65536;
const MOST_REGISTERS: usize = 255;
const OTHER_REGISTERS: usize = 116;
/// Threads of a block at least, where there are lines enough.
const THREADS: usize = 128;
/// Bytes of neighbouring points in memory that a tile of lines along y or z is wide: two of the sectors that caches are
/// filled by, or one.
const TILE_BYTES: [usize; 2] = [64, 32];

/// The tile of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Chunks of a line.
    pub(super) chunks: usize,
    /// Lines of a block.
    pub(super) lanes: usize,
    /// Whether a multiprocessor has registers enough for a block, as far as that can be said beforehand.
    pub(super) has_registers: bool,
}

impl Shape {
    /// Values of a point that a thread has registers for where chunks are as long as they can be.
    pub(super) fn room<T>() -> usize {
        (MOST_REGISTERS - OTHER_REGISTERS) * 4 / (LENGTHS[1] * size_of::<T>())
    }

    /// For lines of `n` points, neighbours `inner` apart, half-bandwidths up to `p`, and `live` values of a point in
    /// registers at a time; `None` where a block would need more than `most` threads.
    pub(super) fn new<T>(
        [n, lines, inner]: [usize; 3],
        p: usize,
        live: usize,
        most: usize,
    ) -> Option<Self> {
        let tiles = TILE_BYTES.map(|bytes| if inner == 1 { 1 } else { bytes / size_of::<T>() });
        let shape = |length: usize, tile: usize| {
            let chunks = n.div_ceil(length).min(n / (2 * p).max(2)).max(1);
            let lanes = tile.max(THREADS / chunks / tile * tile).min(lines);
            let needed = live * length * size_of::<T>() / 4 + OTHER_REGISTERS;
            let threads = chunks * lanes;
            let lacking =
                needed.saturating_sub((REGISTERS / threads).min(MOST_REGISTERS)) * threads;
            (Self { chunks, lanes, has_registers: lacking == 0 }, lacking)
        };
        let all = LENGTHS.into_iter().flat_map(|length| tiles.map(|tile| shape(length, tile)));
        let starts = |(shape, _): &(Self, usize)| n >= 2 && shape.chunks * shape.lanes <= most;
        all.filter(starts).min_by_key(|(_, lacking)| *lacking).map(|(shape, _)| shape)
    }
}
