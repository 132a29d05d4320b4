//! Implicit steps in a simulation.

use super::formulas::COUNT;
use super::{FlowAccess, ImplicitStepper};
use crate::comm::all_or_error;
use crate::error::Result;
use crate::io::checkpoint::ImplicitState;
use crate::real::Values;
use crate::scheme::{ImplicitConfig, Marching};
use crate::time::Simulation;

/// Columns of implicit runs: root mean square of the scaled dU/dt, filter included; Newton corrections and products of the linear systems
/// in the last step.
pub(in crate::time) const IMPLICIT_COLUMNS: [&str; 3] =
    ["residual", "newton_corrections", "linear_products"];

/// Size of an explicit step as a fraction of its stability limit, for the time between two applications of the filter.
const EXPLICIT_CFL: f64 = 0.8;

impl Simulation {
    /// Start implicit steps, if configured, or continue with the `saved` state. Collective.
    pub(in crate::time) fn begin_implicit(&mut self, saved: Option<ImplicitState>) -> Result<()> {
        let Some(rate) = self.rate else { return Ok(()) };
        let Some(implicit) = &mut self.implicit else { return Ok(()) };
        implicit.fixed = saved.unwrap_or_default();
        let continues = implicit.is_steady() && implicit.fixed.first_residual > 0.0;
        implicit.previous_dt = continues.then_some(self.last_dt).filter(|last| *last > 0.0);
        let filter = self.config.scheme.filter;
        let every = filter.filter(|it| it.time.is_none()).map(|it| it.every);
        let saved_time =
            implicit.fixed.filter_time.filter(|_| implicit.fixed.filter_every == every);
        let default_time = |every: u64| saved_time.unwrap_or(every as f64 * EXPLICIT_CFL / rate);
        implicit.fixed.filter_every = every;
        implicit.fixed.filter_time = every.map(default_time).or(filter.and_then(|it| it.time));
        // The system already knows a filter time from the input.
        if let Some(time) = implicit.fixed.filter_time.filter(|_| every.is_some()) {
            all_or_error(self.backend.comm(), self.system.set_filter_time(time))?;
        }
        self.update_residual()
    }

    /// Whether a steady run has converged.
    pub fn is_steady(&self) -> bool {
        let Some((implicit, rate)) = self.implicit.as_ref().zip(self.rate) else { return false };
        let fallen =
            implicit.rate_of_change.is_some_and(|now| now <= implicit.target_residual(rate));
        implicit.is_steady() && fallen
    }

    /// Decades by which the residual of a steady run has fallen, and by which it has to fall.
    pub(in crate::time) fn decades(&self) -> Option<[f64; 2]> {
        let (implicit, rate) = self.implicit.as_ref().zip(self.rate)?;
        let now = implicit.rate_of_change.filter(|_| implicit.is_steady())?;
        let first = implicit.fixed.first_residual;
        Some([now, implicit.target_residual(rate)].map(|residual| (first / residual).log10()))
    }

    /// The reason why a finished steady run has not converged; `None` if it has.
    pub(in crate::time) fn unsteady(&self) -> Option<String> {
        let implicit = self.implicit.as_ref().filter(|it| it.is_steady() && !self.is_steady())?;
        let fallen = implicit.saved().fall.map_or(String::new(), |fall| {
            format!(": dU/dt has fallen to {fall:.1e} of its first value")
        });
        let ImplicitConfig { linear_tolerance, products, .. } = implicit.options;
        let linear_residual = implicit.work.linear_residual;
        let hint = if linear_residual > linear_tolerance {
            format!(
                "; the last linear system was solved to {linear_residual:.1e} of its right-hand side, linear_tolerance is \
                 {linear_tolerance}: increase products (now {products}) and krylov, or reduce cfl"
            )
        } else {
            String::new()
        };
        Some(format!("not steady after {} steps{fallen}{hint}", self.steps()))
    }

    /// Restart implicit steps from the flow of another run. Collective.
    pub(in crate::time) fn forget_other_run(&mut self) -> Result<()> {
        self.implicit.iter_mut().for_each(ImplicitStepper::forget);
        self.begin_implicit(None)
    }

    /// The next dt; in a steady run it grows as the residual falls.
    pub(in crate::time) fn next_implicit_dt(
        &mut self,
        rate: f64,
        until: Option<f64>,
    ) -> Result<f64> {
        let dt = self.next_dt(rate, until);
        // The state may have been changed by the caller.
        self.update_residual()?;
        let time = self.time();
        let Some(implicit) = self.implicit.as_ref().filter(|it| it.is_steady()) else {
            return Ok(dt);
        };
        let reduction = implicit.fixed.first_residual / implicit.rate_of_change.unwrap_or(1.0);
        let first = self.next_dt(rate, None);
        let max_dt = implicit.previous_dt.map_or(first, |last| implicit.options.growth * last);
        let remaining = until.map_or(f64::INFINITY, |until| until - time);
        Ok((first * reduction).max(first).min(max_dt).min(remaining))
    }

    /// Compute the residual of a steady run and keep the first one. Collective.
    pub(in crate::time) fn update_residual(&mut self) -> Result<()> {
        let row = if self.config.time.is_steady() { self.implicit_row()? } else { None };
        if let (Some(implicit), Some([residual, ..])) = (&mut self.implicit, row)
            && implicit.fixed.first_residual == 0.0
        {
            implicit.fixed.first_residual = residual;
        }
        Ok(())
    }

    /// Values of [`IMPLICIT_COLUMNS`]; `None` in explicit runs.
    pub(in crate::time) fn implicit_row(&mut self) -> Result<Option<[f64; 3]>> {
        let Self { implicit, system, state, stepper, time_level, .. } = self;
        let Some(implicit) = implicit else { return Ok(None) };
        let mut access = FlowAccess { system: &mut **system, u: state, rate: stepper.scratch() };
        let residual = implicit.residual_now(&mut access, time_level.time)?;
        let work = implicit.work;
        Ok(Some([residual, work.corrections as f64, work.products as f64]))
    }
}

impl ImplicitStepper {
    /// Discard the values computed from the state, which has changed.
    pub(in crate::time) fn forget(&mut self) {
        self.rate_of_change = None;
        self.before = None;
    }

    /// The variables of the previous state; empty if the next step does not use it.
    pub(in crate::time) fn state_before(&self) -> Result<Vec<Values<'static>>> {
        let Some((before, _)) = &self.before else { return Ok(Vec::new()) };
        self.residual.variables(before)
    }

    /// Set the previous state and the step of size `last` from it.
    pub(in crate::time) fn set_state_before(
        &mut self,
        before: Vec<Vec<f64>>,
        last: f64,
    ) -> Result<()> {
        let before: Option<[Vec<f64>; COUNT]> = before.try_into().ok();
        let known = before.filter(|_| self.options.method == Marching::Bdf2 && last > 0.0);
        if let Some(before) = known {
            self.before = Some((self.residual.scaled(&before)?, last));
        }
        Ok(())
    }

    /// The residual of a converged steady flow: the tolerance times the first residual, or the round-off of dU/dt if larger. `rate` is
    /// 1/dt of an explicit step at its limit; U has a relative error of a few units of round-off.
    fn target_residual(&self, rate: f64) -> f64 {
        const ROUND_OFF_UNITS: f64 = 4.0;
        let round_off = ROUND_OFF_UNITS * f64::EPSILON * rate * self.size;
        (self.options.tolerance() * self.fixed.first_residual).max(round_off)
    }
}
