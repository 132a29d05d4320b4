//! Reference data for the time series and the spectra of a run.

use std::fmt::Write as _;

/// Kinetic energy, dissipation and enstrophy over time, non-dimensional volume averages as in `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceHistory {
    /// The flow: `Re = 1600, incompressible`.
    pub flow: &'static str,
    /// Source of the data.
    pub source: &'static str,
    /// t, ascending.
    pub time: Vec<f64>,
    /// ⟨ρ u·u⟩ / 2.
    pub kinetic_energy: Vec<f64>,
    /// ⟨τ : grad u⟩.
    pub dissipation: Vec<f64>,
    /// ⟨ρ ω·ω⟩ / 2.
    pub enstrophy: Vec<f64>,
}

impl ReferenceHistory {
    /// Read `time,kinetic_energy,dissipation,enstrophy` below two comment lines that name the flow and the source.
    pub(super) fn parse(text: &'static str) -> Option<ReferenceHistory> {
        let mut lines = text.lines();
        let flow = lines.next()?.strip_prefix("# Taylor-Green vortex, ")?;
        let source = lines.next()?.strip_prefix("# source: ")?;
        let [time, kinetic_energy, dissipation, enstrophy] = columns(lines)?;
        Some(ReferenceHistory { flow, source, time, kinetic_energy, dissipation, enstrophy })
    }

    /// Kinetic energy at time `t`; `None` outside the table.
    pub fn kinetic_energy_at(&self, t: f64) -> Option<f64> {
        interpolate(&self.time, &self.kinetic_energy, t)
    }

    /// Dissipation at time `t`; `None` outside the table.
    pub fn dissipation_at(&self, t: f64) -> Option<f64> {
        interpolate(&self.time, &self.dissipation, t)
    }

    /// Enstrophy at time `t`; `None` outside the table.
    pub fn enstrophy_at(&self, t: f64) -> Option<f64> {
        interpolate(&self.time, &self.enstrophy, t)
    }
}

/// Kinetic energy per wavenumber shell, non-dimensional. Shell k contains the wavenumbers that round to k, in units of the smallest
/// wavenumber of the box; the sum over all shells is ⟨ρ u·u⟩ / 2.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceSpectrum {
    /// The flow: `Taylor-Green vortex, Re = 1600, incompressible`.
    pub flow: &'static str,
    /// Source of the data.
    pub source: &'static str,
    /// Time of the spectrum.
    pub time: f64,
    /// Numbers of the shells with known energy, ascending.
    pub k: Vec<f64>,
    /// Energy of each shell.
    pub energy: Vec<f64>,
}

impl ReferenceSpectrum {
    /// Read `k,energy` below comment lines that name source, time and flow.
    pub(super) fn parse(text: &'static str) -> Option<Self> {
        let mut lines = text.lines();
        let source = lines.next()?.strip_prefix("# source: ")?;
        let time = lines.next()?.strip_prefix("# time: ")?.parse().ok()?;
        let flow = lines.next()?.strip_prefix("# ")?;
        let [k, energy] = columns(lines)?;
        Some(Self { flow, source, time, k, energy })
    }

    /// The text of a run's `reference_spectrum.csv`.
    pub fn csv(&self) -> String {
        let mut text =
            format!("# {}: {}\n# time: {}\nk,energy\n", self.flow, self.source, self.time);
        for (k, energy) in self.k.iter().zip(&self.energy) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{k},{energy:?}");
        }
        text
    }
}

/// The numbers below a header row without a comment sign.
fn columns<const N: usize>(lines: std::str::Lines<'_>) -> Option<[Vec<f64>; N]> {
    let mut columns = [const { Vec::new() }; N];
    for line in lines.skip_while(|line| line.starts_with('#')).skip(1) {
        let row: Option<Vec<f64>> = line.split(',').map(|x| x.parse().ok()).collect();
        let row: [f64; N] = row?.try_into().ok()?;
        columns.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
    }
    Some(columns)
}

/// Points of the interpolating polynomial: sixth order, for which the spacings of the tables were chosen.
const POINTS: usize = 6;

/// Lagrange polynomial through the `POINTS` samples nearest to `t`.
fn interpolate(time: &[f64], value: &[f64], t: f64) -> Option<f64> {
    if time.len() < POINTS || !(time[0] <= t && t <= time[time.len() - 1]) {
        return None;
    }
    let above = time.partition_point(|&sample| sample < t);
    let first = above.saturating_sub(POINTS / 2).min(time.len() - POINTS);
    let nodes = first..first + POINTS;
    Some(
        nodes
            .clone()
            .map(|i| {
                let others = nodes.clone().filter(|&j| j != i);
                value[i] * others.map(|j| (t - time[j]) / (time[i] - time[j])).product::<f64>()
            })
            .sum(),
    )
}
