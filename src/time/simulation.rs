//! Time integration of a flow, without files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::Stepper;
use super::implicit::{FlowAccess, IMPLICIT_COLUMNS, ImplicitStepper};
use super::initial::initial;
use crate::backend::{self, Backend, Field, Program};
use crate::comm::{Communicator, all_or_error};
use crate::config::{self, Config, FilterConfig, StepSize, Variable};
use crate::error::{Error, Result, refused};
use crate::grid::{Block, Grid};
use crate::io::checkpoint::ForcingState;
use crate::physics::{
    self, Advection, Drawn, ERROR_COLUMNS, NavierStokes, StageSweep, System, TimeLevel,
};
use crate::real::Values;
use crate::statistics::Sample;

/// A fixed step is lengthened by at most this fraction where it would otherwise leave less than that before the next landing
/// time.
const MAX_STEP_EXTENSION: f64 = 1e-3;

/// The phase of right-hand sides and updates; on a device also of their checks, which complete together with them.
pub(super) const STEPS_PHASE: &str = "right-hand sides and updates";
pub(super) const CHECKS_PHASE: &str = "step size and checks";

/// Seconds spent, by phase.
#[derive(Clone, Debug, Default)]
pub struct Phases(pub BTreeMap<&'static str, f64>);

impl Phases {
    /// Add the time that `work` takes to `phase`.
    pub fn time<R>(&mut self, phase: &'static str, work: impl FnOnce() -> R) -> R {
        if cfg!(target_family = "wasm") {
            return work(); // There is no clock.
        }
        let start = Instant::now();
        let result = work();
        *self.0.entry(phase).or_default() += start.elapsed().as_secs_f64();
        result
    }

    /// (those of the slowest rank in each phase, their mean over all ranks). Collective.
    pub fn over_ranks(&self, comm: &dyn Communicator) -> [Self; 2] {
        let mut slowest: Vec<f64> = self.0.values().copied().collect();
        let mut sum = slowest.clone();
        comm.max(&mut slowest);
        comm.sum(&mut sum);
        let mean = sum.into_iter().map(|seconds| seconds / comm.size() as f64).collect();
        [slowest, mean].map(|values| Self(self.0.keys().copied().zip(values).collect()))
    }
}

/// The state of a run and its time integration.
///
/// ```
/// let config = kolmo::config::parse(
///     "[case]\nname = 'entropy-wave'\n[grid]\npoints = [16, 1, 1]\n[time]\nend = 0.1\n", "example", &[]).unwrap();
/// let mut simulation = kolmo::time::Simulation::new(&config).unwrap();
/// while simulation.time() < 0.1 {
///     simulation.step(Some(0.1)).unwrap();
/// }
/// assert!(simulation.error().unwrap().unwrap()[1] < 1e-3);
/// ```
pub struct Simulation {
    pub(super) system: Box<dyn System + Send>,
    pub(super) backend: Arc<dyn Backend>,
    /// The input.
    pub(super) config: Config,
    /// Whether the input defines an exact solution.
    pub(super) has_exact: bool,
    pub(super) columns: Vec<String>,
    pub(super) state: Vec<Field>,
    pub(super) stepper: Stepper,
    /// Replaces the stepper where steps are implicit.
    pub(super) implicit: Option<ImplicitStepper>,
    step_size: StepSize,
    pub(super) time_level: TimeLevel,
    /// Largest 1/dt at the present state; `None` where the state was changed from outside.
    pub(super) rate: Option<f64>,
    pub(super) last_dt: f64,
    /// Rates of change of [`Diagnostics::energies`](crate::physics::Diagnostics::energies) due to the last filtering.
    pub(super) filter_rates: Vec<f64>,
    /// These energies, before and after filtering.
    filter_energies: [Vec<f64>; 2],
    /// Time since the last filtering.
    pub(super) unfiltered: f64,
    /// Whether the fields will be read after the next step.
    read_expected: bool,
    /// Number of evaluations of dU/dt for steps.
    right_hand_sides: u64,
    /// Seconds spent so far.
    pub phases: Phases,
}

impl Simulation {
    /// The initial state of `config`, which may have been changed since it was read.
    ///
    /// # Errors
    /// Where `config` is not valid input (lines are those of [`Config::to_toml`]; a file of points is read again), the backend is
    /// not available, or the initial state is invalid.
    pub fn new(config: &Config) -> Result<Self> {
        let itself = Config { origin: None, ..config.clone() };
        config::parse(&itself.to_toml(), "configuration", &[])?;
        Self::on(
            backend::open(&config.compute, config.grid.points.iter().product())?.into(),
            config,
        )
    }

    /// The initial state of `config` on an open backend.
    ///
    /// # Errors
    /// On all ranks, where the backend refuses or the initial state is invalid on one.
    pub fn on(backend: Arc<dyn Backend>, config: &Config) -> Result<Self> {
        let mut simulation = Self::with_state(backend, config, |system| initial(system, config))?;
        simulation.system.hold(&mut simulation.state, 0.0);
        simulation.system.capture_initial(&mut simulation.state)?;
        simulation.system.impose(&mut simulation.state, 0.0);
        simulation.rate =
            Some(simulation.system.check_now(&simulation.state, simulation.time_level)?);
        simulation.begin_implicit(None)?;
        Ok(simulation)
    }

    /// The equations of `config` at t = 0, whose fields `state` returns. Collective.
    pub(super) fn with_state(
        backend: Arc<dyn Backend>,
        config: &Config,
        state: impl FnOnce(&dyn System) -> Result<Vec<Field>>,
    ) -> Result<Self> {
        let len = backend.block(config.grid.points).len();
        let prepare = || -> Result<Box<dyn System + Send>> {
            Ok(match config.case.scalar() {
                Some(scalar) => {
                    Box::new(Advection::new(&config.problem(), *scalar, backend.clone())?)
                }
                None => Box::new(NavierStokes::new(&config.problem(), backend.clone())?),
            })
        };
        // Before the first collective operation: a failed rank would leave the others waiting in it.
        let mut system = all_or_error(backend.comm(), prepare())?;
        // Before the rates are allocated: the source of the state is as large as they are.
        let state = state(&*system)?;
        if let Some(time) = config.scheme.filter.and_then(|filter| filter.time) {
            all_or_error(backend.comm(), system.set_filter_time(time))?;
        }
        let stepper = Stepper::new(&*backend, config.time.integrator, system.fields(), len);
        let stepper = all_or_error(backend.comm(), stepper)?;
        let implicit = config.time.implicit.map(|options| {
            ImplicitStepper::new(backend.clone(), options, &config.problem(), system.grid())
        });
        let implicit = all_or_error(backend.comm(), implicit.transpose())?;
        let budgets = system.budgets();
        let mut columns = physics::columns(&config.problem());
        let has_exact = system.has_exact();
        if has_exact {
            columns.extend(ERROR_COLUMNS.map(String::from));
        }
        if implicit.is_some() {
            columns.extend(IMPLICIT_COLUMNS.map(String::from));
        }
        Ok(Self {
            columns,
            rate: None,
            stepper,
            implicit,
            system,
            backend,
            config: config.clone(),
            has_exact,
            state,
            step_size: config.time.step,
            time_level: TimeLevel::default(),
            last_dt: 0.0,
            filter_rates: vec![0.0; budgets],
            filter_energies: [vec![0.0; budgets], vec![0.0; budgets]],
            unfiltered: 0.0,
            read_expected: false,
            right_hand_sides: 0,
            phases: Phases::default(),
        })
    }

    /// The next dt, shortened so that a step lands on `until`, or halved where that avoids a sliver after it. A fixed step is
    /// lengthened slightly there: many steps sum to the intended time only up to round-off.
    pub(super) fn next_dt(&self, rate: f64, until: Option<f64>) -> f64 {
        let dt = match self.step_size {
            StepSize::Cfl(cfl) => cfl / rate,
            StepSize::Fixed(dt) => dt,
        };
        let left = until.map_or(f64::INFINITY, |until| until - self.time_level.time);
        match self.step_size {
            _ if left <= dt => left,
            StepSize::Fixed(_) if left <= dt * (1.0 + MAX_STEP_EXTENSION) => left,
            StepSize::Cfl(_) if left < 2.0 * dt => 0.5 * left,
            _ => dt,
        }
    }

    /// Lower the CFL number so that the next step is at most `max_step`; a fixed step does not change. Returns the next step,
    /// which only an `until` can shorten.
    pub fn limit_step(&mut self, max_step: f64) -> f64 {
        match (&mut self.step_size, self.rate) {
            (StepSize::Cfl(cfl), Some(rate)) => {
                *cfl = cfl.min(max_step * rate);
                *cfl / rate
            }
            (StepSize::Cfl(_), None) => f64::INFINITY,
            (StepSize::Fixed(dt), _) => *dt,
        }
    }

    /// Set whether the fields are read after the next steps. A device does not begin the step after one whose fields are read, or
    /// that lands on its `until`: a begun step is lost when fields are read.
    pub fn expect_read(&mut self, expected: bool) {
        self.read_expected = expected;
    }

    /// Advance by one step that does not pass `until`; returns its size.
    ///
    /// # Errors
    /// [`Error::Config`] where `until` is not a later time, [`Error::Diverged`] where the new state is invalid,
    /// [`Error::Stalled`] where the step is too small to change the time.
    pub fn step(&mut self, until: Option<f64>) -> Result<f64> {
        if let Some(until) = until.filter(|until| until.is_nan() || *until <= self.time()) {
            let what = format!("target time {until} is not after the current time {}", self.time());
            return Err(refused(what, "allowed: later times"));
        }
        self.backend.clone().within(|| self.advance(until))
    }

    fn advance(&mut self, until: Option<f64>) -> Result<f64> {
        let rate = match self.rate {
            Some(rate) => rate,
            None => self.system.check_now(&self.state, self.time_level)?,
        };
        let dt = match self.implicit {
            Some(_) => self.next_implicit_dt(rate, until)?,
            None => self.next_dt(rate, until),
        };
        let time = match until {
            Some(until) if self.time_level.time + dt >= until * (1.0 - 1e-14) => until,
            _ => self.time_level.time + dt,
        };
        if time <= self.time_level.time {
            let TimeLevel { step, time } = self.time_level;
            return Err(Error::Stalled { step, time, dt });
        }
        let every = explicit_filter(&self.config);
        let filters = every.is_some_and(|every| (self.time_level.step + 1).is_multiple_of(every));
        let Self { system, state, stepper, implicit, phases, time_level, .. } = self;
        phases.time(STEPS_PHASE, || {
            if let Some(implicit) = implicit {
                let mut access =
                    FlowAccess { system: &mut **system, u: state, rate: stepper.scratch() };
                return implicit.step(&mut access, (*time_level, rate), dt);
            }
            if system.is_forced() {
                system.update_force(state, stepper.scratch(), Some(dt))?;
            }
            stepper.step(system.as_mut(), state, time_level.time, dt);
            system.advance_force(dt, time_level.step + 1);
            if system.backend().queues() && !filters { Ok(()) } else { system.backend().finish() }
        })?;
        self.right_hand_sides += match &self.implicit {
            Some(implicit) => implicit.work.residuals as u64,
            None => self.stepper.stages() as u64,
        };
        self.time_level.step += 1;
        self.time_level.time = time;
        self.last_dt = dt;
        if every.is_some() {
            self.unfiltered += dt;
        }
        if filters {
            self.filter()?;
        }
        let landed = until.is_some_and(|until| self.time_level.time >= until);
        self.check(!landed && !self.read_expected)?;
        self.update_residual()?;
        Ok(dt)
    }

    /// Check the new state. With `begin_next` a device begins the next step before the result of the check is known.
    fn check(&mut self, begin_next: bool) -> Result<()> {
        let Self { system, state, stepper, phases, time_level, .. } = self;
        let queues = system.backend().queues();
        let rate = phases.time(if queues { STEPS_PHASE } else { CHECKS_PHASE }, || {
            let pending = system.begin_check(state)?;
            if queues && begin_next {
                stepper.begin(system.as_mut(), state);
            }
            system.finish_check(pending, state, *time_level)
        });
        if rate.is_err() {
            self.stepper.forget();
        }
        self.rate = Some(rate?);
        Ok(())
    }

    fn filter(&mut self) -> Result<()> {
        let Self {
            system,
            state,
            phases,
            time_level,
            filter_rates,
            filter_energies: [before, after],
            ..
        } = self;
        let interval = std::mem::take(&mut self.unfiltered);
        phases.time("filter", || {
            system.energies(state, before)?;
            system.filter(state);
            system.impose(state, time_level.time);
            system.energies(state, after)
        })?;
        for (rate, (before, after)) in filter_rates.iter_mut().zip(before.iter().zip(after)) {
            *rate = (*after - before) / interval;
        }
        Ok(())
    }

    /// Names of the columns of [`Simulation::row`].
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// One row of the series: step, time, dt, diagnostics, errors.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn row(&mut self) -> Result<Vec<f64>> {
        self.backend.clone().within(|| {
            let mut row = vec![self.time_level.step as f64, self.time_level.time, self.last_dt];
            let Self { system, state, stepper, filter_rates, .. } = self;
            row.extend(system.diagnostics(state, stepper.scratch(), filter_rates)?);
            row.extend(self.error()?.into_iter().flatten());
            row.extend(self.implicit_row()?.into_iter().flatten());
            Ok(row)
        })
    }

    /// A field to be written: its components at every point of the block, one after another.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn output(&mut self, variable: &Variable) -> Result<Values<'static>> {
        self.system.output(&self.state, self.stepper.scratch(), variable)
    }

    /// x, y and the pressure and friction coefficients at the points of a body's wall; `None` without a body. Collective.
    ///
    /// # Errors
    /// Errors of the device, on all ranks where one has them.
    pub fn surface(&mut self) -> Result<Option<Vec<[f64; 4]>>> {
        self.system.surface(&self.state, self.stepper.scratch())
    }

    /// The quantities in the pictures of the report.
    pub fn drawn(&self) -> &'static [Drawn] {
        self.system.drawn()
    }

    /// One of these quantities, at the points of the block.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn picture(&mut self, of: Drawn) -> Result<Vec<f64>> {
        self.system.picture(&self.state, self.stepper.scratch(), of)
    }

    /// The input of the statistics, with the velocity gradient where `gradients` is true. Collective.
    ///
    /// # Errors
    /// Errors of the device, on all ranks where one has them.
    pub fn sample(&mut self, gradients: bool) -> Result<Sample> {
        self.backend.clone().within(|| {
            let Self { system, state, stepper, .. } = self;
            system.sample(state, stepper.scratch(), gradients)
        })
    }

    /// The present value of the column `name` of [`Simulation::row`].
    ///
    /// # Errors
    /// Where there is no such column; errors of the device.
    pub fn quantity(&mut self, name: &str) -> Result<f64> {
        let at = self.columns().iter().position(|column| *column == name);
        let all = || format!("columns: {}", self.columns().join(", "));
        let at = at.ok_or_else(|| refused(format!("no column `{name}`"), all()))?;
        Ok(self.row()?[at])
    }

    /// (root mean square, maximum) of the error of [`Case::error_quantity`](crate::cases::Case::error_quantity), where the exact
    /// solution is known.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn error(&self) -> Result<Option<[f64; 2]>> {
        if !self.has_exact {
            return Ok(None);
        }
        self.system.error(&self.state, self.time_level.time)
    }

    /// Number of evaluations of dU/dt for steps so far.
    pub(crate) fn right_hand_sides(&self) -> u64 {
        self.right_hand_sides
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.time_level.step
    }

    /// Time reached.
    pub fn time(&self) -> f64 {
        self.time_level.time
    }

    /// The last dt; 0 before the first step.
    pub fn last_dt(&self) -> f64 {
        self.last_dt
    }

    /// The backend that holds the fields.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// The points of the fields.
    pub fn block(&self) -> Block {
        self.backend.block(self.grid().points)
    }

    /// The whole grid.
    pub fn grid(&self) -> &Grid {
        self.system.grid()
    }

    /// U, at the points of [`Simulation::block`].
    pub fn state(&self) -> &[Field] {
        &self.state
    }

    /// U, to be modified, for a custom initial state. All ranks must call this, even those that do not modify it.
    pub fn state_mut(&mut self) -> &mut [Field] {
        self.rate = None;
        self.implicit.iter_mut().for_each(ImplicitStepper::forget);
        self.stepper.forget();
        if self.time_level.step == 0 {
            self.system.restore_force(&ForcingState::default(), 0.0);
        }
        &mut self.state
    }

    /// `rate` = dU/dt.
    pub fn rhs(&mut self, rate: &mut [Field]) {
        self.stepper.forget();
        self.system.rhs(&mut self.state, rate, self.time_level.time);
    }

    /// The passes and sweeps of a stage in 2N storage: see [`System::sweeps`].
    pub fn sweeps(&self) -> Vec<(StageSweep, &Program)> {
        self.system.sweeps()
    }

    /// Run number `at` of these sweeps on its own; U is unchanged.
    pub fn run_sweep(&mut self, at: usize) {
        self.backend.clone().within(|| {
            let rate = self.stepper.scratch();
            self.system.run_sweep(at, &mut self.state, rate);
        });
    }

    /// The equations and U.
    pub fn system_and_state(&mut self) -> (&mut dyn System, &[Field]) {
        self.stepper.forget();
        (self.system.as_mut(), &self.state)
    }
}

/// Number of steps between filterings of the state, where the filter is not a part of dU/dt.
pub(super) fn explicit_filter(config: &Config) -> Option<u64> {
    let is_explicit =
        |filter: &FilterConfig| filter.time.is_none() && config.time.implicit.is_none();
    config.scheme.filter.filter(is_explicit).map(|filter| filter.every)
}
