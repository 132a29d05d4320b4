//! Lines split into chunks that are eliminated side by side, and the small system that couples them.

use std::collections::BTreeMap;

use super::border::{inverted, open_part};
use super::{BandedMatrix, Factors, solve};

/// A p x p block, in the corner of a 2 x 2 one whose remaining entries are those of the identity (diagonal blocks) or
/// zero.
type Block = [[f64; 2]; 2];

const ZERO: Block = [[0.0; 2]; 2];
const IDENTITY: Block = [[1.0, 0.0], [0.0, 1.0]];

/// Coefficients for the threads of a line: the matrix, tri- or pentadiagonal, cyclic or open, as K chunks of nearly
/// equal length, each of p *separators* x̃ followed by an *interior* (after Song et al. 2022, eq. 7 to 22; p is the
/// half-bandwidth):
/// ```text
/// interior    D x = b − L x̃[k] − R x̃[k+1]          D open and banded: LU
/// separators  l x̃[k−1] + d x̃[k] + u x̃[k+1] = b̃[k] − g D⁻¹b of chunk k−1 − e D⁻¹b of chunk k
/// ```
/// With S for the matrix of the separators and g for their right-hand side, `x̃[k] = Σ S⁻¹[k, k+m] g[k+m]`: no chunk
/// waits for the solution of another. The blocks of S⁻¹ decay as fast as the inverse of the matrix over a whole chunk
/// (Demko, Moss & Smith 1984), so only few are above round-off: those from `back` chunks before to `ahead` chunks
/// after. A cyclic line is treated as the line repeated infinitely often. Chunk j contributes o to its own separators
/// and −h to those of the next, and S⁻¹ is semiseparable (Vandebril et al. 2005): for chunks k ≤ j the contribution of
/// chunk j is `S⁻¹[k, j] (o − τ h)`, and for k > j it is `S⁻¹[k, j+1] (σ o − h)`, with τ and σ of chunk j alone.
#[derive(Clone, Debug)]
pub struct Chunks {
    /// p.
    pub half_band: usize,
    /// Points of the longest chunk.
    pub length: usize,
    /// The first `long` chunks have `length` points, the others one less.
    pub long: usize,
    /// The distinct chunks.
    pub classes: Vec<Chunk>,
    /// The class of every chunk.
    pub class: Vec<usize>,
    /// How many chunks the rows of S⁻¹ reach back.
    pub back: usize,
    /// How many chunks they reach ahead.
    pub ahead: usize,
    /// The blocks `S⁻¹[k, k+m]` of every chunk, m from −`back` to `ahead`.
    pub weights: Vec<Vec<Block>>,
    /// τ and σ of every chunk.
    pub seen: Vec<[Block; 2]>,
}

/// The elimination of one chunk; tables have one row per point of the longest chunk, zero where the chunk has no such
/// point.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Points of this chunk.
    pub points: usize,
    /// [1 / pivot, l₁, l₂] of the interior, as in [`Factors`].
    pub lower: Vec<[f64; 3]>,
    /// [u₁, u₂] of the interior.
    pub upper: Vec<[f64; 2]>,
    /// D⁻¹ L, p numbers per row.
    pub left: Vec<[f64; 2]>,
    /// D⁻¹ R, p numbers per row.
    pub right: Vec<[f64; 2]>,
    /// e: weights of interior points p, p + 1 in separator row i.
    pub own: Block,
    /// g: weights of points `length` − p − 1, `length` − p, ... in row i of the next chunk's separators.
    pub next: [[f64; 3]; 2],
}

impl Chunks {
    /// Splits `matrix` into chunks of at most `length` points, or of 2 p if that is more; blocks of S⁻¹ with no entry
    /// above `tolerance` times the largest of their row are omitted.
    ///
    /// # Panics
    /// As [`Factors::new`], and if `matrix` is that of an explicit scheme: without off-diagonals the chunks are not
    /// coupled.
    pub fn new(matrix: &BandedMatrix, length: usize, tolerance: f64) -> Self {
        let most = matrix.len() / (2 * matrix.half_band());
        Self::cut(matrix, matrix.len().div_ceil(length).min(most).max(1), tolerance)
    }

    /// Splits `matrix` into `count` chunks of 2 p points or more.
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
            let mut row = [ZERO, IDENTITY, ZERO];
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
        let (back, ahead, weights) = inverse(rows, cyclic, tolerance);
        let block = |k: usize, m: isize| {
            let at = back.checked_add_signed(m).filter(|at| *at <= back + ahead);
            at.map_or(ZERO, |at| weights[k][at])
        };
        let seen = (0..count).map(|j| {
            let next = if cyclic { (j + 1) % count } else { (j + 1).min(count - 1) };
            let of = |k: usize, m: isize| times(&inverted(block(k, 0)), &block(k, m));
            [of(j, 1), of(next, -1)]
        });
        let seen = seen.collect();
        Self { half_band: p, length, long, classes, class, back, ahead, weights, seen }
    }

    /// Number of chunks K.
    pub fn count(&self) -> usize {
        self.class.len()
    }

    /// Whether all chunks are of one class and have the same weights.
    pub fn is_uniform(&self) -> bool {
        fn equal<T: PartialEq>(all: &[T]) -> bool {
            all.windows(2).all(|pair| pair[0] == pair[1])
        }
        equal(&self.class) && equal(&self.weights) && equal(&self.seen)
    }
}

