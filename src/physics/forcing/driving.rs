//! The pressure gradient that drives a flow along an axis.

use super::sources::Velocity;
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::force::{Held, PressureGradient, Strength};
use crate::physics::base_state::BaseState;
use crate::physics::slots::exactly;
use crate::physics::volume::VolumeAverage;

/// The time in L/V₀ in which a deviation of the mass flux decays by e; no less than a step.
const RELAXATION: f64 = 0.1;

/// G, and what its next value follows from.
pub(super) struct Driving {
    config: PressureGradient,
    /// ⟨ρu⟩ that is held.
    target: Option<f64>,
    /// ⟨ρu⟩ and G at the beginning of the last step; `None` before the first.
    before: Option<[f64; 2]>,
    /// The same of the step that begins.
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

    /// Where it points: 0, 1 or 2.
    pub(super) fn axis(&self) -> usize {
        self.config.axis.index()
    }

    /// Whether G depends on a friction that no step has shown yet.
    pub(super) fn needs_friction(&self) -> bool {
        matches!(self.config.strength, Strength::MassFlux(_)) && self.before.is_none()
    }

    /// G for a step of `dt` from the mean `flux`.
    ///
    /// d⟨ρu⟩/dt = G − D with the friction D a volume: over the last step, from n to n + 1, it was D = Gₙ − (Mₙ₊₁ − Mₙ)/dtₙ,
    /// whatever walls, filter and truncation had a part in it. The next G is D + (M₀ − M)/t_r: it balances that friction, and takes a
    /// deviation from the mass flux M₀ out in the time t_r. A deviation becomes 1 − dt/t_r of itself in a step, to which the change of
    /// D in a step adds: nothing drifts. The formula is our own.
    pub(super) fn gradient(&mut self, flux: f64, friction: f64, [last_dt, dt]: [f64; 2]) -> f64 {
        let held = match self.config.strength {
            Strength::Value(gradient) => return gradient,
            Strength::MassFlux(held) => held,
        };
        let asked = if let Held::At(flux) = held { flux } else { flux };
        let target = *self.target.get_or_insert(asked);
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

    /// A step is over.
    pub(super) fn advance(&mut self) {
        if let Strength::MassFlux(_) = self.config.strength {
            self.before = Some(self.now);
        }
    }

    /// M₀, and M and G at the beginning of the last step.
    pub(super) fn saved(&self) -> Option<[f64; 3]> {
        self.target.zip(self.before).map(|(target, [flux, gradient])| [target, flux, gradient])
    }

    /// Go on from what was saved; a mass flux that the input says holds.
    pub(super) fn restore(&mut self, saved: Option<[f64; 3]>) {
        self.before = saved.map(|[_, flux, gradient]| [flux, gradient]);
        self.target = saved.map(|[target, ..]| target);
        if let Strength::MassFlux(Held::At(flux)) = self.config.strength {
            self.target = Some(flux);
        }
    }
}
