//! Averages over planes parallel to two walls, as functions of the wall-normal coordinate, and their averages over time.
//!
//! ⟨·⟩ is over a plane and over time together: the means of the quantities and of their products are accumulated, over time by
//! the trapezoidal rule, and deviations follow from them. With uᵢ' = uᵢ − ⟨uᵢ⟩, {f} = ⟨ρf⟩/⟨ρ⟩ and f'' = f − {f} as in
//! [`moments`](super::moments). Squares of ρ, p and T are those of the difference from the gas at rest: at a low Mach number p'
//! would be lost in ⟨p²⟩ − ⟨p⟩². s is the axis along the walls with the larger Σ|⟨ρu⟩|, n the wall-normal one.
//!
//! In wall units, lengths are in μ_w/(ρ_w u_τ) and velocities in u_τ = √(τ_w/ρ_w), of the nearer wall. The velocity of van Driest
//! (1951) is ∫ √(⟨ρ⟩/ρ_w) du⁺; y* = y √(⟨ρ⟩ τ_w)/⟨μ⟩ (Huang, Coleman and Bradshaw 1995), and that of Trettel and Larsson (2016)
//! has the slope ⟨μ⟩/μ_w du⁺/dy⁺ over y*.

use serde::{Deserialize, Serialize};

use super::sample::{BetweenWalls, Flow};
use super::sums::long_sums;
use crate::comm::Communicator;
use crate::grid::{Decomposition, Grid};

/// Columns of a profile, after the averaging time; the first is the coordinate.
pub const COLUMNS: [&str; 40] = [
    "coordinate",
    "density",
    "pressure",
    "temperature",
    "viscosity",
    "velocity_x",
    "velocity_y",
    "velocity_z",
    "favre_velocity_x",
    "favre_velocity_y",
    "favre_velocity_z",
    "reynolds_stress_xx",
    "reynolds_stress_yy",
    "reynolds_stress_zz",
    "reynolds_stress_xy",
    "reynolds_stress_xz",
    "reynolds_stress_yz",
    "favre_stress_xx",
    "favre_stress_yy",
    "favre_stress_zz",
    "favre_stress_xy",
    "favre_stress_xz",
    "favre_stress_yz",
    "density_rms",
    "pressure_rms",
    "temperature_rms",
    "viscous_stress",
    "turbulent_stress",
    "total_stress",
    "heat_conduction",
    "turbulent_heat_flux",
    "total_heat_flux",
    "friction_velocity",
    "friction_reynolds",
    "wall_distance",
    "y_plus",
    "u_plus",
    "u_plus_van_driest",
    "y_star",
    "u_plus_trettel_larsson",
];

/// Number of means per plane: ρ, p, T, μ/Re, u, ρu, uᵢuⱼ, ρuᵢuⱼ, (ρ − ρ₀)², (p − p₀)², (T − T₀)², the viscous stresses on the
/// plane along the two other axes, −λ ∂T/∂n, ρT, ρu_nT.
const MEAN_COUNT: usize = 31;
/// Their positions.
const U: usize = 4;
const RHO_U: usize = 7;
const UU: usize = 10;
const RHO_UU: usize = 16;
const SQUARES: usize = 22;
const STRESS: usize = 25;
const HEAT: usize = 28;
/// The products of two velocity components.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// The means of one instant, or over some time, plane by plane.
pub type Means = Vec<f64>;

/// Averages over time so far, as stored in a checkpoint: JSON preserves every bit.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningProfiles {
    /// The time of the first sample; `None` before it.
    began: Option<f64>,
    /// Averaging time.
    duration: f64,
    /// ρ₀, p₀ and T₀.
    at_rest: [f64; 3],
    /// Integrals over time.
    sums: Means,
    /// The last sample and its time.
    last: Option<(f64, Means)>,
}

impl RunningProfiles {
    /// Check averages read from a file, at `now`.
    ///
    /// # Errors
    /// Describes what is wrong with them.
    pub fn check(&self, now: f64) -> Result<(), String> {
        let last = self.last.as_ref();
        let mut times = self.began.into_iter().chain(last.map(|(time, _)| *time));
        if self.duration < 0.0 || times.any(|time| time > now) {
            return Err("profiles over times that are still to come".into());
        }
        let has_shape = last.is_none_or(|(_, means)| means.len() == self.sums.len());
        if !has_shape || !self.sums.len().is_multiple_of(MEAN_COUNT) {
            return Err("the profiles are not those of planes".into());
        }
        Ok(())
    }

