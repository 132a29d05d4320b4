//! The compressible Navier-Stokes equations.
//!
//! ```text
//! dU/dt = − ∂Fⱼ/∂xⱼ + ∂Gⱼ/∂xⱼ,   U = (ρ, ρu, ρv, ρw, ρE)
//! ```
//! A right-hand side consists of one sweep along each axis that adds all terms with a derivative along it: from U alone (`fused.rs`),
//! or from primitive variables stored as fields (`composed.rs`). The terms are in `rhs.rs`. Passive scalars follow the flow in U and
//! have their own sweeps (`passive`).

use std::sync::Arc;

use super::Gas;
use super::base_state::BaseState;
use super::body::Body;
use super::channel::Channel;
use super::composed::Composed;
use super::discretisation::Discretisation;
use super::filter_rate::FilterRate;
use super::forcing::Forcing;
use super::formulas::{
    AddScaled, Averages, CurvilinearStepRate, EnergyRate, Extrema, FullValue, Invariants,
    KineticEnergy, Primitives, StepRate, Vorticity,
};
use super::gradients::VelocityGradients;
use super::heat_flux::{HeatFluxWalls, limits_with_heat_flux_walls};
use super::metric::Metric;
use super::open::OpenFaces;
use super::passive::{PassiveScalars, largest_diffusivity};
use super::problem::Problem;
use super::schedule::{Schedule, Stages};
use super::slots::conserved;
use super::step::FieldCounts;
use super::term_group::TermGroup;
use super::volume::VolumeAverage;
use super::walls::Walls;
use crate::backend::RightHandSide;
use crate::backend::{Backend, Field, Prepared, Program, Weights};
use crate::cases::{Case, Domain};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::grid::{Block, Grid};

/// The equations on one grid, with the fields they need.
pub struct NavierStokes {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) grid: Grid,
    /// The points in the fields of this rank.
    pub(super) block: Block,
    pub(super) gas: Gas,
    pub(super) case: Case,
    pub(super) domain: Domain,
    /// The reference state: fields store deviations from it.
    pub(super) base: BaseState,
    pub(super) formulas: Formulas,
    pub(super) gradients: VelocityGradients,
    pub(super) walls: Walls,
    pub(super) heat_flux_walls: HeatFluxWalls,
    pub(super) open: OpenFaces,
    pub(super) volume: VolumeAverage,
    pub(super) metric: Arc<Metric>,
    /// The body; `None` unless a curvilinear grid surrounds one.
    pub(super) body: Option<Body>,
    /// The channel; `None` unless exactly one axis has two walls.
    pub(super) channel: Option<Channel>,
    /// See [`Problem::follows_case`].
    pub(super) follows_case: bool,
    pub(super) forcing: Option<Forcing>,
    /// `None` if the flow carries no scalars.
    pub(super) scalars: Option<PassiveScalars>,
    /// Names of the scalars.
    pub(super) scalar_names: Vec<String>,
    pub(super) sweeps: Sweeps,
    pub(super) filter_sweeps: Vec<Program>,
    /// `None` if the filter acts on the state between steps, and without a filter.
    pub(super) filter_rate: Option<FilterRate>,
}

/// A right-hand side, fused or composed.
pub(super) enum Sweeps {
    Fused(Schedule),
    Composed(Composed),
}

impl Sweeps {
    /// The sweeps of stages that advance the state themselves.
    pub(super) fn stages(&self) -> Option<&Stages> {
        match self {
            Sweeps::Fused(schedule) => schedule.stages.as_ref(),
            Sweeps::Composed(_) => None,
        }
    }
}

/// Prepared pointwise formulas.
pub(super) struct Formulas {
    pub(super) primitives: Prepared,
    pub(super) add_scaled: Prepared,
    pub(super) step_rate: Prepared,
    pub(super) kinetic_energy: Prepared,
    pub(super) energy_rate: Prepared,
    pub(super) averages: Prepared,
    pub(super) extrema: Prepared,
    pub(super) vorticity: Prepared,
    pub(super) invariants: Prepared,
    /// ρ, p and T from their deviations.
    pub(super) full_values: [Prepared; 3],
}

