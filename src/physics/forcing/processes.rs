//! The random processes behind stochastic forcing: an Ornstein-Uhlenbeck process for each component of the force at each
//! forced wave vector (Eswaran and Pope 1988, section 2.2; Uhlenbeck and Ornstein 1930).
//!
//! ```text
//! db = − b dt / T_L + (2 σ² / T_L)^½ dW      b(t + dt) = b(t) e + σ (1 − e²)^½ ξ,   e = exp(−dt / T_L)
//! ```
//! applied to the real and the imaginary part of each component, with ξ Gaussian of variance 1. The update on the right is the exact
//! solution of the equation on the left for any dt: variance σ² and correlation exp(−|t − s|/T_L) do not depend on the time steps. The
//! force at k is the component of b normal to k, b − k (k·b)/k², so it is divergence-free.
//!
//! ξ is addressed in a sequence by seed, step and process: it does not depend on ranks, threads, backends or precision.

use std::f64::consts::TAU;

use num_complex::Complex;

use crate::force::{Stochastic, longest};
use crate::splitmix::{STEP, mixed, unit};

/// A complex number for each component of a vector.
type Vector = [Complex<f64>; 3];

/// The forced waves: one of each pair k, −k, whose coefficients are conjugate.
pub(super) struct Processes {
    /// Numbers of periods along the axes.
    pub(super) periods: Vec<[i32; 3]>,
    /// k, in 1/L.
    wave_vectors: Vec<[f64; 3]>,
    values: Vec<Vector>,
    /// Axes with more than one point: the force has no component along the others.
    active: [bool; 3],
    /// Standard deviation of the real and of the imaginary part.
    sigma: f64,
    time_scale: f64,
    seed: u64,
}

impl Processes {
    /// The processes of a box of edges `length`, started in their stationary state.
    pub(super) fn new(config: &Stochastic, length: [f64; 3], active: [bool; 3]) -> Self {
        let longest = longest(length, active);
        let max_periods = [0, 1, 2].map(|axis| match active[axis] {
            true => config.periods(longest, length[axis]),
            false => 0,
        });
        let wave_vector =
            |n: &[i32; 3]| [0, 1, 2].map(|axis| TAU * f64::from(n[axis]) / length[axis]);
        let largest = TAU / longest * config.wavenumber * (1.0 + 1e-12);
        let range = |axis: usize| -max_periods[axis]..=max_periods[axis];
        let all = (0..=max_periods[0]).flat_map(|a| range(1).map(move |b| [a, b]));
        let all = all.flat_map(|[a, b]| range(2).map(move |c| [a, b, c]));
        // Half of the sphere: arrays compare by their first differing entry.
        let forced = |n: &[i32; 3]| *n > [0; 3] && square(wave_vector(n)) <= largest * largest;
        let periods: Vec<[i32; 3]> = all.filter(forced).collect();
        // ⟨f·f⟩ = Σ over the sphere of |f(k)|². Of its d components d − 1 are normal to k, with σ² in each part.
        let normal_components = active.iter().filter(|active| **active).count() as f64 - 1.0;
        let sphere = 2.0 * periods.len() as f64;
        let mut processes = Self {
            wave_vectors: periods.iter().map(wave_vector).collect(),
            values: vec![[Complex::ZERO; 3]; periods.len()],
            periods,
            active,
            sigma: config.amplitude / (2.0 * normal_components * sphere).sqrt(),
            time_scale: config.time_scale,
            seed: config.seed,
        };
        processes.draw(0, 0.0);
        processes
    }

    /// Advance over the step of `dt` that ended at step number `done`.
    pub(super) fn advance(&mut self, dt: f64, done: u64) {
        self.draw(done, (-dt / self.time_scale).exp());
    }

    /// b ← e b + σ (1 − e²)^½ ξ with `decay` = e, using draw `number`.
    fn draw(&mut self, number: u64, decay: f64) {
        let spread = self.sigma * (1.0 - decay * decay).sqrt();
        let first = number.wrapping_mul(3 * self.values.len() as u64);
        for (at, value) in self.values.iter_mut().flatten().enumerate() {
            *value = *value * decay + gaussian(self.seed, first.wrapping_add(at as u64)) * spread;
        }
    }

    /// Component `i` of the force at each wave vector.
    pub(super) fn force(&self, i: usize) -> impl Iterator<Item = Complex<f64>> + '_ {
        self.wave_vectors.iter().zip(&self.values).map(move |(k, b)| {
            if !self.active[i] {
                return Complex::ZERO;
            }
            let along = (0..3).map(|j| b[j] * k[j]).sum::<Complex<f64>>() / square(*k);
            b[i] - along * k[i]
        })
    }

    /// State for a restart: the real and imaginary parts.
    pub(super) fn saved(&self) -> Vec<f64> {
        self.values.iter().flatten().flat_map(|value| [value.re, value.im]).collect()
    }

    /// Restore a saved state; keep the initial one if the saved state has other waves.
    pub(super) fn restore(&mut self, saved: &[f64]) {
        if saved.len() == 6 * self.values.len() {
            let (parts, _) = saved.as_chunks::<2>();
            for (value, [re, im]) in self.values.iter_mut().flatten().zip(parts) {
                *value = Complex::new(*re, *im);
            }
        }
    }
}

