//! Fluxes through the planes between two walls: shear stress and heat.

use std::sync::Arc;

use super::base_state::BaseState;
use super::collective::host_values;
use super::discretisation::Discretisation;
use super::formulas::{Primitives, ViscosityLaw};
use super::metric::Metric;
use super::problem::Problem;
use super::slots::{conserved, exactly, flow};
use super::{Gas, Viscosity};
use crate::backend::{Backend, Field, Program, Weights};
use crate::engine::{Expr, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::{Axis, Block, Grid};

/// A flow between two walls normal to one axis.
pub(super) struct Channel {
    pub(super) axis: Axis,
    fluxes: Program,
    metric: Arc<Metric>,
    gas: Gas,
    base: BaseState,
    /// Half the distance between the walls.
    half: f64,
}

impl Channel {
    /// The channel of `problem`; `None` if there is not exactly one axis with two walls.
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Option<Self>> {
        let Discretisation { problem, base, .. } = *on;
        let Some(axis) = problem.axis_between_walls() else { return Ok(None) };
        let fluxes = on.program(axis, &sweep(problem, base))?;
        let half = 0.5 * problem.domain.length[axis.index()];
        let metric = on.metric.clone();
        Ok(Some(Self { axis, fluxes, metric, gas: problem.gas, base, half }))
    }

    /// μ/Re ∂u/∂n of the velocity along the flow, −λ ∂T/∂n, and T', computed from U into `scratch`. Collective.
    pub(super) fn fluxes<'a>(
        &self,
        backend: &dyn Backend,
        u: &[Field],
        scratch: &'a mut [Field],
    ) -> [&'a mut Field; 3] {
        let mut to: [_; 3] = exactly(scratch.iter_mut().take(3));
        backend.run(&self.fluxes, &self.metric.append_to(&flow(u)), &mut to, Weights::SET);
        to
    }

    /// [`CHANNEL_COLUMNS`](super::CHANNEL_COLUMNS). Collective.
    pub(super) fn row(
        &self,
        backend: &dyn Backend,
        (grid, block): (&Grid, &Block),
        u: &[Field],
        scratch: &mut [Field],
    ) -> Result<[f64; 5]> {
        let a = self.axis.index();
        let [stress, heat, t] = self.fluxes(backend, u, scratch).map(|field| &*field);
        let fields = host_values(backend, [stress, heat, t, &u[conserved::MASS]])?;
        // For each wall, its weight and four sums.
        let mut sums = [0.0; 10];
        for at in 0..block.len() {
            let index = block.index(at);
            let end = match index[a] {
                0 => 0,
                j if j + 1 == grid.points[a] => 5,
                _ => continue,
            };
            let weight = grid.weight(index);
            sums[end] += weight;
            (0..4).for_each(|k| sums[end + 1 + k] += weight * fields[k].at(at));
        }
        backend.comm().sum(&mut sums);
        let [low, high] = [0, 5].map(|end| {
            let [stress, heat, t, density] = [1, 2, 3, 4].map(|k| sums[end + k] / sums[end]);
            let viscosity = self.gas.mu(t + self.base.temperature) / self.gas.reynolds;
            let friction = ((density + self.base.density) * stress.abs()).sqrt();
            [stress, heat, friction * self.half / viscosity]
        });
        Ok([low[0], -high[0], low[1], -high[1], 0.5 * (low[2] + high[2])])
    }
}

/// The sweep that computes the fields of [`Channel::fluxes`].
pub(super) fn sweep(problem: &Problem, base: BaseState) -> Sweep {
    let gas = problem.gas;
    let driven = problem.forcing.as_ref().and_then(|it| it.pressure_gradient());
    let along = driven.map_or(Axis::X, |gradient| gradient.axis);
    let s = SweepBuilder::new();
    let state = std::array::from_fn(|k| s.read(k));
    let [u, v, w, _, t] = s.map(Primitives { gas, base }, state);
    let mu: Expr = match gas.viscosity {
        Viscosity::Constant => 1.0.into(),
        _ => s.map(ViscosityLaw { gas, base }, [t])[0].into(),
    };
    s.store(0, (1.0 / gas.reynolds) * (mu.clone() * s.d1([u, v, w][along.index()])));
    s.store(1, -gas.conductivity() * (mu * s.d1(t)));
    s.store(2, t);
    s.build()
}
