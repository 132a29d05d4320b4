//! What the time loop needs to know of a set of equations.

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

/// Where the run is: what an error message about the state says.
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

/// What was seen of U: of the flow, or of the scalar that is advected, and behind it of each passive scalar. Four need no memory.
pub type Seen = SmallVec<[Reduction; 4]>;

/// Whether the largest and the least value of everything seen is finite.
pub(super) fn are_finite(seen: impl IntoIterator<Item = Reduction>) -> Result<bool> {
    let mut finite = true;
    // Each is waited for: a device keeps what it saw until it is asked for it.
    for seen in seen {
        let extrema: [f64; 2] = seen.wait()?;
        finite &= extrema.iter().all(|value| value.is_finite());
    }
    Ok(finite)
}

/// Where in a step a stage stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// No stage of this step came before it.
    pub first: bool,
    /// None follows.
    pub last: bool,
    /// [`System::begin`] began it.
    pub begun: bool,
    /// The time that it leads to.
    pub end: f64,
}

/// A set of equations dU/dt = R(U) on a grid. Fields hold the block of it that is this rank's; sums, averages and extremes
/// go over all ranks, and all of them must ask for them.
pub trait System {
    /// The backend the fields live on.
    fn backend(&self) -> &dyn Backend;

    /// The whole grid.
    fn grid(&self) -> &Grid;

    /// Names of the fields in U, as files have them.
    fn names(&self) -> Vec<String>;

    /// Number of fields in U.
    fn fields(&self) -> usize {
        self.names().len()
    }

    /// The quantities that [`System::state_of`] takes, by the names of files.
    fn start_names(&self) -> Vec<String>;

    /// U from the values of these quantities at every point of the block: `values(point, to)` puts them into `to`.
    ///
    /// # Errors
    /// Where there is no memory left.
    fn state_of(&self, values: &dyn Fn(usize, &mut [f64])) -> Result<Vec<Field>>;

    /// Take from `start`, the state with which the case starts, what is known by it beyond faces; it is left as it is. Collective.
    ///
    /// # Errors
    /// What the device says: on all ranks where it says it on one.
    fn know_start(&mut self, _start: &mut [Field]) -> Result<()> {
        Ok(())
    }

    /// What [`System::output`] computes.
    fn variables(&self) -> Vec<Variable>;

    /// What the fields of U are stored relative to.
    fn base_state(&self) -> Vec<f64>;

    /// `rate` = R(`u`), with `u` left as it is.
    fn rhs(&mut self, u: &mut [Field], rate: &mut [Field]);

    /// A stage in 2N storage: `rate` = β × `rate` + R(`u`), then `u` += advance × `rate`. With β = 0 the old content
    /// of `rate` is not read.
    fn advance(&mut self, u: &mut [Field], rate: &mut [Field], weights: Weights, stage: Stage);

    /// Impose on `u` what holds at the ends of the box at `time`. A stage in 2N storage does it itself.
    fn impose(&mut self, _u: &mut [Field], _time: f64) {}

    /// The same but for what is of a start: a face where this comes in faster than sound, passive scalars where such a stream is given.
    /// Implicit steps hold it, whose unknowns there stay for their rates are 0, and it is imposed before a start is known.
    fn hold(&mut self, _u: &mut [Field], _time: f64) {}

    /// Begin the first stage in 2N storage of a step whose size is not known yet, in `rate` and fields that hold nothing between
    /// steps; false where nothing was begun.
    fn begin(&mut self, _: &mut [Field], _rate: &mut [Field]) -> bool {
        false
    }

    /// The passes and sweeps of the flow in a stage in 2N storage; none where its equations are computed otherwise.
    fn sweeps(&self) -> Vec<(StageSweep, &Program)> {
        Vec::new()
    }

    /// Run number `at` of them by itself: `u` stays as it is, `rate` and gradients hold nothing that makes sense.
    fn run_sweep(&mut self, _at: usize, _u: &mut [Field], _rate: &mut [Field]) {}

    /// Whether a force acts, whose strength follows the state.
    fn is_forced(&self) -> bool {
        false
    }