fn square(k: [f64; 3]) -> f64 {
    k.iter().map(|k| k * k).sum()
}

/// Number `n` of the sequence of `seed`: two Gaussian numbers of variance 1 as one complex number (Box and Muller 1958).
fn gaussian(seed: u64, n: u64) -> Complex<f64> {
    let bits = |which: u64| {
        mixed(mixed(seed).wrapping_add(n.wrapping_mul(2).wrapping_add(which).wrapping_mul(STEP)))
    };
    // 1 − [0, 1) is never 0.
    let radius = (-2.0 * (1.0 - unit(bits(1))).ln()).sqrt();
    Complex::from_polar(radius, TAU * unit(bits(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: Stochastic =
        Stochastic { wavenumber: 2.0, amplitude: 3.0, time_scale: 0.7, seed: 5 };

    #[test]
    fn variance_and_correlation_are_exact_for_unequal_time_steps() {
        let mut processes = Processes::new(&PARAMETERS, [TAU; 3], [true; 3]);
        // |k|² ≤ 4: 6 + 12 + 8 + 6 wave vectors.
        assert_eq!(processes.periods.len(), 16);
        let sigma2 = 9.0 / (4.0 * 32.0);
        let steps = [0.1, 0.5, 0.03];
        let (mut variance, mut correlation, mut count) = (0.0, 0.0, 0.0);
        for done in 1..=3000_u64 {
            let dt = steps[usize::try_from(done % 3).unwrap()];
            let before = processes.saved();
            processes.advance(dt, done);
            let after = processes.saved();
            let decay = (-dt / PARAMETERS.time_scale).exp();
            for (a, b) in before.iter().zip(&after) {
                variance += b * b / sigma2;
                correlation += (a * b - decay * a * a) / sigma2 / (1.0 - decay * decay).sqrt();
                count += 1.0;
            }
        }
        // b² decorrelates over T_L/2. 96 processes over 630 / 0.7 such times on both sides are 86 400 independent samples of spread √2.
        // Without the correlation, b(t) b(t + dt) is a product of two independent numbers of variance 1. The tolerances are five standard
        // deviations of each mean.
        assert!((variance / count - 1.0_f64).abs() < 5.0 * (2.0_f64 / 86_400.0).sqrt());
        assert!((correlation / count).abs() < 5.0 / f64::sqrt(count), "{}", correlation / count);
    }

    #[test]
    fn force_is_solenoidal_and_has_the_requested_amplitude() {
        for (length, active, across) in [
            ([TAU; 3], [true; 3], 2.0),
            ([TAU, 2.0 * TAU, TAU], [true, true, false], 1.0),
            ([1.0, 1.5, 2.0], [true; 3], 2.0),
        ] {
            let mut processes = Processes::new(&PARAMETERS, length, active);
            let (mut mean, draws) = (0.0, 2000_u64);
            for done in 1..=draws {
                processes.advance(1e9, done);
                let f: Vec<Vec<_>> = [0, 1, 2].map(|i| processes.force(i).collect()).to_vec();
                for (at, k) in processes.wave_vectors.iter().enumerate() {
                    let along: Complex<f64> = (0..3).map(|i| f[i][at] * k[i]).sum();
                    let b = processes.values[at].iter().map(|b| b.norm()).sum::<f64>();
                    let size = square(*k).sqrt() * b;
                    assert!(along.norm() <= 4.0 * f64::EPSILON * size);
                    mean += (0..3).map(|i| 2.0 * f[i][at].norm_sqr()).sum::<f64>();
                }
            }
            let (draws, waves) = (draws as f64, processes.periods.len() as f64);
            // |f(k)|² is a sum of 2 × `across` squares of Gaussian numbers.
            let spread = 5.0 / (across * waves * draws).sqrt();
            assert!((mean / draws / 9.0 - 1.0).abs() < spread, "{length:?}: {}", mean / draws);
        }
    }

    #[test]
    fn restored_processes_continue_bitwise_and_other_seeds_differ() {
        let new = |seed| Processes::new(&Stochastic { seed, ..PARAMETERS }, [TAU; 3], [true; 3]);
        let (mut one, mut two) = (new(1), new(1));
        (1..=7).for_each(|done| one.advance(0.01, done));
        two.restore(&one.saved());
        one.advance(0.02, 8);
        two.advance(0.02, 8);
        assert_eq!(one.saved(), two.saved());
        assert_ne!(new(2).saved()[0].to_bits(), new(1).saved()[0].to_bits());
        two.restore(&[1.0]);
        assert_eq!(one.saved(), two.saved(), "a state for other waves changes nothing");
    }
}
