//! `chunked`: a thread eliminates a chunk of a line in registers.

use super::super::text::Text;
use super::plan::{Plan, Slot, Step, tolerance};
use crate::error::Result;
use crate::lines::{Chunk, Chunks};
use crate::real::Real;

/// What all kernels share that have a thread a chunk, and what one of them does.
pub(in crate::backend::device) const CHUNKS: &str =
    include_str!("../../../../kernels/lines/chunks.cu");
pub(in crate::backend::device) const ELIMINATE: &str =
    include_str!("../../../../kernels/lines/eliminate.cu");
const KERNEL: &str = include_str!("../../../../kernels/lines/chunked.cu");
/// Bytes of neighbouring points in memory that a tile of lines along y or z is wide.
const TILE_BYTES: usize = 64;
/// Threads of a block that lines along x are gathered to.
const THREADS: usize = 128;
/// Threads of a block at most, while chunks can be made longer.
const MOST_THREADS: usize = 512;
/// Points of a chunk, from what fits into few registers on.
const LENGTHS: [usize; 3] = [8, 16, 32];

/// Points of a chunk and lines of a block of at most `most` threads.
fn shape<T: Real>(n: usize, lines: usize, inner: usize, most: usize) -> (usize, usize) {
    let most = most.min(MOST_THREADS);
    let tile = if inner == 1 { 1 } else { TILE_BYTES / size_of::<T>() };
    let fits = |length: &usize| n.div_ceil(*length) * tile <= most;
    let length = LENGTHS.into_iter().find(fits).unwrap_or(LENGTHS[2]);
    let chunks = n.div_ceil(length);
    let lanes = if inner == 1 {
        (THREADS / chunks).max(1)
    } else {
        tile.max(THREADS / chunks / tile * tile).min((most / chunks).max(1))
    };
    (length, lanes.min(lines))
}

/// Words of `lanes` staged lines along x.
fn staged<T>(n: usize, half_width: usize, lanes: usize) -> usize {
    let line = n + 2 * half_width + 1;
    lanes * (line + line / bank_row::<T>() + 1)
}

/// Words of a row of banks: 128 bytes.
pub(in crate::backend::device) fn bank_row<T>() -> usize {
    128 / size_of::<T>()
}

/// Bytes of on-chip memory that a block of one line takes at least, n points and half-bandwidth p.
pub(super) fn least_bytes<T>(n: usize, p: usize, half_width: usize) -> usize {
    staged::<T>(n, half_width, 1).max(2 * p * n.div_ceil(LENGTHS[0])) * size_of::<T>()
}

/// Threads that a block of one line takes at least.
pub(super) fn least_threads(n: usize) -> usize {
    n.div_ceil(LENGTHS[LENGTHS.len() - 1])
}

/// One launch, a thread a chunk.
pub(super) fn steps<T: Real>(plan: &Plan<T>) -> Result<Vec<Step<T>>> {
    let n = plan.len();
    let (length, lanes) = shape::<T>(n, plan.lines, plan.inner, plan.device.info().block_threads);
    let chunks = Chunks::new(&plan.operator.matrix, length, tolerance::<T>());
    let (p, count) = (chunks.half_band, chunks.count());
    let threads = count * lanes;

    let mut text = plan.text(n);
    text.define("TX", lanes);
    text.define("CHUNKS", count);
    text.define("THREADS", threads);
    text.define("LENGTH", chunks.length);
    text.define("LONG", chunks.long);
    text.define("BANK_ROW", bank_row::<T>());
    let table = tables::<T>(&mut text, &chunks);
    let width = plan.operator.stencil.half_width;
    let staged = if plan.inner == 1 { staged::<T>(n, width, lanes) } else { 0 };
    let on_chip = staged.max(2 * p * threads);
    text.define("ON_CHIP_WORDS", on_chip);
    text.push(CHUNKS);
    text.push(ELIMINATE);
    text.push(KERNEL);

    let source = text.source("chunked.cu");
    let blocks = plan.lines.div_ceil(lanes);
    let arguments = plan.arguments([Slot::Buffer(plan.table(table)?)]);
    Ok(vec![plan.step(&source, "chunked", blocks, threads, on_chip, arguments)?])
}

/// What `eliminate.cu` needs to know of the matrix; its table in device memory.
pub(in crate::backend::device) fn tables<T: Real>(text: &mut Text, chunks: &Chunks) -> Vec<f64> {
    let (p, count) = (chunks.half_band, chunks.count());
    text.define("LEVELS", chunks.levels.len());
    text.define("UNIFORM", u8::from(chunks.is_uniform()));
    text.define("CLASS(k)", class_of(&chunks.class));
    text.define("CLASS_WORDS", words(&chunks.classes[0], p).len());
    text.constants::<T>("CLASS_TABLE", chunks.classes.iter().flat_map(|chunk| words(chunk, p)));
    let blocks = if chunks.is_uniform() { 1 } else { count };
    let of_chunk = move |entry: &dyn Fn(usize) -> f64| (0..blocks).map(entry).collect::<Vec<_>>();
    let mut table = Vec::new();
    for level in &chunks.levels {
        for (side, i, j) in indices(2, p) {
            table.extend(of_chunk(&|k| level[k][side][i][j]));
        }
    }
    for (_, i, j) in indices(1, p) {
        table.extend(of_chunk(&|k| chunks.inverse[k][i][j]));
    }
    if chunks.is_uniform() {
        text.constants::<T>("BLOCKS", table.drain(..));
    }
    table
}

/// (side, i, j) of the entries of `sides` blocks.
fn indices(sides: usize, p: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..sides * p * p).map(move |at| (at / (p * p), at / p % p, at % p))
}

/// The class of chunk k as an expression: chunks of a class lie side by side, but for the ends.
fn class_of(class: &[usize]) -> String {
    let mut text = String::new();
    let mut closing = String::new();
    for k in 1..class.len() {
        if class[k] != class[k - 1] {
            text += &format!("((k) < {k} ? {} : ", class[k - 1]);
            closing.push(')');
        }
    }
    text + &class[class.len() - 1].to_string() + &closing
}

/// The numbers of one class, in the order of the kernel.
fn words(chunk: &Chunk, p: usize) -> Vec<f64> {
    let mut words = Vec::new();
    for j in 0..chunk.lower.len() {
        words.extend(&chunk.lower[j][..=p]);
        words.extend(&chunk.upper[j][..p]);
        words.extend(&chunk.left[j][..p]);
        words.extend(&chunk.right[j][..p]);
    }
    words.extend(chunk.own[..p].iter().flat_map(|row| &row[..p]));
    words.extend(chunk.next[..p].iter().flat_map(|row| &row[..=p]));
    words
}
