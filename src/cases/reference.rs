//! Reference data for the time series and the spectra of a run.

use crate::lagrange::interpolated;

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
            text += &format!("{k},{energy:?}\n");
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

/// The value at `t` by the polynomial of sixth order, for which the spacings of the tables were chosen; `None` outside the table.
fn interpolate(time: &[f64], value: &[f64], t: f64) -> Option<f64> {
    let is_inside = time.len() >= 6 && time[0] <= t && t <= time[time.len() - 1];
    is_inside.then(|| interpolated::<6>(time, value, t))
}
