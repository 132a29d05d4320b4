//! Scaling as a table, as CSV and as figures.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use super::file::{ALONG, Basis, PHASES, Step};
use super::options::PlotScalingOptions;
use super::series::{MAX_MODELLED, Series, Study, in_words};
use crate::error::Result;
use crate::io::bar_chart::{Bar, bars};
use crate::io::page::{Table, check_replaceable, check_replaceable_table, write_drawing};
use crate::io::plot::{Curve, Line, Plot};
use crate::io::{make_directory_of, refused, write_text};

/// Curves of the model have neither dots nor solid lines.
const MODELLED: [Line; MAX_MODELLED] =
    [Line::Dashed, Line::Dotted, Line::Long, Line::Sky, Line::Ink];
/// The parts of a bar.
const PARTS: [&str; 5] = ["sweeps", "pack", "messages", "reduced systems", "other"];
const HEADER: &str = "scaling,series,file,ranks,px,py,pz,seconds,fastest_seconds,efficiency";

/// Write figures and the CSV, and return their names.
pub(super) fn write(studies: &[Study], options: &PlotScalingOptions) -> Result<Vec<PathBuf>> {
    let name = |ending: &str| {
        let mut name = options.out.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    if options.out.is_dir() || options.out.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(refused(
            format!(
                "--out {} is a directory; it must be a prefix of file names",
                options.out.display()
            ),
            "for example `--out results/scaling`",
        ));
    }
    let mut pictures = Vec::new();
    for study in studies {
        pictures.push((name(&format!("-{}.svg", study.scaling)), study.efficiencies()));
        pictures.push((name(&format!("-{}-phases.svg", study.scaling)), study.phases()));
    }
    let table = name(".csv");
    if !options.overwrite {
        pictures.iter().try_for_each(|(path, _)| check_replaceable(path, "plot-scaling"))?;
        check_replaceable_table(&table, "plot-scaling", HEADER)?;
    }
    make_directory_of(&table)?;
    for (path, svg) in &pictures {
        write_drawing(path, svg)?;
    }
    write_text(&table, &csv(studies))?;
    Ok(pictures.into_iter().map(|(path, _)| path).chain([table]).collect())
}

/// The CSV, with all digits of all times.
fn csv(studies: &[Study]) -> String {
    let phases = PHASES.into_iter().chain(ALONG).map(|phase| format!(",{phase}_seconds"));
    let phases: String = phases.collect();
    let mut text = format!("{HEADER}{phases}\n");
    for study in studies {
        for (series, step) in study.steps() {
            let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
            let fastest = step.fastest.map(|seconds| format!("{seconds:?}"));
            let [px, py, pz] = step.decomposition;
            let mut cells = vec![
                study.scaling.into(),
                quoted(&series.name),
                quoted(&step.file.display().to_string()),
                format!("{},{px},{py},{pz}", step.ranks),
                format!("{:?}", step.seconds),
                fastest.unwrap_or_default(),
                format!("{:?}", series.efficiency(study.scaling, step)),
            ];
            cells.extend(
                step.phases.iter().chain(&step.along).map(|seconds| format!("{seconds:?}")),
            );
            text += &(cells.join(",") + "\n");
        }
    }
    text
}

impl Study {
    fn steps(&self) -> impl Iterator<Item = (&Series, &Step)> {
        self.series.iter().flat_map(|series| series.steps.iter().map(move |step| (series, step)))
    }

    fn fact(&self, name: &str) -> &str {
        let fact = self.facts.iter().find(|(known, _)| *known == name);
        fact.map_or("", |(_, value)| value)
    }

    /// "Weak scaling, 64x64x64 points per rank".
    fn title(&self) -> String {
        match self.scaling {
            "weak" => format!("Weak scaling, {} points per rank", self.fact("points")),
            _ => format!("Strong scaling, {} points", self.fact("grid")),
        }
    }

    fn efficiencies(&self) -> String {
        let mut modelled = MODELLED.into_iter();
        let curve = |series: &Series| {
            let line = match series.basis {
                Basis::Measured => Some(Line::Measured(0)),
                _ => modelled.next(),
            };
            let point =
                |step: &Step| (step.ranks as f64, 100.0 * series.efficiency(self.scaling, step));
            let points = series.steps.iter().map(point).collect();
            Curve { label: series.name.clone(), line: line.unwrap_or(Line::Ink), points }
        };
        let curves = self.series.iter().map(curve).collect();
        let label = format!("efficiency, % of {}", in_words(self.base));
        let plot = Plot::over_time(&self.title(), &label, curves);
        Plot { x_label: "ranks", logarithmic_x: true, mark: Some((100.0, "100 %".into())), ..plot }
            .svg()
    }

    /// One bar per time, ordered by ranks; bars of the model are pale. A line marks the whole step, in which messages overlap
    /// with sweeps.
    fn phases(&self) -> String {
        let mut steps: Vec<(&Series, &Step)> = self.steps().collect();
        // A stable sort: measured steps stay before modelled ones.
        steps.sort_by_key(|(_, step)| step.ranks);
        let bar = |(series, step): (&Series, &Step)| {
            let label = format!("{} {}", step.ranks, series.name);
            let parts = parts(step).map(|seconds| 1e3 * seconds).to_vec();
            Bar {
                stroke: Some(1e3 * step.seconds),
                pale: series.basis != Basis::Measured,
                ..Bar::new(label, parts)
            }
        };
        let all: Vec<Bar> = steps.into_iter().map(bar).collect();
        let unit = "ms per step; the line is the whole step";
        bars(&self.title(), unit, &PARTS, &all)
    }
}

/// Seconds of the phases, and the remainder of the step without overlap.
fn parts(step: &Step) -> [f64; 5] {
    let [a, b, c, d] = step.phases;
    [a, b, c, d, (step.seconds - (a + b + c + d)).max(0.0)]
}

impl Display for Study {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let threads = match self.fact("device") {
            "none" => format!("{}, threads per rank: {}", self.fact("cpu"), self.fact("threads")),
            device => device.to_string(),
        };
        let [scheme, precision] = ["scheme", "precision"].map(|name| self.fact(name));
        writeln!(f, "{}, {scheme}, {precision}; {threads}", self.title())?;
        writeln!(
            f,
            "medians; times of phases are without overlap; efficiency relative to {}",
            in_words(self.base)
        )?;
        let mut header: Vec<String> =
            ["", "ranks", "cut", "ms/step", "eff. %"].map(String::from).into();
        header.extend(PARTS.map(|part| format!("{part} ms")));
        header.extend(["x", "y", "z"].map(|axis| format!("messages {axis} ms")));
        let row = |(series, step): (&Series, &Step)| {
            let [x, y, z] = step.decomposition;
            let efficiency = 100.0 * series.efficiency(self.scaling, step);
            let mut cells = vec![
                series.name.clone(),
                step.ranks.to_string(),
                format!("{x}x{y}x{z}"),
                format!("{:.3}", 1e3 * step.seconds),
                format!("{efficiency:.1}"),
            ];
            let ms = |seconds: f64| format!("{:.3}", 1e3 * seconds);
            cells.extend(parts(step).into_iter().chain(step.along).map(ms));
            cells
        };
        let rows = self.steps().map(row).collect();
        f.write_str(&Table { header, rows }.text())?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
