//! `chunked`: each thread eliminates a chunk of a line in registers. Fused sweeps use the same elimination.

use super::super::job::LaunchSize;
use super::super::text::Text;
use super::plan::{Plan, Slot, Step};
use super::{Problem, Solver, TRIDIAGONAL};
use crate::error::Result;
use crate::lines::{Chunk, Chunks};
use crate::real::Precision;

/// Code shared by all kernels with one thread per chunk, and the elimination.
pub(in super::super) const CHUNKS: &str = include_str!("../../../../kernels/lines/chunks.cu");
pub(in super::super) const ELIMINATE: &str = include_str!("../../../../kernels/lines/eliminate.cu");
/// Width in bytes of a tile of lines along y or z, over neighbouring points in memory.
const TILE_BYTES: usize = 64;
/// Threads per block to which lines along x are gathered.
const THREADS: usize = 128;
/// Largest number of threads per block, as long as chunks can be made longer.
const MAX_THREADS: usize = 512;
/// Points per chunk, starting with a length that fits in few registers.
const LENGTHS: [usize; 3] = [8, 16, 32];

pub(super) const CHUNKED: Solver =
    Solver { name: "chunked", pentadiagonal: true, unsupported, on_chip, steps, ..TRIDIAGONAL };

/// Returns the points per chunk and lines per block, for at most `max_threads` threads per block.
fn shape(plan: &Plan, max_threads: usize) -> (usize, usize) {
    let (n, inner) = (plan.len(), plan.lines.inner);
    let max_threads = max_threads.min(MAX_THREADS);
    let tile = if inner == 1 { 1 } else { TILE_BYTES / plan.precision().bytes() };
    let fits = |length: &usize| n.div_ceil(*length) * tile <= max_threads;
    let length = LENGTHS.into_iter().find(fits).unwrap_or(LENGTHS[2]);
    let chunks = n.div_ceil(length);
    let lanes = if inner == 1 {
        (THREADS / chunks).max(1)
    } else {
        tile.max(THREADS / chunks / tile * tile).min((max_threads / chunks).max(1))
    };
    (length, lanes.min(plan.lines.count))
}

/// Returns the words of `lanes` staged lines along x.
fn staged(precision: Precision, n: usize, half_width: usize, lanes: usize) -> usize {
    let line = n + 2 * half_width + 1;
    lanes * (line + line / bank_row(precision) + 1)
}

/// Returns the words of a row of memory banks: 128 bytes.
pub(in super::super) fn bank_row(precision: Precision) -> usize {
    128 / precision.bytes()
}

/// Returns the smallest number of on-chip words of a block: that of one line.
fn on_chip(Problem { operator, .. }: &Problem) -> usize {
    let (n, p) = (operator.len(), operator.matrix.half_band());
    staged(operator.precision, n, operator.stencil.half_width, 1)
        .max(4 * p * (n.div_ceil(LENGTHS[0]) + 1))
}

fn unsupported(Problem { operator, info, .. }: &Problem) -> Option<String> {
    let (n, fewest) = (operator.len(), 2 * operator.matrix.half_band());
    if n < fewest {
        return Some(format!("needs lines of {fewest} points, and these have {n}"));
    }
    let (needs, has) = (n.div_ceil(LENGTHS[2]), info.block_threads);
    let sentence =
        || format!("needs blocks of {needs} threads for {n} points, and this device has {has}");
    (needs > has).then(sentence)
}

/// One launch, with one thread per chunk.
fn steps(plan: &Plan) -> Result<Vec<Step>> {
    let n = plan.len();
    let (length, lanes) = shape(plan, plan.device().info().block_threads);
    let chunks = Chunks::new(&plan.operator.matrix, length, negligible_coupling(plan.precision()));
    let count = chunks.count();
    let threads = count * lanes;

    let mut text = plan.text(n);
    text.define("TX", lanes);
    text.define("CHUNKS", count);
    text.define("THREADS", threads);
    text.define("LENGTH", chunks.length);
    text.define("LONG_CHUNKS", chunks.long);
    text.define("BANK_ROW", bank_row(plan.precision()));
    let table = define_tables(&mut text, &chunks);
    text.define("TABLE_SPACE", "GLOBAL");
    let width = plan.operator.stencil.half_width;
    let along_x = plan.lines.inner == 1;
    let staged = if along_x { staged(plan.precision(), n, width, lanes) } else { 0 };
    let words = staged.max(exchanged_words(&chunks, lanes));
    text.define("ON_CHIP_WORDS", words);
    text.push(CHUNKS);
    text.push(ELIMINATE);
    text.push(include_str!("../../../../kernels/lines/chunked.cu"));

    let blocks = plan.lines.count.div_ceil(lanes);
    let shape = LaunchSize::linear(blocks, threads, words * plan.precision().bytes());
    let arguments = plan.arguments([Slot::Buffer(plan.table(table)?)]);
    Ok(vec![plan.step(&text.source("chunked.cu"), "chunked", &shape, arguments)?])
}

/// Defines the constants of the matrix for `eliminate.cu`, and returns its tables.
pub(in super::super) fn define_tables(text: &mut Text, chunks: &Chunks) -> Vec<f64> {
    let p = chunks.half_band;
    text.define("BACK", chunks.back);
    text.define("AHEAD", chunks.ahead);
    text.define("UNIFORM", u8::from(chunks.is_uniform()));
    let class_words = words(&chunks.classes[0], p).len();
    text.constants("CLASS_TABLE", chunks.classes.iter().flat_map(|chunk| words(chunk, p)));
    let rows = chunks.weights.iter().zip(&chunks.seen);
    let row = |(weights, seen): (&Vec<_>, &[_; 2])| -> Vec<f64> {
        weights.iter().chain(seen).flat_map(|block| entries(block, p)).collect()
    };
    let mut rows: Vec<Vec<f64>> = rows.map(row).collect();
    if chunks.is_uniform() {
        text.constants("WEIGHTS", rows[0].iter().copied());
        return Vec::new();
    }
    for (row, class) in rows.iter_mut().zip(&chunks.class) {
        row.push((class * class_words) as f64);
    }
    (0..rows[0].len()).flat_map(|at| rows.iter().map(move |row| row[at])).collect()
}

/// Returns the number of words of [`define_tables`].
pub(in super::super) fn table_words(chunks: &Chunks) -> usize {
    let blocks = chunks.back + chunks.ahead + 3;
    let of_chunk = blocks * chunks.half_band * chunks.half_band + 1;
    if chunks.is_uniform() { 0 } else { of_chunk * chunks.count() }
}

/// Returns the p * p entries of a block, row by row.
fn entries(block: &[[f64; 2]; 2], p: usize) -> impl Iterator<Item = f64> {
    block.iter().take(p).flat_map(move |row| row.iter().take(p).copied())
}

/// Returns the relative size below which separators neglect couplings: an eighth of round-off.
pub(in super::super) fn negligible_coupling(precision: Precision) -> f64 {
    0.125 * precision.epsilon()
}

/// Returns the on-chip words that the chunks of `lanes` lines exchange.
pub(in super::super) fn exchanged_words(chunks: &Chunks, lanes: usize) -> usize {
    let given = 2 * (chunks.count() + chunks.back + chunks.ahead + 2);
    let separators = if chunks.is_uniform() { 0 } else { chunks.count() };
    chunks.half_band * (given + separators) * lanes
}

/// Returns the numbers of one class of chunks, in the order of the kernel.
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
