//! The slices of a report: each plane with axes and one colour scale for all its times. A script shows them as a film with a time
//! slider; without it, and on paper, a few of them stand side by side.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::page::{Page, Script, escape};
use super::palette::colour;
use super::plot_data::evenly_spaced;
use super::scale::{Scale, round_ticks, tick};
use super::slices::{Plane, SliceEntry, common_scale};
use crate::Result;
use crate::grid::Axis;

/// Maximum number of pictures side by side.
const MAX_STILLS: usize = 6;
/// Maximum number of slider times; all pictures stay in `slices/`.
const MAX_TIMES: usize = 60;
/// Maximum number of bytes of the pictures of a quantity: pages are sent by mail.
const MAX_BYTES: u64 = 8 << 20;
/// Number of colours from which the script recovers values.
const COLOUR_STEPS: u32 = 510;
/// Maximum number of ticks along an axis of a picture: of its width, and of a third of its width or less.
const MAX_TICKS: [usize; 2] = [5, 2];

/// The slices of a report, on a grid of `points`; nothing where `slices/` is empty.
pub(super) fn show(
    page: &mut Page,
    run_dir: &Path,
    mut entries: Vec<SliceEntry>,
    points: [usize; 3],
) -> Result<()> {
    entries.retain(|entry| entry.bytes(run_dir).is_some());
    entries.sort_by_key(|entry| entry.step);
    while let Some(first) = entries.first() {
        let quantity = first.quantity.clone();
        let of_quantity;
        (of_quantity, entries) = entries.into_iter().partition(|entry| entry.quantity == quantity);
        show_quantity(page, run_dir, of_quantity, points)?;
    }
    Ok(())
}

/// The slices of one quantity, in the order of their steps.
fn show_quantity(
    page: &mut Page,
    run_dir: &Path,
    entries: Vec<SliceEntry>,
    points: [usize; 3],
) -> Result<()> {
    let mut steps: Vec<u64> = entries.iter().map(|e| e.step).collect();
    steps.dedup();
    let Some(first) = entries.first() else { return Ok(()) };
    let bytes: u64 = entries.iter().filter_map(|entry| entry.bytes(run_dir)).sum();
    let by_size = steps.len() as u64 * MAX_BYTES / bytes.max(1);
    let times = MAX_TIMES.min(usize::try_from(by_size).unwrap_or(MAX_TIMES)).max(MAX_STILLS);
    let shown = evenly_spaced(&steps, times);
    let stills = evenly_spaced(&shown, MAX_STILLS);
    let note = match (shown.len(), steps.len()) {
        (0..=MAX_STILLS, all) if all <= MAX_STILLS => String::new(),
        (shown, all) => format!(
            "{shown} of {all} times under the slider, {MAX_STILLS} on paper; all are in <code>slices/</code>. "
        ),
    };
    page.add_script(Script::Plots);
    page.add_script(Script::Pictures);
    let quantity = escape(&first.quantity);
    page.push(&format!(
        "<div class=\"pictures\" id=\"pictures-{}\" data-quantity=\"{quantity}\" data-unit=\"{}\">\n\
         <h2>Slices: {quantity}</h2>\n<p>{note}In a plane a colour means the same value at all times; each plane has its own scale. \
         Lengths are in L, times in L/V₀.</p>\n<div class=\"planes\">",
        quantity.replace(' ', "-"),
        escape(&first.unit),
    ));
    for plane in [Plane::Xy, Plane::Xz, Plane::Yz] {
        let of_plane = || entries.iter().filter(|entry| entry.plane == plane);
        let Some(first) = of_plane().next() else { continue };
        let scale = common_scale(of_plane());
        let normal = plane.axes()[2];
        // The position of a single plane has no meaning.
        let at = match points[normal] {
            1 => String::new(),
            _ => format!(" at {} = {}", Axis::ALL[normal].name(), tick(first.at, 1.0)),
        };
        let name = plane.name();
        page.push(&format!(
            "<div class=\"plane\" id=\"plane-{}-{name}\" data-scale=\"{} {}\">\n<h3>Plane {name}{at}</h3>\n{}\n<div class=\"slices\">",
            quantity.replace(' ', "-"),
            scale[0],
            scale[1],
            colour_bar(first, scale)
        ));
        for entry in of_plane().filter(|entry| shown.contains(&&entry.step)) {
            let png = entry.coloured(entry.picture(run_dir)?, scale);
            page.push(&picture(entry, &at, &png, stills.contains(&&&entry.step)));
        }
        page.push("</div>\n</div>");
    }
    page.push(&format!(
        "</div>\n<script type=\"application/json\">\"{}\"</script>\n</div>",
        colours()
    ));
    Ok(())
}

