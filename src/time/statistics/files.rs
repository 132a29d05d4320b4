//! The files of the statistics: one row per instant and per value of the leading columns.

use std::path::Path;

use crate::error::Result;
use crate::grid::Axis;
use crate::io::series::TableMark;
use crate::io::{SeriesWriter, StatisticsConfig, make_directory};
use crate::statistics::gradients::{Density, centre};
use crate::statistics::increments::{Increments, ORDERS};
use crate::statistics::moments::{self, Moments, Running};
use crate::statistics::spectrum::{self, Spectra};
use crate::statistics::{Kind, Statistic, profiles, turbulence};

const MOMENTS: &str = "moments.csv";
const SPECTRA: &str = "spectra.csv";
const STRUCTURE: &str = "structure.csv";
const GRADIENTS: &str = "gradients.csv";
const GRADIENT_MOMENTS: &str = "gradient_moments.csv";
const TURBULENCE: &str = "turbulence.csv";
const PROFILES: &str = "profiles.csv";

/// The files that a run requests.
#[derive(Default)]
pub(super) struct Files(Vec<SeriesWriter>);

impl Files {
    /// Create them.
    pub(super) fn create(directory: &Path, options: &StatisticsConfig, kind: Kind) -> Result<Self> {
        make_directory(directory)?;
        tables(directory, options, kind, SeriesWriter::create).map(Self)
    }

    /// Continue them after the rows of `last_step`.
    pub(super) fn resume(
        directory: &Path,
        options: &StatisticsConfig,
        kind: Kind,
        last_step: Option<u64>,
    ) -> Result<Self> {
        make_directory(directory)?;
        // Check all files before any is cut.
        tables(directory, options, kind, SeriesWriter::check_rows)?;
        let resume =
            |path: &Path, columns: &[String]| SeriesWriter::resume(path, columns, last_step);
        tables(directory, options, kind, resume).map(Self)
    }

    /// Add a row to the table `name`, where it is requested; `label` follows the time.
    fn add(&mut self, name: &str, step: u64, values: &[&[f64]], label: Option<&str>) {
        if let Some(table) = self.0.iter_mut().find(|table| table.name() == name) {
            table.add(step, &values.concat(), label.map(|label| (1, label)));
        }
    }

    /// Add the moments of an instant and the time averages, which are NaN before averaging begins.
    pub(super) fn moments(&mut self, step: u64, time: f64, now: &Moments, running: &Running) {
        let now = now.values();
        let averages = running.values().unwrap_or_else(|| vec![f64::NAN; now.len()]);
        self.add(MOMENTS, step, &[&[time, running.duration()], &now, &averages], None);
    }

    /// Add one row per shell.
    pub(super) fn spectra(&mut self, step: u64, time: f64, spectra: &Spectra) {
        for (shell, &k) in spectra.wavenumbers.iter().enumerate() {
            let values: Vec<f64> = spectra.values.iter().map(|quantity| quantity[shell]).collect();
            self.add(SPECTRA, step, &[&[time, k, spectra.modes[shell]], &values], None);
        }
    }

    /// Add one row per axis and separation.
    pub(super) fn structure(&mut self, step: u64, time: f64, increments: &[Increments]) {
        for one in increments {
            let row = [&[time, one.separation], &one.longitudinal[..], &one.transverse];
            self.add(STRUCTURE, step, &row, Some(one.axis.map_or("all", Axis::name)));
        }
    }

    /// Add one row per quantity and bin, and one per quantity.
    pub(super) fn gradients(&mut self, step: u64, time: f64, densities: &[Density]) {
        for one in densities {
            let quantity = Some(one.quantity);
            for (bin, &density) in one.density.iter().enumerate() {
                self.add(GRADIENTS, step, &[&[time, centre(bin), density]], quantity);
            }
            let moments = [time, one.mean_square, one.skewness, one.flatness];
            self.add(GRADIENT_MOMENTS, step, &[&moments], quantity);
        }
    }

