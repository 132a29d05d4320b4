//! The operators of one scheme family on one grid.

use super::{LineOperator, Op, Shift, closed_min_points, closure_at};
use crate::grid::{Axis, Grid};
use crate::real::Precision;
use crate::scheme::{Scheme, SchemeFamily};

/// The factored operators along every axis of a grid.
#[derive(Clone, Debug)]
pub struct LineOperators {
    /// For each axis in the order of [`Op`]; `None` where the operator does not exist along this axis.
    axes: [[Option<LineOperator>; Op::COUNT]; 3],
}

impl LineOperators {
    /// Creates all operators of `family`, and of `filter` if given, on `grid`, for fields of the format `precision`.
    /// Along an axis with ends they use the default closures or the symmetry planes, and there are no staggered
    /// operators. An operator that needs more points than the grid has along an axis is omitted; requesting it is a
    /// mistake of the caller, who must check the sizes beforehand. On a stretched axis they are derivatives along ξ:
    /// see [`Op`].
    pub fn new(
        family: &SchemeFamily,
        filter: Option<&Scheme>,
        grid: &Grid,
        precision: Precision,
    ) -> Self {
        let along = |axis: Axis| {
            let n = grid.points[axis.index()];
            let h = grid.spacing[axis.index()];
            if !grid.is_active(axis) {
                return [const { None }; Op::COUNT];
            }
            let ends = grid.ends[axis.index()];
            let make = |scheme: &Scheme, shift: Shift, odd: bool| {
                let operator = match ends {
                    None if n >= scheme.min_points() => LineOperator::periodic(scheme, shift, n, h),
                    None => return None,
                    Some(ends) => {
                        let [low, high] = ends.map(|end| closure_at(end, scheme, odd));
                        let ends = [low?, high?];
                        if ends.iter().any(|end| n < closed_min_points(scheme, end)) {
                            return None;
                        }
                        LineOperator::with_ends(scheme, &ends, n, h)
                    }
                };
                Some(operator.with_precision(precision))
            };
            let even = |scheme: &Scheme, shift: Shift| make(scheme, shift, false);
            let odd = |scheme: &Scheme| {
                grid.is_mirrored(axis).then(|| make(scheme, Shift::None, true)).flatten()
            };
            [
                even(&family.first, Shift::None),
                even(&family.second, Shift::None),
                even(&family.midpoint_derivative, Shift::ToMidpoints),
                even(&family.midpoint_derivative, Shift::ToPoints),
                even(&family.midpoint_interpolation, Shift::ToMidpoints),
                filter.and_then(|filter| even(filter, Shift::None)),
                odd(&family.first),
                odd(&family.second),
                filter.and_then(odd),
            ]
        };
        Self { axes: Axis::ALL.map(along) }
    }

    /// Creates operators along one axis only.
    pub(crate) fn along(axis: Axis, operators: Vec<(Op, LineOperator)>) -> Self {
        let mut axes = [const { [const { None }; Op::COUNT] }; 3];
        for (op, operator) in operators {
            axes[axis.index()][op as usize] = Some(operator);
        }
        Self { axes }
    }

    /// Returns the operator `op` along `axis` if it exists on this grid.
    pub fn find(&self, axis: Axis, op: Op) -> Option<&LineOperator> {
        self.axes[axis.index()][op as usize].as_ref()
    }

    /// Returns the operator `op` along `axis`.
    ///
    /// # Panics
    /// If it does not exist on this grid.
    pub fn get(&self, axis: Axis, op: Op) -> &LineOperator {
        self.find(axis, op)
            .unwrap_or_else(|| panic!("{op:?} does not exist along {axis:?} of this grid"))
    }
}
