//! `report.html`: one self-contained page that shows a run.

use std::path::Path;

use crate::Result;
use crate::io::body;
use crate::io::figures::{Figure, budget_residual, conservation, figures, number};
use crate::io::open::check_inside;
use crate::io::page::{self, Page, Script, escape};
use crate::io::profile;
use crate::io::progress::duration;
use crate::io::reference::Reference;
use crate::io::round_off::RoundOff;
use crate::io::series::Series;
use crate::io::slice_page;
use crate::io::slices::SliceEntry;
use crate::io::statistics;
use crate::io::summary::Summary;
use crate::io::user_reference::{USER_REFERENCE, draw_over};
use crate::io::verdict::{Verdict, floored};
use crate::io::{make_directory, malformed, optional, read_json, read_text, write_text};

/// Draw `plots/*.svg` and `report.html` from the files in the run directory: `config.toml`, `series.csv`, `summary.json`, and,
/// where they exist, `reference.csv`, `user_reference.csv`, `profile.csv`, `slices/`, `statistics/` and `reference_spectrum.csv`.
///
/// `claim` receives the names of the files in the directory before they are made.
///
/// # Errors
/// Where a file that every run has is missing or damaged, or `claim` refuses.
pub fn write_report(
    run_dir: &Path,
    claim: &mut dyn FnMut(Vec<String>) -> Result<()>,
) -> Result<()> {
    let data = PageData::read(run_dir, None)?;
    let plots = run_dir.join("plots");
    let file = |figure: &Figure| format!("{}.svg", figure.name);
    let figures = data.history.iter().chain(&data.statistics);
    let names = figures.map(|figure| format!("plots/{}", file(figure)));
    claim(names.chain(["report.html".into()]).collect())?;
    make_directory(&plots)?;
    let page =
        data.page(run_dir, &|figure, svg| page::write_drawing(&plots.join(file(figure)), svg))?;
    write_text(&run_dir.join("report.html"), &page)
}

/// The page of a run in progress, which polls for a newer one: from the files that exist so far. `so_far` is the summary until
/// now; once the run has written its `summary.json`, that file is used, and the page stops polling.
///
/// # Errors
/// Where a file is missing or damaged.
pub(crate) fn live_page(run_dir: &Path, so_far: &Summary) -> Result<String> {
    let ended = run_dir.join("summary.json").exists();
    PageData::read(run_dir, (!ended).then(|| so_far.clone()))?.page(run_dir, &|_, _| Ok(()))
}

/// The data of a run's page.
struct PageData {
    config: String,
    series: Series,
    summary: Summary,
    in_progress: bool,
    slices: Vec<SliceEntry>,
    history: Vec<Figure>,
    statistics: Vec<Figure>,
}

impl PageData {
    /// Read the run directory; `so_far` replaces the summary of a run in progress.
    fn read(run_dir: &Path, so_far: Option<Summary>) -> Result<Self> {
        let config = read_required(run_dir, "config.toml", read_text)?;
        check_inside(run_dir, &run_dir.join("config.toml"))?;
        let series = read_required(run_dir, "series.csv", Series::read)?;
        let in_progress = so_far.is_some();
        if series.times()?.is_empty() && !in_progress {
            return Err(malformed(
                &run_dir.join("series.csv"),
                "there are no rows: the file was cut",
            ));
        }
        let summary = match so_far {
            Some(so_far) => so_far.with_last_row(&series),
            None => read_required(run_dir, "summary.json", Summary::read)?,
        };
        let reference = optional(&run_dir.join("reference.csv"), Reference::read)?;
        let slices = optional(&run_dir.join("slices/slices.json"), read_json::<Vec<SliceEntry>>)?
            .unwrap_or_default();
        let mut history = figures(&series, reference.as_ref(), &summary);
        if let Some(table) = optional(&run_dir.join(USER_REFERENCE), Series::read)? {
            draw_over(&mut history, &table, summary.end_time);
        }
        history.extend(figures_at_the_end(run_dir, summary.end_time)?);
        let statistics = statistics::figures(run_dir)?;
        Ok(Self { config, series, summary, in_progress, slices, history, statistics })
    }