    /// Add one row.
    pub(super) fn turbulence(&mut self, step: u64, time: f64, values: &[f64]) {
        self.add(TURBULENCE, step, &[&[time], values], None);
    }

    /// Add one row per plane, with the averaging time.
    pub(super) fn profiles(&mut self, step: u64, time: f64, weight: f64, rows: &[Vec<f64>]) {
        for row in rows {
            self.add(PROFILES, step, &[&[time, weight], row], None);
        }
    }

    /// Write all rows; the failure of one table does not keep others from being written.
    pub(super) fn flush(&mut self) -> Result<()> {
        let flushed: Vec<Result<()>> = self.0.iter_mut().map(SeriesWriter::flush).collect();
        flushed.into_iter().collect()
    }

    /// Flush all rows to disk, and return the marks of the tables, by their names.
    pub(super) fn sync(&mut self) -> Result<Vec<(String, TableMark)>> {
        self.flush()?;
        self.0.iter_mut().map(|table| Ok((table.name(), table.sync()?))).collect()
    }
}

/// The results of `open` for the path and the columns of each requested file.
pub(super) fn tables<T>(
    directory: &Path,
    options: &StatisticsConfig,
    kind: Kind,
    open: impl Fn(&Path, &[String]) -> Result<T>,
) -> Result<Vec<T>> {
    let named = |columns: &[&str]| columns.iter().map(ToString::to_string).collect();
    let moments = ["quantity", "mean_square", "skewness", "flatness"];
    let all: [(Statistic, &str, Vec<String>); 7] = [
        (Statistic::Moments, MOMENTS, moment_columns(kind)),
        (Statistic::Spectra, SPECTRA, spectrum_columns(kind, &options.scalars)),
        (Statistic::Increments, STRUCTURE, structure_columns()),
        (Statistic::Gradients, GRADIENTS, named(&["quantity", "value", "density"])),
        (Statistic::Gradients, GRADIENT_MOMENTS, named(&moments)),
        (Statistic::Turbulence, TURBULENCE, named(&turbulence::COLUMNS)),
        (Statistic::Profiles, PROFILES, profile_columns()),
    ];
    let is_requested = |of: &Statistic| {
        let applies = kind == Kind::Flow || matches!(of, Statistic::Moments | Statistic::Spectra);
        applies && options.quantities.contains(of)
    };
    let requested = all.into_iter().filter(|(of, ..)| is_requested(of));
    let opened = requested.map(|(_, name, columns)| {
        open(&directory.join(name), &[named(&["step", "time"]), columns].concat())
    });
    opened.collect()
}

/// `weight` (the averaging time), the moments, and the same with the prefix `average_`.
fn moment_columns(kind: Kind) -> Vec<String> {
    let names = match kind {
        Kind::Flow => &moments::FLOW[..],
        Kind::Scalar => &moments::SCALAR,
    };
    let now = names.iter().map(ToString::to_string);
    let averages = names.iter().map(|name| format!("average_{name}"));
    std::iter::once("weight".into()).chain(now).chain(averages).collect()
}

fn spectrum_columns(kind: Kind, scalars: &[String]) -> Vec<String> {
    let names = match kind {
        Kind::Flow => &spectrum::FLOW[..],
        Kind::Scalar => &spectrum::SCALAR,
    };
    let scalars = scalars.iter().map(|name| format!("{name}_variance"));
    ["k", "modes"].iter().chain(names).map(ToString::to_string).chain(scalars).collect()
}

/// `weight` (the averaging time), and the profile.
fn profile_columns() -> Vec<String> {
    std::iter::once("weight").chain(profiles::COLUMNS).map(String::from).collect()
}

fn structure_columns() -> Vec<String> {
    let of = |direction: &'static str| ORDERS.map(|order| format!("{direction}_{order}"));
    let all = of("longitudinal").into_iter().chain(of("transverse"));
    ["axis".into(), "r".into()].into_iter().chain(all).collect()
}
