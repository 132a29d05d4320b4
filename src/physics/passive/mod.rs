//! Passive scalars: carried by the flow and diffusing in it, without effect on the flow.
//!
//! ```text
//! ∂(ρφ)/∂t = − ∂ⱼ(ρφuⱼ) + ∂ⱼ(μ/(Re Sc) ∂ⱼφ)
//! ```
//! The state holds ρφ of each scalar after the fields of the flow. Each scalar has one sweep along each axis (`sweep.rs`), which reads the
//! flow before a stage: the sweeps of scalars run first. The conditions at open faces (`open.rs`) follow those of the flow, and so do
//! values at walls; fluxes there are imposed on the rates (`walls.rs`). Diagnostics are in `budget.rs`.

mod budget;
mod formulas;
mod open;
mod sweep;
mod walls;

use std::sync::Arc;

use formulas::{Extrema, Fraction, Moments, Terms};
pub(super) use sweep::ScalarEquation;
use walls::AtWalls;
pub(super) use walls::largest_diffusivity;

use super::discretisation::Discretisation;
use super::formulas::AddScaled;
use super::metric::Metric;
use super::slots::{self, conserved, exactly};
use super::system::add_scaled;
use super::volume::VolumeAverage;
use crate::backend::{Backend, Field, Prepared, Program, RightHandSide, Weights};
use crate::engine::PointFormula;
use crate::error::Result;

/// The scalars of a run, ready to be advanced.
pub(super) struct PassiveScalars {
    each: Vec<Sweeps>,
    /// Programs that filter one field; empty without a filter.
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
    /// The last sweep in the variant that advances ρφ; `None` if stages do not advance the state.
    advancing: Option<Program>,
    /// The separate terms, for the budget.
    terms: Vec<Program>,
    walls: AtWalls,
}

impl PassiveScalars {
    /// The scalars of the problem; `None` if it has none.
    pub(super) fn new(on: &Discretisation<'_>, volume: &VolumeAverage) -> Result<Option<Self>> {
        let Discretisation { problem, backend, base, .. } = *on;
        if problem.scalars.is_empty() {
            return Ok(None);
        }
        let gas = problem.gas;
        let sweeps = |of: ScalarEquation<'_>| {
            let fused = problem.right_hand_side == RightHandSide::Fused;
            let advances = fused && problem.is_low_storage();
            let last = on.grid.active_axes().last().filter(|_| advances);
            let advancing = last.map(|axis| on.program(axis, &of.sweep(axis, true)));
            let diffusivity = of.diffusivity();
            Ok(Sweeps {
                name: of.scalar.name.clone(),
                diffusivity,
                walls: AtWalls::new(on, of.scalar, diffusivity)?,
                sweeps: on.programs(|axis| of.sweep(axis, false))?,
                advancing: advancing.transpose()?,
                terms: on.programs(|axis| of.terms(axis))?,
            })
        };
        Ok(Some(Self {
            each: ScalarEquation::all(problem, base).map(sweeps).collect::<Result<_>>()?,
            filter: on.filter_programs(1)?,
            add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
            fraction: backend.prepare(PointFormula::map(Fraction { base }))?,
            moments: volume.prepare(backend, PointFormula::sum(Moments { base }))?,
            extrema: backend.prepare(PointFormula::max(Extrema { base }))?,
            terms: volume.prepare(backend, PointFormula::sum(Terms { gas, base }))?,
            metric: on.metric.clone(),
        }))
    }

    /// `rate` = β × `rate` + d(ρφ)/dt of each scalar in the `flow`. With `advances`, a stage in 2N storage advances `state` too, in the
    /// flow before that stage.
    pub(super) fn add_terms(
        &self,
        backend: &dyn Backend,
        flow: &[Field],
        [state, rate]: [&mut [Field]; 2],
        weights: Weights,
        advances: bool,
    ) {
        let read = self.metric.append_to(&slots::flow(flow));
        for ((of, state), rate) in self.each.iter().zip(&mut *state).zip(&mut *rate) {
            let Some((last, others)) = of.sweeps.split_last() else { continue };
            let last = of.advancing.as_ref().filter(|_| advances).unwrap_or(last);
            let sweeps = &mut others.iter().chain([last]);
            backend.run_all(sweeps, &read, &mut [rate, state], weights);
        }
        if advances && self.each.iter().all(|of| of.advancing.is_none()) {
            add_scaled(backend, &self.add_scaled, state, weights.advance, rate);
        }
    }

    /// Correct the accumulated `rate` at walls of given flux, and `u`, which a stage of weight `advance` has advanced.
    pub(super) fn correct(
        &self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        advance: f64,
    ) {
        let (flow, state) = u.split_at_mut(conserved::COUNT);
        let (flow_rates, rate) = rate.split_at_mut(conserved::COUNT);
        for ((of, state), rate) in self.each.iter().zip(state).zip(rate) {
            let own = [rate, state].into_iter();
            let mut fields: [&mut Field; walls::RATES] =
                exactly(own.chain(&mut *flow_rates).chain(&mut *flow));
            of.walls.fluxes.iter().for_each(|wall| backend.map_part(wall, &mut fields, &[advance]));
        }
    }

    /// Impose the wall conditions on each scalar, in the `flow` after its own wall conditions.
    pub(super) fn impose(&self, backend: &dyn Backend, flow: &mut [Field], state: &mut [Field]) {
        for (of, state) in self.each.iter().zip(state) {
            let mut fields: [&mut Field; walls::STATE] = exactly(flow.iter_mut().chain([state]));
            of.walls.imposed.iter().for_each(|wall| backend.map_part(wall, &mut fields, &[]));
        }
    }

    /// Filter each scalar once along every axis.
    pub(super) fn filter(&self, backend: &dyn Backend, state: &mut [Field]) {
        for field in state {
            for sweep in &self.filter {
                backend.run(sweep, &[], &mut [&mut *field], Weights::ADD);
            }
        }
    }
}
