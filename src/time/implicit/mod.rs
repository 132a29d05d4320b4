//! Implicit steps: each stage by Newton's method, its linear systems by matrix-free GMRES (Knoll and Keyes 2004). Products are finite
//! differences of the compact residual; the preconditioner sweeps over nearest-neighbour blocks.
//!
//! The flow, the vectors of the linear systems and the blocks are in the memory of the backend. The blocks are computed and factored on
//! the host, once per correction.

mod formulas;
mod mass;
mod residual;
mod steps;
mod vectors;

use std::sync::Arc;

use crate::backend::{Backend, BlockSolver, Prepared};
use crate::blocks::{Direction, Sweeps};
use crate::comm::all_or_error;
use crate::engine::PointFormula;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::io::checkpoint::ImplicitState;
use crate::krylov::{Gmres, Space};
use crate::physics::{Jacobian, Problem, TimeLevel};
use crate::scheme::{ImplicitConfig, Marching};
pub(super) use residual::FlowAccess;
pub(super) use steps::IMPLICIT_COLUMNS;

use formulas::{COUNT, Extrapolated, Slope};
use mass::Mass;
use residual::{Perturbation, Residual, StageEnd};
use vectors::{Vector, Vectors, fields};

/// Residuals up to this multiple of the round-off count as zero.
const ROUND_OFF_UNITS: f64 = 16.0;
/// Maximum number of corrections per stage.
const MAX_CORRECTIONS: usize = 12;

/// The solver of implicit steps.
pub(in crate::time) struct ImplicitStepper {
    backend: Arc<dyn Backend>,
    options: ImplicitConfig,
    jacobian: Jacobian,
    residual: Residual,
    /// Number of unknowns on all ranks.
    unknowns: f64,
    vectors: Vectors,
    gmres: Gmres<Vector>,
    blocks: BlockSolver,
    slope: Prepared,
    extrapolated: Prepared,
    /// Rates of the stages of a step.
    rates: Vec<Vector>,
    /// The state before the step, the state of a stage, its U*, the residual, and a correction.
    start: Vector,
    v: Vector,
    base: Vector,
    defect: Vector,
    correction: Vector,
    /// Values that are fixed at the start of the run.
    fixed: ImplicitState,
    /// Start of the step, and 1/dt of an explicit step there.
    at: TimeLevel,
    rate: f64,
    /// The previous state for `bdf2`, if known: scaled unknowns, and the step from it.
    before: Option<(Vector, f64)>,
    /// The mass average, if a steady run has to keep it.
    mass: Option<Mass>,
    /// Size of the previous step of a steady run.
    previous_dt: Option<f64>,
    /// Work of the last step.
    pub(super) work: Work,
    /// Root mean square of dU/dt of the state, if known.
    pub(super) rate_of_change: Option<f64>,
    /// Root mean square of the state when `rate_of_change` was computed.
    size: f64,
}

/// Work of a step, over all its stages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Number of Newton corrections.
    pub(super) corrections: usize,
    /// Number of products in the linear systems.
    pub(super) products: usize,
    /// Number of right-hand sides.
    pub(super) residuals: usize,
    /// Largest final ‖b − A x‖ / ‖b‖ of the linear systems.
    pub(super) linear_residual: f64,
}

