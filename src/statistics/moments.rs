//! Means and second moments over the box, and their averages over time.
//!
//! ⟨ρ⟩, ⟨p⟩, ⟨T⟩; Reynolds means ⟨uᵢ⟩ and Favre means {uᵢ} = ⟨ρuᵢ⟩/⟨ρ⟩ (Favre 1965); with uᵢ' = uᵢ − ⟨uᵢ⟩ and
//! uᵢ'' = uᵢ − {uᵢ} the Reynolds stresses ⟨uᵢ'uⱼ'⟩ and the Favre stresses {uᵢ''uⱼ''} = ⟨ρuᵢ''uⱼ''⟩/⟨ρ⟩; the variances of ρ,
//! p and T. Of a scalar ⟨φ⟩ and ⟨φ'²⟩.
//!
//! Averages over time are over the box and over time together: deviations are from the mean over both. Time is weighted by the
//! trapezoidal rule: each of two samples gets half of the time between them. Means and second moments of two parts are combined
//! from those of the parts and the difference of the means (Chan, Golub and LeVeque 1983), so that a small variance is not lost
//! in the square of a large mean, as for p at a low Mach number.

use serde::{Deserialize, Serialize};

use super::sample::Sample;
use super::sums::sums;
use crate::comm::Communicator;
use crate::grid::Grid;

/// Columns of the moments of a flow.
pub const FLOW: [&str; 24] = [
    "density",
    "pressure",
    "temperature",
    "velocity_x",
    "velocity_y",
    "velocity_z",
    "density_variance",
    "pressure_variance",
    "temperature_variance",
    "reynolds_stress_xx",
    "reynolds_stress_yy",
    "reynolds_stress_zz",
    "reynolds_stress_xy",
    "reynolds_stress_xz",
    "reynolds_stress_yz",
    "favre_velocity_x",
    "favre_velocity_y",
    "favre_velocity_z",
    "favre_stress_xx",
    "favre_stress_yy",
    "favre_stress_zz",
    "favre_stress_xy",
    "favre_stress_xz",
    "favre_stress_yz",
];

/// Columns of the moments of a scalar.
pub const SCALAR: [&str; 2] = ["scalar", "scalar_variance"];

/// Second moments of (ρ, p, T, u, v, w).
const FLOW_PAIRS: [[usize; 2]; 9] =
    [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [3, 4], [3, 5], [4, 5]];
/// Second moments of (u, v, w).
const VELOCITY_PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// Means of some quantities and second moments of their deviations, with a common weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Average {
    /// Weight of the average: 1 or ⟨ρ⟩ for the box, its integral over time for a time average.
    weight: f64,
    means: Vec<f64>,
    /// The two quantities of each of `products`.
    pairs: Vec<[usize; 2]>,
    products: Vec<f64>,
}

/// The moments of one instant: one [`Average`] with the weight 1 and, for a flow, one with ρ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments(Vec<Average>);

/// Averages over time so far, as stored in a checkpoint: JSON preserves every bit.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    /// Time of the first sample; `None` before it.
    began: Option<f64>,
    /// Averaging time.
    duration: f64,
    averages: Option<Moments>,
    /// The last sample and its time: it will be weighted with half of the time to the next one.
    last: Option<(f64, Moments)>,
}

impl Average {
    /// Averages over the box, of fields weighted with a field, or with 1. Collective.
    fn over_box(
        comm: &dyn Communicator,
        grid: &Grid,
        fields: &[&[f64]],
        weight: Option<&[f64]>,
        pairs: &[[usize; 2]],
    ) -> Self {
        let points = fields[0].len();
        let weight_at = |at: usize| weight.map_or(1.0, |weight| weight[at]);
        let mut first = sums(points, fields.len() + 1, |at, sums| {
            let weight = weight_at(at);
            for (sum, field) in sums.iter_mut().zip(fields) {
                *sum += weight * field[at];
            }
            sums[fields.len()] += weight;
        });
        comm.sum(&mut first);
        let total = first.pop().unwrap_or(0.0);
        let means: Vec<f64> = first.into_iter().map(|sum| sum / total).collect();
        let mut products = sums(points, pairs.len(), |at, sums| {
            let weight = weight_at(at);
            for (sum, &[a, b]) in sums.iter_mut().zip(pairs) {
                *sum += weight * (fields[a][at] - means[a]) * (fields[b][at] - means[b]);
            }
        });
        comm.sum(&mut products);
        products.iter_mut().for_each(|sum| *sum /= total);
        Self { weight: total * grid.per_point(), means, pairs: pairs.to_vec(), products }
    }

