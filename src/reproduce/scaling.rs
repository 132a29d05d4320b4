//! One derivative on many ranks, by the model.

use std::f64::consts::TAU;

use crate::engine::distributed::Method;
use crate::engine::{LineOperators, SweepBuilder};
use crate::grid::{Axis, Decomposition, Domain, End, Grid};
use crate::model::{Network, Prediction, Rates, Work, predict};
use crate::real::Precision;
use crate::scheme::family;

/// A first derivative of one field, in f64.
pub(super) struct Derivative {
    pub(super) scheme: &'static str,
    pub(super) periodic: bool,
    pub(super) method: Method,
    pub(super) rates: Rates,
    pub(super) network: Network,
}

impl Derivative {
    /// Along `axis` of a grid of `points` on `ranks`; `None` where blocks are too short for the method.
    pub(super) fn predict(
        &self,
        axis: Axis,
        points: [usize; 3],
        ranks: [usize; 3],
    ) -> Option<Prediction> {
        // Operators along the other axes are not used: lines of a few points do.
        let few = 2 * FEWEST;
        let lines = std::array::from_fn(|a| if a == axis.index() { points[a] } else { few });
        let ends = (!self.periodic).then_some([End::Wall; 2]);
        let grid = Grid::new(lines, &Domain::cube(TAU), [ends; 3]);
        let operators = LineOperators::new(family(self.scheme)?, None, &grid, Precision::F64);
        let s = SweepBuilder::new();
        s.store(0, s.d1(s.read(0)));
        let sweep = s.build();
        let (cut, how) = (Decomposition { ranks }, (self.method, Precision::F64));
        let work = Work::of_sweep((axis, &sweep), cut, points, &operators, how).ok()?;
        Some(predict(&work, &self.rates, self.network))
    }

    /// Seconds along `axis`.
    pub(super) fn seconds(&self, axis: Axis, points: [usize; 3], ranks: [usize; 3]) -> Option<f64> {
        self.predict(axis, points, ranks).map(|found| found.step_seconds)
    }

    /// Seconds of the derivatives along all axes, one after another.
    pub(super) fn all_axes(&self, points: [usize; 3], ranks: [usize; 3]) -> Option<f64> {
        Axis::ALL.into_iter().map(|axis| self.seconds(axis, points, ranks)).sum()
    }
}

/// Points along an axis that every scheme of the papers takes.
const FEWEST: usize = 16;

/// All ranks along one axis.
pub(super) fn along(axis: Axis, ranks: usize) -> [usize; 3] {
    std::array::from_fn(|a| if a == axis.index() { ranks } else { 1 })
}
