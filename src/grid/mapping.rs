//! Maps from a uniform box of points to the plane of the flow: curvilinear grids, which do not depend on z.

use std::f64::consts::TAU;

use serde::Serialize;

use super::aerofoil::AerofoilGrid;
use super::nodes::{minus, size};
use super::stretching::ROUND_OFF;
use crate::expression::Expression;

/// x and y at (s, t), which increase from 0 to 1 in equal steps along the first and the second axis. The rotation from the first to the
/// second is anticlockwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mapping {
    /// The box with sinusoidal grid lines (Visbal and Gaitonde 2002): x = L_x (s + a sin 2πt), y = L_y (t + a sin 2πs).
    Wavy {
        /// a, below 1/2π.
        amplitude: f64,
    },
    /// An O-grid between two circles centred at the origin. s runs clockwise from the x axis, t outward.
    Ring {
        /// Radius of the first circle.
        inner: f64,
        /// Radius of the last circle.
        outer: f64,
        /// Distance between the first two circles; without it, radii are a geometric sequence, which allows cells with equal sides.
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<f64>,
    },
    /// An O-grid around a NACA four-digit aerofoil of chord 1 with the leading edge at the origin. s runs clockwise from the trailing edge,
    /// t outward. It is the conformal image of circles and rays, so that lines cross at right angles; radii grow as for [`Mapping::Ring`].
    Naca {
        /// The section, for example "0012".
        digits: String,
        /// Trailing-edge radius.
        radius: f64,
        /// Radius of the outermost line, nearly a circle around mid-chord.
        outer: f64,
        /// The largest distance between the first two lines, near mid-chord, to first order; without it, as for a ring.
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<f64>,
    },
    /// Two expressions of s and t.
    Expressions {
        /// x.
        x: Expression,
        /// y.
        y: Expression,
    },
}

/// Names in expressions.
const NAMES: [&str; 3] = ["s", "t", "pi"];

