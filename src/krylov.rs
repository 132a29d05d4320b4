//! Linear systems of which only products are known: GMRES with restarts, preconditioned on the right (Saad and Schultz 1986).
//!
//! Vectors hold the unknowns of this rank; products and sums go over all ranks, which must ask for them together.

use rayon::prelude::*;

use crate::comm::Communicator;
use crate::error::Result;

/// Numbers that are summed one after another; sums do not depend on the number of threads.
const PART: usize = 4096;

/// What a solution took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Products.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖, as the recurrence has it.
    pub residual: f64,
}

/// The vectors of GMRES for systems of one size.
pub struct Gmres {
    /// Orthonormal vectors of the Krylov space, one more than it has dimensions.
    basis: Vec<Vec<f64>>,
    /// M⁻¹ v.
    preconditioned: Vec<f64>,
}

/// A product with a matrix, or what stands for one: from the first to the second.
pub type Product<'a> = dyn FnMut(&[f64], &mut [f64]) -> Result<()> + 'a;

impl Gmres {
    /// For vectors of `len` numbers, with a Krylov space of at most `dimensions` before it begins anew.
    pub fn new(len: usize, dimensions: usize) -> Self {
        Self { basis: vec![vec![0.0; len]; dimensions + 1], preconditioned: vec![0.0; len] }
    }

    /// x of A x = b from x = 0, until ‖b − A x‖ ≤ `tolerance` ‖b‖ or `most` products are made. `product` is with A, `precondition` with
    /// M⁻¹ ≈ A⁻¹. Collective.
    ///
    /// # Errors
    /// What a product says.
    pub fn solve(
        &mut self,
        comm: &dyn Communicator,
        (product, precondition): (&mut Product<'_>, &mut Product<'_>),
        b: &[f64],
        x: &mut [f64],
        (tolerance, most): (f64, usize),
    ) -> Result<Solved> {
        x.fill(0.0);
        let whole = norm(comm, b);
        let mut solved = Solved { iterations: 0, residual: if whole == 0.0 { 0.0 } else { 1.0 } };
        while solved.residual > tolerance && solved.iterations < most {
            if solved.iterations == 0 {
                self.basis[0].copy_from_slice(b);
            } else {
                // Not by the recurrence, whose round-off grows.
                let [first, ..] = &mut self.basis[..] else { break };
                product(x, first)?;
                first.par_iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            }
            let before = solved.iterations;
            self.cycle(
                comm,
                (&mut *product, &mut *precondition),
                x,
                (tolerance * whole, most),
                &mut solved,
            )?;
            solved.residual /= whole;
            if solved.iterations == before {
                break;
            }
        }
        Ok(solved)
    }

    /// One Krylov space from the residual, which is the first vector; `solved.residual` becomes ‖b − A x‖.
    fn cycle(
        &mut self,
        comm: &dyn Communicator,
        (product, precondition): (&mut Product<'_>, &mut Product<'_>),
        x: &mut [f64],
        (enough, most): (f64, usize),
        solved: &mut Solved,
    ) -> Result<()> {
        let dimensions = self.basis.len() - 1;
        let start = norm(comm, &self.basis[0]);
        scale(&mut self.basis[0], 1.0 / start);
        // Column j of the triangle that the rotations make of the Hessenberg matrix; the right-hand side with them.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(dimensions);
        let mut rotations: Vec<[f64; 2]> = Vec::with_capacity(dimensions);
        let mut right = vec![start];
        solved.residual = start;
        for j in 0..dimensions {
            if solved.residual <= enough || solved.iterations >= most {
                break;
            }
            let (basis, rest) = self.basis.split_at_mut(j + 1);
            let [next, ..] = rest else { break };
            precondition(&basis[j], &mut self.preconditioned)?;
            product(&self.preconditioned, next)?;
            let mut column = orthogonalise(comm, basis, next);
            let length = norm(comm, next);
            for (i, [c, s]) in rotations.iter().enumerate() {
                (column[i], column[i + 1]) =
                    (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
            }
            let whole = column[j].hypot(length);
            solved.iterations += 1;
            if whole == 0.0 || !whole.is_finite() {
                // Nothing new, or no number: what there is is the best.
                break;
            }
            if length > 0.0 {
                scale(next, 1.0 / length);
            }
            let [c, s] = [column[j] / whole, length / whole];
            column[j] = whole;
            right.push(-s * right[j]);
            right[j] *= c;
            solved.residual = right[j + 1].abs();
            rotations.push([c, s]);
            columns.push(column);
        }
        let mut y = right;
        for j in (0..columns.len()).rev() {
            y[j] /= columns[j][j];
            for i in 0..j {
                y[i] -= columns[j][i] * y[j];
            }
        }
        // x += M⁻¹ V y: in the place of the first vector, which is not needed again.
        let [first, others @ ..] = &mut self.basis[..] else { return Ok(()) };
        let Some(own) = y.first().filter(|_| !columns.is_empty()) else { return Ok(()) };
        scale(first, *own);
        for (vector, y) in others.iter().zip(&y[1..columns.len()]) {
            add(first, *y, vector);
        }
        precondition(first, &mut self.preconditioned)?;
        add(x, 1.0, &self.preconditioned);
        Ok(())
    }
}

/// Make `next` orthogonal to the vectors of `basis`: its components along them, and a place behind them. Classical Gram-Schmidt twice,
/// which is as good as it gets (Giraud, Langou and Rozložník 2005), with two sums over the ranks.
fn orthogonalise(comm: &dyn Communicator, basis: &[Vec<f64>], next: &mut [f64]) -> Vec<f64> {
    let mut all = vec![0.0; basis.len() + 1];
    for _ in 0..2 {
        let mut along: Vec<f64> = basis.iter().map(|vector| dot(vector, next)).collect();
        comm.sum(&mut along);
        for ((vector, along), all) in basis.iter().zip(along).zip(&mut all) {
            add(next, -along, vector);
            *all += along;
        }
    }
    all
}

/// ‖x‖ over all ranks.
pub fn norm(comm: &dyn Communicator, x: &[f64]) -> f64 {
    let mut squares = [dot(x, x)];
    comm.sum(&mut squares);
    squares[0].sqrt()
}

/// x·y on this rank.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let parts = x.par_chunks(PART).zip(y.par_chunks(PART));
    let sums: Vec<f64> = parts.map(|(x, y)| x.iter().zip(y).map(|(x, y)| x * y).sum()).collect();
    sums.iter().sum()
}