/// The colours of the map, at equal steps, six hexadecimal digits each.
fn colours() -> String {
    let hexadecimal = |k| {
        let [r, g, b] = colour(f64::from(k) / f64::from(COLOUR_STEPS));
        format!("{r:02x}{g:02x}{b:02x}")
    };
    (0..=COLOUR_STEPS).map(hexadecimal).collect()
}

/// The colour bar with its values.
fn colour_bar(entry: &SliceEntry, scale: [f64; 2]) -> String {
    let power = Scale::of(scale.into_iter(), false, false);
    let label = match entry.unit.as_str() {
        "" => entry.quantity.clone(),
        unit => format!("{}, in {unit}", entry.quantity),
    };
    let ends = scale.map(|end| power.apply(end).unwrap_or(end));
    let [lowest, highest] = ends.map(|end| tick(end, ends[1] - ends[0]));
    let stops = (0..=16).map(|k| {
        let [r, g, b] = colour(f64::from(k) / 16.0);
        format!(", #{r:02x}{g:02x}{b:02x}")
    });
    format!(
        "<div class=\"colours\"><div>{}: {lowest} to {highest}</div>\n\
         <div class=\"bar\" style=\"background: linear-gradient(to right{})\"></div>\n\
         <div class=\"axis x\">{}</div></div>",
        escape(&power.label(&label)),
        stops.collect::<String>(),
        ticks(ends, "left", MAX_TICKS[0]),
    )
}

/// One picture with its axes.
fn picture(entry: &SliceEntry, at: &str, png: &[u8], is_still: bool) -> String {
    let [right, up, _] = entry.plane.axes().map(|a| Axis::ALL[a].name());
    let [[left, right_end], [low, high]] = entry.edges;
    let is_low = 3.0 * (high - low) < right_end - left;
    let along_right = ticks([left, right_end], "left", MAX_TICKS[0]);
    let along_up = ticks([low, high], "bottom", MAX_TICKS[usize::from(is_low)]);
    let class = if is_still { "" } else { " class=\"extra\"" };
    let step = entry.step;
    let (quantity, plane, time) = (escape(&entry.quantity), entry.plane.name(), entry.time);
    let png = STANDARD.encode(png);
    format!(
        "<figure{class} data-step=\"{step}\" data-time=\"{time}\" data-axes=\"{right}{up}\" \
         data-edges=\"{left} {right_end} {low} {high}\">\
         <div class=\"map\"><div class=\"axis y\"><b>{up} / L</b>{along_up}</div>\
         <img alt=\"{quantity} in the plane {plane}{at} at t = {time:.3}\" src=\"data:image/png;base64,{png}\">\
         <div class=\"axis x\"><b>{right} / L</b>{along_right}</div></div>\
         <figcaption>t = {time:.2}</figcaption></figure>"
    )
}

/// At most `max_ticks` round numbers, each at a distance from `side` proportional to its value.
fn ticks([from, to]: [f64; 2], side: &str, max_ticks: usize) -> String {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return format!("<span style=\"{side}: 0%\">{}</span>", tick(from, from.abs().max(1.0)));
    }
    let number = |value: f64| {
        let share = 100.0 * (value - from) / span;
        format!("<span style=\"{side}: {share:.2}%\">{}</span>", tick(value, span))
    };
    round_ticks((from, to), max_ticks).into_iter().map(number).collect()
}
