//! Vectors of the linear systems: what is solved for at all points, a field of each unknown where the backend has its fields.

use std::sync::Arc;

use smallvec::SmallVec;

use super::formulas::{COUNT, Products, Scaled, Square, Sums};
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::krylov::Space;

/// The unknowns, those of a point scaled by powers of 2.
pub(super) type Vector = [Field; COUNT];

/// Vectors that one formula reads: with what it writes they are as many fields as a backend takes.
const FEW: usize = 3;

/// Their space, on a backend.
pub(super) struct Vectors {
    backend: Arc<dyn Backend>,
    /// Points of this rank.
    len: usize,
    square: Prepared,
    /// Of one vector, two, three.
    products: [Prepared; FEW],
    sums: [Prepared; FEW],
    scaled: Prepared,
}

impl Vectors {
    /// Of `len` points.
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
) -> SmallVec<[&'a Field; (FEW + 1) * COUNT]> {
    vectors.into_iter().flatten().collect()
}

impl Space for Vectors {
    type Vector = Vector;

    fn zeros(&self) -> Result<Vector> {
        let [a, b, c, d, e] = std::array::from_fn(|_| self.backend.zeros(self.len));
        Ok([a?, b?, c?, d?, e?])
    }

    fn products(&self, vectors: &[Vector], x: &Vector) -> Result<Vec<f64>> {
        // All are under way before the first is waited for.
        let begin = |few: &[Vector]| {
            self.backend.reduce_here(
                &self.products[few.len() - 1],
                &fields(few.iter().chain([x])),
                &[],
            )
        };
        let begun = vectors.chunks(FEW).map(begin).collect::<Result<Vec<_>>>()?;
        let mut products = Vec::with_capacity(vectors.len().next_multiple_of(FEW));
        for few in begun {
            products.extend(few.wait::<FEW>()?);
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
        for (weights, few) in weights.chunks(FEW).zip(vectors.chunks(FEW)) {
            let sum = &self.sums[few.len() - 1];
            self.backend.map(sum, &fields(few), &mut x.each_mut(), weights);
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
