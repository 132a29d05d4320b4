//! Banded matrices, cyclic or not, and how fast their inverses decay.

/// Largest half-bandwidth: pentadiagonal.
pub const MAX_HALF_BAND: usize = 2;

/// A square banded matrix with half-bandwidth p ≤ 2; if it is cyclic, row m couples to column (m + d) mod n.
#[derive(Clone, Debug, PartialEq)]
pub struct BandedMatrix {
    /// Half-bandwidth p.
    half_band: usize,
    /// True where the band wraps around.
    cyclic: bool,
    /// `rows[m][2 + d]` is the entry at row m, column m + d.
    rows: Vec<[f64; 2 * MAX_HALF_BAND + 1]>,
}

impl BandedMatrix {
    /// The n x n matrix with 1 on the diagonal, `alpha` on the first off-diagonals and `beta` on the second. In a
    /// non-cyclic matrix, entries outside are dropped.
    ///
    /// # Panics
    /// If n < 2 p + 1: the caller checks [`Scheme::min_points`](crate::scheme::Scheme::min_points) first.
    pub fn toeplitz(n: usize, alpha: f64, beta: f64, cyclic: bool) -> Self {
        let half_band = if beta != 0.0 { 2 } else { usize::from(alpha != 0.0) };
        assert!(n > 2 * half_band, "{n} points are too few for a half-bandwidth of {half_band}");
        let mut matrix = Self { half_band, cyclic, rows: vec![[beta, alpha, 1.0, alpha, beta]; n] };
        if !cyclic {
            for m in 0..n {
                for d in -2..=2 {
                    if m.checked_add_signed(d).is_none_or(|column| column >= n) {
                        matrix.rows[m][slot(d)] = 0.0;
                    }
                }
            }
        }
        matrix
    }

    /// The n x n non-cyclic matrix with 1 on the diagonal and `entry(m, d)` at row m, column m + d elsewhere.
    pub(crate) fn open(n: usize, entry: impl Fn(usize, isize) -> f64) -> Self {
        let mut matrix = Self::toeplitz(n, 0.0, 0.0, false);
        for m in 0..n {
            let inside = |d: &isize| *d != 0 && m.checked_add_signed(*d).is_some_and(|c| c < n);
            let entries = (-2..=2).filter(inside).map(|d| (d, entry(m, d)));
            let entries: Vec<_> = entries.filter(|(_, a)| *a != 0.0).collect();
            matrix.set_row(m, &entries);
        }
        matrix
    }

    /// Replaces row m of a non-cyclic matrix: 1 on the diagonal and the given (offset, value) entries.
    pub fn set_row(&mut self, m: usize, entries: &[(isize, f64)]) {
        self.rows[m] = [0.0; 5];
        self.rows[m][slot(0)] = 1.0;
        for &(offset, value) in entries {
            self.rows[m][slot(offset)] = value;
            self.half_band = self.half_band.max(offset.unsigned_abs());
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True for a matrix without rows, which cannot be constructed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Half-bandwidth p: 0, 1 or 2.
    pub fn half_band(&self) -> usize {
        self.half_band
    }

    /// True where the band wraps around.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// The entry at row m, column m + d, |d| ≤ 2.
    pub fn entry(&self, m: usize, d: isize) -> f64 {
        self.rows[m][slot(d)]
    }

    /// Aᵀ of a non-cyclic matrix.
    pub(crate) fn transposed(&self) -> Self {
        Self::open(self.len(), |m, d| self.entry(m.wrapping_add_signed(d), -d))
    }
}

fn slot(d: isize) -> usize {
    (MAX_HALF_BAND.cast_signed() + d).cast_unsigned()
}

/// (m + d) mod n for |d| ≤ n.
pub(super) fn wrapped(m: usize, d: isize, n: usize) -> usize {
    (m + n).wrapping_add_signed(d) % n
}
