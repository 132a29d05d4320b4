//! `statistics/spectra.csv`: spectra of a run, one row per shell and time; and `reference_spectrum.csv`, a spectrum to compare
//! them with.

use std::path::Path;

use crate::Result;
use crate::io::malformed;
use crate::io::series::Series;

/// The spectrum at one time. Shell k holds the wavenumbers nearest to k, a multiple of the smallest wavenumber of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Non-dimensional time.
    pub time: f64,
    /// Wavenumber of each shell in 1/L, ascending.
    pub k: Vec<f64>,
    /// Kinetic energy or scalar variance of each shell; the shells sum to that of the box.
    pub energy: Vec<f64>,
}

impl Spectrum {
    /// (k, E) of the shells that a logarithmic plot can show. Shells that are empty by symmetry hold round-off, which would fill
    /// most of the plot.
    pub(crate) fn points(&self) -> Vec<(f64, f64)> {
        let floor = 1e-12 * self.energy.iter().copied().fold(0.0, f64::max);
        let shells = self.k.iter().copied().zip(self.energy.iter().copied());
        shells.filter(|&(k, energy)| k > 0.0 && energy > floor).collect()
    }
}

/// The spectra of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectra {
    /// Whether the spectra are of an advected scalar, not of a flow.
    pub of_scalar: bool,
    /// In the order of the file, by time.
    pub times: Vec<Spectrum>,
}

impl Spectra {
    /// Read a table with the columns `time`, `k`, and `energy` or `scalar`.
    pub fn read(path: &Path) -> Result<Self> {
        let table = Series::read(path)?;
        let of_scalar = table.column("energy").is_none() && table.column("scalar").is_some();
        let values = table.required(if of_scalar { "scalar" } else { "energy" })?;
        let (time, k) = (table.required("time")?, table.required("k")?);
        let mut times: Vec<Spectrum> = Vec::new();
        for row in 0..table.rows() {
            if times.last().is_none_or(|last| last.time != time[row]) {
                times.push(Spectrum { time: time[row], k: Vec::new(), energy: Vec::new() });
            }
            if let Some(last) = times.last_mut() {
                last.k.push(k[row]);
                last.energy.push(values[row]);
            }
        }
        Ok(Self { of_scalar, times })
    }

    /// Wavenumber of the first shell, that of the longest waves in the box; NaN without shells.
    pub(crate) fn smallest(&self) -> f64 {
        let shells = self.times.iter().flat_map(|spectrum| &spectrum.k).copied();
        shells.filter(|k| *k > 0.0).fold(f64::NAN, f64::min)
    }

    /// The spectrum whose time is nearest to `time`; `None` without spectra.
    pub fn nearest(&self, time: f64) -> Option<&Spectrum> {
        let distance = |spectrum: &Spectrum| (spectrum.time - time).abs();
        self.times.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// A reference spectrum.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceSpectrum {
    /// Source, in words.
    pub source: String,
    /// The spectrum, at its time.
    pub spectrum: Spectrum,
}

impl ReferenceSpectrum {
    /// Read `reference_spectrum.csv`: `# source`, `# time: 9`, then columns k, energy.
    pub fn read(path: &Path) -> Result<Self> {
        let table = Series::read(path)?;
        let mut comments = table.comments().iter();
        let source = comments.next().cloned().unwrap_or_default();
        let time = comments.find_map(|line| {
            let number = line.strip_prefix("time")?.trim_start_matches([':', '=', ' ']);
            number.trim().parse().ok()
        });
        let Some(time) = time else {
            return Err(malformed(path, "a line `# time: ` with a number is missing"));
        };
        let column = |name| table.required(name).map(<[f64]>::to_vec);
        let spectrum = Spectrum { time, k: column("k")?, energy: column("energy")? };
        Ok(Self { source, spectrum })
    }
}
