//! Turbulent flow between two plates.

use std::f64::consts::{PI, TAU};

use num_complex::Complex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowPoint, GridCase, Place};
use crate::boundary::{Boundaries, Wall};
use crate::error::Result;
use crate::force::{Force, ForcingConfig, Held, PressureGradient, Strength};
use crate::gas::Gas;
use crate::grid::{Axis, Grid};
use crate::splitmix::{mixed, number, unit};
use crate::typed::{not_negative, whole};

/// Gas between plates with T = 1 at y = ±1, driven along x by a pressure gradient that keeps ⟨ρu⟩ = 1. Units are half the distance between
/// the plates, the bulk velocity ⟨ρu⟩/⟨ρ⟩, the mean density and the temperature of the plates.
///
/// The initial state has ρ = T = 1, a mean turbulent velocity profile, and long waves u' = curl ψ, which cause transition to turbulence
/// within some time units: their streaks are unstable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// ⟨u'·u'⟩^½.
    #[serde(deserialize_with = "not_negative")]
    pub amplitude: f64,
    /// Seed of the random waves.
    #[serde(deserialize_with = "whole::<u64, 0, { i64::MAX }, _, _>")]
    pub seed: u64,
}

impl Default for Channel {
    fn default() -> Self {
        Channel { amplitude: 0.25, seed: 0 }
    }
}

/// Largest numbers of periods of the waves along x and z.
const PERIODS: [i32; 2] = [3, 4];

impl Channel {
    pub(super) const ABOUT: About = About {
        name: "channel",
        title: "Turbulent channel",
        summary: "turbulence between two plates at constant mass flux",
        input: include_str!("../../configs/channel.toml"),
        mach: |_| 0.3,
        reynolds: 2800.0,
        domain: Domain { origin: [0.0, -1.0, 0.0], length: [4.0 * PI, 2.0, 4.0 / 3.0 * PI] },
        needs: [true, true, true],
    };
}

impl Definition for Channel {
    fn boundaries(&self, _: &Gas) -> Boundaries {
        Boundaries::along(Axis::Y, [Wall::isothermal(1.0); 2])
    }

    fn forcing(&self, _: &Gas, _: &Domain) -> Option<ForcingConfig> {
        let strength = Strength::MassFlux(Held::At(1.0));
        let kind = Force::PressureGradient(PressureGradient { axis: Axis::X, strength });
        Some(ForcingConfig { kind, heat_removal: false })
    }

    fn grid_dependence(&self) -> Option<&'static str> {
        Some("its mean flow is normalised by a sum over the grid")
    }
}

impl GridCase for Channel {
    fn start(&self, place: &Place<'_>, _: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>> {
        let Place { comm, decomposition, ref grid, domain, gas, .. } = *place;
        let eta = |x: [f64; 3]| 2.0 * (x[1] - domain.origin[1]) / domain.length[1] - 1.0;
        let mean = Mean::new(&gas, grid, |j| eta(grid.coordinates([0, j, 0])));
        let waves = Wave::all(self.seed, &domain);
        let square: f64 = waves.iter().map(Wave::mean_square).sum();
        let scale = self.amplitude / square.sqrt();
        let block = decomposition.block(comm.rank(), grid.points);
        let point = |at: usize| {
            let x = grid.coordinates(block.index(at));
            let eta = eta(x);
            let mut velocity = [mean.at(eta), 0.0, 0.0];
            for wave in &waves {
                let of_wave =
                    wave.velocity(eta, [x[0] - domain.origin[0], x[2] - domain.origin[2]]);
                velocity.iter_mut().zip(of_wave).for_each(|(u, of_wave)| *u += scale * of_wave);
            }
            FlowPoint { density: 1.0, velocity, pressure: gas.reference_pressure() }
        };
        Ok((0..block.len()).into_par_iter().map(point).collect())
    }
}

/// The mean velocity: Reichardt's (1951) law of the wall with Dean's (1978) friction, C_f = 0.073 (2 Re)^(−1/4), and bulk velocity 1 on the
/// grid.
struct Mean {
    friction_reynolds: f64,
    bulk: f64,
}

