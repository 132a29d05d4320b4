//! The files of the statistics: one row for every instant and whatever else the first columns say.

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

/// Those that a run asks for.
pub(super) struct Files {
    moments: Option<SeriesWriter>,
    spectra: Option<SeriesWriter>,
    structure: Option<SeriesWriter>,
    densities: Option<SeriesWriter>,
    gradient_moments: Option<SeriesWriter>,
    turbulence: Option<SeriesWriter>,
    profiles: Option<SeriesWriter>,
}

impl Files {
    /// Begin them.
    pub(super) fn create(directory: &Path, options: &StatisticsConfig, kind: Kind) -> Result<Self> {
        make_directory(directory)?;
        let create = |path: &Path, columns: &[&str]| SeriesWriter::create(path, columns);
        tables(directory, options, kind, create).map(Self::from)
    }

    /// Go on with them behind the rows of `last_step`.
    pub(super) fn resume(
        directory: &Path,
        options: &StatisticsConfig,
        kind: Kind,
        last_step: Option<u64>,
    ) -> Result<Self> {
        make_directory(directory)?;
        // All are looked at before any is cut.
        let check = |path: &Path, columns: &[&str]| SeriesWriter::check_rows(path, columns);
        tables(directory, options, kind, check)?;
        let resume = |path: &Path, columns: &[&str]| SeriesWriter::resume(path, columns, last_step);
        tables(directory, options, kind, resume).map(Self::from)
    }

    /// The moments of an instant and the averages over time, not a number before these begin.
    pub(super) fn moments(&mut self, step: u64, time: f64, now: &Moments, running: &Running) {
        let Some(file) = &mut self.moments else { return };
        let now = now.values();
        let averages = running.values().unwrap_or_else(|| vec![f64::NAN; now.len()]);
        file.add(step, &[&[time, running.duration()], &now[..], &averages].concat(), None);
    }

    /// A row a shell.
    pub(super) fn spectra(&mut self, step: u64, time: f64, spectra: &Spectra) {
        let Some(file) = &mut self.spectra else { return };
        for (shell, &k) in spectra.wavenumbers.iter().enumerate() {
            let mut row = vec![time, k, spectra.modes[shell]];
            row.extend(spectra.values.iter().map(|quantity| quantity[shell]));
            file.add(step, &row, None);
        }
    }

    /// A row an axis and separation.
    pub(super) fn structure(&mut self, step: u64, time: f64, found: &[Increments]) {
        let Some(file) = &mut self.structure else { return };
        for one in found {
            let row = [&[time, one.separation], &one.longitudinal[..], &one.transverse].concat();
            let axis = one.axis.map_or("all", Axis::name);
            file.add(step, &row, Some((1, axis)));
        }
    }

    /// A row a quantity and bin, and one a quantity.
    pub(super) fn gradients(&mut self, step: u64, time: f64, found: &[Density]) {
        let (Some(densities), Some(moments)) = (&mut self.densities, &mut self.gradient_moments)
        else {
            return;
        };
        for one in found {
            let quantity = Some((1, one.quantity));
            for (bin, &density) in one.density.iter().enumerate() {
                densities.add(step, &[time, centre(bin), density], quantity);
            }
            moments.add(step, &[time, one.mean_square, one.skewness, one.flatness], quantity);
        }
    }

    /// A row.
    pub(super) fn turbulence(&mut self, step: u64, time: f64, found: &[f64]) {
        let Some(file) = &mut self.turbulence else { return };
        file.add(step, &[&[time], found].concat(), None);
    }

    /// A row a plane, with the time that averages are over.
    pub(super) fn profiles(&mut self, step: u64, time: f64, weight: f64, rows: &[Vec<f64>]) {
        let Some(file) = &mut self.profiles else { return };
        for row in rows {
            file.add(step, &[&[time, weight], &row[..]].concat(), None);
        }
    }

    /// Write all rows: one table that is refused keeps no other from being written.
    pub(super) fn flush(&mut self) -> Result<()> {
        let flushed: Vec<Result<()>> = self.all().map(SeriesWriter::flush).collect();
        flushed.into_iter().collect()
    }

    /// Return when all rows are on disk: the marks of the tables, by their names.
    pub(super) fn sync(&mut self) -> Result<Vec<(String, TableMark)>> {
        self.flush()?;
        self.all().map(|table| Ok((table.name(), table.sync()?))).collect()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut SeriesWriter> {
        let all = [
            &mut self.moments,
            &mut self.spectra,
            &mut self.structure,
            &mut self.densities,
            &mut self.gradient_moments,
            &mut self.turbulence,
            &mut self.profiles,
        ];
        all.into_iter().flatten()
    }
}

impl From<[Option<SeriesWriter>; 7]> for Files {
    fn from(files: [Option<SeriesWriter>; 7]) -> Self {
        let [moments, spectra, structure, densities, gradient_moments, turbulence, profiles] =
            files;
        Self { moments, spectra, structure, densities, gradient_moments, turbulence, profiles }
    }
}

/// The names of the files that are asked for.
pub(super) fn names(options: &StatisticsConfig, kind: Kind) -> Vec<String> {
    let name = |path: &Path, _: &[&str]| Ok(path.display().to_string());
    let named = tables(Path::new(""), options, kind, name);
    named.into_iter().flatten().flatten().collect()
}

/// What `open` makes of the path and the columns of each file that is asked for.
fn tables<T>(
    directory: &Path,
    options: &StatisticsConfig,
    kind: Kind,
    open: impl Fn(&Path, &[&str]) -> Result<T>,
) -> Result<[Option<T>; 7]> {
    let file = |of: Statistic, name: &str, columns: Vec<String>| {
        let there = kind == Kind::Flow || matches!(of, Statistic::Moments | Statistic::Spectra);
        let asked = there && options.quantities.contains(&of);
        let columns: Vec<&str> =
            ["step", "time"].into_iter().chain(columns.iter().map(String::as_str)).collect();
        asked.then(|| open(&directory.join(name), &columns)).transpose()
    };
    let named = |columns: &[&str]| columns.iter().map(ToString::to_string).collect();
    let moments = named(&["quantity", "mean_square", "skewness", "flatness"]);
    Ok([
        file(Statistic::Moments, "moments.csv", moment_columns(kind))?,
        file(Statistic::Spectra, "spectra.csv", spectrum_columns(kind, &options.scalars))?,
        file(Statistic::Increments, "structure.csv", structure_columns())?,
        file(Statistic::Gradients, "gradients.csv", named(&["quantity", "value", "density"]))?,
        file(Statistic::Gradients, "gradient_moments.csv", moments)?,
        file(Statistic::Turbulence, "turbulence.csv", named(&turbulence::COLUMNS))?,
        file(Statistic::Profiles, "profiles.csv", profile_columns())?,
    ])
}

/// `weight`, the time that averages are over; the moments; `average_` and the same.
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

/// `weight`, the time that averages are over, and the profile.
fn profile_columns() -> Vec<String> {
    std::iter::once("weight").chain(profiles::COLUMNS).map(String::from).collect()
}

fn structure_columns() -> Vec<String> {
    let of = |direction: &'static str| ORDERS.map(|order| format!("{direction}_{order}"));
    let all = of("longitudinal").into_iter().chain(of("transverse"));
    ["axis".into(), "r".into()].into_iter().chain(all).collect()
}