impl Chunk {
    /// The chunk that starts at `first`, of `points` points; `ends` if no chunk follows.
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
        // The separators that follow are rows `points` + i of the same numbering; all inner rows of a cyclic matrix
        // have the same entries, so rows beyond the end are read at their wrapped index.
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

/// The rows `stride` before and after row k, where they exist.
fn neighbours(k: usize, stride: usize, count: usize, cyclic: bool) -> [Option<usize>; 2] {
    let shift = stride % count;
    if cyclic {
        return [Some((k + count - shift) % count), Some((k + shift) % count)];
    }
    [k.checked_sub(stride), Some(k + stride).filter(|&at| at < count)]
}

/// Maximum number of chunks to which a cyclic line is repeated if its inverse does not decay earlier.
const MOST: usize = 4096;

/// Computes how far the rows of the inverse of block rows [l, d, u] reach back and ahead, and their blocks. A cyclic
/// line is repeated until the coupling through its end is below round-off.
fn inverse(rows: Vec<[Block; 3]>, cyclic: bool, tolerance: f64) -> (usize, usize, Vec<Vec<Block>>) {
    let count = rows.len();
    let mut repeated = rows;
    loop {
        let rows = inverse_rows(repeated.clone(), cyclic, tolerance);
        let (back, ahead, mut weights) = truncated(&rows, tolerance);
        if !cyclic || back + ahead + 2 < repeated.len() || repeated.len() > MOST {
            weights.truncate(count);
            return (back, ahead, weights);
        }
        repeated.extend_from_within(..);
    }
}

/// A row of S⁻¹: blocks by their distance from the diagonal, without those far below round-off.
type Row = BTreeMap<isize, Block>;

/// Computes the rows of the inverse of block rows [l, d, u] by parallel cyclic reduction, strides 1, 2, 4, ... (Hockney
/// & Jesshope 1981): every row becomes a sum of right-hand sides divided by its reduced diagonal. A cyclic line wraps
/// modulo K, which is the reduction of the infinitely repeated line, so K is arbitrary; blocks that wrap around to
/// their own row are added to the diagonal, which ends the reduction. It also ends where the off-diagonal blocks are
/// below `tolerance` times the diagonal: they decay twice as fast from stride to stride.
fn inverse_rows(mut rows: Vec<[Block; 3]>, cyclic: bool, tolerance: f64) -> Vec<Row> {
    // Where all rows are equal, one represents all.
    let count = rows.len();
    let alike = cyclic && rows.windows(2).all(|pair| pair[0] == pair[1]);
    let told = if alike { 1 } else { count };
    rows.truncate(told);
    let mut sums = vec![Row::from([(0, IDENTITY)]); told];
    let negligible = 1e-3 * tolerance;
    let mut stride = 1;
    let coupled = |[l, d, u]: &[Block; 3]| {
        let inverse = inverted(*d);
        [l, u].iter().any(|&b| largest(&times(&inverse, b)) > tolerance)
    };
    while rows.iter().any(coupled) {
        if cyclic && stride % count == 0 {
            rows.iter_mut().for_each(|[l, d, u]| *d = plus(&plus(d, l, 1.0), u, 1.0));
            break;
        }
        if !cyclic && stride >= count {
            break;
        }
        let shift = (stride % count).cast_signed();
        let (mut next, mut added) = (Vec::with_capacity(told), Vec::with_capacity(told));
        for (k, [l, d, u]) in rows.iter().enumerate() {
            let (mut row, mut sum) = ([ZERO, *d, ZERO], sums[k].clone());
            for (side, (beside, at)) in
                [l, u].into_iter().zip(neighbours(k, stride, count, cyclic)).enumerate()
            {
                let Some(at) = at.map(|at| at % told) else { continue };
                let [low, diagonal, high] = &rows[at];
                let factor = times(beside, &inverted(*diagonal));
                let (far, back, by) =
                    if side == 0 { (low, high, -shift) } else { (high, low, shift) };
                row[2 * side] = times(&factor, far).map(|row| row.map(|a| -a));
                row[1] = plus(&row[1], &times(&factor, back), -1.0);
                for (m, block) in &sums[at] {
                    let taken = times(&factor, block);
                    if largest(&taken) > negligible {
                        let to = sum.entry(wrapped(m + by, count, cyclic)).or_insert(ZERO);
                        *to = plus(to, &taken, -1.0);
                    }
                }
            }
            next.push(row);
            added.push(sum);
        }
        (rows, sums) = (next, added);
        stride *= 2;
    }
    let inverse = |([_, d, _], sum): (&[Block; 3], &Row)| -> Row {
        let inverse = inverted(*d);
        sum.iter().map(|(m, block)| (*m, times(&inverse, block))).collect()
    };
    let inverses: Vec<Row> = rows.iter().zip(&sums).map(inverse).collect();
    inverses.into_iter().cycle().take(count).collect()
}

/// A distance between chunks, the shorter one around the circle if the line is cyclic.
fn wrapped(m: isize, count: usize, cyclic: bool) -> isize {
    let count = count.cast_signed();
    if !cyclic {
        return m;
    }
    let back = (count - 1) / 2;
    (m + back).rem_euclid(count) - back
}

/// How far rows reach back and ahead, and their blocks in that range.
fn truncated(rows: &[Row], tolerance: f64) -> (usize, usize, Vec<Vec<Block>>) {
    let (mut back, mut ahead) = (0, 0);
    for row in rows {
        let most = row.values().map(largest).fold(0.0, f64::max);
        let kept = row.iter().filter(|(_, block)| largest(block) > tolerance * most);
        for (&m, _) in kept {
            (back, ahead) = (back.min(m), ahead.max(m));
        }
    }
    let within = |row: &Row| (back..=ahead).map(|m| row.get(&m).copied().unwrap_or(ZERO)).collect();
    (back.unsigned_abs(), ahead.unsigned_abs(), rows.iter().map(within).collect())
}

/// The largest absolute entry of a block.
fn largest(block: &Block) -> f64 {
    block.as_flattened().iter().fold(0.0, |most, a| a.abs().max(most))
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
