//! One line plot as SVG: readable on a phone, on paper and without colour.

use crate::io::page::escape;
use crate::io::scale::{MAX_X_TICKS, Scale, decimal, logarithmic_ticks, range, round_ticks, tick};

/// Size of a drawing in pixels; small next to its text, since a page scales it to the width of a phone.
const SIZE: [f64; 2] = [600.0, 400.0];
/// Font sizes of the text and of the title.
const TEXT_SIZE: f64 = 16.0;
const TITLE_SIZE: f64 = 18.5;
/// Estimated width of a letter: SVG leaves the font to the reader's machine.
const LETTER_WIDTH: f64 = 9.0;
/// Height of a legend row, and where the first row begins.
const ROW_HEIGHT: f64 = 24.0;
const LEGEND_TOP: f64 = 40.0;
/// Legend rows that fit in a plot of the usual height.
const DEFAULT_LEGEND_ROWS: usize = 2;
/// Maximum number of ticks along y.
const MAX_Y_TICKS: usize = 7;
/// Maximum number of points along x: more are not visible.
const MAX_POINTS: usize = 1200;
/// The colours of text, grid and paper; `report.css` refers to them and inverts them in dark mode.
const INK: &str = "#1A1A1A";
const GRID: &str = "#DDDDDD";
const PAPER: &str = "#FFFFFF";

/// How a curve is drawn: colour and pattern, either of which alone distinguishes the curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Solid blue.
    Solid,
    /// Long vermilion dashes.
    Dashed,
    /// Short green dashes.
    Dotted,
    /// Very long purple dashes.
    Long,
    /// Thin solid orange.
    Thin,
    /// Short dashes of sky blue.
    Sky,
    /// Long dashes in the colour of text.
    Ink,
    /// Open circles in the text colour: data from another source.
    Reference,
    /// Open circles in the colour of curve number n of [`Line::SIDE_BY_SIDE`].
    ReferenceOf(usize),
    /// That curve with a dot at every point: few points, each a separate measurement.
    Measured(usize),
    /// Open circles in the colour of that curve: published values of the same quantity.
    Published(usize),
    /// Dots in the text colour: a level to compare with.
    Level,
}

impl Line {
    /// Styles of curves shown side by side, in this order; more curves than these cannot be distinguished.
    pub(crate) const SIDE_BY_SIDE: [Line; 7] =
        [Self::Solid, Self::Dashed, Self::Dotted, Self::Long, Self::Thin, Self::Sky, Self::Ink];

    /// Style number n of these, starting over after the last.
    pub(crate) fn side_by_side(n: usize) -> Self {
        Self::SIDE_BY_SIDE[n % Self::SIDE_BY_SIDE.len()]
    }

    /// Colour, width, dashes. The colours are the colour-blind-safe palette of Okabe and Ito (2008).
    pub(super) fn stroke(self) -> (&'static str, u32, &'static str) {
        match self {
            Self::Solid => ("#0072B2", 3, "none"),
            Self::Dashed => ("#D55E00", 3, "10 5"),
            Self::Dotted => ("#009E73", 3, "3 4"),
            Self::Long => ("#CC79A7", 3, "22 6"),
            Self::Thin => ("#E69F00", 2, "none"),
            Self::Sky => ("#56B4E9", 3, "6 4"),
            Self::Ink => (INK, 2, "16 4"),
            Self::Reference => (INK, 1, "none"),
            Self::Measured(n) => Self::side_by_side(n).stroke(),
            Self::Published(n) | Self::ReferenceOf(n) => {
                (Self::side_by_side(n).stroke().0, 2, "none")
            }
            Self::Level => (INK, 2, "2 4"),
        }
    }

    fn has_dots(self) -> bool {
        matches!(self, Self::Measured(_))
    }

    /// Name of the style: a line, circles at all points or at a few of them, a level.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Reference | Self::ReferenceOf(_) => "few circles",
            Self::Level => "level",
            line if line.has_only_circles() => "circles",
            line if line.has_dots() => "dotted line",
            _ => "line",
        }
    }

    /// Whether only circles are drawn, without a line.
    fn has_only_circles(self) -> bool {
        matches!(self, Self::Reference | Self::ReferenceOf(_) | Self::Published(_))
    }
}

