//! The derivative along the outward normal on an open face.
//!
//! It is that of the scheme at the end of a line: rate + L then contains nothing of the waves along the normal. With another one-sided
//! derivative, waves at the grid scale that reach the face come back as longer ones; where points are clustered towards it they are
//! trapped between the face and the coarser points, and grow (by 0.2 to 0.9 c/L with tanh 2).

use crate::boundary::Open;
use crate::engine::{LineOperator, Number, closed_min_points};
use crate::lagrange;
use crate::physics::walls::weighted;
use crate::scheme::{Closure, Scheme};

/// Number of points next to the face that are read.
pub(in crate::physics) const INSIDE: usize = Open::POINTS - 1;
/// Number of these, the last ones, from which points farther inside are extrapolated.
const LAST: usize = 4;

/// h ∂/∂n: the weights of the face and of the points inside.
#[derive(Clone, Copy)]
pub(in crate::physics) struct Outward([f64; 1 + INSIDE]);

impl Outward {
    /// The derivative by `scheme` with `closure` at the end of a long line, for h = 1.
    pub(super) fn new(scheme: &Scheme, closure: &Closure) -> Self {
        // Weights of compact schemes fall below round-off within 60 points.
        let points = closed_min_points(scheme, closure).max(64);
        let row = LineOperator::closed(scheme, closure, points, 1.0).result_row(0);
        let mut weights = [0.0; 1 + INSIDE];
        weights.copy_from_slice(&row[..=INSIDE]);
        let first = 1 + INSIDE - LAST;
        let last: [f64; LAST] = std::array::from_fn(|k| (first + k) as f64);
        for (j, weight) in row.iter().enumerate().skip(1 + INSIDE) {
            for k in 0..LAST {
                weights[first + k] += weight * lagrange::weight(&last, k, j as f64);
            }
        }
        // The line leads into the gas.
        Self(weights.map(|weight| -weight))
    }

    /// For the spacing `h`.
    pub(super) fn over(self, h: f64) -> Self {
        Self(self.0.map(|weight| weight / h))
    }

    /// The weights of the face and of the points inside, for h = 1 or that of [`Outward::over`].
    #[inline(always)]
    pub(super) fn weights(&self) -> &[f64; 1 + INSIDE] {
        &self.0
    }

    /// The derivative of a quantity with the value `at` the face.
    #[inline(always)]
    pub(in crate::physics) fn slope<N: Number>(&self, at: N, inside: impl Fn(usize) -> N) -> N {
        weighted(&self.0, at, inside)
    }
}
