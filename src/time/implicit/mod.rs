//! Implicit steps: each stage by Newton's method, its linear systems by GMRES with products of the compact residual, which are differences
//! of two of them, preconditioned by sweeps over the blocks of nearest neighbours (Knoll and Keyes 2004).
//!
//! The flow lives where the backend has it; the unknowns of the linear systems, and the blocks, on the host.

mod residual;
mod steps;

use std::sync::Arc;

use crate::backend::Backend;
use crate::blocks::{Direction, Factored, Sweeps};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::io::checkpoint::ImplicitState;
use crate::krylov::{Gmres, norm};
use crate::physics::{Jacobian, Problem, TimeLevel};
use crate::scheme::{ImplicitConfig, Marching};
pub(super) use residual::Place;
pub(super) use steps::IMPLICIT_COLUMNS;

use residual::{COUNT, Residual, StageEnd};

/// Units of round-off that a residual of nothing may have.
const UNITS: f64 = 16.0;
/// Most corrections of a stage.
const MOST_CORRECTIONS: usize = 12;

/// What steps are made with.
pub(in crate::time) struct ImplicitStepper {
    backend: Arc<dyn Backend>,
    options: ImplicitConfig,
    jacobian: Jacobian,
    residual: Residual,
    /// Of all ranks.
    unknowns: f64,
    gmres: Gmres,
    /// Rates of the stages of a step.
    rates: Vec<Vec<f64>>,
    /// The state, U* of a stage, the residual, a correction, and what products need.
    v: Vec<f64>,
    base: Vec<f64>,
    defect: Vec<f64>,
    correction: Vec<f64>,
    moved: Vec<f64>,
    /// What stays from the start on.
    kept: ImplicitState,
    /// Where the step begins, and 1/dt of an explicit step there.
    at: TimeLevel,
    rate: f64,
    /// The state before this one, where `bdf2` knows it: scaled unknowns, and the step from it.
    before: Option<(Vec<f64>, f64)>,
    /// The last step of a steady run, where it was one.
    grown_from: Option<f64>,
    /// What the last step took.
    pub(super) work: Work,
    /// Root mean square of dU/dt of the state, where it is known.
    pub(super) rate_of_change: Option<f64>,
    /// Root mean square of the state, when that was found.
    size: f64,
}

/// What a step took, of all its stages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Corrections of Newton's method.
    pub(super) corrections: usize,
    /// Products of the linear systems.
    pub(super) products: usize,
    /// Right-hand sides.
    pub(super) residuals: usize,
}

