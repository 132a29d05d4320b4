//! Stacked bars of times.

use crate::io::page::escape;
use crate::io::scale::{MAX_X_TICKS, round_ticks, tick};

/// Colours of the parts, a colour-blind-safe palette (Okabe and Ito 2008).
const COLOURS: [&str; 5] = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"];
const INK: &str = "#1A1A1A";
const WIDTH: f64 = 640.0;
/// Minimum width of the bar labels.
const MIN_LABEL_WIDTH: f64 = 150.0;
const ROW_HEIGHT: f64 = 34.0;
const TOP: f64 = 72.0;
/// Estimated width of a letter.
const LETTER_WIDTH: f64 = 9.0;

/// A bar.
pub(crate) struct Bar {
    /// Label on its left.
    pub(crate) label: String,
    /// One length per part name.
    pub(crate) parts: Vec<f64>,
    /// Position of a stroke across the bar: a length to compare with the sum.
    pub(crate) stroke: Option<f64>,
    /// Whether the bar is pale with a dashed border, to set it apart from the others.
    pub(crate) pale: bool,
}

impl Bar {
    /// A bar without a stroke.
    pub(crate) fn new(label: impl Into<String>, parts: Vec<f64>) -> Self {
        Self { label: label.into(), parts, stroke: None, pale: false }
    }

    fn length(&self) -> f64 {
        self.parts.iter().sum::<f64>().max(self.stroke.unwrap_or(0.0))
    }
}

/// Bars below each other, each with one part per entry of `names`.
pub(crate) fn bars(title: &str, unit: &str, names: &[&str], bars: &[Bar]) -> String {
    let longest = bars.iter().map(Bar::length).fold(0.0, f64::max);
    let longest = if longest > 0.0 { longest } else { 1.0 };
    let letters = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let left = MIN_LABEL_WIDTH.max(16.0 + LETTER_WIDTH * letters as f64);
    let width = WIDTH + left - MIN_LABEL_WIDTH;
    let scale = (width - left - 24.0) / longest;
    let bottom = TOP + ROW_HEIGHT * bars.len() as f64;
    let height = bottom + 56.0;
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"sans-serif\" font-size=\"16\" fill=\"{INK}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"18.5\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    let mut x = 12.0;
    for (name, colour) in names.iter().zip(COLOURS) {
        let text = x + 22.0;
        svg += &format!(
            "<rect x=\"{x}\" y=\"38\" width=\"16\" height=\"16\" fill=\"{colour}\"/>\n<text x=\"{text}\" y=\"52\">{}</text>\n",
            escape(name)
        );
        x += 40.0 + LETTER_WIDTH * name.chars().count() as f64;
    }
    for value in round_ticks((0.0, longest), MAX_X_TICKS) {
        let at = left + scale * value;
        svg += &format!(
            "<line x1=\"{at:.2}\" y1=\"{TOP}\" x2=\"{at:.2}\" y2=\"{bottom}\" stroke=\"#DDDDDD\"/>\n\
             <text x=\"{at:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 20.0,
            tick(value, longest)
        );
    }
    for (at, bar) in bars.iter().enumerate() {
        let top = TOP + ROW_HEIGHT * at as f64 + 5.0;
        svg += &format!(
            "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>\n",
            left - 8.0,
            top + 17.0,
            escape(&bar.label)
        );
        draw(&mut svg, bar, [left, top], scale);
    }
    svg += &format!(
        "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n</svg>\n",
        (left + width) / 2.0,
        height - 10.0,
        escape(unit)
    );
    svg
}

/// Draw one bar that starts at (`left`, `top`).
fn draw(svg: &mut String, bar: &Bar, [left, top]: [f64; 2], scale: f64) {
    let (height, opacity) = (ROW_HEIGHT - 10.0, if bar.pale { "0.4" } else { "1" });
    let mut from = left;
    for (part, colour) in bar.parts.iter().zip(COLOURS) {
        let width = scale * part;
        *svg += &format!(
            "<rect x=\"{from:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>\n"
        );
        from += width;
    }
    if bar.pale {
        *svg += &format!(
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{height}\" fill=\"none\" stroke=\"{INK}\" stroke-dasharray=\"4 3\"/>\n",
            from - left
        );
    }
    if let Some(at) = bar.stroke.map(|length| left + scale * length) {
        *svg += &format!(
            "<line x1=\"{at:.2}\" y1=\"{:.2}\" x2=\"{at:.2}\" y2=\"{:.2}\" stroke=\"{INK}\" stroke-width=\"3\"/>\n",
            top - 4.0,
            top + height + 4.0
        );
    }
}
