//! A reference spectrum: what the spectrum of a run should look like at one time.

use std::fmt::Write as _;

/// Kinetic energy of shells of wavenumbers, non-dimensional. Shell k holds the wavenumbers that round to k, in units of the
/// smallest of the box; all shells together have ⟨ρ u·u⟩ / 2.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceSpectrum {
    /// Which flow it is: `Taylor-Green vortex, Re = 1600, incompressible`.
    pub flow: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// When it was taken.
    pub time: f64,
    /// Number of each shell that is known, ascending.
    pub k: Vec<f64>,
    /// Energy of each.
    pub energy: Vec<f64>,
}

impl ReferenceSpectrum {
    /// Read `k,energy` below comment lines that name source, time and flow.
    pub(super) fn parse(text: &'static str) -> Option<Self> {
        let mut lines = text.lines();
        let source = lines.next()?.strip_prefix("# source: ")?;
        let time = lines.next()?.strip_prefix("# time: ")?.parse().ok()?;
        let flow = lines.next()?.strip_prefix("# ")?;
        let rows = lines.skip_while(|line| *line != "k,energy").skip(1).map(|line| {
            let (k, energy) = line.split_once(',')?;
            Some((k.parse().ok()?, energy.parse().ok()?))
        });
        let (k, energy) = rows.collect::<Option<Vec<(f64, f64)>>>()?.into_iter().unzip();
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