impl Mapping {
    /// The function from (s, t) to (x, y) in the box of this `origin` and `length`, with this number of `intervals` along the second axis.
    /// NaN if the parameters have [`problems`](Self::problems).
    pub fn place(
        &self,
        origin: [f64; 2],
        length: [f64; 2],
        intervals: f64,
    ) -> Box<dyn Fn(f64, f64) -> [f64; 2] + '_> {
        match self {
            Self::Wavy { amplitude } => {
                let wave = move |s: f64| amplitude * (TAU * s).sin();
                Box::new(move |s, t| {
                    [origin[0] + length[0] * (s + wave(t)), origin[1] + length[1] * (t + wave(s))]
                })
            }
            Self::Ring { inner, outer, first } => {
                let radius = radii([*inner, *outer], *first, intervals);
                Box::new(move |s, t| {
                    let (sin, cos) = (-TAU * s).sin_cos();
                    [radius(t) * cos, radius(t) * sin]
                })
            }
            Self::Naca { digits, radius, outer, first } => {
                let Ok(grid) = AerofoilGrid::new(digits, *radius) else {
                    return Box::new(|_, _| [f64::NAN; 2]);
                };
                let (outer, first) = grid.radii(*outer, *first);
                let radius = radii([1.0, outer], first, intervals);
                Box::new(move |s, t| grid.place(s, radius(t)))
            }
            Self::Expressions { x, y } => Box::new(move |s, t| {
                [x, y].map(|it| {
                    it.value_with(|name| match name {
                        "s" => s,
                        "t" => t,
                        _ => std::f64::consts::PI,
                    })
                })
            }),
        }
    }

    /// Errors of the parameters that do not depend on the grid, by key: a sentence, with the allowed values on a second line.
    pub fn problems(&self, intervals: f64) -> Vec<(&'static str, String)> {
        match self {
            Self::Wavy { amplitude } => {
                let folds = amplitude.abs() * TAU >= 1.0;
                let found = || format!("lines cross at {amplitude}\nallowed: -0.159 to 0.159");
                folds.then(|| ("amplitude", found())).into_iter().collect()
            }
            Self::Ring { inner, outer, .. } if outer <= inner => {
                let why = format!("{outer} is not outside of inner = {inner}");
                vec![("outer", format!("{why}\nallowed: larger numbers"))]
            }
            Self::Ring { inner, outer, first } => {
                first_spacing_problem(*first, (outer - inner) / intervals).into_iter().collect()
            }
            Self::Naca { digits, radius, outer, first } => {
                let grid = match AerofoilGrid::new(digits, *radius) {
                    Ok(_) if *outer <= 1.0 => {
                        let why = format!("{outer} is no more than the chord of the body, 1");
                        Err(("outer", format!("{why}\nallowed: larger numbers")))
                    }
                    made => made,
                };
                let first = grid.map(|grid| {
                    // For lines at a distance `first` of 1.
                    let (outer, unit) = grid.radii(*outer, Some(1.0));
                    first_spacing_problem(*first, (outer - 1.0) / intervals / unit.unwrap_or(1.0))
                });
                first.unwrap_or_else(Some).into_iter().collect()
            }
            Self::Expressions { x, y } => {
                let unknown = |(key, it): (&'static str, &Expression)| {
                    let names = it.unknown_names(key, &NAMES).into_iter();
                    names.map(move |(_, sentence)| (key, sentence)).collect::<Vec<_>>()
                };
                [("x", x), ("y", y)].into_iter().flat_map(unknown).collect()
            }
        }
    }

    /// Why lines along one of the axes that `closes` marks do not continue beyond their ends as one closed line or periodically: a
    /// sentence, with the allowed values on a second line. Only for expressions; other maps are periodic by construction.
    pub fn seam(&self, closes: [bool; 2]) -> Option<String> {
        let Self::Expressions { .. } = self else { return None };
        let place = self.place([0.0; 2], [0.0; 2], 1.0);
        let of_axis = |a: usize| {
            let at = |along: f64, across: f64| {
                if a == 0 { place(along, across) } else { place(across, along) }
            };
            periodicity_problem(at, a).or_else(|| crossing_problem(at, a))
        };
        (0..2).filter(|a| closes[*a]).find_map(of_axis)
    }
}

/// Where lines along axis `a`, through the points `at` (along, across), do not repeat beyond their ends up to a period.
fn periodicity_problem(at: impl Fn(f64, f64) -> [f64; 2], a: usize) -> Option<String> {
    let lines = (0..=SAMPLES).map(part);
    let samples = lines.flat_map(|t| (0..SAMPLES).map(move |i| (part(i) - 0.5, t)));
    let moves: Vec<_> = samples.map(|(s, t)| (s, t, at(s, t), at(s + 1.0, t))).collect();
    let extent = moves.iter().flat_map(|(_, _, from, to)| [*from, *to]).map(size);
    let round_off = ROUND_OFF * extent.fold(0.0, f64::max);
    let period = minus(at(1.0, 0.0), at(0.0, 0.0));
    let differs = |(_, _, from, to): &&(f64, f64, [f64; 2], [f64; 2])| {
        let deviation = size(minus(minus(*to, *from), period));
        deviation.is_nan() || deviation > round_off
    };
    let (s, t, from, to) = moves.iter().find(differs)?;
    let (axis, [along, across]) = [("x", ["s", "t"]), ("y", ["t", "s"])][a];
    let ([x, y], [px, py], end) = (minus(*to, *from), period, s + 1.0);
    Some(format!(
        "a periodic axis needs a map that continues periodically beyond its ends: where {across} = {t:.4}, from {along} = {s:.4} to \
         {end:.4} (x, y) moves by ({x:.6}, {y:.6}), and from 0 to 1 where {across} = 0 by ({px:.6}, {py:.6})\n\
         cos(2*pi*{along}) does; or give boundary.{axis} two ends"
    ))
}

