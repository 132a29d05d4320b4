//! The slices of a report: each plane on one scale of colours for all its times, with axes.

use std::fmt::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::page::escape;
use super::palette::colour;
use super::scale::{Scale, round_ticks, tick};
use super::slices::{Plane, SliceEntry, common_scale};
use crate::Result;

/// The page shows slices of at most so many times; all of them stay in `slices/`.
const MOST_TIMES: usize = 6;

/// What the report shows of `slices/`; nothing where that is empty. Writing to a `String` cannot fail, so results of
/// `write!` are dropped.
pub(super) fn slices(run_dir: &Path, mut entries: Vec<SliceEntry>) -> Result<String> {
    entries.retain(|entry| !entry.is_gone(run_dir));
    entries.sort_by_key(|entry| entry.step);
    let mut steps: Vec<u64> = entries.iter().map(|e| e.step).collect();
    steps.dedup();
    let mut html = String::new();
    let Some(first) = entries.first() else { return Ok(html) };
    let _ = write!(html, "<h2>Slices: {}</h2>\n<p>", escape(&first.quantity));
    if steps.len() > MOST_TIMES {
        let _ = write!(
            html,
            "{MOST_TIMES} of {} times; the others are in <code>slices/</code>. ",
            steps.len()
        );
    }
    html += "In a plane a colour means the same value at all times; each plane has its own scale. Lengths are in L, times in \
             L/V₀.</p>\n";
    let shown = evenly(&steps, MOST_TIMES);
    for plane in [Plane::Xy, Plane::Xz, Plane::Yz] {
        let of_plane = || entries.iter().filter(|entry| entry.plane == plane);
        let Some(first) = of_plane().next() else { continue };
        let scale = common_scale(of_plane());
        let across = ["x", "y", "z"][plane.axes()[2]];
        let at = first.at.map_or(String::new(), |at| format!(" at {across} = {}", tick(at, 1.0)));
        let _ = writeln!(html, "<h3>Plane {}{at}</h3>", plane.name());
        bar(&mut html, first, scale);
        html += "<div class=\"slices\">\n";
        for entry in of_plane().filter(|entry| shown.contains(&entry.step)) {
            let png = entry.picture(run_dir)?;
            picture(&mut html, entry, &at, &entry.coloured(png, scale));
        }
        html += "</div>\n";
    }
    Ok(html)
}

/// The colours with their values.
fn bar(html: &mut String, entry: &SliceEntry, scale: [f64; 2]) {
    let [low, high] = scale;
    let power = Scale::of(scale.into_iter(), false, false);
    let label = match entry.unit.as_str() {
        "" => entry.quantity.clone(),
        unit => format!("{}, in {unit}", entry.quantity),
    };
    let ends = [low, high].map(|end| power.apply(end).unwrap_or(end));
    let [least, most] = ends.map(|end| tick(end, ends[1] - ends[0]));
    let _ = writeln!(
        html,
        "<div class=\"colours\"><div>{}: {least} to {most}</div>\n\
         <div class=\"bar\" style=\"background: linear-gradient(to right{})\"></div>\n\
         <div class=\"axis x\">{}</div></div>",
        escape(&power.label(&label)),
        gradient(),
        ticks(ends, "left"),
    );
}

/// One picture between its axes.
fn picture(html: &mut String, entry: &SliceEntry, at: &str, png: &[u8]) {
    let axes = entry.plane.axes().map(|a| ["x", "y", "z"][a]);
    let [along, up] = match entry.edges {
        Some([along, up]) => [ticks(along, "left"), ticks(up, "bottom")],
        None => Default::default(),
    };
    let _ = writeln!(
        html,
        "<figure><div class=\"map\"><div class=\"axis y\"><b>{}</b>{up}</div>\
         <img alt=\"{} in the plane {}{at} at t = {:.3}\" src=\"data:image/png;base64,{}\">\
         <div class=\"axis x\"><b>{}</b>{along}</div></div>\
         <figcaption>t = {:.2}</figcaption></figure>",
        axes[1],
        escape(&entry.quantity),
        entry.plane.name(),
        entry.time,
        STANDARD.encode(png),
        axes[0],
        entry.time,
    );
}

/// Round numbers, each so far from the `side` as its value lies between the ends.
fn ticks([from, to]: [f64; 2], side: &str) -> String {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return format!("<span style=\"{side}: 0%\">{}</span>", tick(from, from.abs().max(1.0)));
    }
    round_ticks((from, to), 5).into_iter().fold(String::new(), |mut html, value| {
        let share = 100.0 * (value - from) / span;
        let _ = write!(html, "<span style=\"{side}: {share:.2}%\">{}</span>", tick(value, span));
        html
    })
}

/// At most `most` of the steps, spread evenly, the first and the last among them.
fn evenly(steps: &[u64], most: usize) -> Vec<u64> {
    let count = steps.len().min(most);
    (0..count).map(|k| steps[k * (steps.len() - 1) / (count - 1).max(1)]).collect()
}

/// The stops of the colour map as CSS.
fn gradient() -> String {
    (0..=16).fold(String::new(), |mut stops, k| {
        let [r, g, b] = colour(f64::from(k) / 16.0);
        let _ = write!(stops, ", #{r:02x}{g:02x}{b:02x}");
        stops
    })
}
