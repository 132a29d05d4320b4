//! A reference history: what a run's time series should look like.

/// Kinetic energy, dissipation and enstrophy against time, non-dimensional volume averages as in `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Which flow it is: `Re = 1600, incompressible`.
    pub flow: &'static str,
    /// Where it comes from.
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

impl Reference {
    /// Read `time,kinetic_energy,dissipation,enstrophy` below two comment lines that name the flow and the source.
    pub(super) fn parse(text: &'static str) -> Option<Reference> {
        let mut lines = text.lines();
        let flow = lines.next()?.strip_prefix("# Taylor-Green vortex, ")?;
        let source = lines.next()?.strip_prefix("# source: ")?;
        let rows: Vec<[f64; 4]> = lines
            .skip_while(|line| !line.starts_with("time,"))
            .skip(1)
            .map(|line| {
                let row: Option<Vec<f64>> = line.split(',').map(|x| x.parse().ok()).collect();
                row?.try_into().ok()
            })
            .collect::<Option<_>>()?;
        let column = |c: usize| rows.iter().map(|row| row[c]).collect();
        Some(Reference {
            flow,
            source,
            time: column(0),
            kinetic_energy: column(1),
            dissipation: column(2),
            enstrophy: column(3),
        })
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

/// Points of the interpolating polynomial: sixth order, which the tables' spacings were chosen for.
const POINTS: usize = 6;

/// Lagrange's polynomial through the `POINTS` samples nearest to `t`.
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
