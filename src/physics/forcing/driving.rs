//! The pressure gradient that drives a flow along one axis.

use super::sources::Velocity;
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::force::{Held, PressureGradient, Strength};
use crate::physics::base_state::BaseState;
use crate::physics::slots::exactly;
use crate::physics::volume::VolumeAverage;

/// Relaxation time of the mass flux in L/V₀; at least one time step is used.
const RELAXATION: f64 = 0.1;

/// G, and the values from which the next G is computed.
pub(super) struct Driving {
    config: PressureGradient,
    /// Target value of ⟨ρu⟩.
    target: Option<f64>,
    /// ⟨ρu⟩ and G at the beginning of the last step; `None` before the first.
    before: Option<[f64; 2]>,
    /// ⟨ρu⟩ and G at the beginning of the current step.
    now: [f64; 2],
    velocity: Prepared,
}

impl Driving {
    pub(super) fn new(
        config: PressureGradient,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        base: BaseState,
    ) -> Result<Self> {
        let velocity = volume.prepare(backend, PointFormula::sum(Velocity { base }))?;
        Ok(Self { config, target: None, before: None, now: [0.0; 2], velocity })
    }

    /// Its direction: 0, 1 or 2.
    pub(super) fn axis(&self) -> usize {
        self.config.axis.index()
    }

    /// Whether G depends on a friction that no previous step has provided.
    pub(super) fn needs_friction(&self) -> bool {
        matches!(self.config.strength, Strength::MassFlux(_)) && self.before.is_none()
    }

    /// G for a step of `dt` from the mean `flux`.
    ///
    /// d⟨ρu⟩/dt = G − D, where D is the friction per unit volume: over the last step, from n to n + 1, D = Gₙ − (Mₙ₊₁ − Mₙ)/dtₙ, which
    /// includes the effect of walls, filter and truncation. The next G is D + (M₀ − M)/t_r: it balances this friction and removes a
    /// deviation from the mass flux M₀ in the time t_r. In one step, a deviation is multiplied by 1 − dt/t_r and changes by the change of
    /// D, so there is no drift. The formula is our own.
    pub(super) fn gradient(&mut self, flux: f64, friction: f64, [last_dt, dt]: [f64; 2]) -> f64 {
        let held = match self.config.strength {
            Strength::Value(gradient) => return gradient,
            Strength::MassFlux(held) => held,
        };
        let requested = if let Held::At(flux) = held { flux } else { flux };
        let target = *self.target.get_or_insert(requested);
        let friction = match self.before {
            Some([before, gradient]) if last_dt > 0.0 => gradient - (flux - before) / last_dt,
            _ => friction,
        };
        let gradient = friction + (target - flux) / RELAXATION.max(dt);
        self.now = [flux, gradient];
        gradient
    }

    /// ⟨u⟩ along the axis. Collective.
    pub(super) fn mean_velocity(
        &self,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        u: &[Field],
    ) -> Result<f64> {
        let state: [&Field; 4] = exactly(u.iter().take(4));
        let mean: [f64; 3] = volume.of(backend, &self.velocity, &state, &[])?;
        Ok(mean[self.axis()])
    }

    /// Finish a step.
    pub(super) fn advance(&mut self) {
        if let Strength::MassFlux(_) = self.config.strength {
            self.before = Some(self.now);
        }
    }

    /// M₀, and M and G at the beginning of the last step.
    pub(super) fn saved(&self) -> Option<[f64; 3]> {
        self.target.zip(self.before).map(|(target, [flux, gradient])| [target, flux, gradient])
    }

    /// Restore a saved state; a mass flux given in the input has priority.
    pub(super) fn restore(&mut self, saved: Option<[f64; 3]>) {
        self.before = saved.map(|[_, flux, gradient]| [flux, gradient]);
        self.target = saved.map(|[target, ..]| target);
        if let Strength::MassFlux(Held::At(flux)) = self.config.strength {
            self.target = Some(flux);
        }
    }
}
