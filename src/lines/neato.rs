//! Cyclic reduction of near-Toeplitz matrices: a handful of constants per level.

use super::cr::rounded;
use super::reduction::{less, times};
use super::{CyclicReduction, Level};
use crate::real::Real;

/// Maximum number of special rows per end that fit in the tables.
const MOST: usize = 8;

/// The coefficients of [`CyclicReduction`] where all rows of a level except a few at either end have the same ones
/// (Srinath 2015, chapter 2). The thesis has one special row per end and 2ᵏ rows; here closures have up to eight rows,
/// and for any number of rows there are at most that many special ones.
#[derive(Clone, Debug, PartialEq)]
pub struct NearToeplitz<T = f64> {
    /// Special rows at either end.
    pub ends: usize,
    /// Rows of every level.
    pub rows: Vec<usize>,
    /// [k1, k2] of every level and class of odd rows; `2 ends + 1` classes.
    pub forward: Vec<Vec<[T; 2]>>,
    /// [1 / b, a / b, c / b] of every level and class of even rows.
    pub backward: Vec<Vec<[T; 3]>>,
    /// 1 / b of the remaining row.
    pub last: T,
}

impl NearToeplitz {
    /// The classes of `reduction`, or `None` if more than eight rows at an end are special.
    pub fn new(reduction: &CyclicReduction) -> Option<Self> {
        let all = |ends: usize| -> Option<Self> {
            let mut classes = Self {
                ends,
                rows: Vec::new(),
                forward: Vec::new(),
                backward: Vec::new(),
                last: reduction.last,
            };
            for Level { rows, forward, backward } in &reduction.levels {
                classes.rows.push(*rows);
                classes.forward.push(by_class(forward, 1, *rows, ends)?);
                classes.backward.push(by_class(backward, 0, *rows, ends)?);
            }
            Some(classes)
        };
        (1..=MOST).find_map(all)
    }

    /// Converts all numbers to the format `T`.
    pub(super) fn rounded<T: Real>(&self) -> NearToeplitz<T> {
        NearToeplitz {
            ends: self.ends,
            rows: self.rows.clone(),
            forward: self.forward.iter().map(|rows| rounded(rows)).collect(),
            backward: self.backward.iter().map(|rows| rounded(rows)).collect(),
            last: T::of(self.last),
        }
    }
}

/// The class of row `r` of a level of `rows` rows: 0 .. `ends` from the left, then the inner rows, then the last rows
/// in order.
#[inline(always)]
fn class(r: usize, rows: usize, ends: usize) -> usize {
    if r < ends {
        r
    } else if r + ends < rows {
        ends
    } else {
        2 * ends + 1 + r - rows
    }
}

impl<T: Real> NearToeplitz<T> {
    /// Srinath 2015, eq. 2.2 to 2.6, in place: row r of level l is stored at (r + 1) 2ˡ − 1.
    #[inline(always)]
    pub(super) fn solve<const W: usize>(&self, d: &mut [[T; W]]) {
        for (level, &rows) in self.rows.iter().enumerate() {
            let s = 1 << level;
            for r in (1..rows).step_by(2) {
                let [k1, k2] = self.forward[level][class(r, rows, self.ends)];
                let i = (r + 1) * s - 1;
                d[i] = less(d[i], k1, d[i - s]);
                if r + 1 < rows {
                    d[i] = less(d[i], k2, d[i + s]);
                }
            }
        }
        let last = (1 << self.rows.len()) - 1;
        d[last] = times(self.last, d[last]);
        for (level, &rows) in self.rows.iter().enumerate().rev() {
            let s = 1 << level;
            for r in (0..rows).step_by(2) {
                let [inverse, a, c] = self.backward[level][class(r, rows, self.ends)];
                let i = (r + 1) * s - 1;
                let mut x = times(inverse, d[i]);
                if r > 0 {
                    x = less(x, a, d[i - s]);
                }
                if r + 1 < rows {
                    x = less(x, c, d[i + s]);
                }
                d[i] = x;
            }
        }
    }
}

/// The coefficients of rows `first`, `first` + 2, ... by class, or `None` if rows of one class differ. Equal rows are
/// bitwise equal: they result from the same numbers by the same operations.
fn by_class<const W: usize>(
    rows: &[[f64; W]],
    first: usize,
    count: usize,
    ends: usize,
) -> Option<Vec<[f64; W]>> {
    let mut classes = vec![None; 2 * ends + 1];
    for (i, row) in rows.iter().enumerate() {
        let known = classes[class(first + 2 * i, count, ends)].get_or_insert(*row);
        if known != row {
            return None;
        }
    }
    Some(classes.into_iter().map(|row| row.unwrap_or([0.0; W])).collect())
}
