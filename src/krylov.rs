//! Linear systems given by matrix-vector products: restarted GMRES, preconditioned on the right (Saad and Schultz 1986).
//!
//! The [`Space`] defines what vectors are and where they are stored. They are distributed over all ranks, which must request products and
//! sums together.

use crate::error::Result;

/// The space of the vectors of a system. Errors are those of a device: out of memory, or failures of earlier work.
pub trait Space {
    /// A vector of the space.
    type Vector;

    /// The zero vector.
    fn zeros(&self) -> Result<Self::Vector>;

    /// `vectorᵢ · x` of each of `vectors`. Collective.
    fn products(&self, vectors: &[Self::Vector], x: &Self::Vector) -> Result<Vec<f64>>;

    /// x · x. Collective.
    fn square(&self, x: &Self::Vector) -> Result<f64>;

    /// x += Σᵢ `weightᵢ vectorᵢ`.
    fn add(&self, x: &mut Self::Vector, weights: &[f64], vectors: &[Self::Vector]);

    /// x *= a.
    fn scale(&self, x: &mut Self::Vector, a: f64);

    /// `to` = `from`.
    fn copy(&self, from: &Self::Vector, to: &mut Self::Vector);

    /// x = 0, independent of its previous content.
    fn clear(&self, x: &mut Self::Vector);

    /// ‖x‖. Collective.
    fn norm(&self, x: &Self::Vector) -> Result<f64> {
        self.square(x).map(f64::sqrt)
    }
}

/// Cost and accuracy of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Number of matrix-vector products.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖, according to the recurrence.
    pub residual: f64,
}

/// The vectors of GMRES for systems of one size.
pub struct Gmres<V> {
    /// Orthonormal basis of the Krylov space, one vector more than its dimension.
    basis: Vec<V>,
    /// M⁻¹ v.
    preconditioned: V,
}

/// A product with a matrix or an operator: from the first to the second vector.
pub type Product<'a, V> = dyn FnMut(&V, &mut V) -> Result<()> + 'a;

impl<V> Gmres<V> {
    /// For vectors of `space`, with a Krylov space of at most `dimensions` before a restart.
    pub fn new(space: &impl Space<Vector = V>, dimensions: usize) -> Result<Self> {
        let basis = (0..=dimensions).map(|_| space.zeros()).collect::<Result<_>>()?;
        Ok(Self { basis, preconditioned: space.zeros()? })
    }

    /// Solve A x = b from x = 0, until ‖b − A x‖ ≤ `tolerance` ‖b‖ or after `max_products` products. `product` multiplies by A,
    /// `precondition` by M⁻¹ ≈ A⁻¹. Collective. Errors are those of products.
    pub fn solve(
        &mut self,
        space: &impl Space<Vector = V>,
        (product, precondition): (&mut Product<'_, V>, &mut Product<'_, V>),
        b: &V,
        x: &mut V,
        (tolerance, max_products): (f64, usize),
    ) -> Result<Solved> {
        space.clear(x);
        let norm_b = space.norm(b)?;
        let mut solved = Solved { iterations: 0, residual: if norm_b == 0.0 { 0.0 } else { 1.0 } };
        // A restart needs two products: one for its residual, one for a basis vector.
        while solved.residual > tolerance
            && solved.iterations + usize::from(solved.iterations > 0) < max_products
        {
            let [first, ..] = &mut self.basis[..] else { break };
            let before = solved.residual;
            if solved.iterations == 0 {
                space.copy(b, first);
            } else {
                // Computed from x, because round-off accumulates in the recurrence.
                product(x, first)?;
                solved.iterations += 1;
                space.scale(first, -1.0);
                space.add(first, &[1.0], std::slice::from_ref(b));
            }
            self.cycle(
                space,
                (&mut *product, &mut *precondition),
                x,
                (tolerance * norm_b, max_products),
                &mut solved,
            )?;
            solved.residual /= norm_b;
            // No progress: another cycle would build the same space.
            if solved.residual >= before {
                break;
            }
        }
        Ok(solved)
    }

