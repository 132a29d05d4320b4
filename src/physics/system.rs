//! The interface between the time loop and a set of equations.

use smallvec::SmallVec;

use super::Variable;
use super::drawn::Drawn;
use super::stage_sweep::StageSweep;
use crate::backend::{Backend, Field, Prepared, Program, Reduction, Weights};
use crate::error::Result;
use crate::grid::Grid;
use crate::io::checkpoint::ForcingState;
use crate::real::Values;
use crate::statistics::Sample;

/// Step and time of a state, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TimeLevel {
    /// Steps done.
    pub step: u64,
    /// Non-dimensional time.
    pub time: f64,
}

/// `u` += scale × `rate`, field by field.
pub(crate) fn add_scaled(
    backend: &dyn Backend,
    formula: &Prepared,
    u: &mut [Field],
    scale: f64,
    rate: &[Field],
) {
    for (u, rate) in u.iter_mut().zip(rate) {
        backend.map(formula, &[rate], &mut [u], &[scale]);
    }
}

/// Reductions of a check of U: the one of the flow, or of the advected scalar, then one per passive scalar. Up to four without allocation.
pub type PendingCheck = SmallVec<[Reduction; 4]>;

/// Whether all extreme values in `pending` are finite.
pub(super) fn are_finite(pending: impl IntoIterator<Item = Reduction>) -> Result<bool> {
    let mut finite = true;
    // Wait for every reduction: a device keeps a result until it is fetched.
    for reduction in pending {
        let extrema: [f64; 2] = reduction.wait()?;
        finite &= extrema.iter().all(|value| value.is_finite());
    }
    Ok(finite)
}

/// Position of a stage in its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Whether it is the first stage of the step.
    pub first: bool,
    /// Whether it is the last one.
    pub last: bool,
    /// Whether [`System::begin`] has started it.
    pub begun: bool,
    /// Time at its end.
    pub end: f64,
}

/// A set of equations dU/dt = R(U) on a grid. Fields hold this rank's block of the grid; sums, averages and extreme values are
/// collective: they cover all ranks, and all ranks must call them.
pub trait System: Diagnostics {
    /// The backend that holds the fields.
    fn backend(&self) -> &dyn Backend;

    /// The global grid.
    fn grid(&self) -> &Grid;

    /// Names of the fields in U, as in files.
    fn names(&self) -> Vec<String>;

    /// Number of fields in U.
    fn fields(&self) -> usize {
        self.names().len()
    }

    /// Names, as in files, of the quantities that [`System::state_of`] takes.
    fn start_names(&self) -> Vec<String>;

    /// U from the values of these quantities at every point of the block: `values(point, to)` writes them into `to`.
    ///
    /// # Errors
    /// Insufficient memory.
    fn state_of(&self, values: &dyn Fn(usize, &mut [f64])) -> Result<Vec<Field>>;

    /// Take the flow beyond faces from `start`, the initial state of the case, which is not changed. Collective.
    ///
    /// # Errors
    /// Device errors, on all ranks if they occur on one.
    fn capture_initial(&mut self, _start: &mut [Field]) -> Result<()> {
        Ok(())
    }

    /// Reference values of the fields: they store U minus these values.
    fn base_state(&self) -> Vec<f64>;

    /// `rate` = R(`u`) at `time`; `u` is not changed.
    fn rhs(&mut self, u: &mut [Field], rate: &mut [Field], time: f64);

    /// Perform a stage in 2N storage: `rate` = β × `rate` + R(`u`), then `u` += advance × `rate`. With β = 0 the old content
    /// of `rate` is not read.
    fn advance(&mut self, u: &mut [Field], rate: &mut [Field], weights: Weights, stage: Stage);

    /// Impose the boundary conditions at `time` on `u`. A stage in 2N storage does it itself.
    fn impose(&mut self, _u: &mut [Field], _time: f64) {}

    /// Impose the boundary conditions except those taken from the initial state: supersonic inflow of that state, and passive scalars
    /// of that state in a prescribed supersonic stream. For implicit steps, whose unknowns there stay constant because their rates
    /// are 0, and before the initial state is known.
    fn hold(&mut self, _u: &mut [Field], _time: f64) {}

    /// Start the first stage in 2N storage of a step whose size is not known yet, in `rate` and in fields that are unused between
    /// steps. Returns false if nothing was started.
    fn begin(&mut self, _: &mut [Field], _rate: &mut [Field]) -> bool {
        false
    }

    /// The passes and sweeps of the flow in a stage in 2N storage; empty if the stage does not consist of such sweeps.
    fn sweeps(&self) -> Vec<(StageSweep, &Program)> {
        Vec::new()
    }

