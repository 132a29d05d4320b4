//! The part of an error that a finer grid does not reduce.

use crate::config::Config;

/// An order is computed only if the error is this many times its floor: the floor then changes it by less than log₂(4/3) = 0.4.
pub(super) const MIN_ERROR_OVER_FLOOR: f64 = 4.0;

/// Root mean squares of error contributions on every grid. Estimates, correct within a factor of about two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Floor {
    /// Round-off.
    pub(super) round_off: f64,
    /// Error of a solution that is exact to first order in the amplitude: of third order, since the second order cancels.
    pub(super) amplitude: f64,
    /// Error of a time step that is equal on every grid.
    pub(super) step: f64,
}

impl Floor {
    /// Each step rounds the fields once, and roundings accumulate like a random walk: ε √steps times the largest value.
    ///
    /// Measured for waves over 19 to 264 steps: 0.4 to 0.7 of this estimate. A velocity is also affected by the round-off of the
    /// pressure p = 1/(γ Ma²), ε/(γ Ma).
    pub(super) fn of_round_off(config: &Config, exact: bool, values: &[f64], steps: u64) -> Self {
        let epsilon = config.compute.precision.epsilon();
        let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let pressure = match (exact, config.case.is_flow()) {
            (false, true) => 1.0 / (config.gas.gamma * config.gas.mach),
            _ => 0.0,
        };
        Self {
            round_off: epsilon * (steps as f64).sqrt() * largest.max(pressure),
            ..Self::default()
        }
    }

    /// The sum of all contributions.
    pub(super) fn sum(&self) -> f64 {
        self.round_off + self.amplitude + self.step
    }

    /// A description of the largest contribution, and how to reduce it.
    pub(super) fn cause(&self) -> &'static str {
        let largest = self.round_off.max(self.amplitude).max(self.step);
        if largest == self.step {
            "the error of the time step, the same on every grid: a smaller time.dt lowers it"
        } else if largest == self.amplitude {
            "the amplitude: the solution is exact to first order in it, and a smaller case.amplitude lowers the remaining error"
        } else {
            "round-off"
        }
    }
}