/// A curve over the x axis.
pub(crate) struct Curve {
    /// Legend entry.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) line: Line,
    /// (x, y); non-finite points are left out.
    pub(crate) points: Vec<Point>,
}

impl Curve {
    /// Curve through the points with these coordinates.
    pub(crate) fn new(label: &str, line: Line, x: &[f64], y: &[f64]) -> Self {
        let points = x.iter().copied().zip(y.iter().copied()).collect();
        Self { label: label.into(), line, points }
    }
}

/// (x, y)
pub(crate) type Point = (f64, f64);

/// A plot, usually over time.
pub(crate) struct Plot {
    /// Title above the plot.
    pub(crate) title: String,
    /// Label of the x axis: `time t`.
    pub(crate) x_label: &'static str,
    /// Whether to draw log₁₀ x; only positive values are then drawn.
    pub(crate) logarithmic_x: bool,
    /// Label of the y axis.
    pub(crate) y_label: String,
    /// At least one curve.
    pub(crate) curves: Vec<Curve>,
    /// A horizontal line to compare with, and what it means.
    pub(crate) mark: Option<(f64, String)>,
    /// Whether to draw log₁₀ y where the values span more than two decades or x is logarithmic too; only positive values are then
    /// drawn.
    pub(crate) logarithmic: bool,
    /// Curves at other times, which a slider of the page selects.
    pub(crate) frames: Vec<(f64, Vec<Curve>)>,
}

impl Plot {
    /// Curves over time.
    pub(crate) fn over_time(title: &str, y_label: &str, curves: Vec<Curve>) -> Self {
        Self {
            title: title.into(),
            x_label: "time t",
            logarithmic_x: false,
            y_label: y_label.into(),
            curves,
            mark: None,
            logarithmic: false,
            frames: Vec::new(),
        }
    }

    /// Curves over another quantity, on logarithmic axes.
    pub(crate) fn logarithmic(
        title: &str,
        x_label: &'static str,
        y_label: &str,
        curves: Vec<Curve>,
    ) -> Self {
        let plot = Self::over_time(title, y_label, curves);
        Self { x_label, logarithmic_x: true, logarithmic: true, ..plot }
    }

    /// The whole plot as the text of an SVG file.
    pub(crate) fn svg(&self) -> String {
        let (legend, rows) = self.legend();
        let [width, mut height] = SIZE;
        // A long legend increases the height, so that the curves keep their space.
        height += ROW_HEIGHT * rows.saturating_sub(DEFAULT_LEGEND_ROWS) as f64;
        let mut svg = Svg(format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"{TEXT_SIZE}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n"
        ));
        let title = format!("font-size=\"{TITLE_SIZE}\" font-weight=\"bold\"");
        svg.text((12.0, 22.0), &title, &self.title);
        for (line, label, (x, y)) in legend {
            let points = [(x, y), (x + 34.0, y)];
            let dots = match line {
                line if line.has_only_circles() => vec![(x + 8.0, y), (x + 26.0, y)],
                line if line.has_dots() => vec![(x + 17.0, y)],
                _ => Vec::new(),
            };
            svg.curve(line, &points, &dots);
            svg.text((x + 42.0, y + 5.0), "", label);
        }

        let (curves, scale) = self.axis_points();
        let mark = self.mark.as_ref().and_then(|(value, _)| scale.apply(*value));
        let mut x = range(curves.iter().flatten().map(|p| p.0));
        if x.1 <= x.0 {
            x.1 = x.0 + 1.0;
        }
        let y = scale.padded(range(curves.iter().flatten().map(|p| p.1).chain(mark)));
        let y_tick = |value: f64| scale.tick(value, y.1 - y.0);
        // The end values of the axis have as many digits as any tick.
        let digits = [y.0, y.1].map(|end| y_tick(end).chars().count() as f64);
        let left = 4.0 + f64::max(92.0, 46.0 + LETTER_WIDTH * digits[0].max(digits[1]));
        let (right, top) = (width - 24.0, LEGEND_TOP + ROW_HEIGHT * rows as f64 + 8.0);
        let bottom = height - 58.0;
        let x_pixel = |value: f64| left + (value - x.0) / (x.1 - x.0) * (right - left);
        let y_pixel = |value: f64| bottom - (value - y.0) / (y.1 - y.0) * (bottom - top);

