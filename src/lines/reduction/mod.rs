//! A x = b for many lines side by side by a reduction: the algorithms of device kernels with a team of threads per
//! line, row by row on the host.
//!
//! A row holds the values of all lines at one point. The matrix is the same for all lines; a cyclic one is solved
//! through its open core ([`Border`]).
//!
//! | reduction | coefficients | from |
//! |---|---|---|
//! | [`Reduction::Cyclic`] | reduced with the data | Srinath 2015, eq. 1.7 to 1.17 |
//! | [`Reduction::Parallel`] | reduced with the data | Srinath 2015, §1.4.3 |
//! | [`Reduction::Banded`] | [`BandedPcr`](super::BandedPcr) | Song et al. 2022, eq. 3 to 6 |
//! | [`Reduction::NearToeplitz`] | [`NearToeplitz`], a handful per level | Srinath 2015, chapter 2 |
//! | [`Reduction::SortedDirect`], `SortedStepwise` | [`CyclicReduction`] | Esfahanian et al. 2014, section 2 |

mod banded;
mod cyclic;
mod parallel;
mod sorted;

use super::{BandedMatrix, Border, CyclicReduction, NearToeplitz};
use crate::real::Real;
use banded::Banded;
use sorted::Direct;

/// Why tridiagonal solvers cannot solve a pentadiagonal system, as the end of a sentence.
pub const TRIDIAGONAL_ONLY: &str = "is for tridiagonal operators, and this one is pentadiagonal";

/// Reduction algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The neighbours of every second row of a level are eliminated; the other rows follow in the back substitution.
    Cyclic,
    /// The neighbours of all rows are eliminated, level by level.
    Parallel,
    /// Parallel reduction of three or five diagonals, with precomputed coefficients.
    Banded,
    /// Cyclic reduction where nearly all rows of a level are equal.
    NearToeplitz,
    /// Cyclic reduction of rows that are sorted once, so that those of a level are contiguous.
    SortedDirect,
    /// Cyclic reduction where every level is sorted for the next.
    SortedStepwise,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 6] = [
        Self::Cyclic,
        Self::Parallel,
        Self::Banded,
        Self::NearToeplitz,
        Self::SortedDirect,
        Self::SortedStepwise,
    ];

    /// Why this reduction cannot solve `matrix`, whose couplings below `tolerance` are not used, as the end of a
    /// sentence.
    pub fn lacks(self, matrix: &BandedMatrix, tolerance: f64) -> Option<String> {
        if matrix.half_band() > 1 && self != Self::Banded {
            return Some(TRIDIAGONAL_ONLY.into());
        }
        let core = || CyclicReduction::new(&Border::new(matrix, tolerance).core);
        (self == Self::NearToeplitz && NearToeplitz::new(&core()).is_none())
            .then(|| "needs a near-Toeplitz matrix, and these closures have too many rows".into())
    }
}

/// A matrix prepared for a [`Reduction`].
#[derive(Clone, Debug)]
pub struct Reduced<T> {
    core: Core<T>,
    /// Number of rows of the open core.
    rows: usize,
    /// As in [`Border`].
    unknowns: Vec<Vec<T>>,
    correction: Vec<Vec<T>>,
    head: usize,
    tail: usize,
}

#[derive(Clone, Debug)]
enum Core<T> {
    /// The rows (a, b, c) of a tridiagonal matrix, as for `Parallel`.
    Cyclic(Vec<[T; 3]>),
    Parallel(Vec<[T; 3]>),
    Banded(Banded<T>),
    NearToeplitz(NearToeplitz<T>),
    SortedDirect(Direct<T>),
    SortedStepwise(CyclicReduction<T>),
}

