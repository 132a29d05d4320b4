//! The grid lines in the plane of the first two axes with several points, drawn to scale.

use super::{digits, place};
use crate::config::Config;
use crate::grid::Grid;
use crate::io::page::escape;

/// Width of a panel in pixels, and its maximum height.
const PANEL: [f64; 2] = [720.0, 720.0];
/// Margin around panels, and for the text above a panel.
const MARGIN: f64 = 20.0;
const TEXT: f64 = 50.0;
/// Maximum numbers of lines in a panel and of points on a line that can be distinguished.
const MAX_LINES: usize = 160;
const MAX_POINTS: usize = 400;
/// Margin shown on each side of the body, as a fraction of its size.
const BODY_MARGIN: f64 = 0.4;
/// Widths of lines in the interior and at the ends of a bounded axis.
const WIDTHS: [f64; 2] = [0.5, 1.6];

type Point = [f64; 2];

/// A rectangle of the plane: its lower and its upper corner.
type Window = [Point; 2];

/// A line, and whether it is an end of the lines of the other family.
struct Curve {
    points: Vec<Point>,
    is_end: bool,
}

/// Two families of lines: along the first and along the second axis.
struct Lines([Vec<Curve>; 2]);

/// The lines in a window, the height of the panel, and the stride of the drawn lines of each family.
struct Panel {
    svg: String,
    height: f64,
    steps: [usize; 2],
}

/// The figure of the grid of `config`, the input called `name`.
pub(super) fn svg(config: &Config, name: &str) -> String {
    let grid = config.grid();
    let active: Vec<usize> = grid.active_axes().map(|axis| axis.index()).collect();
    let axes = match active[..] {
        [a, b, ..] => [a, b],
        [a] => [a, (a + 1) % 3],
        [] => [0, 1],
    };
    let lines = Lines::of(&grid, axes);
    let whole = window(lines.0.iter().flatten().flat_map(|curve| &curve.points));
    let mut windows = vec![("the grid", whole)];
    if config.problem().has_body() {
        // The body is the first line along ξ.
        let body = window(lines.0[0].iter().take(1).flat_map(|curve| &curve.points));
        let margin = BODY_MARGIN * (body[1][0] - body[0][0]).max(body[1][1] - body[0][1]);
        windows.push(("near the body", [body[0].map(|x| x - margin), body[1].map(|x| x + margin)]));
    }
    let mut top = MARGIN;
    let mut panels = String::new();
    for (at, (what, window)) in windows.iter().enumerate() {
        let Panel { svg, height, steps } = lines.panel(window, top + TEXT, at);
        let names = axes.map(|a| ["x", "y", "z"][a]);
        let range = |k: usize| {
            format!("{} from {} to {}", names[k], digits(window[0][k]), digits(window[1][k]))
        };
        let title = if at == 0 { format!("{name}: {what}") } else { (*what).to_owned() };
        let thinned = match steps {
            [1, 1] => String::new(),
            [a, b] => {
                format!(
                    "; one in {a} of the lines along {}, one in {b} of those along {}",
                    names[0], names[1]
                )
            }
        };
        panels += &format!(
            "<text x=\"{MARGIN}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\n\
             <text x=\"{MARGIN}\" y=\"{:.1}\" font-size=\"13\">{}, {}{thinned}</text>\n{svg}",
            top + 18.0,
            escape(&title),
            top + 38.0,
            range(0),
            range(1),
        );
        top += TEXT + height + MARGIN;
    }
    let width = PANEL[0] + 2.0 * MARGIN;
    format!(
        "<svg width=\"{width}\" height=\"{top:.0}\" viewBox=\"0 0 {width} {top:.0}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"sans-serif\" font-size=\"16\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{panels}</svg>\n"
    )
}

/// The smallest rectangle that contains the points.
fn window<'a>(points: impl Iterator<Item = &'a Point>) -> Window {
    points.fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], point| {
        let both = |k: usize| (low[k].min(point[k]), high[k].max(point[k]));
        let [x, y] = [both(0), both(1)];
        [[x.0, y.0], [x.1, y.1]]
    })
}