/// x += a y.
fn add(x: &mut [f64], a: f64, y: &[f64]) {
    x.par_iter_mut().with_min_len(PART).zip(y).for_each(|(x, y)| *x += a * y);
}

/// x *= a.
fn scale(x: &mut [f64], a: f64) {
    x.par_iter_mut().with_min_len(PART).for_each(|x| *x *= a);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Solo;
    use crate::splitmix::{STEP, mixed};

    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    fn noise(at: usize) -> f64 {
        (mixed((at as u64).wrapping_mul(STEP)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }

    /// A wrong rotation, restart or use of the preconditioner: the residual that is told is not that which there is.
    #[test]
    fn a_system_is_solved_to_the_tolerance_that_is_asked_for() {
        const N: usize = 60;
        let entry = |i: usize, j: usize| noise(i * N + j) + if i == j { 9.0 } else { 0.0 };
        let apply = |x: &[f64], to: &mut [f64]| {
            for (i, to) in to.iter_mut().enumerate() {
                *to = x.iter().enumerate().map(|(j, x)| entry(i, j) * x).sum();
            }
        };
        let b: Vec<f64> = (0..N).map(|i| noise(i + N * N)).collect();
        for (dimensions, scaled, most) in
            [(60, false, 60), (7, false, 90), (60, true, 60), (3, true, 200)]
        {
            let mut x = vec![f64::NAN; N];
            let mut product = |x: &[f64], to: &mut [f64]| {
                apply(x, to);
                Ok(())
            };
            let mut precondition = |x: &[f64], to: &mut [f64]| {
                let weight = |i: usize| if scaled { 1.0 / entry(i, i) } else { 1.0 };
                to.iter_mut().zip(x).enumerate().for_each(|(i, (to, x))| *to = weight(i) * x);
                Ok(())
            };
            let pair = (&mut product as &mut Product<'_>, &mut precondition as &mut Product<'_>);
            let solved =
                Gmres::new(N, dimensions).solve(&Solo, pair, &b, &mut x, (1e-12, most)).unwrap();
            let mut left = vec![0.0; N];
            apply(&x, &mut left);
            left.iter_mut().zip(&b).for_each(|(left, b)| *left -= b);
            let residual = norm(&Solo, &left) / norm(&Solo, &b);
            assert!(
                residual < 2e-12 && solved.residual < 1e-12,
                "{dimensions}: {solved:?} {residual}"
            );
            assert!(solved.iterations < most, "{dimensions}: {solved:?}");
        }
    }

    /// A division by the size of nothing.
    #[test]
    fn nothing_has_the_solution_nothing() {
        let mut gmres = Gmres::new(4, 3);
        let mut same = |x: &[f64], to: &mut [f64]| {
            to.copy_from_slice(x);
            Ok(())
        };
        let mut other = same;
        let mut x = [1.0; 4];
        let pair = (&mut same as &mut Product<'_>, &mut other as &mut Product<'_>);
        let solved = gmres.solve(&Solo, pair, &[0.0; 4], &mut x, (1e-12, 9)).unwrap();
        assert_eq!((x, solved.iterations), ([0.0; 4], 0));
        // The exact solution after one product: nothing new to go on with.
        let pair = (&mut same as &mut Product<'_>, &mut other as &mut Product<'_>);
        let solved = gmres.solve(&Solo, pair, &[2.0, 0.0, 1.0, 0.0], &mut x, (1e-30, 9)).unwrap();
        assert_eq!((x, solved.iterations), ([2.0, 0.0, 1.0, 0.0], 1));
    }
}
