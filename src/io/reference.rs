//! A reference curve for a run, and the run's distance from it.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Result;
use crate::io::malformed;
use crate::io::series::Series;
use crate::lagrange::interpolated;

/// Kinetic energy and dissipation of a reference solution over time, in the scaling of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Source, in words.
    pub source: String,
    /// Ascending times.
    pub time: Vec<f64>,
    /// Per unit volume.
    pub kinetic_energy: Vec<f64>,
    /// Per unit volume and time.
    pub dissipation: Vec<f64>,
}

/// Largest distances between a run and its reference, over the times that both cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Source of the reference.
    pub source: String,
    /// Last time compared.
    pub until: f64,
    /// Distance of the kinetic energy, as a fraction of the reference at the first time.
    #[serde(deserialize_with = "null_is_infinite")]
    pub kinetic_energy_max_deviation: f64,
    /// Distance of `dissipation` = ⟨τ : ∇u⟩, as a fraction of the reference's peak.
    #[serde(deserialize_with = "null_is_infinite")]
    pub dissipation_max_deviation: f64,
    /// Distance of −dE/dt + ⟨(p − p₀) div u⟩, the loss of kinetic energy by viscosity and by the scheme, as a fraction of the
    /// reference's peak.
    #[serde(deserialize_with = "null_is_infinite")]
    pub energy_loss_max_deviation: f64,
    /// Number of compared rows.
    pub rows: usize,
    /// Time of the reference's peak dissipation.
    pub peak_time: f64,
    /// Largest deviation of the reference's dissipation from straight lines between neighbouring compared rows, and between the
    /// outer rows and the ends of the comparable times, as a fraction of its peak. What the run does in between is not compared.
    #[serde(deserialize_with = "null_is_infinite")]
    pub unseen: f64,
    /// The two times between which this deviation occurs.
    pub unseen_between: [f64; 2],
    /// Whether the run reached the end of the reference.
    pub whole: bool,
}

/// JSON has no infinity; it is written as null.
fn null_is_infinite<'de, D: Deserializer<'de>>(json: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or(f64::INFINITY))
}

impl Reference {
    /// Read `reference.csv`: `# source`, then columns time, kinetic_energy, dissipation.
    pub fn read(path: &Path) -> Result<Self> {
        let table = Series::read(path)?;
        let column = |name| table.required(name).map(<[f64]>::to_vec);
        let reference = Self {
            source: table.comments().join(" "),
            time: column("time")?,
            kinetic_energy: column("kinetic_energy")?,
            dissipation: column("dissipation")?,
        };
        let what = match reference.time.len() {
            0..4 => "a reference needs four rows or more",
            _ if reference.time.is_sorted_by(|a, b| a < b) => return Ok(reference),
            _ => "the times of a reference must increase",
        };
        Err(malformed(path, what))
    }

    /// Time of the largest dissipation.
    pub fn peak_time(&self) -> f64 {
        let rows = self.time.iter().zip(&self.dissipation);
        rows.max_by(|a, b| a.1.total_cmp(b.1)).map_or(f64::INFINITY, |(time, _)| *time)
    }

    /// Compare a series that has the columns of a flow, of a run that reached the time `reached`. `None` where a column is
    /// missing.
    pub fn compare(&self, series: &Series, reached: f64) -> Option<Comparison> {
        let (start, end) = (*self.time.first()?, *self.time.last()?);
        let time = series.column("time")?;
        let energy = series.column("kinetic_energy")?;
        let dissipation = series.column("dissipation")?;
        let loss = energy_loss(series)?;
        let shared: Vec<usize> =
            (0..time.len()).filter(|&row| time[row] >= start && time[row] <= end).collect();
        let deviation = |run: &[f64], reference: &[f64]| {
            largest(shared.iter().map(|&row| run[row] - self.at(reference, time[row])))
        };
        let first = shared.first().map_or(start, |&row| time[row]);
        let peak = largest(self.dissipation.iter().copied());
        let mut times: Vec<f64> = shared.iter().map(|&row| time[row]).collect();
        let until = times.last().copied().unwrap_or(start);
        times.insert(0, start);
        times.push(reached.clamp(start, end));
        let (unseen, unseen_between) = self.unseen(&times);
        Some(Comparison {
            source: self.source.clone(),
            until,
            kinetic_energy_max_deviation: deviation(energy, &self.kinetic_energy)
                / self.at(&self.kinetic_energy, first).abs(),
            dissipation_max_deviation: deviation(dissipation, &self.dissipation) / peak,
            energy_loss_max_deviation: deviation(&loss, &self.dissipation) / peak,
            rows: shared.len(),
            peak_time: self.peak_time(),
            unseen: unseen / peak,
            unseen_between,
            whole: reached >= end,
        })
    }