impl Lines {
    /// The lines along the first and along the second of `axes`; a second axis with one point is drawn as short strokes.
    fn of(grid: &Grid, axes: [usize; 2]) -> Self {
        let is_flat = grid.points[axes[1]] == 1;
        let h = grid.spacing[axes[0]];
        let point = |own: [usize; 2]| -> Point {
            let mut index = [0; 3];
            index[axes[0]] = own[0];
            if !is_flat {
                index[axes[1]] = own[1];
            }
            let coordinates = place(grid, index);
            let stroke = if own[1] == 0 { 0.0 } else { h };
            [coordinates[axes[0]], if is_flat { stroke } else { coordinates[axes[1]] }]
        };
        let closes = [grid.is_closed_along(axes[0]), !is_flat && grid.is_closed_along(axes[1])];
        let points: [usize; 2] = std::array::from_fn(|k| match k {
            1 if is_flat => 2,
            _ => grid.points[axes[k]] + usize::from(closes[k]),
        });
        Self([0, 1].map(|along| {
            let across = 1 - along;
            let line = |at: usize| {
                let step = points[along].div_ceil(MAX_POINTS);
                let last = points[along] - 1;
                let own = (0..last).step_by(step).chain([last]);
                let index = |i: usize| if along == 0 { [i, at] } else { [at, i] };
                let is_end = !closes[across] && (at == 0 || at == points[across] - 1);
                Curve { points: own.map(|i| point(index(i))).collect(), is_end }
            };
            (0..points[across]).map(line).collect()
        }))
    }

    /// The lines in a window, drawn from `top` on.
    fn panel(&self, window: &Window, top: f64, number: usize) -> Panel {
        let size: Point =
            std::array::from_fn(|k| (window[1][k] - window[0][k]).max(f64::MIN_POSITIVE));
        let scale = (PANEL[0] / size[0]).min(PANEL[1] / size[1]);
        let [width, height] = size.map(|size| scale * size);
        let is_inside =
            |point: &Point| (0..2).all(|k| (window[0][k]..=window[1][k]).contains(&point[k]));
        let mut svg = format!(
            "<clipPath id=\"panel{number}\"><rect x=\"{MARGIN}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/></clipPath>\n\
             <g clip-path=\"url(#panel{number})\" fill=\"none\" stroke=\"#1A1A1A\">\n"
        );
        let mut steps = [1; 2];
        for (step, family) in steps.iter_mut().zip(&self.0) {
            let seen: Vec<&Curve> =
                family.iter().filter(|curve| curve.points.iter().any(is_inside)).collect();
            *step = seen.len().div_ceil(MAX_LINES).max(1);
            let last = seen.len().saturating_sub(1);
            let drawn = seen.iter().enumerate().filter(|(at, _)| at % *step == 0 || *at == last);
            for (_, curve) in drawn {
                let width = WIDTHS[usize::from(curve.is_end)];
                svg += &format!("<path stroke-width=\"{width}\" d=\"");
                // A segment between two points outside is not drawn.
                let is_seen: Vec<bool> = curve.points.iter().map(is_inside).collect();
                let mut pen_is_down = false;
                for (at, point) in curve.points.iter().enumerate() {
                    let adjacent = [at.wrapping_sub(1), at, at + 1];
                    if !adjacent.iter().any(|at| is_seen.get(*at) == Some(&true)) {
                        pen_is_down = false;
                        continue;
                    }
                    let x = MARGIN + scale * (point[0] - window[0][0]);
                    let y = top + scale * (window[1][1] - point[1]);
                    svg += &format!("{}{x:.2} {y:.2}", if pen_is_down { 'L' } else { 'M' });
                    pen_is_down = true;
                }
                svg.push_str("\"/>\n");
            }
        }
        svg.push_str("</g>\n");
        Panel { svg, height, steps }
    }
}
