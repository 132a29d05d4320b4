//! The compressible Navier-Stokes equations.
//!
//! ```text
//! dU/dt = − ∂Fⱼ/∂xⱼ + ∂Gⱼ/∂xⱼ,   U = (ρ, ρu, ρv, ρw, ρE)
//! ```
//! A right-hand side is one sweep along each axis that adds all terms with a derivative along it: from U alone (`fused.rs`), or
//! from primitive variables that are fields (`composed.rs`). The terms are in `rhs.rs`. Passive scalars stand behind the flow in U,
//! with sweeps of their own (`passive`).

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
    AddScaled, Averages, EnergyRate, Extrema, Invariants, KineticEnergy, OnCurves, Primitives,
    StepRate, Vorticity, Whole,
};
use super::gradients::VelocityGradients;
use super::metric::Metric;
use super::open::OpenFaces;
use super::passive::PassiveScalars;
use super::problem::Problem;
use super::schedule::Schedule;
use super::slots::{conserved, exactly};
use super::stability::Limits;
use super::stage_sweep::StageSweep;
use super::step::FieldCounts;
use super::system::Stage;
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
    /// The points that the fields hold.
    pub(super) block: Block,
    pub(super) gas: Gas,
    pub(super) case: Case,
    pub(super) domain: Domain,
    /// What the fields are stored relative to.
    pub(super) base: BaseState,
    pub(super) formulas: Formulas,
    pub(super) gradients: VelocityGradients,
    pub(super) walls: Walls,
    pub(super) open: OpenFaces,
    pub(super) volume: VolumeAverage,
    pub(super) metric: Arc<Metric>,
    /// None but on a curvilinear grid round one.
    pub(super) body: Option<Body>,
    /// None but between walls across one axis.
    pub(super) channel: Option<Channel>,
    /// See [`Problem::is_of_case`].
    pub(super) is_of_case: bool,
    pub(super) forcing: Option<Forcing>,
    /// None where the flow carries no scalars.
    pub(super) scalars: Option<PassiveScalars>,
    /// Their names.
    pub(super) scalar_names: Vec<String>,
    sweeps: Sweeps,
    pub(super) filter_sweeps: Vec<Program>,
    /// None where the filter acts on the state between steps, or where there is none.
    pub(super) filter_rate: Option<FilterRate>,
}

/// A right-hand side, in one of its forms.
enum Sweeps {
    Fused(Schedule),
    Composed(Composed),
}

/// What is computed point by point, ready to run.
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
    pub(super) wholes: [Prepared; 3],
}

impl NavierStokes {
    /// The equations of `problem` on `backend`.
    ///
    /// # Errors
    /// Where there is no memory left for the fields, or a compiler refuses.
    pub fn new(problem: &Problem, backend: Arc<dyn Backend>) -> Result<Self> {
        let discretisation = Discretisation::new(problem, &*backend)?;
        let grid = discretisation.grid.clone();
        let block = backend.block(grid.points);
        let gas = problem.gas;
        let base = BaseState::of(&gas, backend.precision());
        let held = FieldCounts::of(problem, &block);
        let new_sweeps = || match problem.right_hand_side {
            RightHandSide::Fused => {
                Schedule::new(&*backend, &discretisation, problem, base).map(Sweeps::Fused)
            }
            RightHandSide::Composed => {
                let primitives = held.primitives;
                Composed::new(&*backend, &discretisation, problem, base, primitives)
                    .map(Sweeps::Composed)
            }
        };
        let whole = |of| backend.prepare(PointFormula::map(Whole(of)));
        let step_rate = StepRate {
            gas,
            base,
            limits: Limits::flow(&problem.scheme, problem.integrator, &grid)
                .damped(problem.damping(), problem.integrator),
            scalars: problem.scalars.iter().map(|s| 1.0 / s.schmidt).fold(0.0, f64::max),
        };
        let volume = VolumeAverage::new(&*backend, &grid)?;
        let average = |sum| volume.prepare(&*backend, sum);
        Ok(Self {
            formulas: Formulas {
                primitives: backend.prepare(PointFormula::map(Primitives { gas, base }))?,
                add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
                step_rate: backend.prepare(match grid.plane {
                    None => PointFormula::max(step_rate),
                    Some(_) => PointFormula::max(OnCurves(step_rate)).with_planes(
                        conserved::COUNT,
                        backend.block(grid.points).points_of_plane(),
                    ),
                })?,
                kinetic_energy: average(PointFormula::sum(KineticEnergy { base }))?,
                energy_rate: average(PointFormula::sum(EnergyRate { base }))?,
                averages: average(PointFormula::sum(Averages { gas, base }))?,
                extrema: backend.prepare(PointFormula::max(Extrema { gas, base }))?,
                vorticity: backend.prepare(PointFormula::map(Vorticity))?,
                invariants: backend.prepare(PointFormula::map(Invariants))?,
                wholes: [whole(base.density)?, whole(base.pressure)?, whole(base.temperature)?],
            },
            gradients: VelocityGradients::new(&*backend, &discretisation, base, held.gradients)?,
            walls: Walls::new(problem, &*backend, &grid, base)?,
            open: OpenFaces::new(problem, &*backend, &grid, base)?,
            channel: Channel::new(problem, &*backend, &discretisation, base)?,
            forcing: Forcing::new(problem, &*backend, &grid, &volume, base)?,
            scalars: PassiveScalars::new(&*backend, &discretisation, problem, &volume, base)?,
            scalar_names: problem.scalars.iter().map(|scalar| scalar.name.clone()).collect(),
            sweeps: new_sweeps()?,
            filter_sweeps: discretisation.filter_programs(&*backend, conserved::COUNT)?,
            filter_rate: None,
            is_of_case: problem.is_of_case(),
            volume,
            body: Body::of(problem, base),
            metric: discretisation.metric,
            backend,
            grid,
            block,
            gas,
            base,
            case: problem.case.clone(),
            domain: problem.domain,
        })
    }

