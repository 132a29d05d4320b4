//! Velocity gradients for diagnostics between steps.

use std::sync::Arc;

use smallvec::SmallVec;

use super::base_state::BaseState;
use super::discretisation::{Discretisation, with_parity};
use super::formulas::ChainRule;
use super::fused::velocity_derivative;
use super::metric::Metric;
use super::slots::{exactly, flow};
use crate::backend::{Backend, Field, Prepared, Program, Weights};
use crate::engine::{PointFormula, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;

/// Fields for velocity gradients, and the programs that fill them. The fields are those in which the right-hand side keeps gradients; where
/// these are fewer than nine, the fields of the rates, unused between steps, are used too.
pub(super) struct VelocityGradients {
    pub(super) fields: Vec<Field>,
    pub(super) sweeps: Vec<Program>,
    metric: Arc<Metric>,
    /// Converts gradients along the lines of a curvilinear grid to gradients along x, y, z.
    chain_rule: Option<Prepared>,
    /// Axes with more than one point.
    active: [bool; 3],
}

impl VelocityGradients {
    /// With `count` fields.
    pub(super) fn new(on: &Discretisation<'_>, count: usize) -> Result<Self> {
        let Discretisation { backend, grid, block, base, .. } = on;
        let chain_rule = || PointFormula::map(ChainRule).with_planes(0, block.points_per_plane());
        Ok(Self {
            fields: (0..count).map(|_| backend.zeros(block.len())).collect::<Result<_>>()?,
            sweeps: on.lazy_programs(|axis| sweep(axis, *base))?,
            metric: on.metric.clone(),
            chain_rule: grid.plane.as_ref().map(|_| backend.prepare(chain_rule())).transpose()?,
            active: grid.active(),
        })
    }

    /// ∂uᵢ/∂xⱼ at 3 i + j from U; zero along an axis with one point. Collective.
    pub(super) fn compute<'a>(
        &'a mut self,
        backend: &dyn Backend,
        u: &[Field],
        scratch: &'a mut [Field],
    ) -> [&'a mut Field; 9] {
        let mut fields: [_; 9] = exactly(self.fields.iter_mut().chain(scratch).take(9));
        let is_inactive = |at: &usize| !self.active[at % 3];
        (0..9).filter(is_inactive).for_each(|at| backend.clear(fields[at]));
        let read = self.metric.append_to(&flow(u));
        backend.run_all(&mut self.sweeps.iter(), &read, &mut fields, Weights::SET);
        if let Some(chain_rule) = &self.chain_rule {
            let curves: SmallVec<[&Field; 5]> = self.metric.curvilinear_fields().collect();
            backend.map(chain_rule, &curves, &mut fields, &[]);
        }
        fields
    }
}

/// ∂u/∂x, ∂v/∂x, ∂w/∂x along `axis` = x, and so on, from U.
pub(super) fn sweep(axis: Axis, base: BaseState) -> Sweep {
    let s = SweepBuilder::new();
    for i in Axis::ALL {
        let state = |k| with_parity(&s, axis, k, s.read(k));
        s.store(3 * i.index() + axis.index(), velocity_derivative(&s, base, state, i));
    }
    s.build()
}