impl NavierStokes {
    /// The equations of `problem` on `backend`.
    ///
    /// # Errors
    /// Insufficient memory for the fields; compiler errors.
    pub fn new(problem: &Problem, backend: Arc<dyn Backend>) -> Result<Self> {
        let on = Discretisation::new(problem, &*backend)?;
        let (gas, base) = (problem.gas, on.base);
        let counts = FieldCounts::of(problem, &on.block);
        let new_sweeps = || match problem.right_hand_side {
            RightHandSide::Fused => Schedule::new(&on).map(Sweeps::Fused),
            RightHandSide::Composed => Composed::new(&on, counts.primitives).map(Sweeps::Composed),
        };
        let full_value = |base| backend.prepare(PointFormula::map(FullValue(base)));
        let limits = limits_with_heat_flux_walls(problem, &on.grid);
        let step_rate = StepRate {
            gas,
            base,
            limits: limits.damped(problem.damping(), problem.integrator),
            scalars: largest_diffusivity(problem, &limits),
        };
        let volume = VolumeAverage::new(&*backend, &on.grid)?;
        let average = |sum| volume.prepare(&*backend, sum);
        Ok(Self {
            formulas: Formulas {
                primitives: backend.prepare(PointFormula::map(Primitives { gas, base }))?,
                add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
                step_rate: backend.prepare(match on.grid.plane {
                    None => PointFormula::max(step_rate),
                    Some(_) => PointFormula::max(CurvilinearStepRate(step_rate))
                        .with_planes(conserved::COUNT, on.block.points_per_plane()),
                })?,
                kinetic_energy: average(PointFormula::sum(KineticEnergy { base }))?,
                energy_rate: average(PointFormula::sum(EnergyRate { base }))?,
                averages: average(PointFormula::sum(Averages { gas, base }))?,
                extrema: backend.prepare(PointFormula::max(Extrema { gas, base }))?,
                vorticity: backend.prepare(PointFormula::map(Vorticity))?,
                invariants: backend.prepare(PointFormula::map(Invariants))?,
                full_values: [
                    full_value(base.density)?,
                    full_value(base.pressure)?,
                    full_value(base.temperature)?,
                ],
            },
            gradients: VelocityGradients::new(&on, counts.gradients)?,
            walls: Walls::new(&on)?,
            heat_flux_walls: HeatFluxWalls::new(&on)?,
            open: OpenFaces::new(&on)?,
            channel: Channel::new(&on)?,
            forcing: Forcing::new(&on, &volume)?,
            scalars: PassiveScalars::new(&on, &volume)?,
            scalar_names: problem.scalars.iter().map(|scalar| scalar.name.clone()).collect(),
            sweeps: new_sweeps()?,
            filter_sweeps: on.filter_programs(conserved::COUNT)?,
            filter_rate: None,
            follows_case: problem.follows_case(),
            volume,
            body: Body::of(problem, base),
            metric: on.metric,
            block: on.block,
            grid: on.grid,
            backend,
            gas,
            base,
            case: problem.case.clone(),
            domain: problem.domain,
        })
    }

    /// `rate` = the terms `group` of dU/dt of the flow.
    pub fn rhs_group(&mut self, group: TermGroup, u: &[Field], rate: &mut [Field]) {
        // Not every term writes every field.
        let (u, rate) = (&u[..conserved::COUNT], &mut rate[..conserved::COUNT]);
        rate.iter_mut().for_each(|field| self.backend.clear(field));
        self.add_terms(group, u, rate, Weights::ADD);
    }

    /// `rate` = β × `rate` + the terms `group` of dU/dt, in the fields to which these terms contribute.
    pub(super) fn add_terms(
        &mut self,
        group: TermGroup,
        u: &[Field],
        rate: &mut [Field],
        weights: Weights,
    ) {
        let (backend, gradients) = (&*self.backend, &mut self.gradients.fields[..]);
        match &mut self.sweeps {
            Sweeps::Fused(schedule) => {
                schedule.add_terms(backend, group, u, [rate, gradients], weights);
            }
            Sweeps::Composed(composed) => {
                composed.add_terms(backend, group, u, [rate, gradients], weights);
            }
        }
    }

    /// `rate` = β × `rate` + the force, if any. Returns the weights for the terms that are added after it.
    pub(super) fn add_force(&self, u: &[Field], rate: &mut [Field], weights: Weights) -> Weights {
        let Some(forcing) = &self.forcing else { return weights };
        forcing.add(&*self.backend, u, rate, weights.beta);
        Weights { beta: 1.0, ..weights }
    }
}
