//! The random part of a mode.

use std::f64::consts::TAU;

use num_complex::Complex;

use crate::splitmix::{mixed, number, unit};

/// The random part of a mode, without amplitudes: mode −m is the conjugate, and each part has length 1.
pub(super) struct Wave {
    /// Orthogonal to k.
    pub(super) solenoidal: [Complex<f64>; 3],
    /// Parallel to k.
    pub(super) dilatational: [Complex<f64>; 3],
    /// Pressure of the sound wave.
    pub(super) pressure: Complex<f64>,
}

impl Wave {
    /// The wave of the mode with `periods` periods in the box and wavenumbers `k`, in a plane if `is_plane` (k_z = 0).
    ///
    /// The solenoidal part is α e₁ + β e₂ with e₁ along k × e_z (e_x if k is along z) and e₂ along k × e₁ (Rogallo 1981). With (α, β)
    /// uniform on the unit sphere |α|² + |β|² = 1, |α|² is uniform in [0, 1), and the distribution does not depend on the choice of e₁ and
    /// e₂. In a plane the solenoidal part is along e₁.
    pub(super) fn new(seed: u64, periods: [f64; 3], k: [f64; 3], is_plane: bool) -> Self {
        // Of m and −m, random numbers are drawn for the one whose first non-zero component is positive.
        let is_conjugate = periods.into_iter().find(|&m| m != 0.0).is_some_and(|m| m < 0.0);
        let [periods, k] =
            [periods, k].map(|vector| vector.map(|x| if is_conjugate { -x } else { x }));
        let random = numbers(seed, periods);
        let phase = |n: u64| Complex::from_polar(1.0, TAU * random(n));
        let share = if is_plane { 1.0 } else { random(0) };
        let (alpha, beta) = (phase(1) * share.sqrt(), phase(2) * (1.0 - share).sqrt());
        let reference = if k[0] == 0.0 && k[1] == 0.0 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let along = direction(k);
        let first = direction(cross(along, reference));
        let second = cross(along, first);
        let (third, fourth) = (phase(3), phase(4));
        let conjugated = |value: Complex<f64>| if is_conjugate { value.conj() } else { value };
        Self {
            solenoidal: std::array::from_fn(|a| conjugated(alpha * first[a] + beta * second[a])),
            dilatational: along.map(|along| conjugated(third * along)),
            pressure: conjugated(fourth),
        }
    }
}

/// Random numbers in [0, 1) from the seed and the mode. The sequence starts at a hash of both, so the numbers depend neither on the grid
/// nor on the order of evaluation.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "21 bits of a whole")]
fn numbers(seed: u64, periods: [f64; 3]) -> impl Fn(u64) -> f64 {
    let [x, y, z] = periods.map(|m| (m as i64 as u64) & 0x1F_FFFF);
    let mode = x | y << 21 | z << 42;
    let state = number(mixed(seed), mode.wrapping_add(1));
    move |n| unit(number(state, n + 1))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn direction(a: [f64; 3]) -> [f64; 3] {
    let length = a.iter().map(|a| a * a).sum::<f64>().sqrt();
    a.map(|a| a / length)
}
