//! One line plot as SVG, by `plotters`: readable on a phone, on paper and without colour.

use std::io;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::io::scale::{
    MOST_X_TICKS, Scale, Ticked, decimal, logarithmic_ticks, range, round_ticks, tick,
};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Size of a drawing in pixels; small next to its text, since a page scales it to the width of a phone.
const SIZE: (u32, u32) = (600, 400);
/// Units of a drawing to the pixel: `plotters` draws on whole units, and curves on whole pixels have steps.
const UNITS: u32 = 4;
/// The same for lengths.
const PX: i32 = UNITS.cast_signed();
/// Font size; `plotters` divides it by 1.24 to fill lines of this height.
const TEXT: u32 = 20 * UNITS;
/// Height of a row of the legend.
const ROW: i32 = 24 * PX;
/// Rows of a legend that a plot of the usual height has room for.
const USUAL_ROWS: i32 = 2;
/// Where the legend begins, below the title.
const LEGEND_TOP: i32 = 40 * PX;
/// More points than this along the time axis cannot be seen.
const MOST_POINTS: usize = 1200;
/// The colours of text, grid and paper; `report.css` knows them, and turns them round where the reader's screen is dark.
const INK: RGBColor = RGBColor(26, 26, 26);
const GRID: RGBColor = RGBColor(221, 221, 221);
const PAPER: RGBColor = RGBColor(255, 255, 255);

/// How a curve is drawn: colour and pattern, so that either alone tells curves apart.
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
    /// Solid blue with a dot at every point: few points, each a number of its own.
    Marked,
    /// Long vermilion dashes with a dot at every point.
    MarkedDashed,
    /// Open circles in the colour of text: data that someone else computed.
    Reference,
}

impl Line {
    /// What curves that stand side by side are drawn with, in this order; more than these cannot be told apart.
    pub(crate) const SIDE_BY_SIDE: [Line; 7] =
        [Self::Solid, Self::Dashed, Self::Dotted, Self::Long, Self::Thin, Self::Sky, Self::Ink];

    /// The colours that Okabe and Ito (2008) chose to be told apart by everyone.
    fn stroke(self) -> ShapeStyle {
        let (colour, width) = match self {
            Self::Solid => (RGBColor(0, 114, 178), 3),
            Self::Dashed => (RGBColor(213, 94, 0), 3),
            Self::Dotted => (RGBColor(0, 158, 115), 3),
            Self::Long => (RGBColor(204, 121, 167), 3),
            Self::Thin => (RGBColor(230, 159, 0), 2),
            Self::Sky => (RGBColor(86, 180, 233), 3),
            Self::Ink => (INK, 2),
            Self::Marked => (RGBColor(0, 114, 178), 3),
            Self::MarkedDashed => (RGBColor(213, 94, 0), 3),
            Self::Reference => (INK, 1),
        };
        ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: width * UNITS }
    }

    /// Dash and gap; `None` is a solid line.
    fn dashes(self) -> Option<(i32, i32)> {
        match self {
            Self::Dashed | Self::MarkedDashed => Some((10 * PX, 5 * PX)),
            Self::Dotted => Some((3 * PX, 4 * PX)),
            Self::Long => Some((22 * PX, 6 * PX)),
            Self::Sky => Some((6 * PX, 4 * PX)),
            Self::Ink => Some((16 * PX, 4 * PX)),
            Self::Solid | Self::Thin | Self::Marked | Self::Reference => None,
        }
    }

    fn is_marked(self) -> bool {
        matches!(self, Self::Marked | Self::MarkedDashed)
    }
}

/// A curve over the time axis.
pub(crate) struct Curve {
    /// For the legend.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) line: Line,
    /// (x, y); points that are not finite are left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A plot, most of them over time.
pub(crate) struct Plot {
    /// Over the plot.
    pub(crate) title: String,
    /// What is drawn to the right: `time t`.
    pub(crate) x_label: &'static str,
    /// Whether to draw log₁₀ x; only positive values are drawn then.
    pub(crate) logarithmic_x: bool,
    /// What is drawn upwards.
    pub(crate) y_label: String,
    /// At least one.
    pub(crate) curves: Vec<Curve>,
    /// A horizontal line to compare with, and what it means.
    pub(crate) mark: Option<(f64, String)>,
    /// Whether to draw log₁₀ y where the values span more than two decades or x is logarithmic too; only positive values
    /// are drawn then.
    pub(crate) logarithmic: bool,
}

impl Plot {
    /// The whole plot as the text of an SVG file.
    pub(crate) fn svg(&self) -> io::Result<String> {
        let mut text = String::new();
        let rows = self.legend().last().map_or(1, |&(_, row)| row + 1);
        // A long legend leaves the curves their room.
        let more = (rows - USUAL_ROWS).max(0).cast_unsigned() * (ROW / PX).cast_unsigned();
        let whole = (SIZE.0, SIZE.1 + more);
        let units = (whole.0 * UNITS, whole.1 * UNITS);
        self.draw(&SVGBackend::with_string(&mut text, units).into_drawing_area())
            .map_err(|error| io::Error::other(error.to_string()))?;
        let size = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
        Ok(text.replacen(&size(units), &size(whole), 1))
    }

