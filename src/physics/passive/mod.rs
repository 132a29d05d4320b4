//! Passive scalars: what a flow carries and what diffuses in it, without a part in the flow.
//!
//! ```text
//! ∂(ρφ)/∂t = − ∂ⱼ(ρφuⱼ) + ∂ⱼ(μ/(Re Sc) ∂ⱼφ)
//! ```
//! The state has ρφ of each behind the fields of the flow. Each has one sweep along each axis (`sweep.rs`), which reads the flow
//! as it is before a stage: those of the scalars run first. What holds at open faces (`open.rs`) and walls (`walls.rs`) is imposed
//! after that on the flow. What is said of them between steps is in `budget.rs`.

mod budget;
mod formulas;
mod open;
mod sweep;
mod walls;

use std::sync::Arc;

use smallvec::SmallVec;

use formulas::{Extrema, Fraction, Moments, Terms};
pub(super) use open::AtFace;
pub(super) use sweep::Carried;

use super::base_state::BaseState;
use super::discretisation::Discretisation;
use super::formulas::AddScaled;
use super::metric::Metric;
use super::problem::Problem;
use super::slots::{conserved, exactly, read};
use super::system::add_scaled;
use super::volume::VolumeAverage;
use crate::backend::{Backend, Field, Prepared, Program, RightHandSide, Weights};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::scheme::Form;

/// The scalars of a run, ready to be advanced.
pub(super) struct PassiveScalars {
    each: Vec<Sweeps>,
    /// What filters one field; none where there is no filter.
    filter: Vec<Program>,
    add_scaled: Prepared,
    fraction: Prepared,
    moments: Prepared,
    extrema: Prepared,
    terms: Prepared,
    metric: Arc<Metric>,
}

/// The programs of one scalar.
struct Sweeps {
    name: String,
    /// 1/(Re Sc).
    diffusivity: f64,
    sweeps: Vec<Program>,
    /// The last sweep once more, which advances ρφ; none where stages do not.
    advancing: Option<Program>,
    /// The terms apart, for the budget.
    terms: Vec<Program>,
    walls: Vec<Prepared>,
}

impl PassiveScalars {
    /// Those of `problem`; `None` where it has none.
    pub(super) fn new(
        backend: &dyn Backend,
        discretisation: &Discretisation,
        problem: &Problem,
        volume: &VolumeAverage,
        base: BaseState,
    ) -> Result<Option<Self>> {
        if problem.scalars.is_empty() {
            return Ok(None);
        }
        let gas = problem.gas;
        let sweeps = |of: Carried<'_>| {
            let last = discretisation.grid.active_axes().last().filter(|_| advances(problem));
            let advancing =
                last.map(|axis| discretisation.program(backend, axis, &of.sweep(axis, true)));
            let (grid, diffusivity) = (&discretisation.grid, of.diffusivity());
            Ok(Sweeps {
                name: of.scalar.name.clone(),
                diffusivity,
                walls: walls::at_walls(problem, backend, grid, base, (of.scalar, diffusivity))?,
                sweeps: discretisation.programs(backend, |axis| of.sweep(axis, false))?,
                advancing: advancing.transpose()?,
                terms: discretisation.programs(backend, |axis| of.terms(axis))?,
            })
        };
        Ok(Some(Self {
            each: Carried::all(problem, base).map(sweeps).collect::<Result<_>>()?,
            filter: discretisation.filter_programs(backend, 1)?,
            add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
            fraction: backend.prepare(PointFormula::map(Fraction { base }))?,
            moments: volume.prepare(backend, PointFormula::sum(Moments { base }))?,
            extrema: backend.prepare(PointFormula::max(Extrema { base }))?,
            terms: volume.prepare(backend, PointFormula::sum(Terms { gas, base }))?,
            metric: discretisation.metric.clone(),
        }))
    }

    /// `rate` = β × `rate` + d(ρφ)/dt of each, in the `flow`.
    pub(super) fn add_terms(
        &self,
        backend: &dyn Backend,
        flow: &[Field],
        [state, rate]: [&mut [Field]; 2],
        weights: Weights,
    ) {
        for (sweeps, fields) in self.with(state, rate) {
            backend.run_all(&mut sweeps.sweeps.iter(), &self.read(flow), &mut { fields }, weights);
        }
    }

    /// A stage in 2N storage, in the `flow` as it is before that.
    pub(super) fn advance(
        &self,
        backend: &dyn Backend,
        flow: &[Field],
        [state, rate]: [&mut [Field]; 2],
        weights: Weights,
    ) {
        for (sweeps, fields) in self.with(state, rate) {
            let Some(advancing) = &sweeps.advancing else { continue };
            let others = sweeps.sweeps.iter().take(sweeps.sweeps.len() - 1);
            let mut sweeps = others.chain([advancing]);
            backend.run_all(&mut sweeps, &self.read(flow), &mut { fields }, weights);
        }
        if self.each.iter().all(|sweeps| sweeps.advancing.is_none()) {
            self.add_terms(backend, flow, [state, rate], weights);
            add_scaled(backend, &self.add_scaled, state, weights.advance, rate);
        }
    }

    /// Make each what its walls ask for, in the `flow` at which that is done.
    pub(super) fn impose(&self, backend: &dyn Backend, flow: &mut [Field], state: &mut [Field]) {
        for (sweeps, state) in self.each.iter().zip(state) {
            walls::impose(backend, &sweeps.walls, flow, state);
        }
    }

    /// Filter each once along every axis.
    pub(super) fn filter(&self, backend: &dyn Backend, state: &mut [Field]) {
        for field in state {
            for sweep in &self.filter {
                backend.run(sweep, &[], &mut [&mut *field], Weights::ADD);
            }
        }
    }

    /// What the sweeps read of the `flow`, and the metric.
    fn read<'a>(&'a self, flow: &'a [Field]) -> SmallVec<[&'a Field; read::METRIC + 6]> {
        self.metric.behind(&all(flow))
    }

    /// Each with its fields in the order of [`Carried::sweep`].
    fn with<'a>(
        &'a self,
        state: &'a mut [Field],
        rate: &'a mut [Field],
    ) -> impl Iterator<Item = (&'a Sweeps, [&'a mut Field; 2])> {
        self.each
            .iter()
            .zip(rate.iter_mut().zip(state))
            .map(|(s, (rate, state))| (s, [rate, state]))
    }
}

/// The fields of the flow.
fn all(flow: &[Field]) -> [&Field; conserved::COUNT] {
    exactly(flow.iter())
}

/// Whether the last sweep of a stage advances ρφ.
fn advances(problem: &Problem) -> bool {
    let low_storage = matches!(problem.integrator.form, Form::LowStorage { .. });
    low_storage && problem.right_hand_side == RightHandSide::Fused
}
