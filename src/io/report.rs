//! `report.html`: one page that shows a run, and that needs nothing but itself.

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

use crate::io::figures::{Figure, closure, conservation, figures, number};
use crate::io::open::own;
use crate::io::page::{self, escape};
use crate::io::progress::duration;
use crate::io::reference::Reference;
use crate::io::series::Series;
use crate::io::slice_page;
use crate::io::slices::SliceEntry;
use crate::io::statistics;
use crate::io::summary::Summary;
use crate::io::verdict::{Verdict, floored};
use crate::io::{make_directory, read_json, read_text, write_whole};
use crate::{Error, Result};

/// Draw `plots/*.svg` and `report.html` from what lies in the run directory: `config.toml`, `series.csv`,
/// `summary.json`, and `reference.csv`, `slices/`, `statistics/` and `reference_spectrum.csv` where they are there.
///
/// `claim` is told the names of the files in the directory before they are made.
///
/// # Errors
/// Where a file that every run has is missing or damaged, or `claim` refuses.
pub fn write_report(
    run_dir: &Path,
    claim: &mut dyn FnMut(Vec<String>) -> Result<()>,
) -> Result<()> {
    let config = needed(run_dir, "config.toml", read_text)?;
    own(run_dir, &run_dir.join("config.toml"))?;
    let series = needed(run_dir, "series.csv", Series::read)?;
    series.required("time", &run_dir.join("series.csv"))?;
    let summary = needed(run_dir, "summary.json", Summary::read)?;
    let reference = optional(&run_dir.join("reference.csv"), Reference::read)?;
    let slices = optional(&run_dir.join("slices/slices.json"), read_json::<Vec<SliceEntry>>)?
        .unwrap_or_default();

    let plots = run_dir.join("plots");
    let file = |figure: &Figure| format!("{}.svg", figure.name);
    let place = |figure: &Figure| plots.join(file(figure));
    let history = figures(&series, reference.as_ref(), &summary);
    let statistics = statistics::figures(run_dir)?;
    let names = history.iter().chain(&statistics).map(|figure| format!("plots/{}", file(figure)));
    claim(names.chain(["report.html".into()]).collect())?;
    make_directory(&plots)?;
    let drawn = page::draw(history, place)?;
    let statistics = page::draw(statistics, place)?;
    let mut page = Page { html: page::head("run", &summary.title, &parameters(&summary)) };
    page.verdict(&summary);
    page.numbers(&summary, &series);
    page.push(&page::gallery("History", &drawn));
    page.push(&page::gallery("Statistics", &statistics));
    page.push(&slice_page::slices(run_dir, slices)?);
    page.tables(&summary, &series);
    page.configuration(&config, &summary);
    write_whole(&run_dir.join("report.html"), |writer| writer.write_all(page.html.as_bytes()))
}

/// Read a file that every run has.
fn needed<T>(run_dir: &Path, name: &str, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let path = run_dir.join(name);
    if path.exists() {
        return read(&path);
    }
    let what = if run_dir.is_dir() {
        format!("{name} is missing, so this is no run, or one that stopped before its first output")
    } else {
        "there is no such directory".to_string()
    };
    Err(Error::Format { path: run_dir.to_path_buf(), what })
}

fn optional<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
    path.exists().then(|| read(path)).transpose()
}

/// The page as it grows. Writing to a `String` cannot fail, so results of `write!` are dropped.
struct Page {
    html: String,
}

impl Page {
    fn push(&mut self, text: &str) {
        self.html.push_str(text);
        self.html.push('\n');
    }

    fn verdict(&mut self, summary: &Summary) {
        let (tone, sign) = match summary.verdict {
            Verdict::Passed => ("good", "✓ "),
            Verdict::Deviates | Verdict::UnderResolved => ("bad", "✗ "),
            _ if !summary.finished => ("bad", "! "),
            Verdict::NoReference | Verdict::NoVerdict => ("plain", ""),
        };
        let (name, rest) = match summary.finished {
            true => (capital(&summary.verdict.to_string()), ""),
            false => (
                format!("Not finished: {}", summary.verdict),
                " Everything below is what was computed until then.",
            ),
        };
        let _ = writeln!(
            self.html,
            "<div class=\"verdict {tone}\"><p><strong>{sign}{}</strong><br>{}{rest}</p></div>",
            escape(&name),
            escape(&sentence(&summary.verdict_reason))
        );
    }

    fn numbers(&mut self, summary: &Summary, series: &Series) {
        self.push("<dl class=\"numbers\">");
        if let Some((peak, time)) = peak(series, "dissipation").filter(|peak| peak.0 > 0.0) {
            self.tile("peak dissipation", &number(peak), &format!("at t = {time:.2}"));
        }
        if let Some(worst) = summary.resolution {
            let value = format!("{:.2}", floored(worst.kmax_eta_min));
            self.tile("smallest k<sub>max</sub> η", &value, &format!("at t = {:.2}", worst.time));
        }
        if let Some(error) = series.column("error_max").and_then(|e| e.last()) {
            self.tile("largest error at the end", &number(*error), "");
        }
        if let Some((residual, largest)) = closure(series).filter(|c| c.1 > 0.0) {
            self.tile(
                "energy budget closes to",
                &number(residual / largest),
                "of the largest rate",
            );
        }
        self.tile("time reached", &number(summary.end_time), &format!("{} steps", summary.steps));
        if let Some(ns) = summary.ns_per_point_stage {
            self.tile("per point and stage", &format!("{ns:.1} ns"), "");
        }
        self.tile("wall time", &duration(summary.wall_seconds), "");
        self.push("</dl>");
    }

