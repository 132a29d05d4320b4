//! Kida's vortex: the decaying flow of highest symmetry (Kida 1985; Boratav and Pelz 1994).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint, Start, cube_problem};
use crate::gas::Gas;

/// In the box [0, 2π]³, with L = 1 (Kida 1985):
///
/// ```text
/// u = sin x (cos 3y cos z − cos y cos 3z)
/// v = sin y (cos 3z cos x − cos z cos 3x)
/// w = sin z (cos 3x cos y − cos x cos 3y)
/// ```
///
/// and p = p₀ + p' where p' solves −∇²p' = ∂ᵢuⱼ ∂ⱼuᵢ: a finite sum of cosines, with the table of eight coefficients below. A cyclic
/// permutation of the axes, x → y → z → x, permutes the velocity in the same way; u is odd in x, even in y and z, and changes its sign if y
/// and z are exchanged. In a cube of any length coordinates are scaled; velocity and p' are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KidaVortex {
    /// The quantity that is uniform at t = 0.
    pub start: Start,
}

/// p' = Σ C Σ cos ax cos by cos cz, the inner sum over all distinct permutations of (a, b, c): (a, b, c, C).
///
/// Derived in exact arithmetic: the waves of u are expanded to those of ∂ᵢuⱼ ∂ⱼuᵢ, and each is divided by a² + b² + c²
/// (`cases/kida-vortex/pressure.py`).
const PRESSURE: [([i32; 3], f64); 8] = [
    ([0, 0, 2], 1.0 / 4.0),
    ([0, 2, 2], -1.0 / 8.0),
    ([0, 2, 4], 1.0 / 10.0),
    ([0, 2, 6], 1.0 / 80.0),
    ([0, 4, 4], -1.0 / 8.0),
    ([2, 2, 2], -1.0),
    ([2, 2, 4], 1.0 / 6.0),
    ([2, 4, 4], -1.0 / 36.0),
];

impl KidaVortex {
    pub(super) const ABOUT: About = About {
        name: "kida-vortex",
        title: "Kida vortex",
        summary: "vortices of the highest symmetry that break down into turbulence and decay",
        input: include_str!("../../configs/kida-vortex.toml"),
        mach: |_| 0.1,
        reynolds: 1000.0,
        domain: Domain::cube(TAU),
        needs: [true; 3],
    };
}

impl Definition for KidaVortex {
    fn problems(&self, _: &Gas, domain: &Domain) -> Vec<(&'static str, String)> {
        cube_problem(Self::ABOUT.name, domain)
    }
}

impl FlowCase for KidaVortex {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let phase = [0, 1, 2].map(|j| domain.wavenumber(j) * (x[j] - domain.origin[j]));
        let cos = |j: usize, n: i32| (f64::from(n) * phase[j]).cos();
        let velocity = [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            phase[i].sin() * (cos(j, 3) * cos(k, 1) - cos(j, 1) * cos(k, 3))
        });
        let waves = PRESSURE.iter().map(|&(orders, factor)| factor * permutation_sum(orders, cos));
        self.start.point(gas, velocity, waves.sum())
    }
}

/// Σ cos ax cos by cos cz over all distinct permutations of (a, b, c), which are in ascending order.
fn permutation_sum([a, b, c]: [i32; 3], cos: impl Fn(usize, i32) -> f64) -> f64 {
    let cyclic_sum = |orders: [i32; 3]| -> f64 {
        (0..3).map(|s| (0..3).map(|j| cos(j, orders[(j + s) % 3])).product::<f64>()).sum()
    };
    match (a == b, b == c) {
        (true, true) => cos(0, a) * cos(1, a) * cos(2, a),
        (false, false) => cyclic_sum([a, b, c]) + cyclic_sum([b, a, c]),
        _ => cyclic_sum([a, b, c]),
    }
}
