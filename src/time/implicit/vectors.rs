//! Vectors of the linear systems: the unknowns at all points, one backend field per unknown.

use std::sync::Arc;

use smallvec::SmallVec;

use super::formulas::{COUNT, Products, Scaled, Square, Sums};
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::krylov::Space;

/// The unknowns, scaled by powers of 2.
pub(super) type Vector = [Field; COUNT];

/// Maximum number of vectors that one formula reads; with more, reads and writes would exceed the field limit of backends.
const MAX_VECTORS: usize = 3;

/// The vector space on a backend.
pub(super) struct Vectors {
    backend: Arc<dyn Backend>,
    /// Number of points of this rank.
    len: usize,
    square: Prepared,
    /// For one, two and three vectors.
    products: [Prepared; MAX_VECTORS],
    sums: [Prepared; MAX_VECTORS],
    scaled: Prepared,
}

impl Vectors {
    /// Vectors of `len` points.
    pub(super) fn new(backend: Arc<dyn Backend>, len: usize) -> Result<Self> {
        Ok(Self {
            square: backend.prepare(PointFormula::sum(Square))?,
            products: [
                backend.prepare(PointFormula::sum(Products::<1>))?,
                backend.prepare(PointFormula::sum(Products::<2>))?,
                backend.prepare(PointFormula::sum(Products::<3>))?,
            ],
            sums: [
                backend.prepare(PointFormula::map(Sums::<1>))?,
                backend.prepare(PointFormula::map(Sums::<2>))?,
                backend.prepare(PointFormula::map(Sums::<3>))?,
            ],
            scaled: backend.prepare(PointFormula::map(Scaled))?,
            len,
            backend,
        })
    }
}

/// The fields of several vectors, one after another.
pub(super) fn fields<'a>(
    vectors: impl IntoIterator<Item = &'a Vector>,
) -> SmallVec<[&'a Field; (MAX_VECTORS + 1) * COUNT]> {
    vectors.into_iter().flatten().collect()
}

impl Space for Vectors {
    type Vector = Vector;

    fn zeros(&self) -> Result<Vector> {
        let [a, b, c, d, e] = std::array::from_fn(|_| self.backend.zeros(self.len));
        Ok([a?, b?, c?, d?, e?])
    }

    fn products(&self, vectors: &[Vector], x: &Vector) -> Result<Vec<f64>> {
        // Start all reductions before waiting for the first.
        let begin = |chunk: &[Vector]| {
            self.backend.reduce_here(
                &self.products[chunk.len() - 1],
                &fields(chunk.iter().chain([x])),
                &[],
            )
        };
        let begun = vectors.chunks(MAX_VECTORS).map(begin).collect::<Result<Vec<_>>>()?;
        let mut products = Vec::with_capacity(vectors.len().next_multiple_of(MAX_VECTORS));
        for chunk in begun {
            products.extend(chunk.wait::<MAX_VECTORS>()?);
        }
        products.truncate(vectors.len());
        self.backend.comm().sum(&mut products);
        Ok(products)
    }

    fn square(&self, x: &Vector) -> Result<f64> {
        let [square] = self.backend.reduce(&self.square, &fields([x]), &[])?.wait()?;
        Ok(square)
    }

    fn add(&self, x: &mut Vector, weights: &[f64], vectors: &[Vector]) {
        for (weights, chunk) in weights.chunks(MAX_VECTORS).zip(vectors.chunks(MAX_VECTORS)) {
            let sum = &self.sums[chunk.len() - 1];
            self.backend.map(sum, &fields(chunk), &mut x.each_mut(), weights);
        }
    }

    fn scale(&self, x: &mut Vector, a: f64) {
        self.backend.map(&self.scaled, &[], &mut x.each_mut(), &[a]);
    }

    fn copy(&self, from: &Vector, to: &mut Vector) {
        from.iter().zip(to).for_each(|(from, to)| self.backend.copy(from, to));
    }

    fn clear(&self, x: &mut Vector) {
        x.iter_mut().for_each(|x| self.backend.clear(x));
    }
}