    /// A number with its name; `name` and `value` are HTML.
    fn tile(&mut self, name: &str, value: &str, remark: &str) {
        let _ = writeln!(
            self.html,
            "<div><dt>{name}</dt><dd>{value} <small>{remark}</small></dd></div>"
        );
    }

    fn tables(&mut self, summary: &Summary, series: &Series) {
        self.push("<div class=\"tables\">\n<div>\n<h2>Numerics</h2>\n<table>");
        let scheme = &summary.scheme;
        for (name, value) in [
            (
                "points",
                format!(
                    "{} ({})",
                    grid(summary.points),
                    thousands(summary.points.iter().product())
                ),
            ),
            ("derivative", scheme.derivative.clone()),
            ("convection", scheme.convection.clone()),
            ("energy equation", scheme.energy.clone()),
            ("viscous terms", scheme.viscous.clone()),
            ("filter", scheme.filter.clone()),
            ("time integration", scheme.integrator.clone()),
            ("precision", summary.precision.clone()),
        ] {
            // A scalar equation has no energy equation and no split forms to name.
            if !value.is_empty() {
                self.row(name, &escape(&value));
            }
        }
        for (name, value) in conservation(series) {
            self.row(&format!("drift of {name}"), &number(value));
        }
        self.push("</table>\n</div>\n<div>\n<h2>Machine and speed</h2>\n<table>");
        let machine = &summary.machine;
        self.row("processor", &escape(&machine.cpu));
        let threads = if summary.ranks.is_some() { "threads a rank" } else { "threads" };
        self.row(threads, &format!("{} of {}", machine.threads, machine.cores));
        self.row("vector instructions", &escape(&machine.simd));
        if let Some(shape) = &machine.shape {
            self.row("work cut by", &escape(shape));
        }
        if let Some(device) = &machine.device {
            self.row("device", &escape(device));
        }
        self.row("backend", &escape(&summary.backend));
        if let Some(ranks) = &summary.ranks {
            let [x, y, z] = ranks.decomposition;
            self.row("ranks", &format!("{} ({x} × {y} × {z})", ranks.count));
            self.row("solves over ranks", &escape(&ranks.method));
        }
        self.row("steps", &summary.steps.to_string());
        self.row("wall time", &duration(summary.wall_seconds));
        if let Some(ns) = summary.ns_per_point_stage {
            self.row("per point and stage", &format!("{ns:.1} ns"));
        }
        self.push("</table>");
        self.phases(summary);
        self.push("</div>\n</div>");
    }

    fn row(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.html, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }

    fn phases(&mut self, summary: &Summary) {
        let total: f64 = summary.phases.values().sum();
        if total <= 0.0 {
            return;
        }
        let mut phases: Vec<(&String, &f64)> = summary.phases.iter().collect();
        phases.sort_by(|a, b| b.1.total_cmp(a.1));
        self.push("<h3>Where the time went</h3>\n<table class=\"phases\">");
        for (name, seconds) in phases {
            let share = 100.0 * seconds / total;
            let mean = summary.ranks.as_ref().and_then(|ranks| ranks.phases_mean.get(name));
            let mean = mean.map_or(String::new(), |mean| format!(" (mean {mean:.1} s)"));
            let _ = writeln!(
                self.html,
                "<tr><th scope=\"row\">{}</th><td>{seconds:.1} s{mean}</td><td>{share:.0} %</td>\
                 <td class=\"share\"><span style=\"width: {share:.1}%\"></span></td></tr>",
                escape(name)
            );
        }
        self.push("</table>");
    }

    fn configuration(&mut self, config: &str, summary: &Summary) {
        let _ = writeln!(
            self.html,
            "<h2>Configuration</h2>\n<p><code>kolmo run config.toml</code> repeats this run.</p>\n<pre>{}</pre>\n{}",
            escape(config.trim_end()),
            page::foot(
                &summary.version,
                "<code>series.csv</code>, <code>summary.json</code>, <code>fields/</code>, <code>plots/</code>"
            )
        );
    }
}

/// `Re = 1600, Ma = 0.1, 64³ points`.
fn parameters(summary: &Summary) -> String {
    let mut parts = Vec::new();
    match (summary.reynolds, summary.mach) {
        (Some(reynolds), _) => parts.push(format!("Re = {}", short(reynolds))),
        (None, Some(_)) => parts.push("inviscid".to_string()),
        (None, None) => {}
    }
    parts.extend(summary.mach.map(|mach| format!("Ma = {}", short(mach))));
    parts.push(format!("{} points", grid(summary.points)));
    parts.join(", ")
}

/// A parameter to four decimals, or all that it has where those do not tell it.
fn short(value: f64) -> f64 {
    let rounded = (value * 1e4).round() / 1e4;
    if (rounded - value).abs() < 1e-3 * value { rounded } else { value }
}

/// With a capital at its beginning and a full stop at its end; what begins with a symbol (kmax) keeps it.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let text = if text.starts_with("kmax") { text.to_string() } else { capital(text) };
    format!("{text}.")
}

/// With a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// 64³, 64² or 64 × 32 × 16.
pub(crate) fn grid([nx, ny, nz]: [usize; 3]) -> String {
    match (nx == ny && ny == nz, nx == ny && nz == 1) {
        (true, _) => format!("{nx}³"),
        (_, true) => format!("{nx}²"),
        _ => format!("{nx} × {ny} × {nz}"),
    }
}

/// 262 144 with narrow spaces.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join("\u{202f}")
}

/// Largest finite value of a column and its time.
pub(crate) fn peak(series: &Series, column: &str) -> Option<(f64, f64)> {
    let rows = series.column(column)?.iter().zip(series.column("time")?);
    let finite = rows.filter(|(v, _)| v.is_finite());
    finite.max_by(|a, b| a.0.total_cmp(b.0)).map(|(v, t)| (*v, *t))
}
