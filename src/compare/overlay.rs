//! Overlaid curves of several runs: `kolmo plot` with more than one run.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use clap::Args;

use super::inputs::{Input, different_keys};
use super::options::page_path;
use super::page::{history, spectra};
use super::runs::{self, Run};
use crate::error::{Error, Result};
use crate::io::figures::{Figure, cited};
use crate::io::page::{self, Page, Table, check_replaceable, escape};
use crate::io::plot::{Curve, Line};
use crate::io::report::{capital, figures_at_the_end};
use crate::io::scale::extremes;
use crate::io::{Series, USER_REFERENCE, make_directory_of, read_text, refused, statistics};

/// Number of roundings by which a constant column may vary; more is a change.
const ROUNDINGS: f64 = 1e4;
/// Names of columns that are not drawn as curves.
const ABSCISSAS: [&str; 3] = ["step", "time", "dt"];
/// Figures of the end of a run: the curve that is drawn for each run, and the curves common to all.
const END_FIGURES: [(&str, usize, &[usize]); 6] = [
    ("profile", 0, &[1]),
    ("surface", 0, &[]),
    ("wall_units", 0, &[2, 3]),
    ("stresses", 2, &[]),
    ("reynolds_number", 0, &[]),
    ("skewness", 0, &[]),
];

/// The runs to draw.
#[derive(Args, Debug)]
pub struct PlotOptions {
    /// Directories of runs: for one run its report is redrawn, for several runs their common curves are overlaid.
    #[arg(required = true, value_name = "RUN_DIR")]
    pub runs: Vec<PathBuf>,
    /// The page for several runs [default: plot.html].
    #[arg(long, value_name = "PAGE.html")]
    pub out: Option<PathBuf>,
    /// The columns of series.csv to draw for several runs [default: all common columns].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Replace the page even if another program wrote a file of its name.
    #[arg(long)]
    pub overwrite: bool,
}

impl PlotOptions {
    /// The directory, if there is only one.
    ///
    /// # Errors
    /// If options for several runs were given.
    pub fn single(&self) -> Result<Option<&Path>> {
        let [run] = &self.runs[..] else { return Ok(None) };
        if self.out.is_some() || !self.columns.is_empty() || self.overwrite {
            let what = "--out, --columns and --overwrite are options for several runs";
            return Err(refused(what, "for one run, `kolmo plot RUN_DIR` redraws its report.html"));
        }
        Ok(Some(run))
    }
}

/// A page that has been written.
#[derive(Debug)]
pub struct Overlay {
    /// Path of the page.
    pub page: PathBuf,
    /// Notes for the interpretation, one sentence each.
    pub notes: Vec<String>,
}

impl Display for Overlay {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(to, "note: {note}"))?;
        writeln!(to, "{}", self.page.display())
    }
}

/// Draw the common curves of the runs of `options` into one page.
///
/// # Errors
/// If a directory contains no run, if a file of a run is damaged, if the runs have no common curves, or if the page cannot be
/// written.
pub fn overlay(options: &PlotOptions) -> Result<Overlay> {
    let out = options.out.as_deref().unwrap_or(Path::new("plot.html"));
    let page = page_path(out, options.runs.len())?;
    if !options.overwrite {
        check_replaceable(&page, "plot")?;
    }
    let mut runs = runs::read(&options.runs)?;
    let mut notes = runs::notes(&runs);
    let inputs: Vec<&Input> = runs.iter().map(|run| &run.input).collect();
    let different = different_keys(&inputs);
    let labels = labels(&options.runs, &different);
    runs.iter_mut().zip(&labels).for_each(|(run, label)| run.name.clone_from(label));
    let (columns, column_notes) = columns(&runs, &options.columns)?;
    notes.extend(column_notes);
    let references = References::read(&options.runs, &labels)?;
    let mut figures: Vec<Figure> =
        columns.iter().map(|name| with_references(name, &runs, &references)).collect();
    if options.columns.is_empty() {
        notes.extend(spectra(&runs, None, &mut figures));
        figures.extend(end_figures(&options.runs, &runs)?);
    }
    if figures.is_empty() {
        return Err(no_common_columns(&runs));
    }
    let drawn = page::draw(figures, |_, _| Ok(()))?;
    let mut html = Page::new("plot", "Overlaid runs", &labels.join(", "));
    if !different.is_empty() {
        let header = std::iter::once("differs".to_string()).chain(labels).collect();
        let rows =
            different.into_iter().map(|(key, values)| std::iter::once(key).chain(values).collect());
        html.push(&Table { header, rows: rows.collect() }.html());
    }
    for note in &notes {
        html.paragraph(&format!("Note: {note}."));
    }
    html.gallery("Curves", &drawn);
    make_directory_of(&page)?;
    html.write(&page, env!("CARGO_PKG_VERSION"), "the tables in the directories of the runs")?;
    Ok(Overlay { page, notes })
}

