//! Times that add up, as bars.

use std::fmt::Write as _;

use crate::io::page::escape;
use crate::io::scale::{MOST_X_TICKS, round_ticks, tick};

/// The colours of parts, told apart by everyone (Okabe and Ito 2008).
const COLOURS: [&str; 5] = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"];
const WIDTH: f64 = 640.0;
const LEFT: f64 = 150.0;
const ROW: f64 = 34.0;
const TOP: f64 = 72.0;
/// Width of a letter, estimated.
const LETTER: f64 = 9.0;

/// Bars one below the other, each with as many parts as there are `names`.
pub(super) fn bars(title: &str, unit: &str, names: &[&str], rows: &[(String, Vec<f64>)]) -> String {
    let most = rows.iter().map(|(_, parts)| parts.iter().sum::<f64>()).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let scale = (WIDTH - LEFT - 24.0) / most;
    let bottom = TOP + ROW * rows.len() as f64;
    let height = bottom + 56.0;
    let mut svg = format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"sans-serif\" font-size=\"16\" fill=\"#1A1A1A\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"18.5\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    let mut x = 12.0;
    for (name, colour) in names.iter().zip(COLOURS) {
        let text = x + 22.0;
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"38\" width=\"16\" height=\"16\" fill=\"{colour}\"/>\n<text x=\"{text}\" y=\"52\">{}</text>\n",
            escape(name)
        );
        x += 40.0 + LETTER * name.chars().count() as f64;
    }
    for value in round_ticks((0.0, most), MOST_X_TICKS) {
        let at = LEFT + scale * value;
        let _ = write!(
            svg,
            "<line x1=\"{at:.2}\" y1=\"{TOP}\" x2=\"{at:.2}\" y2=\"{bottom}\" stroke=\"#DDDDDD\"/>\n\
             <text x=\"{at:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 20.0,
            tick(value, most)
        );
    }
    for (at, (label, parts)) in rows.iter().enumerate() {
        let top = TOP + ROW * at as f64 + 5.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            top + 17.0,
            escape(label)
        );
        let mut from = LEFT;
        for (part, colour) in parts.iter().zip(COLOURS) {
            let width = scale * part;
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{}\" fill=\"{colour}\"/>",
                ROW - 10.0
            );
            from += width;
        }
    }
    let _ = write!(
        svg,
        "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n</svg>\n",
        (LEFT + WIDTH) / 2.0,
        height - 10.0,
        escape(unit)
    );
    svg
}