impl ImplicitStepper {
    /// For the flow of `problem`.
    ///
    /// # Errors
    /// Where points cannot be numbered.
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 unknowns")]
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        options: ImplicitConfig,
        problem: &Problem,
        grid: &Grid,
    ) -> Result<Self> {
        let jacobian = Jacobian::new(problem, &*backend, grid)?;
        let residual = Residual::new(&jacobian);
        let zeros = || vec![0.0; residual.len()];
        let dimensions = options.krylov.min(options.products) as usize;
        Ok(Self {
            kept: ImplicitState::default(),
            gmres: Gmres::new(residual.len(), dimensions),
            rates: options.method.method().a.iter().map(|_| zeros()).collect(),
            v: zeros(),
            base: zeros(),
            defect: zeros(),
            correction: zeros(),
            moved: zeros(),
            work: Work::default(),
            rate_of_change: None,
            size: 0.0,
            at: TimeLevel::default(),
            rate: 0.0,
            grown_from: None,
            before: None,
            unknowns: (COUNT * grid.len()) as f64,
            residual,
            jacobian,
            options,
            backend,
        })
    }

    /// What a checkpoint carries.
    pub(super) fn saved(&self) -> ImplicitState {
        let fall = self.rate_of_change.map(|now| now / self.kept.first_residual);
        ImplicitState { fall: fall.filter(|fall| fall.is_finite()), ..self.kept }
    }

    /// Whether steps lead to a steady flow.
    pub(super) fn is_steady(&self) -> bool {
        self.options.is_steady()
    }

    /// Root mean square of dU/dt over the unknowns, as they are scaled. Collective.
    ///
    /// # Errors
    /// What the device says of the work so far.
    pub(super) fn residual_now(&mut self, place: &mut Place<'_>, time: f64) -> Result<f64> {
        if let Some(known) = self.rate_of_change {
            return Ok(known);
        }
        let Self { residual, v, defect, .. } = self;
        residual.gather(place, v)?;
        let stage = StageEnd { per_dt: 0.0, time };
        residual.at(place, [v, v], stage, defect)?;
        // As it was: what boundaries ask for is made anew with other round-off at edges.
        residual.write(place, v)?;
        let rms = self.root_mean_square(&self.defect);
        self.size = self.root_mean_square(&self.v);
        self.rate_of_change = Some(rms);
        Ok(rms)
    }

    /// U a step of dt after `at`, from U there, where an explicit step has the limit 1/`rate`. Collective.
    ///
    /// # Errors
    /// What the device says of the work so far.
    pub(super) fn step(
        &mut self,
        place: &mut Place<'_>,
        (at, rate): (TimeLevel, f64),
        dt: f64,
    ) -> Result<()> {
        let time = at.time;
        (self.at, self.rate, self.work) = (at, rate, Work::default());
        self.rate_of_change = None;
        let method = self.options.method.method();
        let mut start = vec![0.0; self.v.len()];
        self.residual.gather(place, &mut start)?;
        self.v.copy_from_slice(&start);
        for (stage, row) in method.a.iter().enumerate() {
            let (mut own, before) = (row[stage], &row[..stage]);
            let end = time + row.iter().sum::<f64>() * dt;
            self.base.copy_from_slice(&start);
            if let Some((before, last)) = &self.before {
                // With ω = dt / last: (1 + 2ω) U − (1 + ω)² Uₙ + ω² Uₙ₋₁ = (1 + ω) dt R.
                let ratio = dt / last;
                let (whole, whole_2) = (1.0 + 2.0 * ratio, (1.0 + ratio).powi(2));
                own = (1.0 + ratio) / whole;
                let sums = self.base.iter_mut().zip(before);
                sums.for_each(|(base, before)| {
                    *base = (whole_2 * *base - ratio * ratio * before) / whole
                });
            }
            for (weight, rates) in before.iter().zip(&self.rates) {
                let sums = self.base.iter_mut().zip(rates);
                sums.for_each(|(base, rate)| *base += dt * weight * rate);
            }
            if own == 0.0 {
                self.explicit_stage(place, stage, end)?;
            } else {
                self.implicit_stage(place, StageEnd { per_dt: 1.0 / (own * dt), time: end })?;
                let Self { rates, v, base, .. } = self;
                for ((rate, v), base) in rates[stage].iter_mut().zip(v).zip(base) {
                    *rate = (*v - *base) / (own * dt);
                }
            }
        }
        self.before = (self.options.method == Marching::Bdf2).then_some((start, dt));
        self.grown_from = self.is_steady().then_some(dt);
        self.residual.scatter(place, &self.v, time + dt)
    }

    /// The rates of a stage that is the old state.
    fn explicit_stage(&mut self, place: &mut Place<'_>, stage: usize, time: f64) -> Result<()> {
        let Self { residual, v, rates, work, .. } = self;
        let end = StageEnd { per_dt: 0.0, time };
        residual.at(place, [v, v], end, &mut rates[stage])?;
        rates[stage].iter_mut().for_each(|rate| *rate = -*rate);
        work.residuals += 1;
        Ok(())
    }

    /// V of a stage, from that of the stage before.
    fn implicit_stage(&mut self, place: &mut Place<'_>, stage: StageEnd) -> Result<()> {
        let backend = self.backend.clone();
        let comm = backend.comm();
        let steady = self.is_steady();
        let mut size = self.evaluate(place, stage)?;
        let first = size;
        // Of a few units of V, and of the rates.
        let round_off = UNITS * f64::EPSILON * self.root_mean_square(&self.v);
        let round_off = round_off * (stage.per_dt + self.rate);
        let enough = (self.options.tolerance() * size).max(round_off);
        let most = if steady { 1 } else { MOST_CORRECTIONS };
        for _ in 0..most {
            if size == 0.0 || (!steady && size <= enough) || !size.is_finite() {
                break;
            }
            self.correct(place, comm, stage)?;
            let fraction = self.residual.admissible(comm, &self.v, &self.correction);
            let sums = self.v.iter_mut().zip(&self.correction);
            sums.for_each(|(v, correction)| *v += fraction * correction);
            self.work.corrections += 1;
            if !steady {
                size = self.evaluate(place, stage)?;
            }
        }
        match steady || size <= enough {
            true => Ok(()),
            false => Err(not_solved(
                self.at,
                format!(
                    "the residual of a stage was left at {:.1e} of its first value",
                    size / first
                ),
            )),
        }
    }

    /// The residual at V, and its root mean square. Collective.
    fn evaluate(&mut self, place: &mut Place<'_>, stage: StageEnd) -> Result<f64> {
        let Self { residual, v, base, defect, work, .. } = self;
        residual.at(place, [v, base], stage, defect)?;
        work.residuals += 1;
        Ok(self.root_mean_square(&self.defect))
    }

    /// Over the unknowns of all ranks. Collective.
    fn root_mean_square(&self, x: &[f64]) -> f64 {
        norm(self.backend.comm(), x) / self.unknowns.sqrt()
    }

    /// The correction of Newton's method from the residual at V. Collective.
    fn correct(
        &mut self,
        place: &mut Place<'_>,
        comm: &dyn Communicator,
        stage: StageEnd,
    ) -> Result<()> {
        let Self {
            at,
            kept,
            options,
            jacobian,
            residual,
            unknowns,
            gmres,
            v,
            base,
            defect,
            correction,
            moved,
            work,
            ..
        } = self;
        let rate = kept.filter_time.map_or(0.0, |time| 1.0 / time);
        let matrix = jacobian.blocks(&residual.unscaled(v), stage.per_dt, rate);
        let matrix = matrix?
            .factored()
            .map_err(|_| not_solved(*at, "a block of its linear systems is singular".into()));
        let matrix = all_or_error(comm, matrix)?;
        defect.iter_mut().for_each(|defect| *defect = -*defect);
        let right = &*defect;
        let root_mean_square = |x: &[f64]| norm(comm, x) / unknowns.sqrt();
        let size = f64::EPSILON.sqrt() * (1.0 + root_mean_square(v));
        let mut product = |x: &[f64], to: &mut [f64]| {
            let along = root_mean_square(x);
            if along == 0.0 {
                to.fill(0.0);
                return Ok(());
            }
            let distance = size / along;
            let sums = moved.iter_mut().zip(&*v).zip(x);
            sums.for_each(|((moved, v), x)| *moved = v + distance * x);
            residual.at(place, [moved, base], stage, to)?;
            to.iter_mut().zip(right).for_each(|(to, right)| *to = (*to + right) / distance);
            Ok(())
        };
        let mut ordered = [vec![0.0; v.len()], vec![0.0; v.len()]];
        let mut precondition = |x: &[f64], to: &mut [f64]| {
            sweep(&matrix, options.sweeps, x, to, &mut ordered);
            Ok(())
        };
        let solved = gmres.solve(
            comm,
            (&mut product, &mut precondition),
            right,
            correction,
            (options.linear_tolerance, options.products as usize),
        )?;
        work.products += solved.iterations;
        work.residuals += solved.iterations;
        Ok(())
    }
}

fn not_solved(TimeLevel { step, time }: TimeLevel, why: String) -> Error {
    Error::NotConverged { step, time, why }
}

/// M⁻¹ x by symmetric sweeps from 0.
fn sweep(
    matrix: &Factored<f32>,
    count: u32,
    x: &[f64],
    to: &mut [f64],
    ordered: &mut [Vec<f64>; 2],
) {
    let [b, y] = ordered;
    matrix.colouring().ordered(COUNT, x, b);
    y.fill(0.0);
    let sweeps = Sweeps { count: count as usize, direction: Direction::Symmetric, relaxation: 1.0 };
    matrix.sweep(pulp::Arch::new(), b, y, sweeps);
    matrix.colouring().restored(COUNT, y, to);
}