fn no_common_columns(runs: &[Run]) -> Error {
    let columns = |run: &Run| format!("{}: {}", run.name, run.series.names().join(", "));
    let columns: Vec<String> = runs.iter().map(columns).collect();
    refused("the runs share no column that changes", columns.join("\n       "))
}

/// Labels of the runs: the names of their directories, or the paths as typed if names are equal; with the differences if these
/// are short.
fn labels(directories: &[PathBuf], different: &[(String, Vec<String>)]) -> Vec<String> {
    let short = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<Option<String>> = directories.iter().map(short).collect();
    let is_unique =
        |name: &Option<String>| names.iter().filter(|other| *other == name).count() == 1;
    let label = |(at, path): (usize, &PathBuf)| {
        let name = names[at].clone().filter(|_| is_unique(&names[at]));
        let mut parts = vec![name.unwrap_or_else(|| path.display().to_string())];
        if let [_] | [_, _] = different {
            parts.extend(different.iter().map(|(key, values)| {
                let key = key.rsplit('.').next().unwrap_or(key);
                format!("{key} = {}", values[at])
            }));
        }
        parts.join(", ")
    };
    directories.iter().enumerate().map(label).collect()
}

/// The columns to draw, those requested or all common ones that change, and notes on the omitted columns.
fn columns(runs: &[Run], requested: &[String]) -> Result<(Vec<String>, Vec<String>)> {
    let has = |run: &Run, name: &str| run.series.column(name).is_some();
    let is_curve = |name: &&String| !ABSCISSAS.contains(&name.as_str());
    let first = runs[0].series.names();
    let shared: Vec<&String> = first
        .iter()
        .filter(is_curve)
        .filter(|name| runs.iter().all(|run| has(run, name)))
        .collect();
    if let Some(unknown) = requested.iter().find(|name| !shared.contains(name)) {
        let shared: Vec<&str> = shared.iter().map(|name| name.as_str()).collect();
        let what = format!("--columns: not all runs have a curve `{unknown}`");
        return Err(refused(what, format!("they share {}", shared.join(", "))));
    }
    if !requested.is_empty() {
        let once = (0..requested.len()).filter(|&at| !requested[..at].contains(&requested[at]));
        return Ok((once.map(|at| requested[at].clone()).collect(), Vec::new()));
    }
    let (drawn, constant): (Vec<&String>, Vec<&String>) =
        shared.iter().copied().partition(|name| changes(name, runs));
    let mut others: Vec<&String> =
        runs.iter().flat_map(|run| run.series.names()).filter(is_curve).collect();
    others.retain(|name| !shared.contains(name));
    others.sort();
    others.dedup();
    let listed =
        |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let mut notes = Vec::new();
    if !others.is_empty() {
        notes.push(format!("not drawn, because not all runs have them: {}", listed(&others)));
    }
    if !constant.is_empty() {
        notes.push(format!(
            "not drawn, because they are constant to round-off: {}",
            listed(&constant)
        ));
    }
    Ok((drawn.into_iter().cloned().collect(), notes))
}

/// Whether the values of a column change in one of the runs by more than round-off, relative to their own size. Columns with both
/// signs, such as sums over the box that may cancel, are compared with the scale of a velocity.
fn changes(name: &str, runs: &[Run]) -> bool {
    runs.iter().any(|run| {
        let range = |name: &str| {
            let values = run.series.column(name).into_iter().flatten();
            extremes(values.copied().filter(|value| value.is_finite()))
        };
        let [low, high] = range(name);
        let energy = range("kinetic_energy")[1];
        let velocity = if energy > 0.0 { (2.0 * energy).sqrt() } else { 1.0 };
        let own = low.abs().max(high.abs());
        let size = if low < 0.0 { own.max(velocity) } else { own };
        let single = run.summary.precision == "f32";
        let unit = if single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        high - low > ROUNDINGS * unit * size
    })
}