    /// The largest distance of the dissipation from the straight lines that join its values at `times`, and the two times between
    /// which it occurs.
    fn unseen(&self, times: &[f64]) -> (f64, [f64; 2]) {
        let mut worst = (0.0, [0.0; 2]);
        for pair in times.windows(2).filter(|pair| pair[0] < pair[1]) {
            let [from, to] = [pair[0], pair[1]].map(|t| self.at(&self.dissipation, t));
            let rows = self.time.iter().zip(&self.dissipation);
            for (t, value) in rows.filter(|(t, _)| (pair[0]..=pair[1]).contains(*t)) {
                let weight = (t - pair[0]) / (pair[1] - pair[0]);
                let distance = (value - (1.0 - weight) * from - weight * to).abs();
                if distance > worst.0 {
                    worst = (distance, [pair[0], pair[1]]);
                }
            }
        }
        worst
    }

    /// A column at time `t`, by cubic interpolation through the four nearest rows (Lagrange): the error falls with the fourth
    /// power of their distance, so that a curve given at every 0.1 does not limit the comparison.
    fn at(&self, column: &[f64], t: f64) -> f64 {
        interpolated::<4>(&self.time, column, t)
    }
}

/// −dE/dt + ⟨(p − p₀) div u⟩ + ⟨F·u⟩ at every row, with the last term where there is a force: the loss of kinetic energy other
/// than to compression. `None` where another column is missing.
pub(crate) fn energy_loss(series: &Series) -> Option<Vec<f64>> {
    let rate = series.column("ke_rate")?;
    let pressure = series.column("pressure_dilatation")?;
    let force = series.column("ke_rate_forcing");
    let gained = |row: usize| pressure[row] + force.map_or(0.0, |force| force[row]);
    Some(rate.iter().enumerate().map(|(row, rate)| gained(row) - rate).collect())
}

/// Largest magnitude; NaN counts as infinite.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |max, v| if v.is_nan() { f64::INFINITY } else { max.max(v.abs()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(f: impl Fn(f64) -> f64) -> Reference {
        let time: Vec<f64> = (0..=20).map(|i| f64::from(i) / 4.0).collect();
        let values: Vec<f64> = time.iter().map(|&t| f(t)).collect();
        Reference {
            source: "a test".into(),
            time,
            kinetic_energy: values.clone(),
            dissipation: values,
        }
    }

    #[test]
    fn a_cubic_is_interpolated_to_round_off() {
        let cubic = |t: f64| 1.0 + t * (2.0 - t * (3.0 - 0.5 * t));
        let reference = reference(cubic);
        for t in [0.0, 0.01, 0.3, 2.5, 3.123, 4.99, 5.0] {
            let error = reference.at(&reference.dissipation, t) - cubic(t);
            assert!(error.abs() < 1e-13, "t = {t}: {error:e}");
        }
    }

    #[test]
    fn unseen_distance_is_measured_from_a_straight_line_between_rows() {
        // A parabola with its maximum, 4, at t = 2; the line from 1 to 3 is at 3. All other distances are smaller.
        let reference = reference(|t| t * (4.0 - t));
        let (distance, between) = reference.unseen(&[0.0, 0.5, 1.0, 3.0, 3.0, 3.5, 4.0]);
        assert!((distance - 1.0).abs() < 1e-12 && between == [1.0, 3.0], "{distance} {between:?}");
    }

    #[test]
    fn a_sine_is_interpolated_with_the_error_of_a_cubic() {
        // Largest error in the middle interval: 9/16 h⁴ / 4! · max |f''''| with f'''' = sin.
        let reference = reference(f64::sin);
        let bound = 9.0 / 16.0 * 0.25_f64.powi(4) / 24.0;
        let error = (0..=300)
            .map(|i| 1.0 + f64::from(i) / 100.0)
            .map(|t| (reference.at(&reference.dissipation, t) - t.sin()).abs())
            .fold(0.0, f64::max);
        assert!(error < bound && error > 0.9 * bound, "{error:e}, bound {bound:e}");
    }
}