    /// The page; `keep` receives every drawing of it.
    fn page(self, run_dir: &Path, keep: &dyn Fn(&Figure, &str) -> Result<()>) -> Result<String> {
        let Self { config, series, summary, in_progress, slices, history, statistics } = self;
        let (history, statistics) = (page::draw(history, keep)?, page::draw(statistics, keep)?);
        let mut page = Page::new("run", &summary.title, &parameters(&summary));
        let round_off = RoundOff::of(&series, &summary);
        page.section("state", |page| {
            verdict(page, &summary, in_progress);
            numbers(page, &summary, &series, &round_off);
        });
        page.section("history", |page| page.gallery("History", &history));
        page.section("statistics", |page| page.gallery("Statistics", &statistics));
        let is_scalar = series.column("kinetic_energy").is_none();
        let has_slices = slices.iter().any(|slice| is_scalar || slice.max > round_off.vorticity);
        page.section("slices", |page| match has_slices {
            true => slice_page::show(page, run_dir, slices, summary.points),
            false => Ok(()),
        })?;
        page.section("tables", |page| tables(page, &summary, &series));
        let repetition = match summary.restarts.last() {
            None => "<code>kolmo run config.toml</code> repeats this run.".into(),
            Some(step) => format!(
                "This is the configuration since the last restart (at step {step}), like the numerics and the times \
                 by phase above. <code>kolmo run config.toml</code> repeats the run unless a restart changed it; <code>log.jsonl</code> lists what each restart changed."
            ),
        };
        page.push(&format!(
            "<h2>Configuration</h2>\n<p>{repetition}</p>\n<pre>{}</pre>",
            escape(config.trim_end())
        ));
        if in_progress {
            for script in [Script::Plots, Script::Pictures, Script::Live] {
                page.add_script(script);
            }
        }
        let data = ["series.csv", "summary.json", "fields/", "plots/"];
        let data = data.map(|name| format!("<code>{name}</code>")).join(", ");
        Ok(page.html(&summary.version, &data))
    }
}

/// Figures of the values along a line at the end of a run, where it has such figures.
pub(crate) fn figures_at_the_end(run_dir: &Path, end: f64) -> Result<Vec<Figure>> {
    let figures = [profile::figure(run_dir, end)?, body::surface_figure(run_dir, end)?];
    Ok(figures.into_iter().flatten().collect())
}

/// Read a file that every run has.
fn read_required<T>(
    run_dir: &Path,
    name: &str,
    read: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let path = run_dir.join(name);
    if path.exists() {
        return read(&path);
    }
    let what = match run_dir.is_dir() {
        true => {
            format!("{name} is missing: this is not a run, or it stopped before its first output")
        }
        false => "there is no such directory".into(),
    };
    Err(malformed(run_dir, what))
}

fn verdict(page: &mut Page, summary: &Summary, in_progress: bool) {
    let (tone, sign) = match summary.verdict {
        _ if in_progress => ("plain", ""),
        Verdict::Passed => ("good", "✓ "),
        Verdict::Deviates | Verdict::UnderResolved => ("bad", "✗ "),
        _ if !summary.finished => ("bad", "! "),
        Verdict::Measured | Verdict::NoReference | Verdict::NoVerdict => ("plain", ""),
    };
    let (name, rest) = match summary.finished {
        _ if in_progress => ("The run is in progress".into(), " This page follows it."),
        true => (capital(&summary.verdict.to_string()), ""),
        false => (
            format!("Not finished: {}", summary.verdict),
            " Everything below covers the run up to that point.",
        ),
    };
    page.push(&format!(
        "<div class=\"verdict {tone}\"><p><strong>{sign}{}</strong><br>{}{rest}</p></div>",
        escape(&name),
        escape(&sentence(&summary.verdict_reason))
    ));
}

/// The headline numbers: name and value as HTML, remark.
fn numbers(page: &mut Page, summary: &Summary, series: &Series, round_off: &RoundOff) {
    let mut tiles = Vec::new();
    let has_time = !summary.is_steady();
    let largest = peak(series, "dissipation").filter(|peak| has_time && peak.0 > 0.0);
    if let Some((peak, time)) = largest {
        tiles.push(("peak dissipation", number(peak), at_time(time)));
    }
    if let Some(worst) = summary.resolution.filter(|_| !series.has_error()) {
        let value = format!("{:.2}", floored(worst.kmax_eta_min));
        tiles.push(("smallest k<sub>max</sub> η", value, at_time(worst.time)));
    }
    if let Some(error) = series.column("error_max").and_then(|error| error.last()) {
        tiles.push(("largest error at the end", number(*error), String::new()));
    }
    if let Some((residual, largest)) =
        budget_residual(series).filter(|_| round_off.has_budget(series))
    {
        let closes = number(residual / largest);
        tiles.push(("energy budget closes to", closes, "of the largest rate".into()));
    }
    let steps = summary.steps;
    tiles.push(match has_time {
        true => ("time reached", number(summary.end_time), format!("{steps} steps")),
        false => ("steps", steps.to_string(), String::new()),
    });
    if let Some(ns) = summary.ns_per_point_stage {
        tiles.push(("per point and stage", format!("{ns:.1} ns"), String::new()));
    }
    tiles.push(("wall time", wall_time(summary), String::new()));
    page.push("<dl class=\"numbers\">");
    for (name, value, remark) in tiles {
        page.push(&format!("<div><dt>{name}</dt><dd>{value} <small>{remark}</small></dd></div>"));
    }
    page.push("</dl>");
}

/// A remark on a number, in one line.
fn at_time(time: f64) -> String {
    format!("at\u{a0}t\u{a0}=\u{a0}{time:.2}")
}

