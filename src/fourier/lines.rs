//! Maps over all lines of a box.

use num_complex::Complex;
use rayon::prelude::*;

use crate::grid::Axis;

/// Number of non-contiguous lines processed together: those that share cache lines.
const LINES_PER_TILE: usize = 8;

/// Scratch memory for the work on one line, reused from line to line.
pub(crate) type Scratch = [Vec<Complex<f64>>; 2];

/// Map every line along `axis` of a box of `points` (`values`, i fastest) to `row_len` values. The results are stored line after line, in
/// the order of the first points of the lines.
pub(crate) fn map_to_rows<A, B>(
    points: [usize; 3],
    axis: Axis,
    values: &[A],
    row_len: usize,
    map: impl Fn(&[A], &mut [B], &mut Scratch) + Sync,
) -> Vec<B>
where
    A: Copy + Default + Send + Sync,
    B: Copy + Default + Send + Sync,
{
    let n = points[axis.index()];
    let stride: usize = points[..axis.index()].iter().product();
    let count = points.iter().product::<usize>() / n.max(1);
    if count == 0 || row_len == 0 {
        return Vec::new();
    }
    // Point l of line q is at start(q) + l × stride.
    let start = |q: usize| q / stride * n * stride + q % stride;
    let mut rows = vec![B::default(); count * row_len];
    let scratch = || (Vec::new(), Scratch::default());
    rows.par_chunks_mut(LINES_PER_TILE * row_len).enumerate().for_each_init(
        scratch,
        |(tile, scratch), (at, out)| {
            let first = at * LINES_PER_TILE;
            let lines = out.len() / row_len;
            tile.resize(lines * n, A::default());
            for l in 0..n {
                for q in 0..lines {
                    tile[q * n + l] = values[start(first + q) + l * stride];
                }
            }
            for (line, out) in tile.chunks(n).zip(out.chunks_mut(row_len)) {
                map(line, out, scratch);
            }
        },
    );
    rows
}

/// Map every line along `axis` of a box of `points` to a line of `row_len` values. The result is the box with `row_len` points along
/// `axis`. Temporarily needs memory for one more such box.
pub(crate) fn map_lines<A, B>(
    points: [usize; 3],
    axis: Axis,
    values: &[A],
    row_len: usize,
    map: impl Fn(&[A], &mut [B], &mut Scratch) + Sync,
) -> Vec<B>
where
    A: Copy + Default + Send + Sync,
    B: Copy + Default + Send + Sync,
{
    let lines = map_to_rows(points, axis, values, row_len, map);
    let stride: usize = points[..axis.index()].iter().product();
    if stride == 1 || lines.is_empty() {
        return lines;
    }
    let mut result = vec![B::default(); lines.len()];
    result.par_chunks_mut(row_len * stride).enumerate().for_each(|(slab, result)| {
        let lines = &lines[slab * stride * row_len..];
        result.par_chunks_mut(LINES_PER_TILE * stride).enumerate().for_each(|(at, rows)| {
            for q in 0..stride {
                for l in 0..rows.len() / stride {
                    rows[l * stride + q] = lines[q * row_len + at * LINES_PER_TILE + l];
                }
            }
        });
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_mapped_once_and_keeps_its_position() {
        for points in [[5, 7, 3], [1, 9, 4], [17, 1, 11], [2, 3, 1]] {
            let values: Vec<usize> = (0..points.iter().product()).collect();
            for axis in Axis::ALL {
                let n = points[axis.index()];
                // The last point is removed; the first point is appended twice.
                let row_len = n + 1;
                let mapped = map_lines(points, axis, &values, row_len, |line: &[usize], out, _| {
                    out[..n - 1].copy_from_slice(&line[..n - 1]);
                    out[n - 1..].fill(line[0]);
                });
                let mut larger = points;
                larger[axis.index()] = row_len;
                let [mx, my, _] = larger;
                for (at, &value) in mapped.iter().enumerate() {
                    let mut index = [at % mx, at / mx % my, at / (mx * my)];
                    let l = index[axis.index()];
                    index[axis.index()] = if l < n - 1 { l } else { 0 };
                    let [i, j, k] = index;
                    assert_eq!(value, i + points[0] * (j + points[1] * k), "{points:?} {axis:?}");
                }
                assert_eq!(mapped.len(), larger.iter().product::<usize>());
            }
        }
    }
}