        let middle = "text-anchor=\"middle\"";
        let centre = (top + bottom) / 2.0;
        let rotated = format!("{middle} transform=\"rotate(270, 16, {centre})\"");
        svg.text((16.0, centre), &rotated, &scale.label(&self.y_label));
        svg.text(((left + right) / 2.0, height - 8.0), middle, self.x_label);
        for value in self.x_ticks(x) {
            let at = x_pixel(value);
            svg.line(GRID, (at, top), (at, bottom));
            svg.line(INK, (at, bottom), (at, bottom + 5.0));
            let number = if self.logarithmic_x { decimal(value) } else { tick(value, x.1 - x.0) };
            svg.text((at, bottom + 22.0), middle, &number);
        }
        for value in round_ticks(y, MAX_Y_TICKS) {
            let at = y_pixel(value);
            svg.line(GRID, (left, at), (right, at));
            svg.line(INK, (left - 5.0, at), (left, at));
            svg.text((left - 10.0, at + 5.0), "text-anchor=\"end\"", &y_tick(value));
        }
        svg.line(INK, (left, top), (left, bottom));
        svg.line(INK, (left, bottom), (right, bottom));
        if let Some(mark) = mark {
            svg.curve(Line::Level, &[(left, y_pixel(mark)), (right, y_pixel(mark))], &[]);
        }
        for (curve, points) in self.curves.iter().zip(&curves) {
            let points: Vec<Point> = points.iter().map(|p| (x_pixel(p.0), y_pixel(p.1))).collect();
            let dots = match curve.line {
                Line::Reference | Line::ReferenceOf(_) => spaced(&points, (right - left) / 32.0),
                Line::Published(_) => points.clone(),
                // A line through one point is invisible.
                line if line.has_dots() || points.len() == 1 => points.clone(),
                _ => Vec::new(),
            };
            svg.curve(curve.line, &points, &dots);
        }
        svg.0 + "</svg>\n"
    }

    /// Ticks along x: round numbers. On a logarithmic axis, log₁₀ of the marked points where these are few and span half the
    /// axis, else of 1, 2 and 5 times powers of ten, or of powers of ten alone where that would be too many.
    fn x_ticks(&self, x: (f64, f64)) -> Vec<f64> {
        if !self.logarithmic_x {
            return round_ticks(x, MAX_X_TICKS);
        }
        let marked = self.curves.iter().find(|curve| curve.line.has_dots());
        let few = marked.filter(|curve| curve.points.len() <= MAX_X_TICKS);
        let ticks: Vec<f64> = few
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.0.log10())
            .filter(|tick| (x.0..=x.1).contains(tick))
            .collect();
        let ends = range(ticks.iter().copied());
        let is_wide = !ticks.is_empty() && ends.1 - ends.0 >= (x.1 - x.0) / 2.0;
        if is_wide { ticks } else { logarithmic_ticks(x) }
    }

    /// The points to draw: finite, thinned, in the units of the axes.
    fn axis_points(&self) -> (Vec<Vec<Point>>, Scale) {
        // Division by a power of ten near the smallest f64 overflows.
        let flush_tiny = |y: f64| if y.abs() < 1e-200 { 0.0 } else { y };
        let scaled_x = |x: f64| if self.logarithmic_x { x.log10() } else { x };
        let finite = |curve: &Curve| -> Vec<Point> {
            let points = curve.points.iter().copied();
            let points = points.filter(|&(x, y)| drawable(scaled_x(x)) && drawable(y));
            thinned(points.map(|(x, y)| (scaled_x(x), flush_tiny(y))).collect(), MAX_POINTS)
        };
        let mut curves: Vec<Vec<Point>> = self.curves.iter().map(finite).collect();
        let mark = self.mark.iter().map(|mark| flush_tiny(mark.0));
        let values = curves.iter().flatten().map(|point| point.1).chain(mark);
        let scale = Scale::of(values, self.logarithmic, self.logarithmic_x);
        for points in &mut curves {
            let scaled = points.iter().filter_map(|&(x, y)| Some((x, scale.apply(y)?)));
            *points = scaled.collect();
        }
        (curves, scale)
    }

    /// The legend entries, above the plot where they hide nothing: line, label, start of the sample. And the number of rows.
    fn legend(&self) -> (Vec<(Line, &str, Point)>, usize) {
        let left = 12.0;
        let (mut x, mut row) = (left, 0);
        let curves = self.curves.iter().map(|curve| (curve.line, curve.label.as_str()));
        let mark = self.mark.iter().map(|(_, label)| (Line::Level, label.as_str()));
        let mut entries = Vec::new();
        for (line, label) in curves.chain(mark) {
            let width = 62.0 + LETTER_WIDTH * label.chars().count() as f64;
            if x > left && x + width > SIZE[0] {
                (x, row) = (left, row + 1);
            }
            entries.push((line, label, (x, LEGEND_TOP + ROW_HEIGHT * (row as f64 + 0.5))));
            x += width;
        }
        (entries, row + 1)
    }
}

