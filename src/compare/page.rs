//! A comparison as a page.

use std::path::PathBuf;

use super::Comparison;
use super::runs::{Run, histories};
use crate::error::Result;
use crate::io::figures::Figure;
use crate::io::make_directory_of;
use crate::io::page::{self, Page, write_drawing};
use crate::io::plot::{Curve, Line, Plot};
use crate::io::report::capital;
use crate::io::statistics::spectrum_plot;

/// The time histories: column, title, label, caption, whether y is logarithmic.
const HISTORIES: [(&str, &str, &str, &str, bool); 6] = [
    ("kinetic_energy", "Kinetic energy", "kinetic energy E", "E = ⟨ρ u·u⟩ / 2.", false),
    ("dissipation", "Dissipation", "dissipation ε", "From gradients: ε = ⟨τ : ∇u⟩.", false),
    ("enstrophy", "Enstrophy", "enstrophy Ω", "Ω = ⟨ρ ω·ω⟩ / 2.", false),
    ("scalar_variance", "Variance of the scalar", "⟨φ²⟩ − ⟨φ⟩²", "", false),
    (
        "error_l2",
        "Error",
        "error",
        "Root mean square of the distance from the exact solution.",
        true,
    ),
    ("error_max", "Largest error", "error", "Largest distance from the exact solution.", true),
];

/// The figures of the runs, with notes on those that could not be drawn. `time` is that of the spectra.
pub(super) fn figures(runs: &[Run], time: Option<f64>) -> (Vec<Figure>, Vec<String>) {
    let mut figures: Vec<Figure> = Vec::new();
    let (drawn, x_label) = histories(runs);
    for (name, ..) in HISTORIES {
        // The dissipation of an inviscid flow is only round-off.
        let seen =
            drawn.iter().filter(|(run, _)| name != "dissipation" || run.summary.reynolds.is_some());
        let figure = history(name, seen, x_label);
        if !figure.plot.curves.is_empty() {
            figures.push(figure);
        }
    }
    let notes = spectra(runs, time, &mut figures);
    (figures, notes)
}

/// A column of the series of several runs, drawn with the given lines.
pub(super) fn history<'a>(
    name: &str,
    drawn: impl Iterator<Item = &'a (&'a Run, Line)>,
    x_label: &'static str,
) -> Figure {
    let curves = drawn.filter_map(|(run, line)| {
        let (x, values) = run.curve(name)?;
        Some(Curve::new(&run.name, *line, x, values))
    });
    let words = capital(&name.replace('_', " "));
    let known = HISTORIES.into_iter().find(|known| known.0 == name);
    let (_, title, label, caption, logarithmic) =
        known.unwrap_or((name, &words, name, "", name == "residual"));
    let plot = Plot::over_time(title, label, curves.collect());
    let plot = Plot { logarithmic, x_label, ..plot };
    Figure { name: name.to_string().into(), plot, caption: caption.into() }
}

/// Spectra at one time: those nearest to `time`, or to the last time common to all runs with spectra; for steady runs the last
/// ones. Returns notes on spectra that could not be drawn.
pub(super) fn spectra(runs: &[Run], time: Option<f64>, figures: &mut Vec<Figure>) -> Vec<String> {
    if runs.iter().all(|run| run.spectrum(None).is_none()) {
        let note = time.map(|_| "no run has spectra, so --time has no effect".to_string());
        return note.into_iter().collect();
    }
    let timed = runs.iter().filter(|run| !run.is_steady());
    let common = timed.filter_map(|run| Some(run.spectrum(None)?.time)).reduce(f64::min);
    let time = common.map(|common| time.unwrap_or(common));
    let (mut of_flow, mut of_scalar, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let smallest = runs.iter().filter_map(|run| Some(run.spectra.as_ref()?.smallest()));
    let smallest = smallest.fold(f64::NAN, f64::min);
    for (run, line) in runs.iter().zip(Line::SIDE_BY_SIDE) {
        let Some(nearest) = run.spectrum(time) else {
            notes.push(format!("{} has no spectra", run.name));
            continue;
        };
        let curve = Curve { label: run.label(nearest.time), line, points: nearest.points() };
        if run.is_scalar() { of_scalar.push(curve) } else { of_flow.push(curve) }
    }
    for (name, title, is_scalar, curves) in [
        ("spectra", "Spectra", false, of_flow),
        ("scalar_spectra", "Spectra of the scalar", true, of_scalar),
    ] {
        if !curves.is_empty() {
            let plot = spectrum_plot(title, is_scalar, smallest, curves);
            let nearest = |time| format!("Spectra nearest to t = {time:.2}.");
            let caption = time.map_or("Spectra at the ends of the runs.".into(), nearest);
            figures.push(Figure { name: name.into(), plot, caption });
        }
    }
    notes
}

impl Comparison {
    /// Write the page, and its figures next to it, such as `compare-kinetic_energy.svg`.
    pub(super) fn write(&mut self, figures: Vec<Figure>, overwrite: bool) -> Result<()> {
        let stem = self.page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = |figure: &Figure| -> PathBuf {
            self.page.with_file_name(format!("{stem}-{}.svg", figure.name))
        };
        self.pictures = figures.iter().map(place).collect();
        if !overwrite {
            let mut files = self.pictures.iter().chain([&self.page]);
            files.try_for_each(|file| page::check_replaceable(file, "compare"))?;
        }
        make_directory_of(&self.page)?;
        let drawn = page::draw(figures, |figure, svg| write_drawing(&place(figure), svg))?;
        let names = self.rows.iter().map(|row| row.run.as_str()).collect::<Vec<_>>().join(", ");
        let mut html = Page::new("compare", "Comparison", &names);
        html.push(&self.table().html_by_columns());
        html.paragraph(
            "The energy is that of the last time common to all runs. Differences are the largest differences from the first run over the \
             common time interval: at the rows of the series that has fewer rows there, or at the ends of the interval, with linear \
             interpolation of the other series. A steady run has no times: its energy and its differences are those at the end.",
        );
        for reason in self.reasons() {
            html.paragraph(&format!("{}.", reason.trim_end_matches('.')));
        }
        for note in &self.notes {
            html.paragraph(&format!("Note: {note}."));
        }
        html.gallery("Pictures", &drawn);
        let data = "<code>series.csv</code>, <code>statistics/spectra.csv</code> and <code>summary.json</code> of the runs";
        html.write(&self.page, env!("CARGO_PKG_VERSION"), data)
    }
}