    /// Find the strength of the force for a step of `dt` from `u`; without one, as the last step was. It is kept for all rates
    /// until it is asked for again. `scratch` has the size of U and is overwritten. Collective.
    ///
    /// # Errors
    /// What a device says of the work so far.
    fn update_force(
        &mut self,
        _u: &[Field],
        _scratch: &mut [Field],
        _dt: Option<f64>,
    ) -> Result<()> {
        Ok(())
    }

    /// Go on to the force after a step of `dt`, with which `done` steps are done.
    fn advance_force(&mut self, _dt: f64, _done: u64) {}

    /// What a checkpoint carries of the force.
    fn saved_force(&self) -> Option<ForcingState> {
        None
    }

    /// Go on from a checkpoint, whose last step was one of `last_dt`.
    fn restore_force(&mut self, _saved: &ForcingState, _last_dt: f64) {}

    /// Begin to look at every point of U.
    ///
    /// # Errors
    /// What a device says of the work so far.
    fn begin_check(&self, u: &[Field]) -> Result<Seen>;

    /// The largest 1/dt that the stability limit asks for anywhere, from what was seen of U. An unphysical
    /// state (ρ or p ≤ 0, or not a number) is an error, the same on all ranks.
    fn finish_check(&self, seen: Seen, u: &[Field], at: TimeLevel) -> Result<f64>;

    /// The same from U, which is looked at now.
    fn check_now(&self, u: &[Field], at: TimeLevel) -> Result<f64> {
        self.finish_check(self.begin_check(u)?, u, at)
    }

    /// Filter U once along every axis. Does nothing where there is no filter.
    fn filter(&mut self, u: &mut [Field]);

    /// Have the filter act as a rate, (F U − U)/`time` a part of dU/dt, for good. Does nothing but to a flow.
    ///
    /// # Errors
    /// Where there is no memory left.
    fn set_filter_time(&mut self, _time: f64) -> Result<()> {
        Ok(())
    }

    /// Quantities whose budgets the series carries.
    fn budgets(&self) -> usize;

    /// These quantities (kinetic energy and the variances of passive scalars; ⟨φ²⟩), volume averages, into `to`.
    fn energies(&self, u: &[Field], to: &mut [f64]) -> Result<()>;

    /// One row of the series, in the columns of [`columns`](super::columns()) behind `step`, `time` and `dt`. `scratch` has the
    /// size of U and is overwritten; `filter_rates` is what the filter did to [`System::energies`] a unit of time.
    fn diagnostics(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        filter_rates: &[f64],
    ) -> Result<Vec<f64>>;

    /// x, y and the coefficients of pressure and friction at the points of a body's wall; `None` where there is none. `scratch` as above.
    /// Collective.
    ///
    /// # Errors
    /// What the device says: on all ranks where it says it on one.
    fn surface(&mut self, _u: &[Field], _scratch: &mut [Field]) -> Result<Option<Vec<[f64; 4]>>> {
        Ok(None)
    }

    /// True where the exact solution is known.
    fn has_exact(&self) -> bool;

    /// (root mean square, maximum) of the difference between the density, or the scalar, and the exact solution. The host
    /// has to see that field for it.
    fn error(&self, u: &[Field], time: f64) -> Result<Option<[f64; 2]>>;

    /// A field to be written: its components at every point of the block, one after another. `scratch` as above.
    fn output(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        variable: &Variable,
    ) -> Result<Values<'static>>;

    /// What the pictures of the report show.
    fn drawn(&self) -> &'static [Drawn];

    /// One of these, at the points of the block. `scratch` as above.
    fn picture(&mut self, u: &[Field], scratch: &mut [Field], of: Drawn) -> Result<Vec<f64>>;

    /// What statistics are taken of, with the velocity gradient where `gradients` is true. `scratch` as above. Collective.
    ///
    /// # Errors
    /// What the device says: on all ranks where it says it on one.
    fn sample(&mut self, u: &[Field], scratch: &mut [Field], gradients: bool) -> Result<Sample>;
}