    /// The averages, if they began at `from` or later; else none.
    #[must_use]
    pub fn since(self, from: f64) -> Self {
        if self.began.is_some_and(|began| began < from) { Self::default() } else { self }
    }

    /// Add the sample at `time`. For another grid or gas, the averages restart.
    pub fn add(&mut self, time: f64, now: &Means, walls: &BetweenWalls) {
        let at_rest = walls.at_rest;
        if self.sums.len() != now.len() || self.at_rest != at_rest {
            *self = Self { at_rest, sums: vec![0.0; now.len()], ..Self::default() };
        }
        if let Some((before, last)) = &self.last {
            let half = 0.5 * (time - before);
            for ((sum, last), now) in self.sums.iter_mut().zip(last).zip(now) {
                *sum += half * (last + now);
            }
            self.duration += time - before;
        } else {
            self.began = Some(time);
        }
        self.last = Some((time, now.clone()));
    }

    /// The averaging time.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The averages: the last sample until there are two; `None` before there is one.
    pub fn means(&self) -> Option<Means> {
        let last = self.last.as_ref().map(|(_, means)| means.clone());
        let average = || self.sums.iter().map(|sum| sum / self.duration).collect();
        if self.duration > 0.0 { Some(average()) } else { last }
    }
}

/// The means of one instant over each plane across the axis between the walls. Collective.
pub fn means(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    grid: &Grid,
    flow: &Flow,
    walls: &BetweenWalls,
) -> Means {
    let block = decomposition.block(comm.rank(), grid.points);
    let n = walls.axis.index();
    let planes = grid.points[n];
    let width = MEAN_COUNT + 1;
    let mut sums = long_sums(block.len(), width * planes, |at, sums| {
        let index = block.index(at);
        let weight = grid.weight(index);
        let sums = &mut sums[width * index[n]..][..width];
        let point_values = point_values(flow, walls, at);
        (0..MEAN_COUNT).for_each(|k| sums[k] += weight * point_values[k]);
        sums[MEAN_COUNT] += weight;
    });
    comm.sum(&mut sums);
    let of_plane = |sums: &[f64]| {
        sums[..MEAN_COUNT].iter().map(|sum| sum / sums[MEAN_COUNT]).collect::<Vec<_>>()
    };
    sums.chunks(width).flat_map(of_plane).collect()
}

/// The averaged quantities at a point.
fn point_values(flow: &Flow, walls: &BetweenWalls, at: usize) -> [f64; MEAN_COUNT] {
    let n = walls.axis.index();
    let (rho, p, t) = (flow.density[at], flow.pressure[at], flow.temperature[at]);
    let mu = walls.viscosity[at];
    let u = flow.velocity.each_ref().map(|component| component[at]);
    let mut point_values = [0.0; MEAN_COUNT];
    point_values[..U].copy_from_slice(&[rho, p, t, mu]);
    for a in 0..3 {
        (point_values[U + a], point_values[RHO_U + a]) = (u[a], rho * u[a]);
        let slope = |i: usize, j: usize| flow.gradient.as_ref().map_or(0.0, |g| g[3 * i + j][at]);
        point_values[STRESS + a] = mu * (slope(a, n) + slope(n, a));
    }
    for (k, [a, b]) in PAIRS.into_iter().enumerate() {
        (point_values[UU + k], point_values[RHO_UU + k]) = (u[a] * u[b], rho * u[a] * u[b]);
    }
    let deviations = [rho, p, t].into_iter().zip(walls.at_rest).map(|(x, at_rest)| x - at_rest);
    deviations
        .enumerate()
        .for_each(|(k, deviation)| point_values[SQUARES + k] = deviation * deviation);
    point_values[HEAT..].copy_from_slice(&[walls.conduction[at], rho * t, rho * u[n] * t]);
    point_values
}

