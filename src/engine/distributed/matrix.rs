//! Small dense matrices: the couplings between blocks.

/// A dense matrix, which may have no rows or no columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Entries by rows.
    entries: Vec<f64>,
}

impl Matrix {
    pub(super) fn from_fn(
        rows: usize,
        columns: usize,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let mut entries = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            entries.extend((0..columns).map(|j| entry(i, j)));
        }
        Self { rows, columns, entries }
    }

    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, entries: vec![0.0; rows * columns] }
    }

    pub(super) fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.columns + j]
    }

    /// The submatrix of the given size that starts at row i0, column j0.
    pub(super) fn part(&self, [i0, j0]: [usize; 2], rows: usize, columns: usize) -> Self {
        Self::from_fn(rows, columns, |i, j| self.at(i0 + i, j0 + j))
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.columns);
        product.add_product(self, other);
        product
    }

    /// self + a b, in place.
    pub(super) fn add_product(&mut self, a: &Self, b: &Self) {
        assert_eq!([a.rows, a.columns, b.columns], [self.rows, b.rows, self.columns]);
        for i in 0..a.rows {
            for k in 0..a.columns {
                let factor = a.at(i, k);
                for j in 0..b.columns {
                    self.entries[i * b.columns + j] += factor * b.at(k, j);
                }
            }
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        assert_eq!([self.rows, self.columns], [other.rows, other.columns], "shapes differ");
        let sums = self.entries.iter().zip(&other.entries).map(|(a, b)| a + b);
        Self { entries: sums.collect(), ..*self }
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    pub(super) fn negated(&self) -> Self {
        Self { entries: self.entries.iter().map(|a| -a).collect(), ..*self }
    }

    /// Maximum absolute row sum.
    pub(super) fn norm(&self) -> f64 {
        let sum = |i: usize| (0..self.columns).map(|j| self.at(i, j).abs()).sum::<f64>();
        (0..self.rows).map(sum).fold(0.0, f64::max)
    }

    /// Returns the inverse, by Gaussian elimination with row pivoting, or an error message if the matrix is singular.
    pub(super) fn inverse(&self) -> Result<Self, String> {
        let n = self.rows;
        assert_eq!(n, self.columns, "only square matrices have an inverse");
        let width = 2 * n;
        let mut work = Self::from_fn(n, width, |i, j| match j.checked_sub(n) {
            None => self.at(i, j),
            Some(right) => f64::from(u8::from(right == i)),
        });
        for k in 0..n {
            let largest =
                |a: &usize, b: &usize| work.at(*a, k).abs().total_cmp(&work.at(*b, k).abs());
            let pivot = (k..n).max_by(largest).unwrap_or(k);
            let value = work.at(pivot, k);
            if !value.is_normal() {
                return Err("the system that joins the blocks of this operator is singular".into());
            }
            for j in 0..width {
                work.entries.swap(k * width + j, pivot * width + j);
                work.entries[k * width + j] /= value;
            }
            for i in (0..n).filter(|i| *i != k) {
                let factor = work.at(i, k);
                for j in 0..width {
                    work.entries[i * width + j] -= factor * work.entries[k * width + j];
                }
            }
        }
        Ok(work.part([0, n], n, n))
    }

    pub(super) fn nested(&self) -> Vec<Vec<f64>> {
        (0..self.rows).map(|i| (0..self.columns).map(|j| self.at(i, j)).collect()).collect()
    }
}
