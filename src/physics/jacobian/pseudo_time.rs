//! Preconditioned pseudo-time: Γ ∂U/∂τ = R has the same steady flow, with sound waves that are not much faster than the gas.
//!
//! Γ = I + β r ∂p/∂U with r = (1, u, H) and β = 1/Vᵣ² − 1/c²: sound travels at about Vᵣ = min(c, max(|u|, V₀, μ/(ρ Re h))) instead of c
//! (Weiss and Smith 1995, AIAA J. 33, 2050; momentum diffuses across a cell of width h at the last of these speeds).

use super::COUNT;
use super::blocks::Flow;
use crate::engine::{Formula, Number};
use crate::gas::Gas;

impl Flow {
    /// β at a point with cell width 1/`per_cell`; 0 without preconditioning.
    pub(super) fn inertia(&self, gas: &Gas, per_cell: f64) -> f64 {
        let viscous = match gas.is_inviscid() {
            true => 0.0,
            false => self.viscosity(gas) / self.rho * per_cell,
        };
        let reference = self.speed().max(1.0).max(viscous);
        (1.0 / (reference * reference) - 1.0 / self.sound_speed().powi(2)).max(0.0)
    }
}

/// `to` += (Γ − I) x/(γ dt) for the unknowns that boundaries do not impose. Reads V, x, 1 for imposed unknowns (otherwise 0), and β;
/// parameter: 1/(γ dt). U = `scale` × V.
pub struct PseudoTime {
    pub(super) scale: [f64; COUNT],
    pub(super) gamma: f64,
}

impl Formula<{ 3 * COUNT + 1 }, COUNT, 1> for PseudoTime {
    fn at<N: Number>(
        &self,
        read: [N; 3 * COUNT + 1],
        mut to: [N; COUNT],
        [per_dt]: [N; 1],
    ) -> [N; COUNT] {
        let (mut state, mut change) = (to, to);
        for k in 0..COUNT {
            let scale = N::of(self.scale[k]);
            state[k] = scale * read[k];
            change[k] = scale * read[COUNT + k];
        }
        let [rho, x, y, z, energy] = state;
        let (u, v, w) = (x / rho, y / rho, z / rho);
        let kinetic = N::of(0.5) * (u * u + v * v + w * w);
        let gm1 = N::of(self.gamma - 1.0);
        let pressure = gm1 * (energy - rho * kinetic);
        let [density, x, y, z, e] = change;
        let pressure_change = gm1 * (kinetic * density - u * x - v * y - w * z + e);
        let carried = [N::of(1.0), u, v, w, (energy + pressure) / rho];
        let factor = per_dt * read[3 * COUNT] * pressure_change;
        for k in 0..COUNT {
            let free = N::of(1.0) - read[2 * COUNT + k];
            to[k] = to[k] + free * (factor * carried[k] / N::of(self.scale[k]));
        }
        to
    }
}
