//! Lines cut into chunks that are eliminated side by side, and the small system between them.

use super::border::{inverted, open_part};
use super::{BandedMatrix, Factors, solve};

/// A p x p block, in the corner of a 2 x 2 one whose rest is that of the identity (diagonal blocks) or zero.
type Block = [[f64; 2]; 2];

const ZERO: Block = [[0.0; 2]; 2];

/// What the threads of a line do, in numbers: the matrix, tri- or pentadiagonal, cyclic or open, as K chunks of nearly
/// equal length, each of p *separators* x̃ and then an *interior* (after Song et al. 2022, eq. 7 to 22; p is the
/// half-bandwidth):
/// ```text
/// interior    D x = b − L x̃[k] − R x̃[k+1]          D open and banded: LU
/// separators  l x̃[k−1] + d x̃[k] + u x̃[k+1] = b̃[k] − g D⁻¹b of chunk k−1 − e D⁻¹b of chunk k
/// ```
/// The separators are solved for by parallel cyclic reduction with p x p blocks, strides 1, 2, 4, ... A cyclic line
/// wraps modulo K: that is the reduction of the line repeated for ever, so any K will do; blocks that come back to their
/// own row are added to the diagonal, which ends it. It ends too where the blocks have fallen below round-off: they
/// decay as fast as the inverse over a whole chunk, and twice as fast from stride to stride.
#[derive(Clone, Debug)]
pub struct Chunks {
    /// p.
    pub half_band: usize,
    /// Points of the longest chunk.
    pub length: usize,
    /// The first `long` chunks have `length` points, the others one less.
    pub long: usize,
    /// Every different chunk once.
    pub classes: Vec<Chunk>,
    /// The class of every chunk.
    pub class: Vec<usize>,
    /// The blocks that rows `stride` before and after are multiplied by, of every level and chunk.
    pub levels: Vec<Vec<[Block; 2]>>,
    /// The inverse of what is left of the diagonal, of every chunk.
    pub inverse: Vec<Block>,
}

/// The elimination of one chunk; tables have a row a point of the longest chunk, zero where there is no point.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Points of this chunk.
    pub points: usize,
    /// [1 / pivot, l₁, l₂] of the interior, as in [`Factors`].
    pub lower: Vec<[f64; 3]>,
    /// [u₁, u₂] of the interior.
    pub upper: Vec<[f64; 2]>,
    /// D⁻¹ L, p numbers a row.
    pub left: Vec<[f64; 2]>,
    /// D⁻¹ R, p numbers a row.
    pub right: Vec<[f64; 2]>,
    /// e: what separator row i reads of interior points p, p + 1.
    pub own: Block,
    /// g: what row i of the next chunk's separators reads of points `length` − p − 1, `length` − p, ...
    pub next: [[f64; 3]; 2],
}

impl Chunks {
    /// Cut `matrix` into chunks of at most `length` points, or of 2 p where that is more; blocks below `tolerance` of the
    /// diagonal count as none.
    ///
    /// # Panics
    /// As [`Factors::new`].
    pub fn new(matrix: &BandedMatrix, length: usize, tolerance: f64) -> Self {
        let most = matrix.len() / (2 * matrix.half_band());
        Self::cut(matrix, matrix.len().div_ceil(length).min(most).max(1), tolerance)
    }

    /// Cut `matrix` into `count` chunks of 2 p points or more.
    ///
    /// # Panics
    /// As [`Factors::new`].
    pub fn cut(matrix: &BandedMatrix, count: usize, tolerance: f64) -> Self {
        let (n, p, cyclic) = (matrix.len(), matrix.half_band(), matrix.is_cyclic());
        let length = n.div_ceil(count);
        let long = n - count * (length - 1);
        let first = |k: usize| k * length - k.saturating_sub(long);

        let mut classes: Vec<Chunk> = Vec::new();
        let class = (0..count).map(|k| {
            let ends = first(k + 1) == n && !cyclic;
            let chunk = Chunk::new(matrix, first(k), first(k + 1) - first(k), length, ends);
            let known = classes.iter().position(|known| *known == chunk);
            known.unwrap_or_else(|| {
                classes.push(chunk);
                classes.len() - 1
            })
        });
        let class: Vec<usize> = class.collect();

        let mut rows = Vec::with_capacity(count);
        for k in 0..count {
            let own = &classes[class[k]];
            let before = &classes[class[(k + count - 1) % count]];
            let coupled = cyclic || k > 0;
            let mut row = [ZERO, [[1.0, 0.0], [0.0, 1.0]], ZERO];
            for i in 0..p {
                for j in 0..p {
                    row[1][i][j] = matrix.entry(first(k) + i, j.cast_signed() - i.cast_signed());
                    for q in 0..p {
                        row[1][i][j] -= own.own[i][q] * own.left[p + q][j];
                        row[2][i][j] -= own.own[i][q] * own.right[p + q][j];
                    }
                    for (q, g) in before.next[i][..=p].iter().enumerate().filter(|_| coupled) {
                        let at = length - p - 1 + q;
                        row[0][i][j] -= g * before.left.get(at).map_or(0.0, |s| s[j]);
                        row[1][i][j] -= g * before.right.get(at).map_or(0.0, |s| s[j]);
                    }
                }
            }
            rows.push(row);
        }
        let (levels, inverse) = reduced(rows, cyclic, tolerance);
        Self { half_band: p, length, long, classes, class, levels, inverse }
    }