    fn draw(&self, root: &Area) -> Result<(), Box<dyn std::error::Error>> {
        root.fill(&PAPER)?;
        let (curves, scale) = self.prepared();
        let title = ("sans-serif", TEXT + 3 * UNITS, FontStyle::Bold).into_font().color(&INK);
        root.draw(&Text::new(self.title.as_str(), (12 * PX, 8 * PX), title))?;
        let legend_rows = self.draw_legend(root)?;
        let (_, area) = root.split_vertically(LEGEND_TOP + ROW * legend_rows);

        let x_values = || curves.iter().flatten().map(|p| p.0);
        let mark = self.mark.as_ref().and_then(|(value, _)| scale.apply(*value));
        let y_values = || curves.iter().flatten().map(|p| p.1).chain(mark);
        let (x_min, x_max) = range(x_values());
        let x = if x_max > x_min { (x_min, x_max) } else { (x_min, x_min + 1.0) };
        let y = scale.padded(range(y_values()));

        let mut chart = ChartBuilder::on(&area)
            .margin_left(4 * PX)
            .margin_right(24 * PX)
            .margin_top(8 * PX)
            .margin_bottom(4 * PX)
            .x_label_area_size(54 * PX)
            .y_label_area_size(self.y_label_area(scale, y))
            .build_cartesian_2d(Ticked::new(x, self.x_ticks(x)), y.0..y.1)?;
        let text = ("sans-serif", TEXT).into_font().color(&INK);
        let y_label = scale.label(&self.y_label);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(ShapeStyle { stroke_width: UNITS, ..GRID.into() })
            .axis_style(ShapeStyle { stroke_width: UNITS, ..INK.into() })
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(self.x_label)
            .y_desc(y_label)
            .set_all_tick_mark_size(5 * PX)
            .x_labels(MOST_X_TICKS)
            .y_labels(7)
            .x_label_formatter(&|v| match self.logarithmic_x {
                true => decimal(*v),
                false => tick(*v, x.1 - x.0),
            })
            .y_label_formatter(&|v| scale.tick(*v, y.1 - y.0))
            .draw()?;
        if let Some(mark) = mark {
            let line = ShapeStyle { stroke_width: 2 * UNITS, ..INK.into() };
            chart.draw_series(DashedLineSeries::new(
                [(x.0, mark), (x.1, mark)],
                2 * PX,
                4 * PX,
                line,
            ))?;
        }
        for (curve, points) in self.curves.iter().zip(&curves) {
            let stroke = curve.line.stroke();
            let points = points.iter().copied();
            if points.len() == 1 && curve.line != Line::Reference {
                // A line through one point is nothing to see.
                let dot = ShapeStyle { filled: true, ..stroke };
                chart.draw_series(points.map(|at| Circle::new(at, 3 * PX, dot)))?;
                continue;
            }
            match (curve.line, curve.line.dashes()) {
                (Line::Reference, _) => {
                    let spaced = spaced(points.clone(), (x.1 - x.0) / 32.0);
                    chart.draw_series(spaced.map(|at| Circle::new(at, 4 * PX, stroke)))?;
                }
                (_, Some((dash, gap))) => {
                    chart.draw_series(DashedLineSeries::new(points.clone(), dash, gap, stroke))?;
                }
                (_, None) => {
                    chart.draw_series(LineSeries::new(points.clone(), stroke))?;
                }
            }
            if curve.line.is_marked() {
                let dot = ShapeStyle { filled: true, ..stroke };
                chart.draw_series(points.map(|at| Circle::new(at, 4 * PX, dot)))?;
            }
        }
        root.present()?;
        Ok(())
    }

    /// Where x has numbers: round ones; of a logarithmic axis at the points that are marked where they are few, else at 1,
    /// 2 and 5 times powers of ten, or these alone where the others would be too many. As log₁₀ x there.
    fn x_ticks(&self, x: (f64, f64)) -> Vec<f64> {
        if !self.logarithmic_x {
            return round_ticks(x, MOST_X_TICKS);
        }
        let marked = self.curves.iter().find(|curve| curve.line.is_marked());
        if let Some(marked) = marked.filter(|curve| curve.points.len() <= MOST_X_TICKS) {
            return marked.points.iter().map(|point| point.0.log10()).collect();
        }
        logarithmic_ticks(x)
    }

    /// Room for the label and the numbers at the ticks; the ends of the axis have as many digits as any tick.
    fn y_label_area(&self, scale: Scale, y: (f64, f64)) -> i32 {
        let widest = [y.0, y.1].map(|end| text_width(&scale.tick(end, y.1 - y.0)));
        (92 * PX).max(46 * PX + widest[0].max(widest[1]))
    }