impl<T: Real> Reduced<T> {
    /// Prepares `matrix` for `reduction`, without couplings below `tolerance`.
    ///
    /// # Panics
    /// If [`Reduction::lacks`] returns a reason.
    pub fn new(matrix: &BandedMatrix, reduction: Reduction, tolerance: f64) -> Self {
        let Border { core, unknowns, correction, head, tail, .. } = Border::new(matrix, tolerance);
        let rounded = |table: Vec<Vec<f64>>| table.iter().map(|row| all(row)).collect();
        let row = |m| [-1, 0, 1].map(|d| T::of(core.entry(m, d)));
        let rows = || (0..core.len()).map(row).collect();
        let levels = || CyclicReduction::new(&core);
        Self {
            core: match reduction {
                Reduction::Cyclic => Core::Cyclic(rows()),
                Reduction::Parallel => Core::Parallel(rows()),
                Reduction::Banded => Core::Banded(Banded::new(&core, tolerance)),
                Reduction::NearToeplitz => {
                    let classes = NearToeplitz::new(&levels());
                    let classes =
                        classes.unwrap_or_else(|| panic!("the matrix is not near-Toeplitz"));
                    Core::NearToeplitz(classes.rounded())
                }
                Reduction::SortedDirect => Core::SortedDirect(Direct::new(&core)),
                Reduction::SortedStepwise => Core::SortedStepwise(levels().rounded()),
            },
            rows: core.len(),
            unknowns: rounded(unknowns),
            correction: rounded(correction),
            head,
            tail,
        }
    }

    /// Number of rows of `lanes` numbers of workspace that [`Reduced::solve`] needs in addition to those of the lines.
    pub fn workspace(&self, lanes: usize) -> usize {
        let n = self.rows;
        match &self.core {
            // A copy of the matrix.
            Core::Cyclic(_) => (3 * n).div_ceil(lanes),
            // The next level of the data, and two levels of the matrix.
            Core::Parallel(_) => n + (6 * n).div_ceil(lanes),
            Core::NearToeplitz(_) => 0,
            Core::Banded(_) | Core::SortedDirect(_) | Core::SortedStepwise(_) => n,
        }
    }

    /// Solves A x = b in place for W lines: `x` holds the rows of b and receives those of x.
    ///
    /// # Panics
    /// If the length of `x` differs from that of the system, or `workspace` is too small.
    #[inline(always)]
    pub fn solve<const W: usize>(&self, x: &mut [[T; W]], workspace: &mut [[T; W]]) {
        assert_eq!(x.len(), self.rows + self.unknowns.len(), "rows of the system");
        let (y, last) = x.split_at_mut(self.rows);
        match &self.core {
            Core::Cyclic(rows) => cyclic::solve(rows, y, workspace),
            Core::Parallel(rows) => parallel::solve(rows, y, workspace),
            Core::Banded(core) => core.solve(y, workspace),
            Core::NearToeplitz(core) => core.solve(y),
            Core::SortedDirect(core) => core.solve(y, workspace),
            Core::SortedStepwise(levels) => sorted::stepwise(levels, y, workspace),
        }
        if !last.is_empty() {
            self.close(y, last);
        }
    }

    /// The border unknowns, and their contributions to the rows of the core.
    #[inline(always)]
    fn close<const W: usize>(&self, y: &mut [[T; W]], last: &mut [[T; W]]) {
        let p = last.len();
        let mut found = [[T::ZERO; W]; 2];
        for (found, weights) in found.iter_mut().zip(&self.unknowns) {
            for q in 0..p {
                *found = less(*found, -weights[q], y[q]);
                *found = less(*found, -weights[p + q], y[self.rows - p + q]);
                *found = less(*found, -weights[2 * p + q], last[q]);
            }
        }
        last.copy_from_slice(&found[..p]);
        let coupled = (0..self.head).chain(self.rows - self.tail..self.rows);
        for m in coupled {
            for (z, last) in self.correction[m].iter().zip(&*last) {
                y[m] = less(y[m], *z, *last);
            }
        }
    }
}

/// `numbers` in the format of the fields.
fn all<T: Real>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|x| T::of(*x)).collect()
}

/// a − k b, for every line.
#[inline(always)]
pub(super) fn less<T: Real, const W: usize>(mut a: [T; W], k: T, b: [T; W]) -> [T; W] {
    for line in 0..W {
        a[line] -= k * b[line];
    }
    a
}

/// k a, for every line.
#[inline(always)]
pub(super) fn times<T: Real, const W: usize>(k: T, mut a: [T; W]) -> [T; W] {
    for line in 0..W {
        a[line] = k * a[line];
    }
    a
}