    /// Have what rows run, and steps may not, compiled at once.
    pub(super) fn compile_for_rows(&self) {
        if let Sweeps::Fused(schedule) = &self.sweeps {
            let programs = schedule.programs().chain(&self.gradients.sweeps);
            self.backend.compile(&programs.collect::<Vec<_>>());
        }
    }

    /// `rate` = the terms `group` of dU/dt of the flow.
    pub fn rhs_group(&mut self, group: TermGroup, u: &[Field], rate: &mut [Field]) {
        // Some terms leave some fields alone.
        let (u, rate) = (&u[..conserved::COUNT], &mut rate[..conserved::COUNT]);
        rate.iter_mut().for_each(|field| self.backend.clear(field));
        self.add_terms(group, u, rate, Weights::ADD);
    }

    /// `rate` = β × `rate` + the terms `group` of dU/dt, in the fields that these terms have a part in.
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

    /// `rate` = β × `rate` + the force, where there is one, and the weights for the terms that are added after it.
    pub(super) fn add_force(&self, u: &[Field], rate: &mut [Field], weights: Weights) -> Weights {
        let Some(forcing) = &self.forcing else { return weights };
        forcing.add(&*self.backend, u, rate, weights.beta);
        Weights { beta: 1.0, ..weights }
    }

    /// See [`System::begin`](super::System::begin). The strength of a force is not known before the step is.
    pub(super) fn begin_stage(&mut self, u: &mut [Field], rate: &mut [Field]) -> bool {
        match &self.sweeps {
            Sweeps::Fused(Schedule { stages: Some(stages), .. }) if self.forcing.is_none() => {
                stages.begin(&*self.backend, [rate, &mut self.gradients.fields[..], u])
            }
            _ => false,
        }
    }

    /// A stage in 2N storage in sweeps that advance `u` themselves; false where there are none.
    pub(super) fn run_stage(
        &mut self,
        u: &mut [Field],
        rate: &mut [Field],
        weights: Weights,
        stage: Stage,
    ) -> bool {
        let Sweeps::Fused(Schedule { stages: Some(stages), .. }) = &self.sweeps else {
            return false;
        };
        let fields = [rate, &mut self.gradients.fields[..], u];
        stages.run(&*self.backend, fields, weights, stage);
        true
    }

    /// See [`System::sweeps`](super::System::sweeps).
    pub(super) fn sweeps_of_stage(&self) -> Vec<(StageSweep, &Program)> {
        match &self.sweeps {
            Sweeps::Fused(Schedule { stages: Some(stages), .. }) => stages.each().collect(),
            _ => Vec::new(),
        }
    }

    /// See [`System::run_sweep`](super::System::run_sweep).
    pub(super) fn run_sweep_of_stage(&mut self, at: usize, u: &mut [Field], rate: &mut [Field]) {
        if let Sweeps::Fused(Schedule { stages: Some(stages), .. }) = &self.sweeps {
            let fields = [rate, &mut self.gradients.fields[..], u];
            stages.run_alone(&*self.backend, at, fields);
        }
    }

    /// Make the flow and the scalars what is given at faces, and what the walls ask for at `time`.
    pub(super) fn impose_on(&mut self, [flow, scalars]: [&mut [Field]; 2], time: f64) {
        self.open.impose(&*self.backend, flow, scalars);
        self.walls.impose(&*self.backend, flow, time);
        if let Some(passive) = &self.scalars {
            passive.impose(&*self.backend, flow, scalars);
        }
    }

    pub(super) fn filter_state(&self, u: &mut [Field]) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        if let Some(passive) = &self.scalars {
            passive.filter(&*self.backend, scalars);
        }
        let mut u: [&mut Field; conserved::COUNT] = exactly(flow.iter_mut());
        for sweep in &self.filter_sweeps {
            self.backend.run(sweep, &[], &mut u, Weights::ADD);
        }
    }
}