    /// Number of chunks K.
    pub fn count(&self) -> usize {
        self.class.len()
    }

    /// True where all chunks have the same blocks at every level.
    pub fn is_uniform(&self) -> bool {
        fn equal<T: PartialEq>(all: &[T]) -> bool {
            all.windows(2).all(|pair| pair[0] == pair[1])
        }
        equal(&self.inverse) && self.levels.iter().all(|level| equal(level))
    }
}

impl Chunk {
    /// The chunk at `first`, of `points` points; `ends` where nothing follows.
    fn new(matrix: &BandedMatrix, first: usize, points: usize, length: usize, ends: bool) -> Self {
        let p = matrix.half_band();
        let inner = points - p;
        let interior = open_part(matrix, first + p, inner);
        let factors = Factors::new(&interior);
        let mut chunk = Self {
            points,
            lower: vec![[0.0; 3]; length],
            upper: vec![[0.0; 2]; length],
            left: vec![[0.0; 2]; length],
            right: vec![[0.0; 2]; length],
            own: ZERO,
            next: [[0.0; 3]; 2],
        };
        chunk.lower[p..points].copy_from_slice(&factors.lower);
        chunk.upper[p..points].copy_from_slice(&factors.upper);
        let entry = |row: usize, column: usize| {
            let d = column.cast_signed() - row.cast_signed();
            if d.unsigned_abs() > p { 0.0 } else { matrix.entry(first + row, d) }
        };
        let spike = |column: usize| {
            let mut x: Vec<f64> = (p..points).map(|row| entry(row, column)).collect();
            solve(&factors, &mut x);
            x
        };
        for q in 0..p {
            for (m, x) in spike(q).into_iter().enumerate() {
                chunk.left[p + m][q] = x;
            }
            if !ends {
                for (m, x) in spike(points + q).into_iter().enumerate() {
                    chunk.right[p + m][q] = x;
                }
            }
            for i in 0..p {
                chunk.own[i][q] = entry(i, p + q);
            }
        }
        // The separators that follow are rows `points` + i of the same numbering; all inner rows of a cyclic matrix have
        // the same entries, so those that wrap round are read at their own place.
        if !ends {
            for i in 0..p {
                let row = (first + points + i) % matrix.len();
                for q in 0..=p {
                    let Some(at) = (length + q).checked_sub(p + 1) else { continue };
                    let d = at.cast_signed() - (points + i).cast_signed();
                    if (p..points).contains(&at) && d.unsigned_abs() <= p {
                        chunk.next[i][q] = matrix.entry(row, d);
                    }
                }
            }
        }
        chunk
    }
}

/// The rows `stride` before and after row k, where there are such.
fn neighbours(k: usize, stride: usize, count: usize, cyclic: bool) -> [Option<usize>; 2] {
    let shift = stride % count;
    if cyclic {
        return [Some((k + count - shift) % count), Some((k + shift) % count)];
    }
    [k.checked_sub(stride), Some(k + stride).filter(|&at| at < count)]
}

/// Parallel cyclic reduction of block rows [l, d, u]: the blocks of every level, and the inverse of the diagonal.
fn reduced(
    mut rows: Vec<[Block; 3]>,
    cyclic: bool,
    tolerance: f64,
) -> (Vec<Vec<[Block; 2]>>, Vec<Block>) {
    let count = rows.len();
    let mut levels = Vec::new();
    let mut stride = 1;
    let coupled = |[l, d, u]: &[Block; 3]| {
        let inverse = inverted(*d);
        [l, u]
            .iter()
            .any(|&b| times(&inverse, b).as_flattened().iter().any(|a| a.abs() > tolerance))
    };
    while rows.iter().any(coupled) {
        if cyclic && stride % count == 0 {
            rows.iter_mut().for_each(|[l, d, u]| *d = plus(&plus(d, l, 1.0), u, 1.0));
            break;
        }
        if !cyclic && stride >= count {
            break;
        }
        let mut level = Vec::with_capacity(count);
        let mut next = Vec::with_capacity(count);
        for (k, [l, d, u]) in rows.iter().enumerate() {
            let [low, high] = neighbours(k, stride, count, cyclic);
            let mut blocks = [ZERO; 2];
            let mut row = [ZERO, *d, ZERO];
            if let Some([l_low, d_low, u_low]) = low.map(|at| &rows[at]) {
                blocks[0] = times(l, &inverted(*d_low));
                row[0] = times(&blocks[0], l_low).map(|row| row.map(|a| -a));
                row[1] = plus(&row[1], &times(&blocks[0], u_low), -1.0);
            }
            if let Some([l_high, d_high, u_high]) = high.map(|at| &rows[at]) {
                blocks[1] = times(u, &inverted(*d_high));
                row[2] = times(&blocks[1], u_high).map(|row| row.map(|a| -a));
                row[1] = plus(&row[1], &times(&blocks[1], l_high), -1.0);
            }
            level.push(blocks);
            next.push(row);
        }
        levels.push(level);
        rows = next;
        stride *= 2;
    }
    (levels, rows.iter().map(|[_, d, _]| inverted(*d)).collect())
}

fn times(a: &Block, b: &Block) -> Block {
    let entry = |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

/// a + factor b.
fn plus(a: &Block, b: &Block, factor: f64) -> Block {
    let entry = |i: usize, j: usize| a[i][j] + factor * b[i][j];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}