/// Whether a value can be drawn.
pub(super) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e200
}

/// About `max_points` of the points where there are more: the smallest and the largest of each interval, and the first and the last of
/// all. NaN counts as the largest.
pub(super) fn thinned(points: Vec<Point>, max_points: usize) -> Vec<Point> {
    if points.len() <= max_points {
        return points;
    }
    let (interval, last) = (points.len().div_ceil(max_points / 2), points.len() - 1);
    let mut kept = vec![0, last];
    for from in (0..points.len()).step_by(interval) {
        let within = || from..(from + interval).min(points.len());
        kept.extend(within().min_by(|&i, &j| points[i].1.total_cmp(&points[j].1)));
        kept.extend(within().max_by(|&i, &j| points[i].1.total_cmp(&points[j].1)));
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| points[at]).collect()
}

/// An unfinished drawing.
struct Svg(String);

impl Svg {
    /// Text that starts at `x`, or is placed by the `attributes`.
    fn text(&mut self, (x, y): Point, attributes: &str, text: &str) {
        let text = escape(text);
        self.0 +=
            &format!("<text x=\"{x:.2}\" y=\"{y:.2}\" fill=\"{INK}\" {attributes}>{text}</text>\n");
    }

    fn line(&mut self, colour: &str, from: Point, to: Point) {
        self.0 += &format!(
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"{colour}\"/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through `points`, except for data from other sources, and circles at `dots`.
    fn curve(&mut self, line: Line, points: &[Point], dots: &[Point]) {
        let (colour, width, dashes) = line.stroke();
        if !line.has_only_circles() && points.len() > 1 {
            let points: String = points.iter().map(|(x, y)| format!("{x:.2},{y:.2} ")).collect();
            self.0 += &format!(
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
                 stroke-dasharray=\"{dashes}\" points=\"{}\"/>\n",
                points.trim_end()
            );
        }
        let fill = if line.has_only_circles() { "none" } else { colour };
        for (x, y) in dots {
            self.0 += &format!(
                "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" fill=\"{fill}\" stroke=\"{colour}\"/>\n"
            );
        }
    }
}

/// Points at least `distance` apart in x.
fn spaced(points: &[Point], distance: f64) -> Vec<Point> {
    let mut last = f64::NEG_INFINITY;
    let far = |&(x, _): &Point| {
        let far = x >= last + distance;
        last = if far { x } else { last };
        far
    };
    points.iter().copied().filter(far).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_without_extent_or_with_non_finite_values_are_drawn() {
        let nan = f64::NAN;
        let broken = vec![(0.0, 1.0), (1.0, nan), (2.0, f64::INFINITY), (3.0, -2.0), (nan, 1.0)];
        let cases = [
            vec![],
            vec![(0.0, 0.0)],
            vec![(0.0, 3.0), (1.0, 3.0)],
            vec![(0.0, nan)],
            vec![(0.0, -1.0), (1.0, -2.0)],
            vec![(0.0, 1e-300), (1.0, 1e199)],
            broken,
        ];
        for points in cases {
            for [logarithmic_x, logarithmic] in
                [[false, false], [false, true], [true, false], [true, true]]
            {
                let line = Line::Measured(1);
                let curve = Curve { label: "a".into(), line, points: points.clone() };
                let plot = Plot::over_time("title", "y", vec![curve]);
                let svg = Plot { logarithmic_x, logarithmic, ..plot }.svg();
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}: {svg}");
            }
        }
    }
}
