//! Decaying Taylor-Green vortex (Taylor and Green 1937; Brachet et al. 1983).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{
    About, Definition, Domain, FlowCase, FlowPoint, ReferenceHistory, ReferenceSpectrum, Start,
};
use crate::boundary::{Boundaries, Face};
use crate::gas::{Gas, Viscosity};

/// In the box [0, 2π]³, with L = 1:
///
/// ```text
/// u =   sin x cos y cos z
/// v = − cos x sin y cos z,  w = 0
/// p = p₀ + (cos 2x + cos 2y)(cos 2z + 2) / 16,  p₀ = 1 / (γ Ma²)
/// ```
///
/// In another box, with wavenumbers (a, b, c) = 2π / length, v is multiplied by a/b, which keeps div u = 0, and p solves −∇²p = ∂ᵢuⱼ ∂ⱼuᵢ
/// there. One point along z corresponds to c = 0, the plane vortex. The vortex is the same in its eight octants, which are separated by
/// symmetry planes: one of them is [0, π]³, with wavenumbers π / length.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaylorGreen {
    /// The quantity that is uniform at t = 0.
    pub start: Start,
    /// Whether the box is one octant, between symmetry planes.
    pub octant: bool,
}

impl TaylorGreen {
    pub(super) const ABOUT: About = About {
        name: "taylor-green",
        title: "Taylor-Green vortex",
        summary: "vortices that break down into turbulence and decay; the standard test of DNS codes",
        input: include_str!("../../configs/taylor-green.toml"),
        mach: |_| 0.1,
        reynolds: 1600.0,
        domain: Domain::cube(TAU),
        needs: [true, true, false],
    };
}

impl TaylorGreen {
    /// Number of periods along an axis of the box.
    fn periods(&self) -> f64 {
        if self.octant { 0.5 } else { 1.0 }
    }

    /// Whether incompressible results in the usual box hold, to O(Ma²).
    fn is_incompressible(&self, gas: &Gas, domain: &Domain, active: [bool; 3]) -> bool {
        let is_default_box =
            domain.length.iter().all(|&length| close(length, TAU * self.periods()));
        active == [true; 3] && is_default_box && gas.mach <= 0.1 + 1e-9
    }
}

fn close(value: f64, to: f64) -> bool {
    (value - to).abs() <= 1e-9 * to
}

impl Definition for TaylorGreen {
    fn domain(&self) -> Domain {
        Domain::cube(TAU * self.periods())
    }

    fn boundaries(&self, _: &Gas) -> Boundaries {
        let planes = self.octant.then_some([Face::Symmetry; 2]);
        Boundaries([planes; 3])
    }

    /// The incompressible curves (Re = 100, 200, 400, 1600) hold for Ma ≤ 0.1, with an error of O(Ma²).
    fn reference(&self, gas: &Gas, domain: &Domain, active: [bool; 3]) -> Option<ReferenceHistory> {
        if !self.is_incompressible(gas, domain, active) {
            return None;
        }
        let same_gas = close(gas.mach, 0.1)
            && close(gas.gamma, 1.4)
            && close(gas.prandtl, 0.71)
            && gas.viscosity == Viscosity::Constant
            && self.start == Start::ConstantDensity;
        macro_rules! table {
            ($name:literal) => {
                include_str!(concat!("../../cases/taylor-green/reference/", $name, ".csv"))
            };
        }
        let incompressible = [
            (100.0, table!("re100-incompressible")),
            (200.0, table!("re200-incompressible")),
            (400.0, table!("re400-incompressible")),
            (1600.0, table!("re1600-incompressible")),
        ];
        if same_gas && close(gas.reynolds, 100.0) {
            return ReferenceHistory::parse(table!("re100-mach0.1"));
        }
        let (_, text) = incompressible.into_iter().find(|(re, _)| close(gas.reynolds, *re))?;
        ReferenceHistory::parse(text)
    }

    /// Spectrum at Re = 1600, t = 9.
    fn reference_spectrum(
        &self,
        gas: &Gas,
        domain: &Domain,
        active: [bool; 3],
    ) -> Option<ReferenceSpectrum> {
        if self.octant
            || !self.is_incompressible(gas, domain, active)
            || !close(gas.reynolds, 1600.0)
        {
            return None;
        }
        let text = include_str!("../../cases/taylor-green/reference/spectrum-re1600-t9.csv");
        ReferenceSpectrum::parse(text)
    }
}

impl FlowCase for TaylorGreen {
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let k =
            [0, 1, 2].map(|j| if active[j] { self.periods() * domain.wavenumber(j) } else { 0.0 });
        let [a, b, c] = k;
        let [ax, by, cz] = [0, 1, 2].map(|j| k[j] * (x[j] - domain.origin[j]));
        let velocity =
            [ax.sin() * by.cos() * cz.cos(), -(a / b) * ax.cos() * by.sin() * cz.cos(), 0.0];
        // Expanded, because the product form adds 2 to a cosine and loses digits.
        let [x2, y2, z2] = [ax, by, cz].map(|phase| (2.0 * phase).cos());
        let fluctuation = x2 / 8.0
            + a * a / (b * b) * y2 / 8.0
            + a * a / (a * a + c * c) * x2 * z2 / 8.0
            + a * a / (b * b + c * c) * y2 * z2 / 8.0;
        self.start.point(gas, velocity, fluctuation)
    }
}
