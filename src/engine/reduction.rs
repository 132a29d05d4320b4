//! Sums and maxima of formulas over the points of the host, in f64 and in a fixed order.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::formula::{Formula, OverPoints, array};
use super::packed::Packed;
use crate::real::{Number as _, Real};
use crate::simd::mapped;

/// Combination of the results of two points into one.
pub(crate) trait Combine: Send + Sync + 'static {
    const IDENTITY: f64;
    fn combine(a: f64, b: f64) -> f64;
}

pub(crate) struct Sum;
impl Combine for Sum {
    const IDENTITY: f64 = 0.0;
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a + b
    }
}

pub(crate) struct Max;
impl Combine for Max {
    const IDENTITY: f64 = f64::NEG_INFINITY;
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a.max(if b.is_nan() { f64::INFINITY } else { b })
    }
}

/// A formula whose results are combined over points.
pub(super) struct Reduced<F, C, const R: usize, const W: usize, const P: usize>(
    pub(super) F,
    pub(super) PhantomData<C>,
);

impl<F, C, const R: usize, const W: usize, const P: usize> Reduced<F, C, R, W, P>
where
    F: Formula<R, W, P>,
    C: Combine,
{
    fn total<T: Real>(&self, arch: pulp::Arch, from: &[&[T]], to: &mut [f64], parameters: &[f64]) {
        let (from, weights) = from.split_at(R);
        let (from, parameters) = (array(from), array(parameters));
        let total = arch.dispatch(OverRows::<F, C, T, R, W, P> {
            formula: &self.0,
            from,
            weights: weights.first().copied(),
            parameters,
            how: PhantomData,
        });
        to.copy_from_slice(&total);
    }
}

/// Number of partial results kept side by side.
const ABREAST: usize = 16;

/// Combined results of a formula over the points of rows: partial result l is that of points l, l + 16, ...
struct OverRows<'a, F, C, T, const R: usize, const W: usize, const P: usize> {
    formula: &'a F,
    from: [&'a [T]; R],
    /// Factors of the results at each point, where they are not 1.
    weights: Option<&'a [T]>,
    parameters: [f64; P],
    how: PhantomData<C>,
}

impl<F, C, T, const R: usize, const W: usize, const P: usize> WithSimd
    for OverRows<'_, F, C, T, R, W, P>
where
    F: Formula<R, W, P>,
    C: Combine,
    T: Real,
{
    type Output = [f64; W];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; W] {
        let Self { formula, from, weights, parameters, .. } = self;
        let zero = Packed::<S, f64>::of(0.0);
        let (mut read, mut given) = ([zero; R], [zero; P]);
        for p in 0..P {
            given[p] = Packed::of(parameters[p]);
        }
        let mut partial = [[C::IDENTITY; ABREAST]; W];
        let rows = mapped(from, |row| row.as_chunks::<ABREAST>());
        for i in 0..rows[0].0.len() {
            let mut results = [[0.0; ABREAST]; W];
            for at in (0..ABREAST).step_by(S::F64_LANES) {
                for r in 0..R {
                    let mut point = [0.0; ABREAST];
                    for (l, x) in point[..S::F64_LANES].iter_mut().enumerate() {
                        *x = rows[r].0[i][at + l].f64();
                    }
                    read[r].1 = S::as_simd_f64s(&point).0[0];
                }
                let value = formula.at(read, [zero; W], given);
                for w in 0..W {
                    S::as_mut_simd_f64s(&mut results[w]).0[at / S::F64_LANES] = value[w].1;
                }
            }
            if let Some(weights) = weights {
                for (l, weight) in weights[i * ABREAST..][..ABREAST].iter().enumerate() {
                    results.iter_mut().for_each(|result| result[l] *= weight.f64());
                }
            }
            for w in 0..W {
                for l in 0..ABREAST {
                    partial[w][l] = C::combine(partial[w][l], results[w][l]);
                }
            }
        }
        for l in 0..rows[0].1.len() {
            let point = mapped(rows, |row| row.1[l].f64());
            let value = formula.at(point, [0.0; W], parameters);
            let weight =
                weights.map_or(1.0, |weights| weights[weights.len() - rows[0].1.len() + l].f64());
            for (partial, value) in partial.iter_mut().zip(value) {
                partial[l] = C::combine(partial[l], weight * value);
            }
        }
        mapped(partial, |lanes| lanes.into_iter().fold(C::IDENTITY, C::combine))
    }
}

impl<F, C, const R: usize, const W: usize, const P: usize> OverPoints for Reduced<F, C, R, W, P>
where
    F: Formula<R, W, P>,
    C: Combine,
{
    fn f32(&self, arch: pulp::Arch, from: &[&[f32]], to: &mut [f64], parameters: &[f64]) {
        self.total(arch, from, to, parameters);
    }
    fn f64(&self, arch: pulp::Arch, from: &[&[f64]], to: &mut [f64], parameters: &[f64]) {
        self.total(arch, from, to, parameters);
    }
}