/// The rows of a profile, in the order of [`COLUMNS`], from the means of all planes.
pub fn rows(means: &[f64], grid: &Grid, walls: &BetweenWalls) -> Vec<Vec<f64>> {
    let n = walls.axis.index();
    let planes: Vec<&[f64]> = means.chunks(MEAN_COUNT).collect();
    let y: Vec<f64> = (0..planes.len())
        .map(|j| grid.coordinates(std::array::from_fn(|a| if a == n { j } else { 0 }))[n])
        .collect();
    let s = streamwise_axis(&planes, n);
    let pair = PAIRS.iter().position(|pair| *pair == [n.min(s), n.max(s)]).unwrap_or(0);
    let units = in_wall_units(&planes, &y, s);
    let row = |(j, plane): (usize, &&[f64])| {
        let rho = plane[0];
        let favre = [0, 1, 2].map(|a| plane[RHO_U + a] / rho);
        let reynolds = |k: usize| plane[UU + k] - plane[U + PAIRS[k][0]] * plane[U + PAIRS[k][1]];
        let stress = |k: usize| plane[RHO_UU + k] / rho - favre[PAIRS[k][0]] * favre[PAIRS[k][1]];
        let rms =
            |k: usize| (plane[SQUARES + k] - (plane[k] - walls.at_rest[k]).powi(2)).max(0.0).sqrt();
        let (viscous, turbulent) = (plane[STRESS + s], -rho * stress(pair));
        let [conduction, rho_t, rho_v_t] = [plane[HEAT], plane[HEAT + 1], plane[HEAT + 2]];
        let convection = walls.heat_capacity * (rho_v_t - favre[n] * rho_t);
        let mut row = vec![y[j]];
        row.extend(&plane[..RHO_U]);
        row.extend(favre);
        row.extend((0..6).map(reynolds));
        row.extend((0..6).map(stress));
        row.extend((0..3).map(rms));
        row.extend([viscous, turbulent, viscous + turbulent]);
        row.extend([conduction, convection, conduction + convection]);
        row.extend(units[j]);
        row
    };
    planes.iter().enumerate().map(row).collect()
}

/// The axis along the walls with the larger mass flux, regardless of its direction: between walls that move against each other,
/// the fluxes in both directions are equal.
fn streamwise_axis(planes: &[&[f64]], n: usize) -> usize {
    let flux = |a: usize| planes.iter().map(|plane| plane[RHO_U + a].abs()).sum::<f64>();
    let mut axes = (0..3).filter(|a| *a != n);
    let (first, second) = (axes.next().unwrap_or(0), axes.next().unwrap_or(0));
    if flux(second) > flux(first) { second } else { first }
}

/// u_τ, Re_τ, distance from the nearer wall, y⁺, u⁺, u⁺ of van Driest, y*, and u⁺ of Trettel and Larsson.
fn in_wall_units(planes: &[&[f64]], y: &[f64], s: usize) -> Vec<[f64; 8]> {
    let count = planes.len();
    let mut units = vec![[0.0; 8]; count];
    let half = 0.5 * (y[count - 1] - y[0]);
    // From each wall to the middle, which belongs to the lower wall, independent of the rounding of its coordinate.
    let lower_count = y.partition_point(|y_j| y_j - y[0] <= half * (1.0 + 1e-12));
    let halves = [(0..lower_count).collect::<Vec<_>>(), (lower_count..count).rev().collect()];
    for from_wall in halves {
        let Some(&wall) = from_wall.first() else { continue };
        let [rho_w, mu_w, u_w, stress] = [0, 3, U + s, STRESS + s].map(|k| planes[wall][k]);
        let into_gas = if wall == 0 { stress } else { -stress };
        let u_tau = (stress.abs() / rho_w).sqrt();
        let length = mu_w / (rho_w * u_tau);
        let [mut van_driest, mut trettel_larsson] = [0.0; 2];
        let mut before: Option<usize> = None;
        for j in from_wall {
            let [rho, mu, u] = [0, 3, U + s].map(|k| planes[j][k]);
            let distance = (y[j] - y[wall]).abs();
            let y_plus = distance / length;
            let u_plus = (u - u_w) * into_gas.signum() / u_tau;
            let y_star = distance * (rho * stress.abs()).sqrt() / mu;
            if let Some(last) = before {
                let [.., y_last, u_last, _, star_last, _] = units[last];
                let middle = |k: usize| 0.5 * (planes[j][k] + planes[last][k]);
                van_driest += (middle(0) / rho_w).sqrt() * (u_plus - u_last);
                trettel_larsson +=
                    middle(3) / mu_w * (u_plus - u_last) * (y_star - star_last) / (y_plus - y_last);
            }
            units[j] = [
                u_tau,
                half / length,
                distance,
                y_plus,
                u_plus,
                van_driest,
                y_star,
                trettel_larsson,
            ];
            before = Some(j);
        }
    }
    units
}
