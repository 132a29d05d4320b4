//! One derivative on many ranks, predicted by the model.

use crate::engine::distributed::Method;
use crate::grid::{Axis, Decomposition, End};
use crate::model::{Network, Prediction, Rates, Work, predict};
use crate::real::Precision;
use crate::scheme::family;

/// A first derivative of one field, in f64, on a fat tree.
pub(super) struct Derivative {
    pub(super) scheme: &'static str,
    pub(super) periodic: bool,
    pub(super) method: Method,
    pub(super) rates: Rates,
}

impl Derivative {
    /// The prediction along `axis` of a grid of `points` with the decomposition `cut`; `None` if blocks are too short for the
    /// method.
    pub(super) fn predict(
        &self,
        axis: Axis,
        points: [usize; 3],
        cut: Decomposition,
    ) -> Option<Prediction> {
        let ends = [(!self.periodic).then_some([End::ByParts; 2]); 3];
        let scheme = (family(self.scheme)?, ends, Precision::F64);
        let work = Work::of_derivatives(&[axis], scheme, points, cut, Some(self.method)).ok()?;
        Some(predict(&work, &self.rates, Network::FatTree(1.0)))
    }

    /// Seconds along `axis`.
    pub(super) fn seconds(
        &self,
        axis: Axis,
        points: [usize; 3],
        cut: Decomposition,
    ) -> Option<f64> {
        self.predict(axis, points, cut).map(|prediction| prediction.step_seconds)
    }

    /// Seconds of the derivatives along all axes, one after another.
    pub(super) fn all_axes(&self, points: [usize; 3], cut: Decomposition) -> Option<f64> {
        Axis::ALL.into_iter().map(|axis| self.seconds(axis, points, cut)).sum()
    }
}