/// Where the last of the closed lines along axis `a` crosses itself: a simple closed line turns by 2π (Hopf 1935).
fn crossing_problem(at: impl Fn(f64, f64) -> [f64; 2], a: usize) -> Option<String> {
    let places: Vec<_> = (0..=SAMPLES + 1).map(|i| at(part(i), 1.0)).collect();
    let steps: Vec<_> = places.windows(2).map(|pair| minus(pair[1], pair[0])).collect();
    let turn = |pair: &[[f64; 2]]| {
        let [[ax, ay], [bx, by]] = [pair[0], pair[1]];
        (ax * by - ay * bx).atan2(ax * bx + ay * by)
    };
    let rounds = steps.windows(2).map(turn).sum::<f64>().abs() / TAU;
    let period = size(minus(at(1.0, 1.0), places[0]));
    let extent = places.iter().copied().map(size).fold(0.0, f64::max);
    (period <= ROUND_OFF * extent && (rounds - 1.0).abs() > 0.5).then(|| {
        let axis = ["x", "y"][a];
        format!("lines along {axis} cross themselves: they wind around {rounds:.0} times\nallowed: lines that wind around once")
    })
}

/// The fraction of a line at sample `i`.
fn part(i: u32) -> f64 {
    f64::from(i) / f64::from(SAMPLES)
}

/// Number of samples along a line, and number of lines sampled.
const SAMPLES: u32 = 64;

/// The error of a first distance that is not below the equidistant one.
fn first_spacing_problem(first: Option<f64>, equal: f64) -> Option<(&'static str, String)> {
    let first = first.filter(|first| *first >= equal)?;
    let why = format!("{first} is not below {equal}, the value for equal distances");
    Some(("first", format!("{why}\nallowed: smaller numbers")))
}

/// r = inner + (outer − inner) (e^(βt) − 1) / (e^β − 1): a geometric sequence, β = ln(outer / inner), unless the first of the `intervals`
/// is given.
fn radii([inner, outer]: [f64; 2], first: Option<f64>, intervals: f64) -> impl Fn(f64) -> f64 {
    let width = outer - inner;
    let beta = match first {
        None => (outer / inner).ln(),
        Some(first) => growth(first / width, intervals),
    };
    move |t| inner + width * if beta == 0.0 { t } else { (beta * t).exp_m1() / beta.exp_m1() }
}

/// β > 0 for which the first of the `intervals` is the fraction `part` of the total: (e^(β/n) − 1) / (e^β − 1), by bisection.
fn growth(part: f64, intervals: f64) -> f64 {
    let of = |beta: f64| (beta / intervals).exp_m1() / beta.exp_m1();
    let (mut low, mut high) = (1e-9, 600.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if of(middle) > part { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_has_the_requested_radii_and_first_spacing() {
        let ring = Mapping::Ring { inner: 0.5, outer: 30.0, first: Some(0.01) };
        let place = ring.place([0.0; 2], [1.0; 2], 80.0);
        let radius = |t: f64| place(0.3, t).iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((radius(0.0) - 0.5).abs() < 1e-14 && (radius(1.0) - 30.0).abs() < 1e-12);
        assert!((radius(1.0 / 80.0) - 0.51).abs() < 1e-12);
    }

    #[test]
    fn aerofoil_grid_rejects_a_close_far_field_and_a_large_first_spacing() {
        let naca = |outer, first| {
            let digits = "0012".to_string();
            Mapping::Naca { digits, radius: 0.003, outer, first: Some(first) }.problems(80.0)
        };
        assert_eq!(naca(30.0, 0.002), []);
        let why = "0.4 is no more than the chord of the body, 1\nallowed: larger numbers";
        assert_eq!(naca(0.4, 0.002), [("outer", why.to_string())]);
        let found = naca(30.0, 0.9);
        assert!(found.len() == 1 && found[0].0 == "first", "{found:?}");
        assert!(found[0].1.starts_with("0.9 is not below 0.6"), "{found:?}");
    }
}