impl ImplicitStepper {
    /// The solver for the flow of `problem`.
    ///
    /// # Errors
    /// Too many points for the index type; errors of the backend.
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        options: ImplicitConfig,
        problem: &Problem,
        grid: &Grid,
    ) -> Result<Self> {
        let jacobian = Jacobian::new(problem, &*backend, grid)?;
        let vectors = Vectors::new(backend.clone(), backend.block(grid.points).len())?;
        let zeros = || vectors.zeros();
        let dimensions = options.krylov.min(options.products) as usize;
        let mass = options
            .is_steady()
            .then(|| Mass::for_closed_box(&*backend, problem, grid))
            .transpose()?;
        Ok(Self {
            fixed: ImplicitState::default(),
            gmres: Gmres::new(&vectors, dimensions)?,
            blocks: backend.block_solver(jacobian.colouring(), jacobian.halo(), COUNT)?,
            slope: backend.prepare(PointFormula::map(Slope))?,
            extrapolated: backend.prepare(PointFormula::map(Extrapolated))?,
            rates: options.method.method().a.iter().map(|_| zeros()).collect::<Result<_>>()?,
            start: zeros()?,
            v: zeros()?,
            base: zeros()?,
            defect: zeros()?,
            correction: zeros()?,
            work: Work::default(),
            rate_of_change: None,
            size: 0.0,
            at: TimeLevel::default(),
            rate: 0.0,
            mass: mass.flatten(),
            previous_dt: None,
            before: None,
            unknowns: (COUNT * grid.len()) as f64,
            residual: Residual::new(backend.clone(), &jacobian, options.is_steady())?,
            vectors,
            jacobian,
            options,
            backend,
        })
    }

    /// The state for a checkpoint.
    pub(super) fn saved(&self) -> ImplicitState {
        let fall = self.rate_of_change.map(|now| now / self.fixed.first_residual);
        ImplicitState { fall: fall.filter(|fall| fall.is_finite()), ..self.fixed }
    }

    /// Whether the run marches to a steady flow.
    pub(super) fn is_steady(&self) -> bool {
        self.options.is_steady()
    }

    /// Root mean square of dU/dt over the scaled unknowns. Collective.
    pub(super) fn residual_now(&mut self, access: &mut FlowAccess<'_>, time: f64) -> Result<f64> {
        if let Some(known) = self.rate_of_change {
            return Ok(known);
        }
        self.residual.gather(access, &mut self.v);
        let stage = StageEnd { per_dt: 0.0, time };
        self.residual.at(access, [&self.v, &self.v], stage, &mut self.defect);
        // Restore the state bitwise: imposing boundary conditions again changes edges by round-off.
        self.residual.write(access, &self.v);
        let rms = self.root_mean_square(&self.defect)?;
        self.size = self.root_mean_square(&self.v)?;
        self.rate_of_change = Some(rms);
        Ok(rms)
    }

    /// Advance U by a step of dt from `at`, where the limit of an explicit step is 1/`rate`. Collective.
    pub(super) fn step(
        &mut self,
        access: &mut FlowAccess<'_>,
        (at, rate): (TimeLevel, f64),
        dt: f64,
    ) -> Result<()> {
        let time = at.time;
        (self.at, self.rate, self.work) = (at, rate, Work::default());
        self.rate_of_change = None;
        let method = self.options.method.method();
        self.residual.gather(access, &mut self.start);
        self.vectors.copy(&self.start, &mut self.v);
        for (stage, row) in method.a.iter().enumerate() {
            let (mut own, before) = (row[stage], &row[..stage]);
            let end = time + row.iter().sum::<f64>() * dt;
            self.vectors.copy(&self.start, &mut self.base);
            if let Some((before, last)) = &self.before {
                // With ω = dt / last: (1 + 2ω) U − (1 + ω)² Uₙ + ω² Uₙ₋₁ = (1 + ω) dt R.
                let ratio = dt / last;
                own = (1.0 + ratio) / (1.0 + 2.0 * ratio);
                let base = &mut self.base.each_mut();
                self.backend.map(&self.extrapolated, &fields([before]), base, &[ratio]);
            }
            let weights: Vec<f64> = before.iter().map(|weight| dt * weight).collect();
            self.vectors.add(&mut self.base, &weights, &self.rates[..stage]);
            if own == 0.0 {
                self.explicit_stage(access, stage, end);
            } else {
                self.implicit_stage(access, StageEnd { per_dt: 1.0 / (own * dt), time: end })?;
                let (read, rate) = (fields([&self.v, &self.base]), &mut self.rates[stage]);
                self.backend.map(&self.slope, &read, &mut rate.each_mut(), &[own * dt]);
            }
        }
        if self.options.method == Marching::Bdf2 {
            let next = self.before.take().map_or_else(|| self.vectors.zeros(), |it| Ok(it.0))?;
            self.before = Some((std::mem::replace(&mut self.start, next), dt));
        }
        if let Some(mass) = &self.mass {
            // Scaling all of U leaves velocity and temperature unchanged.
            let [before, after] = [&self.start, &self.v].map(|v| mass.average(&*self.backend, v));
            self.vectors.scale(&mut self.v, before? / after?);
        }
        self.previous_dt = self.is_steady().then_some(dt);
        self.residual.scatter(access, &self.v, time + dt);
        self.backend.finish()
    }

    /// The rates of an explicit first stage, at the state before the step.
    fn explicit_stage(&mut self, access: &mut FlowAccess<'_>, stage: usize, time: f64) {
        let (end, rate) = (StageEnd { per_dt: 0.0, time }, &mut self.rates[stage]);
        self.residual.at(access, [&self.v, &self.v], end, rate);
        self.vectors.scale(rate, -1.0);
        self.work.residuals += 1;
    }

    /// Solve for V of a stage, starting from V of the previous stage.
    fn implicit_stage(&mut self, access: &mut FlowAccess<'_>, stage: StageEnd) -> Result<()> {
        let steady = self.is_steady();
        let mut size = self.evaluate(access, stage)?;
        let first = size;
        // Effect of the round-off of V on V/(γ dt) and on the rates.
        let round_off = ROUND_OFF_UNITS * f64::EPSILON * self.root_mean_square(&self.v)?;
        let round_off = round_off * (stage.per_dt + self.rate);
        let target = (self.options.tolerance() * size).max(round_off);
        let max_corrections = if steady { 1 } else { MAX_CORRECTIONS };
        for _ in 0..max_corrections {
            if size == 0.0 || (!steady && size <= target) || !size.is_finite() {
                break;
            }
            self.correct(access, stage)?;
            let fraction = self.residual.admissible_fraction(&self.v, &self.correction)?;
            if fraction == 0.0 {
                let why = "no fraction of a correction keeps density and pressure positive";
                return Err(not_solved(self.at, why.into()));
            }
            let correction = std::slice::from_ref(&self.correction);
            self.vectors.add(&mut self.v, &[fraction], correction);
            self.work.corrections += 1;
            if !steady {
                size = self.evaluate(access, stage)?;
            }
        }
        if size <= target || (steady && size.is_finite()) {
            return Ok(());
        }
        let reduction = size / first;
        let why =
            format!("the residual of a stage fell only to {reduction:.1e} of its first value");
        Err(not_solved(self.at, why))
    }

    /// Compute the residual at V and return its root mean square. Collective.
    fn evaluate(&mut self, access: &mut FlowAccess<'_>, stage: StageEnd) -> Result<f64> {
        self.residual.at(access, [&self.v, &self.base], stage, &mut self.defect);
        self.work.residuals += 1;
        self.root_mean_square(&self.defect)
    }

    /// Root mean square over the unknowns of all ranks. Collective.
    fn root_mean_square(&self, x: &Vector) -> Result<f64> {
        Ok(self.vectors.norm(x)? / self.unknowns.sqrt())
    }

    /// Compute the Newton correction from the residual at V. Collective.
    fn correct(&mut self, access: &mut FlowAccess<'_>, stage: StageEnd) -> Result<()> {
        self.update_preconditioner(stage)?;
        let size = f64::EPSILON.sqrt() * (1.0 + self.root_mean_square(&self.v)?);
        self.vectors.scale(&mut self.defect, -1.0);
        let right = &self.defect;
        let mut product = |x: &Vector, to: &mut Vector| {
            let rms = self.vectors.norm(x)? / self.unknowns.sqrt();
            if rms == 0.0 {
                self.vectors.clear(to);
            } else {
                let perturbation = Perturbation { x, epsilon: size / rms, right };
                self.residual.directional_derivative(
                    access,
                    [&self.v, &self.base],
                    stage,
                    perturbation,
                    to,
                );
            }
            Ok(())
        };
        let count = self.options.sweeps(self.jacobian.mach()) as usize;
        let sweeps = Sweeps { count, direction: Direction::Symmetric, relaxation: 1.0 };
        let mut precondition = |x: &Vector, to: &mut Vector| {
            let (b, x) = (&fields([x]), &mut to.each_mut());
            self.backend.sweep_blocks(&mut self.blocks, sweeps, b, x);
            Ok(())
        };
        let solved = self.gmres.solve(
            &self.vectors,
            (&mut product, &mut precondition),
            right,
            &mut self.correction,
            (self.options.linear_tolerance, self.options.products as usize),
        )?;
        self.work.products += solved.iterations;
        self.work.residuals += solved.iterations;
        self.work.linear_residual = self.work.linear_residual.max(solved.residual);
        Ok(())
    }

    /// Update the preconditioner with the blocks at V. Collective.
    fn update_preconditioner(&mut self, stage: StageEnd) -> Result<()> {
        let rate = self.fixed.filter_time.map_or(0.0, |time| 1.0 / time);
        let comm = self.backend.comm();
        let state = all_or_error(comm, self.residual.unscaled(&self.v))?;
        let inertia = self.is_steady().then(|| self.jacobian.inertia(&state));
        let inertia = inertia.as_deref();
        self.residual.set_inertia(inertia)?;
        let matrix = self.jacobian.blocks(comm, state, (stage.per_dt, inertia), rate)?.factored();
        let singular = "a block of the preconditioner is singular";
        let matrix = matrix.map_err(|_| not_solved(self.at, singular.into()));
        let matrix = all_or_error(comm, matrix)?;
        self.backend.set_blocks(&mut self.blocks, matrix)
    }
}

fn not_solved(TimeLevel { step, time }: TimeLevel, why: String) -> Error {
    Error::NotConverged { step, time, why }
}
