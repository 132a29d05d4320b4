//! The slices of a report: each plane on one scale of colours for all its times, with axes.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::page::{Page, escape};
use super::palette::colour;
use super::scale::{Scale, round_ticks, tick};
use super::slices::{Plane, SliceEntry, common_scale};
use crate::Result;

/// The page shows slices of at most so many times; all of them stay in `slices/`.
const MOST_TIMES: usize = 6;
/// More numbers than these along an axis of a picture touch each other.
const MOST_TICKS: usize = 5;
/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// What the report shows of `slices/` on a grid of `points`; nothing where that is empty.
pub(super) fn show(
    page: &mut Page,
    run_dir: &Path,
    mut entries: Vec<SliceEntry>,
    points: [usize; 3],
) -> Result<()> {
    entries.retain(|entry| !entry.is_gone(run_dir));
    entries.sort_by_key(|entry| entry.step);
    while let Some(first) = entries.first() {
        let quantity = first.quantity.clone();
        let of_one;
        (of_one, entries) = entries.into_iter().partition(|entry| entry.quantity == quantity);
        show_one(page, run_dir, of_one, points)?;
    }
    Ok(())
}

/// Those of one quantity, in the order of their steps.
fn show_one(
    page: &mut Page,
    run_dir: &Path,
    entries: Vec<SliceEntry>,
    points: [usize; 3],
) -> Result<()> {
    let mut steps: Vec<u64> = entries.iter().map(|e| e.step).collect();
    steps.dedup();
    let Some(first) = entries.first() else { return Ok(()) };
    let some = match steps.len() {
        0..=MOST_TIMES => String::new(),
        all => {
            format!("{MOST_TIMES} of {all} times; the others are in <code>slices/</code>. ")
        }
    };
    page.push(&format!(
        "<h2>Slices: {}</h2>\n<p>{some}In a plane a colour means the same value at all times; each plane has its own scale. \
         Lengths are in L, times in L/V₀.</p>",
        escape(&first.quantity)
    ));
    let shown = evenly(&steps, MOST_TIMES);
    for plane in [Plane::Xy, Plane::Xz, Plane::Yz] {
        let of_plane = || entries.iter().filter(|entry| entry.plane == plane);
        let Some(first) = of_plane().next() else { continue };
        let scale = common_scale(of_plane());
        let across = plane.axes()[2];
        // Where there is one plane, its place says nothing.
        let at = first.at.filter(|_| points[across] > 1);
        let at = at.map_or(String::new(), |at| format!(" at {} = {}", AXES[across], tick(at, 1.0)));
        page.push(&format!("<h3>Plane {}{at}</h3>\n{}", plane.name(), bar(first, scale)));
        page.push("<div class=\"slices\">");
        for entry in of_plane().filter(|entry| shown.contains(&entry.step)) {
            let png = entry.coloured(entry.picture(run_dir)?, scale);
            page.push(&picture(entry, &at, &png));
        }
        page.push("</div>");
    }
    Ok(())
}

/// The colours with their values.
fn bar(entry: &SliceEntry, scale: [f64; 2]) -> String {
    let power = Scale::of(scale.into_iter(), false, false);
    let label = match entry.unit.as_str() {
        "" => entry.quantity.clone(),
        unit => format!("{}, in {unit}", entry.quantity),
    };
    let ends = scale.map(|end| power.apply(end).unwrap_or(end));
    let [least, most] = ends.map(|end| tick(end, ends[1] - ends[0]));
    let stops = (0..=16).map(|k| {
        let [r, g, b] = colour(f64::from(k) / 16.0);
        format!(", #{r:02x}{g:02x}{b:02x}")
    });
    format!(
        "<div class=\"colours\"><div>{}: {least} to {most}</div>\n\
         <div class=\"bar\" style=\"background: linear-gradient(to right{})\"></div>\n\
         <div class=\"axis x\">{}</div></div>",
        escape(&power.label(&label)),
        stops.collect::<String>(),
        ticks(ends, "left"),
    )
}

/// One picture between its axes.
fn picture(entry: &SliceEntry, at: &str, png: &[u8]) -> String {
    let [right, up, _] = entry.plane.axes().map(|a| AXES[a]);
    let [along_right, along_up] = match entry.edges {
        Some([right, up]) => [ticks(right, "left"), ticks(up, "bottom")],
        None => Default::default(),
    };
    let (quantity, plane, time) = (escape(&entry.quantity), entry.plane.name(), entry.time);
    let png = STANDARD.encode(png);
    format!(
        "<figure><div class=\"map\"><div class=\"axis y\"><b>{up}</b>{along_up}</div>\
         <img alt=\"{quantity} in the plane {plane}{at} at t = {time:.3}\" src=\"data:image/png;base64,{png}\">\
         <div class=\"axis x\"><b>{right}</b>{along_right}</div></div>\
         <figcaption>t = {time:.2}</figcaption></figure>"
    )
}

/// Round numbers, each so far from the `side` as its value lies between the ends.
fn ticks([from, to]: [f64; 2], side: &str) -> String {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return format!("<span style=\"{side}: 0%\">{}</span>", tick(from, from.abs().max(1.0)));
    }
    let number = |value: f64| {
        let share = 100.0 * (value - from) / span;
        format!("<span style=\"{side}: {share:.2}%\">{}</span>", tick(value, span))
    };
    round_ticks((from, to), MOST_TICKS).into_iter().map(number).collect()
}

/// At most `most` of the steps, spread evenly, the first and the last among them.
fn evenly(steps: &[u64], most: usize) -> Vec<u64> {
    let count = steps.len().min(most);
    (0..count).map(|k| steps[k * (steps.len() - 1) / (count - 1).max(1)]).collect()
}