    /// Merge `other`, with its weight multiplied by `factor`.
    fn merge(&mut self, other: &Self, factor: f64) {
        let weight = self.weight + factor * other.weight;
        if weight <= 0.0 {
            return;
        }
        let fraction = factor * other.weight / weight;
        let differences: Vec<f64> =
            other.means.iter().zip(&self.means).map(|(new, old)| new - old).collect();
        for ((product, &new), &[a, b]) in
            self.products.iter_mut().zip(&other.products).zip(&self.pairs)
        {
            *product += fraction * (new - *product)
                + fraction * (1.0 - fraction) * differences[a] * differences[b];
        }
        for (mean, difference) in self.means.iter_mut().zip(differences) {
            *mean += fraction * difference;
        }
        self.weight = weight;
    }
}

impl Moments {
    /// The values in the order of [`FLOW`] or [`SCALAR`].
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().flat_map(|part| part.means.iter().chain(&part.products)).copied().collect()
    }
}

impl Running {
    /// Check averages read from a file: those of a flow, or of a scalar, at `now`.
    ///
    /// # Errors
    /// Describes what is wrong with them.
    pub fn check(&self, of_a_scalar: bool, now: f64) -> Result<(), String> {
        let shapes: &[(usize, &[[usize; 2]])] =
            if of_a_scalar { &[(1, &[[0, 0]])] } else { &[(6, &FLOW_PAIRS), (3, &VELOCITY_PAIRS)] };
        let has_shape = |(part, (means, pairs)): (&Average, &(usize, &[[usize; 2]]))| {
            part.means.len() == *means
                && part.pairs == *pairs
                && part.products.len() == pairs.len()
                && part.weight >= 0.0
        };
        let last = self.last.as_ref();
        for Moments(parts) in self.averages.iter().chain(last.map(|(_, moments)| moments)) {
            if parts.len() != shapes.len() || !parts.iter().zip(shapes).all(has_shape) {
                return Err("the averages are not those of the fields".into());
            }
        }
        if self.averages.is_some() && last.is_none() {
            return Err("averages without a last sample".into());
        }
        let mut times = self.began.into_iter().chain(last.map(|(time, _)| *time));
        if self.duration < 0.0 || times.any(|time| time > now) {
            return Err("averages over times that are still to come".into());
        }
        Ok(())
    }

    /// The averages, if they began at `from` or later; else none.
    #[must_use]
    pub fn since(self, from: f64) -> Self {
        if self.began.is_some_and(|began| began < from) { Self::default() } else { self }
    }

    /// Add the sample at `time`.
    pub fn add(&mut self, time: f64, now: &Moments) {
        if let Some((before, last)) = &self.last {
            let half = 0.5 * (time - before);
            let empty = || {
                let parts = last.0.iter().map(|part| Average { weight: 0.0, ..part.clone() });
                Moments(parts.collect())
            };
            let averages = self.averages.get_or_insert_with(empty);
            for sample in [last, now] {
                for (average, part) in averages.0.iter_mut().zip(&sample.0) {
                    average.merge(part, half);
                }
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

    /// The averages, in the order of [`FLOW`] or [`SCALAR`]: those of the first sample until there are two; `None` before there
    /// is one.
    pub fn values(&self) -> Option<Vec<f64>> {
        let averages = self.averages.as_ref().filter(|_| self.duration > 0.0);
        averages.or(self.last.as_ref().map(|(_, last)| last)).map(Moments::values)
    }
}

/// The moments of one instant. Collective.
pub fn moments(comm: &dyn Communicator, grid: &Grid, sample: &Sample) -> Moments {
    match sample {
        Sample::Scalar(phi) => {
            Moments(vec![Average::over_box(comm, grid, &[phi], None, &[[0, 0]])])
        }
        Sample::Flow(flow) => {
            let [u, v, w] = flow.velocity.each_ref().map(Vec::as_slice);
            let all = [&flow.density[..], &flow.pressure, &flow.temperature, u, v, w];
            let density = Some(&flow.density[..]);
            Moments(vec![
                Average::over_box(comm, grid, &all, None, &FLOW_PAIRS),
                Average::over_box(comm, grid, &[u, v, w], density, &VELOCITY_PAIRS),
            ])
        }
    }
}