    /// What is drawn: finite points, not too many, in the units of the axis.
    fn prepared(&self) -> (Vec<Vec<(f64, f64)>>, Scale) {
        let sensible = |v: f64| v.is_finite() && v.abs() < 1e200;
        // Powers of ten near the smallest number overflow when the scale is divided by.
        let flat = |y: f64| if y.abs() < 1e-200 { 0.0 } else { y };
        let finite: Vec<Vec<(f64, f64)>> = self
            .curves
            .iter()
            .map(|curve| {
                let points = curve.points.iter().copied();
                let points = points.filter(|&(x, y)| sensible(x) && sensible(y));
                let points = points.filter(|&(x, _)| !self.logarithmic_x || x > 0.0);
                let along = |x: f64| if self.logarithmic_x { x.log10() } else { x };
                thinned(points.map(|(x, y)| (along(x), flat(y))).collect())
            })
            .collect();
        let marked = self.mark.iter().map(|m| flat(m.0));
        let scale = Scale::of(
            finite.iter().flatten().map(|p| p.1).chain(marked),
            self.logarithmic,
            self.logarithmic_x,
        );
        let scaled = finite
            .into_iter()
            .map(|points| {
                points.into_iter().filter_map(|(x, y)| Some((x, scale.apply(y)?))).collect()
            })
            .collect();
        (scaled, scale)
    }

    /// Where the entries of the legend stand: how far from the left, in which row.
    fn legend(&self) -> Vec<(i32, i32)> {
        let left = 12 * PX;
        let (mut x, mut row) = (left, 0);
        let curves = self.curves.iter().map(|curve| &curve.label);
        let place = |label: &String| {
            let width = 62 * PX + text_width(label);
            if x > left && x + width > SIZE.0.cast_signed() * PX {
                (x, row) = (left, row + 1);
            }
            x += width;
            (x - width, row)
        };
        curves.chain(self.mark.iter().map(|(_, label)| label)).map(place).collect()
    }

    /// Samples and names of the curves, above the plot where they hide nothing. Returns the number of rows.
    fn draw_legend(&self, root: &Area) -> Result<i32, Box<dyn std::error::Error>> {
        let text = ("sans-serif", TEXT).into_font().color(&INK);
        let places = self.legend();
        let curves = self.curves.iter().map(|curve| (curve.label.as_str(), Some(curve.line)));
        let mark = self.mark.iter().map(|(_, label)| (label.as_str(), None));
        for ((label, line), &(x, row)) in curves.chain(mark).zip(&places) {
            let y = LEGEND_TOP + ROW * row + ROW / 2;
            let (from, to) = ((x, y), (x + 34 * PX, y));
            match (line, line.and_then(Line::dashes)) {
                (Some(Line::Reference), _) => {
                    let stroke = Line::Reference.stroke();
                    root.draw(&Circle::new((x + 8 * PX, y), 4 * PX, stroke))?;
                    root.draw(&Circle::new((x + 26 * PX, y), 4 * PX, stroke))?;
                }
                (Some(line), Some((dash, gap))) => {
                    root.draw(&DashedPathElement::new([from, to], dash, gap, line.stroke()))?;
                }
                (Some(line), None) => root.draw(&PathElement::new([from, to], line.stroke()))?,
                (None, _) => {
                    let stroke = ShapeStyle { stroke_width: 2 * UNITS, ..INK.into() };
                    root.draw(&DashedPathElement::new([from, to], 2 * PX, 4 * PX, stroke))?;
                }
            }
            if let Some(line) = line.filter(|line| line.is_marked()) {
                let dot = ShapeStyle { filled: true, ..line.stroke() };
                root.draw(&Circle::new((x + 17 * PX, y), 4 * PX, dot))?;
            }
            root.draw(&Text::new(label, (x + 42 * PX, y - 9 * PX), text.clone()))?;
        }
        Ok(places.last().map_or(1, |&(_, row)| row + 1))
    }
}

/// Estimated from the number of letters: SVG leaves the font to the reader's machine.
fn text_width(text: &str) -> i32 {
    let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX / TEXT.cast_signed());
    letters * TEXT.cast_signed() * 45 / 100
}

/// Every k-th point and the last.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % every == 0 || *i == last)
        .map(|p| p.1)
        .collect()
}

/// Points at least `distance` apart in x.
fn spaced(
    points: impl Iterator<Item = (f64, f64)>,
    distance: f64,
) -> impl Iterator<Item = (f64, f64)> {
    let mut last = f64::NEG_INFINITY;
    points.filter(move |&(x, _)| {
        let far = x >= last + distance;
        if far {
            last = x;
        }
        far
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>, [logarithmic_x, logarithmic]: [bool; 2]) -> String {
        let curve = Curve { label: "a".into(), line: Line::MarkedDashed, points };
        let plot = Plot {
            title: "title".into(),
            x_label: "time t",
            logarithmic_x,
            y_label: "y".into(),
            curves: vec![curve],
            mark: None,
            logarithmic,
        };
        plot.svg().unwrap()
    }

    #[test]
    fn curves_without_extent_or_with_broken_values_are_drawn() {
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
            for logarithmic in [[false, false], [false, true], [true, false], [true, true]] {
                let svg = plot(points.clone(), logarithmic);
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}: {svg}");
            }
        }
    }
}
