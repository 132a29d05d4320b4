//! `report.html`: one page that shows a run, and that needs nothing but itself.

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::io::figures::{Figure, closure, conservation, figures, number};
use crate::io::page::{self, escape};
use crate::io::palette::colour;
use crate::io::progress::duration;
use crate::io::reference::Reference;
use crate::io::series::Series;
use crate::io::slices::{Plane, SliceEntry};
use crate::io::statistics;
use crate::io::summary::{RESOLVED_KMAX_ETA, Summary, Verdict};
use crate::io::{make_directory, read_json, read_text, write_whole};
use crate::{Error, Result};

/// The page shows slices of at most so many times; all of them stay in `slices/`.
const MOST_TIMES: usize = 6;

/// Draw `plots/*.svg` and `report.html` from what lies in the run directory: `config.toml`, `series.csv`,
/// `summary.json`, and `reference.csv`, `slices/`, `statistics/` and `reference_spectrum.csv` where they are there.
pub fn write_report(run_dir: &Path) -> Result<()> {
    let config = needed(run_dir, "config.toml", read_text)?;
    let series = needed(run_dir, "series.csv", Series::read)?;
    series.required("time", &run_dir.join("series.csv"))?;
    let summary = needed(run_dir, "summary.json", Summary::read)?;
    let reference = optional(&run_dir.join("reference.csv"), Reference::read)?;
    let slices = optional(&run_dir.join("slices/slices.json"), read_json::<Vec<SliceEntry>>)?
        .unwrap_or_default();

    let plots = run_dir.join("plots");
    make_directory(&plots)?;
    let place = |figure: &Figure| plots.join(figure.name).with_extension("svg");
    let drawn = page::draw(figures(&series, reference.as_ref(), &summary), place)?;
    let statistics = page::draw(statistics::figures(run_dir)?, place)?;
    let mut page = Page { html: page::head(&summary.title, &parameters(&summary)) };
    page.verdict(&summary, &series);
    page.numbers(&summary, &series);
    page.push(&page::gallery("History", &drawn));
    page.push(&page::gallery("Statistics", &statistics));
    page.slices(run_dir, slices)?;
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

    fn verdict(&mut self, summary: &Summary, series: &Series) {
        if !summary.finished {
            let _ = writeln!(
                self.html,
                "<div class=\"verdict bad\"><p><strong>! Not finished</strong><br>{} Everything below is what was \
                 computed until then.</p></div>",
                escape(&sentence(&summary.stop_reason))
            );
        }
        let (tone, name, sentence) = verdict_words(summary, series);
        let _ = writeln!(
            self.html,
            "<div class=\"verdict {tone}\"><p><strong>{name}</strong><br>{sentence}</p></div>"
        );
    }

    fn numbers(&mut self, summary: &Summary, series: &Series) {
        self.push("<dl class=\"numbers\">");
        if let Some((peak, time)) = peak(series, "dissipation").filter(|peak| peak.0 > 0.0) {
            self.tile("peak dissipation", &number(peak), &format!("at t = {time:.2}"));
        }
        if let Some(worst) = summary.resolution {
            let value = format!("{:.2}", worst.kmax_eta_min);
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

    fn slices(&mut self, run_dir: &Path, mut entries: Vec<SliceEntry>) -> Result<()> {
        entries.sort_by_key(|entry| entry.step);
        let mut steps: Vec<u64> = entries.iter().map(|e| e.step).collect();
        steps.dedup();
        let Some(first) = entries.first() else { return Ok(()) };
        let _ = writeln!(self.html, "<h2>Slices: {}</h2>", escape(&first.quantity));
        if steps.len() > MOST_TIMES {
            let _ = writeln!(
                self.html,
                "<p>{MOST_TIMES} of {} times; the others are in <code>slices/</code>.</p>",
                steps.len()
            );
        }
        let shown = evenly(&steps, MOST_TIMES);
        for plane in [Plane::Xy, Plane::Xz, Plane::Yz] {
            let of_plane = |e: &&SliceEntry| e.plane == plane && shown.contains(&e.step);
            let pictures: Vec<&SliceEntry> = entries.iter().filter(of_plane).collect();
            if pictures.is_empty() {
                continue;
            }
            let plane = plane.name();
            let _ = writeln!(self.html, "<h3>Plane {plane}</h3>\n<div class=\"slices\">");
            for entry in pictures {
                let path = run_dir.join("slices").join(&entry.file);
                let png = std::fs::read(&path).map_err(Error::io(&path))?;
                let _ = writeln!(
                    self.html,
                    "<figure><img alt=\"{} in the plane {plane} at t = {:.3}\" src=\"data:image/png;base64,{}\">\
                     <div class=\"bar\" style=\"background: linear-gradient(to right{})\"></div>\
                     <figcaption><div class=\"ends\"><span>{}</span><span>t = {:.2}</span><span>{}</span></div>\
                     </figcaption></figure>",
                    escape(&entry.quantity),
                    entry.time,
                    STANDARD.encode(png),
                    gradient(),
                    number(scale_end(entry.min, entry.max)),
                    entry.time,
                    number(scale_end(entry.max, entry.min)),
                );
            }
            self.push("</div>");
        }
        Ok(())
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

/// With a capital at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
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

/// Tone, name and reason of the verdict; HTML.
fn verdict_words(summary: &Summary, series: &Series) -> (&'static str, &'static str, String) {
    let distance = summary.reference.as_ref().map_or(String::new(), |r| {
        format!(
            "Largest distance from the reference up to t = {:.2}: {} % of its peak in dissipation, {} % of its peak in \
             energy loss, {} % of the first value in kinetic energy. ",
            r.until,
            number(100.0 * r.dissipation_max_deviation),
            number(100.0 * r.energy_loss_max_deviation),
            number(100.0 * r.kinetic_energy_max_deviation),
        )
    });
    let resolution = summary.resolution.map_or(String::new(), |r| {
        let side = if r.kmax_eta_min < RESOLVED_KMAX_ETA { "below" } else { "above" };
        format!(
            "k<sub>max</sub> η is {:.2} at its smallest (t = {:.2}), {side} the {RESOLVED_KMAX_ETA} of a resolved run.",
            r.kmax_eta_min, r.time
        )
    });
    let (tone, name) = match summary.verdict {
        Verdict::Passed => ("good", "✓ Passed: the run lies on the reference"),
        Verdict::Deviates if !summary.finished => ("bad", "✗ Not on the reference to its end"),
        Verdict::Deviates => ("bad", "✗ Deviates from the reference, though resolved"),
        Verdict::UnderResolved => ("bad", "✗ Under-resolved: use more points"),
        Verdict::NoReference if series.column("error_max").is_some() => {
            ("plain", "Compared with the exact solution")
        }
        Verdict::NoReference => ("plain", "No reference to compare with"),
    };
    let error = series.column("error_max").and_then(|e| e.last()).map_or(String::new(), |error| {
        format!("Largest error against the exact solution at the end: {}. ", number(*error))
    });
    (tone, name, format!("{error}{distance}{resolution}"))
}

/// Largest finite value of a column and its time.
pub(crate) fn peak(series: &Series, column: &str) -> Option<(f64, f64)> {
    let rows = series.column(column)?.iter().zip(series.column("time")?);
    let finite = rows.filter(|(v, _)| v.is_finite());
    finite.max_by(|a, b| a.0.total_cmp(b.0)).map(|(v, t)| (*v, *t))
}

/// At most `most` of the steps, spread evenly, the first and the last among them.
fn evenly(steps: &[u64], most: usize) -> Vec<u64> {
    let count = steps.len().min(most);
    (0..count).map(|k| steps[k * (steps.len() - 1) / (count - 1).max(1)]).collect()
}

/// `value`, or zero where it is less than a colour of the scale that ends at `other`.
fn scale_end(value: f64, other: f64) -> f64 {
    if value.abs() < 1e-3 * other.abs() { 0.0 } else { value }
}

/// The stops of the colour map as CSS.
fn gradient() -> String {
    (0..=16).fold(String::new(), |mut stops, k| {
        let [r, g, b] = colour(f64::from(k) / 16.0);
        let _ = write!(stops, ", #{r:02x}{g:02x}{b:02x}");
        stops
    })
}