/// A column of all runs over time, or over steps for steady runs.
fn with_references(name: &str, runs: &[Run], references: &References) -> Figure {
    let (drawn, x_label) = runs::histories(runs);
    let mut figure = history(name, drawn.iter(), x_label);
    let timed = drawn.iter().filter(|(run, _)| !run.is_steady());
    let end = timed.map(|(run, _)| run.end()).reduce(f64::max);
    let (reference_curves, sources) =
        end.map(|end| references.curves(name, end)).unwrap_or_default();
    figure.plot.curves.extend(reference_curves);
    let caption = [figure.caption].into_iter().chain(sources).filter(|part| !part.is_empty());
    figure.caption = caption.collect::<Vec<_>>().join(" ");
    figure
}

/// Reference curves: each table once, even if several runs use it.
struct References(Vec<(String, Line, Series)>);

impl References {
    fn read(directories: &[PathBuf], labels: &[String]) -> Result<Self> {
        let mut tables: Vec<(String, usize, &str, Series)> = Vec::new();
        for (at, directory) in directories.iter().enumerate() {
            for (name, label) in
                [("reference.csv", "reference"), (USER_REFERENCE, "your reference")]
            {
                let path = directory.join(name);
                if !path.exists() {
                    continue;
                }
                let text = read_text(&path)?;
                if tables.iter().all(|(known, ..)| *known != text) {
                    let series = Series::read(&path)?;
                    tables.push((text, at, label, series));
                }
            }
        }
        // A single reference belongs to all runs; several references are drawn in the colours of their runs.
        let is_single = tables.len() == 1;
        let named = tables.into_iter().map(|(_, at, label, series)| match is_single {
            true => (label.to_string(), Line::Reference, series),
            false => (format!("{label} of {}", labels[at]), Line::ReferenceOf(at), series),
        });
        Ok(Self(named.collect()))
    }

    /// Their curves for a column up to a time, and their sources as HTML.
    fn curves(&self, column: &str, end: f64) -> (Vec<Curve>, Vec<String>) {
        let of = self.0.iter().filter_map(|(label, line, series)| {
            let (time, values) = (series.column("time")?, series.column(column)?);
            let covered = time.partition_point(|&time| time <= end);
            let curve = Curve::new(label, *line, &time[..covered], values);
            let source = cited(&series.comments().join(" "));
            Some((curve, format!("{}: {source}.", escape(&capital(label)))))
        });
        of.unzip()
    }
}

/// Profiles and other figures of the end of runs, if all runs have them.
fn end_figures(directories: &[PathBuf], runs: &[Run]) -> Result<Vec<Figure>> {
    let of_run = |(directory, run): (&PathBuf, &Run)| -> Result<Vec<Figure>> {
        let mut figures = figures_at_the_end(directory, run.summary.end_time)?;
        figures.extend(statistics::figures(directory)?);
        Ok(figures)
    };
    let mut all: Vec<Vec<Figure>> =
        directories.iter().zip(runs).map(of_run).collect::<Result<_>>()?;
    let take = |figures: &mut Vec<Figure>, name: &str| {
        let at = figures.iter().position(|figure| figure.name == name)?;
        Some(figures.swap_remove(at))
    };
    let figure = |(name, own, shared): (&str, usize, &[usize])| {
        let matching: Option<Vec<Figure>> =
            all.iter_mut().map(|figures| take(figures, name)).collect();
        let mut matching = matching?;
        let same = matching.iter().all(|figure| figure.plot.y_label == matching[0].plot.y_label);
        let (mut curves, mut others) = (Vec::new(), Vec::new());
        for ((at, figure), run) in matching.iter_mut().enumerate().zip(runs) {
            for (number, mut curve) in
                std::mem::take(&mut figure.plot.curves).into_iter().enumerate()
            {
                if number == own {
                    curve.line = Line::side_by_side(at);
                    curve.label = run.label(run.summary.end_time);
                    curves.push(curve);
                } else if at == 0 && shared.contains(&number) {
                    others.push(curve);
                }
            }
        }
        let Figure { name, mut plot, caption } = matching.swap_remove(0);
        plot.frames = Vec::new();
        plot.curves = curves.into_iter().chain(others).collect();
        let caption = match shared.is_empty() {
            true => String::new(),
            false => {
                format!("{}, compared with references: {caption}", escape(&runs[0].name))
            }
        };
        same.then_some(Figure { name, plot, caption })
    };
    Ok(END_FIGURES.into_iter().filter_map(figure).collect())
}
