//! Arnold-Beltrami-Childress flow (Arnold 1965; Childress 1970; Dombre et al. 1986).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{
    About, Definition, Domain, FlowCase, FlowPoint, MAX_PERIODS, ReferenceHistory, Start,
    cube_problem,
};
use crate::gas::{Gas, Viscosity};
use crate::typed::whole;

/// In the box [0, 2π]³, with L = 1 and n periods in the box, k = n:
///
/// ```text
/// u = A sin kz + C cos ky
/// v = B sin kx + A cos kz
/// w = C sin ky + B cos kx
/// p = p₀ − (u·u − A² − B² − C²) / 2
/// ```
///
/// It is a Beltrami flow, ∇×u = k u: u·∇u = ∇(u·u)/2 is balanced by p, so only viscosity changes the flow. The incompressible flow is u
/// exp(−k²t/Re), for all times without disturbances. In a cube of another length coordinates are scaled and k = 2π n / length. Along an
/// axis with one point there is no wave: its amplitude, A for z, B for x, C for y, is zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AbcFlow {
    /// A, amplitude of the wave along z.
    pub a: f64,
    /// B, amplitude of the wave along x.
    pub b: f64,
    /// C, amplitude of the wave along y.
    pub c: f64,
    /// n, number of periods in the box.
    #[serde(deserialize_with = "whole::<u32, 1, MAX_PERIODS, _, _>")]
    pub wavenumber: u32,
    /// The quantity that is uniform at t = 0.
    pub start: Start,
}

impl Default for AbcFlow {
    fn default() -> Self {
        AbcFlow { a: 1.0, b: 1.0, c: 1.0, wavenumber: 1, start: Start::default() }
    }
}

/// Largest Mach number of √(A² + B² + C²), the root mean square of the velocity, at which the incompressible decay is used as reference: it
/// holds to O(Ma²).
const MAX_INCOMPRESSIBLE_MACH: f64 = 0.2;

/// Number of rows of the reference, and their interval in units of Re/(2k²), in which the energy decays by e: a cubic between four of them
/// has an error of 9/16 s⁴/4! = 4e-9.
const REFERENCE_ROWS: (u32, f64) = (401, 0.02);

impl AbcFlow {
    pub(super) const ABOUT: About = About {
        name: "abc-flow",
        title: "Arnold-Beltrami-Childress flow",
        summary: "a Beltrami flow with viscous damping; exact in the incompressible limit",
        input: include_str!("../../configs/abc-flow.toml"),
        mach: |_| 0.1,
        reynolds: 10.0,
        domain: Domain::cube(TAU),
        needs: [false; 3],
    };

    /// k = 2π n / length.
    pub fn k(&self, domain: &Domain) -> f64 {
        f64::from(self.wavenumber) * domain.wavenumber(0)
    }

    /// (B, C, A): the amplitudes of the waves along x, y, z, zero along an axis with one point.
    fn amplitudes(&self, active: [bool; 3]) -> [f64; 3] {
        let all = [self.b, self.c, self.a];
        [0, 1, 2].map(|j| if active[j] { all[j] } else { 0.0 })
    }
}

impl Definition for AbcFlow {
    fn problems(&self, _: &Gas, domain: &Domain) -> Vec<(&'static str, String)> {
        cube_problem(Self::ABOUT.name, domain)
    }

    fn periods(&self) -> [u32; 3] {
        [self.wavenumber; 3]
    }

    /// E = E₀ exp(−2k²t/Re), ε = −dE/dt and Ω = k² E of the incompressible flow.
    fn reference(&self, gas: &Gas, domain: &Domain, active: [bool; 3]) -> Option<ReferenceHistory> {
        let square: f64 = self.amplitudes(active).iter().map(|a| a * a).sum();
        let is_incompressible = gas.mach * square.sqrt() <= MAX_INCOMPRESSIBLE_MACH;
        if gas.is_inviscid()
            || gas.viscosity != Viscosity::Constant
            || !is_incompressible
            || square == 0.0
        {
            return None;
        }
        let k2 = self.k(domain).powi(2);
        let rate = 2.0 * k2 / gas.reynolds;
        let decays: Vec<f64> =
            (0..REFERENCE_ROWS.0).map(|row| REFERENCE_ROWS.1 * f64::from(row)).collect();
        let kinetic_energy: Vec<f64> = decays.iter().map(|x| 0.5 * square * (-x).exp()).collect();
        Some(ReferenceHistory {
            flow: "ABC flow, incompressible",
            source: "exact decay of a Beltrami flow, exp(−2k²t/Re)",
            time: decays.iter().map(|x| x / rate).collect(),
            dissipation: kinetic_energy.iter().map(|energy| rate * energy).collect(),
            enstrophy: kinetic_energy.iter().map(|energy| k2 * energy).collect(),
            kinetic_energy,
        })
    }
}

impl FlowCase for AbcFlow {
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let [b, c, a] = self.amplitudes(active);
        let phase = [0, 1, 2].map(|j| self.k(domain) * (x[j] - domain.origin[j]));
        let ([sx, sy, sz], [cx, cy, cz]) = (phase.map(f64::sin), phase.map(f64::cos));
        let velocity = [a * sz + c * cy, b * sx + a * cz, c * sy + b * cx];
        // −(u·u − A² − B² − C²)/2 expanded, where the squares cancel.
        let fluctuation = -(a * c * sz * cy + a * b * sx * cz + b * c * sy * cx);
        self.start.point(gas, velocity, fluctuation)
    }
}