    /// Run only sweep `at` of them, to time it: `u` is not changed, the values in `rate` and the gradients are meaningless.
    fn run_sweep(&mut self, _at: usize, _u: &mut [Field], _rate: &mut [Field]) {}

    /// Whether a force acts whose strength depends on the state.
    fn is_forced(&self) -> bool {
        false
    }

    /// Compute the strength of the force for a step of `dt` from `u`; without `dt`, for a step of the previous size. All rates use it
    /// until the next call. `scratch` has the size of U and is overwritten. Collective.
    ///
    /// # Errors
    /// Device errors of the work so far.
    fn update_force(
        &mut self,
        _u: &[Field],
        _scratch: &mut [Field],
        _dt: Option<f64>,
    ) -> Result<()> {
        Ok(())
    }

    /// Advance the force over a step of `dt`, after which `done` steps are done.
    fn advance_force(&mut self, _dt: f64, _done: u64) {}

    /// The state of the force for a checkpoint.
    fn saved_force(&self) -> Option<ForcingState> {
        None
    }

    /// Continue from a checkpoint whose last step had the size `last_dt`.
    fn restore_force(&mut self, _saved: &ForcingState, _last_dt: f64) {}

    /// Start a check of all points of U.
    ///
    /// # Errors
    /// Device errors of the work so far.
    fn begin_check(&self, u: &[Field]) -> Result<PendingCheck>;

    /// The largest 1/dt that the stability limit requires at any point, from the started check. An invalid state (ρ or p ≤ 0, or not a
    /// number) is an error, the same on all ranks.
    fn finish_check(&self, pending: PendingCheck, u: &[Field], at: TimeLevel) -> Result<f64>;

    /// Check U at once.
    fn check_now(&self, u: &[Field], at: TimeLevel) -> Result<f64> {
        self.finish_check(self.begin_check(u)?, u, at)
    }

    /// Filter U once along every axis. Does nothing without a filter.
    fn filter(&mut self, u: &mut [Field]);

    /// Apply the filter as a rate from now on: add (F U − U)/`time` to dU/dt. Has an effect only on a flow.
    ///
    /// # Errors
    /// Insufficient memory.
    fn set_filter_time(&mut self, _time: f64) -> Result<()> {
        Ok(())
    }
}

/// Quantities computed from the fields of a [`System`] for the series, the report, the statistics and the output files.
pub trait Diagnostics {
    /// The variables that [`Diagnostics::output`] can compute.
    fn variables(&self) -> Vec<Variable>;

    /// Number of quantities with budgets in the series.
    fn budgets(&self) -> usize;

    /// Write the volume averages of these quantities (kinetic energy and the variances of passive scalars, or ⟨φ²⟩) into `to`.
    fn energies(&self, u: &[Field], to: &mut [f64]) -> Result<()>;

    /// One row of the series, in the columns of [`columns`](super::columns()) after `step`, `time` and `dt`. `scratch` has the
    /// size of U and is overwritten; `filter_rates` are the rates of change of [`Diagnostics::energies`] by the filter.
    fn diagnostics(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        filter_rates: &[f64],
    ) -> Result<Vec<f64>>;

    /// x, y and the coefficients of pressure and friction at the points of a body's wall; `None` without a body. `scratch` as above.
    /// Collective.
    ///
    /// # Errors
    /// Device errors, on all ranks if they occur on one.
    fn surface(&mut self, _u: &[Field], _scratch: &mut [Field]) -> Result<Option<Vec<[f64; 4]>>> {
        Ok(None)
    }

    /// Whether the exact solution is known.
    fn has_exact(&self) -> bool;

    /// (root mean square, maximum) of the difference between the density, or the scalar, and the exact solution. Copies that field
    /// to the host.
    fn error(&self, u: &[Field], time: f64) -> Result<Option<[f64; 2]>>;

    /// A field for output: its components at each point of the block, point by point. `scratch` as above.
    fn output(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        variable: &Variable,
    ) -> Result<Values<'static>>;

    /// The quantities shown by the pictures of the report.
    fn drawn(&self) -> &'static [Drawn];

    /// One of these quantities at the points of the block. `scratch` as above.
    fn picture(&mut self, u: &[Field], scratch: &mut [Field], of: Drawn) -> Result<Vec<f64>>;

    /// The fields for statistics, with the velocity gradient if `gradients`. `scratch` as above. Collective.
    ///
    /// # Errors
    /// Device errors, on all ranks if they occur on one.
    fn sample(&mut self, u: &[Field], scratch: &mut [Field], gradients: bool) -> Result<Sample>;
}