/// Wall time, with one decimal where it is short.
fn wall_time(summary: &Summary) -> String {
    match summary.wall_seconds {
        seconds if seconds < 10.0 => format!("{seconds:.1} s"),
        seconds => duration(seconds),
    }
}

fn tables(page: &mut Page, summary: &Summary, series: &Series) {
    let scheme = &summary.scheme;
    let count = thousands(summary.points.iter().product());
    let numerics = [
        ("points", format!("{} ({count})", grid(summary.points))),
        ("derivative", scheme.derivative.clone()),
        ("convection", scheme.convection.clone()),
        ("energy equation", scheme.energy.clone()),
        ("viscous terms", scheme.viscous.clone()),
        ("filter", scheme.filter.clone()),
        ("time integration", scheme.integrator.clone()),
        ("precision", summary.precision.clone()),
    ];
    page.push("<div class=\"tables\">\n<div>\n<h2>Numerics</h2>\n<table>");
    // A scalar equation has no energy equation and no split form.
    for (name, value) in numerics.iter().filter(|(_, value)| !value.is_empty()) {
        row(page, name, &escape(value));
    }
    for (name, value) in conservation(series, summary) {
        row(page, &format!("drift of {name}"), &number(value));
    }
    page.push("</table>\n</div>\n<div>\n<h2>Machine and speed</h2>\n<table>");
    let machine = &summary.machine;
    let threads = if summary.ranks.is_some() { "threads per rank" } else { "threads" };
    let over = summary.ranks.as_ref().map(|ranks| {
        let [x, y, z] = ranks.decomposition;
        (format!("{} ({x} × {y} × {z})", ranks.count), ranks.method.clone())
    });
    let (ranks, method) = over.unzip();
    for (name, value) in [
        ("processor", Some(machine.cpu.clone())),
        (threads, Some(format!("{} of {}", machine.threads, machine.cores))),
        ("vector instructions", Some(machine.simd.clone())),
        ("kernel variant", machine.shape.clone()),
        ("device", machine.device.clone()),
        ("backend", Some(summary.backend.clone())),
        ("ranks", ranks),
        ("solves over ranks", method),
        ("steps", Some(summary.steps.to_string())),
        ("wall time", Some(wall_time(summary))),
        ("per point and stage", summary.ns_per_point_stage.map(|ns| format!("{ns:.1} ns"))),
    ] {
        value.iter().for_each(|value| row(page, name, &escape(value)));
    }
    page.push("</table>");
    phases(page, summary);
    page.push("</div>\n</div>");
}

/// A row of a table of names and values; `value` is HTML.
fn row(page: &mut Page, name: &str, value: &str) {
    page.push(&format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>"));
}

fn phases(page: &mut Page, summary: &Summary) {
    let total: f64 = summary.phases.values().sum();
    if total <= 0.0 {
        return;
    }
    let mut phases: Vec<(&String, &f64)> = summary.phases.iter().collect();
    phases.sort_by(|a, b| b.1.total_cmp(a.1));
    page.push("<h3>Where the time went</h3>\n<table class=\"phases\">");
    for (name, seconds) in phases {
        let (shown, share) = (escape(name), 100.0 * seconds / total);
        let mean = summary.ranks.as_ref().and_then(|ranks| ranks.phases_mean.get(name));
        let mean = mean.map_or(String::new(), |mean| format!(" (mean {mean:.1} s)"));
        page.push(&format!(
            "<tr><th scope=\"row\">{shown}</th><td>{seconds:.1} s{mean}</td><td>{share:.0} %</td>\
             <td class=\"share\"><span style=\"width: {share:.1}%\"></span></td></tr>"
        ));
    }
    page.push("</table>");
}

/// `Re = 1600, Ma = 0.1, 64³ points`.
fn parameters(summary: &Summary) -> String {
    let mut parts = Vec::new();
    match (summary.reynolds, summary.mach) {
        (Some(reynolds), _) => parts.push(format!("Re = {}", rounded_parameter(reynolds))),
        (None, Some(_)) => parts.push("inviscid".to_string()),
        (None, None) => {}
    }
    parts.extend(summary.mach.map(|mach| format!("Ma = {}", rounded_parameter(mach))));
    parts.push(format!("{} points", grid(summary.points)));
    parts.join(", ")
}

/// A parameter to four decimals, or to all its digits where four decimals are not enough.
fn rounded_parameter(value: f64) -> f64 {
    let rounded = (value * 1e4).round() / 1e4;
    if (rounded - value).abs() < 1e-3 * value { rounded } else { value }
}

/// The text with an initial capital and a final full stop; a symbol at the beginning (kmax) is unchanged.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let text = if text.starts_with("kmax") { text.to_string() } else { capital(text) };
    format!("{text}.")
}

/// The text with an initial capital.
pub(crate) fn capital(text: &str) -> String {
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