impl Mean {
    fn new(gas: &Gas, grid: &Grid, eta: impl Fn(usize) -> f64) -> Self {
        let friction = (0.5 * 0.073 * (2.0 * gas.reynolds).powf(-0.25)).sqrt();
        let mut mean = Self { friction_reynolds: gas.reynolds * friction, bulk: 1.0 };
        let [mut sum, mut all] = [0.0; 2];
        for j in 0..grid.points[1] {
            let weight = grid.weight([0, j, 0]);
            sum += weight * mean.at(eta(j));
            all += weight;
        }
        mean.bulk = sum / all;
        mean
    }

    fn at(&self, eta: f64) -> f64 {
        const KAPPA: f64 = 0.41;
        let y = (1.0 - eta.abs()).max(0.0) * self.friction_reynolds;
        let inner = 1.0 - (-y / 11.0).exp() - y / 11.0 * (-y / 3.0).exp();
        ((KAPPA * y).ln_1p() / KAPPA + 7.8 * inner) / self.bulk
    }
}

/// u' = Re curl(ĉ g(η) exp(i(kx x + kz z))) with gₐ = (1 − η²)² cos(qₐ η + θₐ) for each component a: u' vanishes on the walls.
struct Wave {
    /// Wavenumbers along x and z.
    k: [f64; 2],
    /// ĉ.
    size: [Complex<f64>; 3],
    /// qₐ, θₐ.
    shape: [[f64; 2]; 3],
    /// dη/dy.
    stretch: f64,
}

impl Wave {
    /// All waves with up to [`PERIODS`] periods, except those uniform along z.
    fn all(seed: u64, domain: &Domain) -> Vec<Self> {
        let base = [0, 2].map(|axis| domain.wavenumber(axis));
        let (along, across) = (0..=PERIODS[0], -PERIODS[1]..=PERIODS[1]);
        let both = along.flat_map(|m| across.clone().map(move |n| [m, n]));
        // For m = 0, waves with n < 0 equal those with n > 0.
        let is_independent = |[m, n]: &[i32; 2]| *n != 0 && (*m > 0 || *n > 0);
        let wave = |(at, [m, n]): (u64, [i32; 2])| {
            let begin = number(mixed(seed), at);
            let random = |n: u64| unit(number(begin, n + 1));
            let k = [f64::from(m) * base[0], f64::from(n) * base[1]];
            // Each wave has about the same energy.
            let size = 1.0 / k[0].hypot(k[1]);
            Self {
                k,
                size: [0, 1, 2].map(|a| Complex::from_polar(size, TAU * random(a))),
                shape: [0, 1, 2].map(|a| [PI * random(3 + a), TAU * random(6 + a)]),
                stretch: 2.0 / domain.length[1],
            }
        };
        (1..).zip(both.filter(is_independent)).map(wave).collect()
    }

    /// ĉ g and ĉ dg/dy at η.
    fn potential(&self, eta: f64) -> [[Complex<f64>; 2]; 3] {
        let one = 1.0 - eta * eta;
        [0, 1, 2].map(|a| {
            let [q, theta] = self.shape[a];
            let (sin, cos) = (q * eta + theta).sin_cos();
            let slope = -4.0 * eta * one * cos - q * one * one * sin;
            [one * one * cos, self.stretch * slope].map(|part| self.size[a] * part)
        })
    }

    /// û at η.
    fn amplitude(&self, eta: f64) -> [Complex<f64>; 3] {
        let [[a, da], [b, _], [c, dc]] = self.potential(eta);
        let [ikx, ikz] = self.k.map(|k| Complex::new(0.0, k));
        [dc - ikz * b, ikz * a - ikx * c, ikx * b - da]
    }

    fn velocity(&self, eta: f64, [x, z]: [f64; 2]) -> [f64; 3] {
        let turn = Complex::cis(self.k[0] * x + self.k[1] * z);
        self.amplitude(eta).map(|part| (part * turn).re)
    }

    /// ⟨u'·u'⟩ by the trapezoidal rule; the ends do not contribute because u' = 0 there.
    fn mean_square(&self) -> f64 {
        const INTERVALS: i32 = 256;
        let square = |at: i32| -> f64 {
            let eta = 2.0 * f64::from(at) / f64::from(INTERVALS) - 1.0;
            self.amplitude(eta).iter().map(|part| 0.5 * part.norm_sqr()).sum()
        };
        (1..INTERVALS).map(square).sum::<f64>() / f64::from(INTERVALS)
    }
}