    /// One Krylov cycle from the residual, which is the first vector; `solved.residual` becomes ‖b − A x‖.
    fn cycle(
        &mut self,
        space: &impl Space<Vector = V>,
        (product, precondition): (&mut Product<'_, V>, &mut Product<'_, V>),
        x: &mut V,
        (target, max_products): (f64, usize),
        solved: &mut Solved,
    ) -> Result<()> {
        let dimensions = self.basis.len() - 1;
        let initial_norm = space.norm(&self.basis[0])?;
        space.scale(&mut self.basis[0], 1.0 / initial_norm);
        // Column j of the triangular factor of the Hessenberg matrix after the rotations; the right-hand side is rotated too.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(dimensions);
        let mut rotations: Vec<[f64; 2]> = Vec::with_capacity(dimensions);
        let mut rotated_rhs = vec![initial_norm];
        solved.residual = initial_norm;
        for j in 0..dimensions {
            if solved.residual <= target || solved.iterations >= max_products {
                break;
            }
            let (basis, rest) = self.basis.split_at_mut(j + 1);
            let [next, ..] = rest else { break };
            precondition(&basis[j], &mut self.preconditioned)?;
            product(&self.preconditioned, next)?;
            let mut column = orthogonalise(space, basis, next)?;
            let norm = space.norm(next)?;
            for (i, [c, s]) in rotations.iter().enumerate() {
                (column[i], column[i + 1]) =
                    (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
            }
            let diagonal = column[j].hypot(norm);
            solved.iterations += 1;
            if diagonal == 0.0 || !diagonal.is_finite() {
                // Breakdown or non-finite numbers: keep the solution so far.
                break;
            }
            if norm > 0.0 {
                space.scale(next, 1.0 / norm);
            }
            let [c, s] = [column[j] / diagonal, norm / diagonal];
            column[j] = diagonal;
            rotated_rhs.push(-s * rotated_rhs[j]);
            rotated_rhs[j] *= c;
            solved.residual = rotated_rhs[j + 1].abs();
            rotations.push([c, s]);
            columns.push(column);
        }
        let mut y = rotated_rhs;
        for j in (0..columns.len()).rev() {
            y[j] /= columns[j][j];
            for i in 0..j {
                y[i] -= columns[j][i] * y[j];
            }
        }
        // x += M⁻¹ V y, formed in the first vector, which is not needed any more.
        let [first, others @ ..] = &mut self.basis[..] else { return Ok(()) };
        let Some(first_weight) = y.first().filter(|_| !columns.is_empty()) else { return Ok(()) };
        space.scale(first, *first_weight);
        space.add(first, &y[1..columns.len()], &others[..columns.len() - 1]);
        precondition(first, &mut self.preconditioned)?;
        space.add(x, &[1.0], std::slice::from_ref(&self.preconditioned));
        Ok(())
    }
}

/// Orthogonalise `next` against `basis`. Returns its components along the basis, followed by one more entry. Classical Gram-Schmidt twice,
/// which is accurate to working precision (Giraud, Langou and Rozložník 2005), with two sums over the ranks.
fn orthogonalise<S: Space>(
    space: &S,
    basis: &[S::Vector],
    next: &mut S::Vector,
) -> Result<Vec<f64>> {
    let mut components = vec![0.0; basis.len() + 1];
    for _ in 0..2 {
        let mut projections = space.products(basis, next)?;
        projections.iter_mut().zip(&mut components).for_each(|(projection, component)| {
            *component += *projection;
            *projection = -*projection;
        });
        space.add(next, &projections, basis);
    }
    Ok(components)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splitmix::{number, unit};

    /// The space of vectors of this length.
    struct Numbers(usize);

    impl Space for Numbers {
        type Vector = Vec<f64>;

        fn zeros(&self) -> Result<Vec<f64>> {
            Ok(vec![0.0; self.0])
        }
        fn products(&self, vectors: &[Vec<f64>], x: &Vec<f64>) -> Result<Vec<f64>> {
            let product = |of: &Vec<f64>| of.iter().zip(x).map(|(a, b)| a * b).sum();
            Ok(vectors.iter().map(product).collect())
        }
        fn square(&self, x: &Vec<f64>) -> Result<f64> {
            Ok(x.iter().map(|x| x * x).sum())
        }
        fn add(&self, x: &mut Vec<f64>, weights: &[f64], vectors: &[Vec<f64>]) {
            for (weight, vector) in weights.iter().zip(vectors) {
                x.iter_mut().zip(vector).for_each(|(x, v)| *x += weight * v);
            }
        }
        fn scale(&self, x: &mut Vec<f64>, a: f64) {
            x.iter_mut().for_each(|x| *x *= a);
        }
        fn copy(&self, from: &Vec<f64>, to: &mut Vec<f64>) {
            to.copy_from_slice(from);
        }
        fn clear(&self, x: &mut Vec<f64>) {
            x.fill(0.0);
        }
    }

    fn noise(at: usize) -> f64 {
        unit(number(0, at as u64)) - 0.5
    }

    fn product(entry: impl Fn(usize, usize) -> f64, x: &[f64]) -> Vec<f64> {
        let row = |i: usize| x.iter().enumerate().map(|(j, x)| entry(i, j) * x).sum();
        (0..x.len()).map(row).collect()
    }

    /// x of A x = b with these entries of A and this diagonal of M⁻¹, the reported result, and the number of products computed.
    fn solve(
        entry: impl Fn(usize, usize) -> f64,
        inverse: impl Fn(usize) -> f64,
        b: Vec<f64>,
        dimensions: usize,
        limits: (f64, usize),
    ) -> (Vec<f64>, Solved, usize) {
        let (space, mut products, mut x) = (Numbers(b.len()), 0, vec![f64::NAN; b.len()]);
        let mut multiply = |x: &Vec<f64>, to: &mut Vec<f64>| {
            products += 1;
            *to = product(&entry, x);
            Ok(())
        };
        let mut precondition = |x: &Vec<f64>, to: &mut Vec<f64>| {
            *to = x.iter().enumerate().map(|(i, x)| inverse(i) * x).collect();
            Ok(())
        };
        let pair: (&mut Product<'_, _>, &mut Product<'_, _>) = (&mut multiply, &mut precondition);
        let mut gmres = Gmres::new(&space, dimensions).unwrap();
        let solved = gmres.solve(&space, pair, &b, &mut x, limits).unwrap();
        (x, solved, products)
    }

    /// Detects a wrong rotation, restart or use of the preconditioner: the reported residual differs from the true one.
    #[test]
    fn gmres_solves_to_the_requested_tolerance() {
        const N: usize = 60;
        let entry = |i: usize, j: usize| noise(i * N + j) + if i == j { 9.0 } else { 0.0 };
        let b: Vec<f64> = (0..N).map(|i| noise(i + N * N)).collect();
        for (dimensions, scaled, most) in
            [(60, false, 60), (7, false, 90), (60, true, 60), (3, true, 200)]
        {
            let inverse = |i: usize| if scaled { 1.0 / entry(i, i) } else { 1.0 };
            let (x, solved, _) = solve(entry, inverse, b.clone(), dimensions, (1e-12, most));
            let mut residual = product(entry, &x);
            residual.iter_mut().zip(&b).for_each(|(r, b)| *r -= b);
            let norm = |x| Numbers(N).norm(x).unwrap();
            let residual = norm(&residual) / norm(&b);
            assert!(
                residual < 2e-12 && solved.residual < 1e-12,
                "{dimensions}: {solved:?} {residual}"
            );
            assert!(solved.iterations < most, "{dimensions}: {solved:?}");
        }
    }

    /// Detects a division by the norm of a zero vector.
    #[test]
    fn gmres_handles_a_zero_right_hand_side_and_an_exhausted_space() {
        let unity = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let (x, solved, _) = solve(unity, |_| 1.0, vec![0.0; 4], 3, (1e-12, 9));
        assert_eq!((&x[..], solved.iterations), (&[0.0; 4][..], 0));
        // The exact solution after one product: the Krylov space is exhausted.
        let b = vec![2.0, 0.0, 1.0, 0.0];
        let (x, solved, _) = solve(unity, |_| 1.0, b.clone(), 3, (1e-30, 9));
        assert_eq!((x, solved.iterations), (b, 1));
    }

    /// Detects uncounted products for the residuals at restarts, and cycles repeated without progress.
    #[test]
    fn gmres_counts_every_product_and_computes_no_useless_ones() {
        let solve = |entry: fn(usize, usize) -> f64| {
            let (_, solved, products) = solve(entry, |_| 1.0, vec![1.0; 40], 3, (1e-13, 30));
            (products, solved.iterations)
        };
        let (products, reported) = solve(|i, j| noise(40 * i + j) + if i == j { 9.0 } else { 0.0 });
        assert!(products == reported && (20..30).contains(&products), "{products} {reported}");
        assert_eq!(solve(|_, _| 0.0), (1, 1));
    }
}
