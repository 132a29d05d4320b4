//! Maps from equally spaced lines to lines with clustered points.

use serde::{Deserialize, Serialize};

use super::{Curvilinear, End};
use crate::expression::Expression;

/// A map x(s) along one axis: s increases from 0 to 1 in equal steps, x from one end of the box to the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "map", rename_all = "lowercase")]
pub enum Stretching {
    /// Points clustered at one end or at both.
    Tanh {
        /// Strength of the clustering: the argument of tanh at a clustered end.
        factor: f64,
        /// The clustered ends.
        ends: Ends,
    },
    /// Points clustered around a point of the box (Roberts 1971).
    Sinh {
        /// Strength of the clustering.
        factor: f64,
        /// The coordinate of that point.
        at: f64,
    },
    /// c₁ s + c₂ s² + ...
    Polynomial {
        /// c₁, c₂, ...
        coefficients: Vec<f64>,
    },
    /// An expression of s.
    #[serde(untagged)]
    Expression(Expression),
}

/// The maps of x, y, z; `None` for equal spacings.
pub type Maps = [Option<Stretching>; 3];

/// The points of the lines along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equally spaced.
    Equal,
    /// Mapped along the axis.
    Stretched,
    /// Those of a curvilinear grid.
    Curved,
}

/// The points of the lines along x, y, z.
pub fn spacings(maps: &Maps, mapping: Option<&Curvilinear>) -> [Spacing; 3] {
    [0, 1, 2].map(|a| match (&maps[a], mapping) {
        (Some(_), _) => Spacing::Stretched,
        (None, Some(_)) if a < 2 => Spacing::Curved,
        (None, _) => Spacing::Equal,
    })
}

/// Ends of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// The first.
    Low,
    /// The last.
    High,
    /// Both ends, with equal spacings.
    #[default]
    Both,
}

/// Names in an expression.
const NAMES: [&str; 2] = ["s", "pi"];
/// Number of samples per interval for checks of a map.
const SAMPLES_PER_INTERVAL: u32 = 8;
/// Tolerance for the periodicity of a map, as a fraction of the length.
pub(super) const ROUND_OFF: f64 = 1e-9;

impl Stretching {
    /// x(s) on an axis that starts at `origin`; the values of the map at 0 and 1 are scaled to the ends.
    pub fn place(&self, s: f64, origin: f64, length: f64) -> f64 {
        let [first, last] = [0.0, 1.0].map(|s| self.value(s, origin, length));
        origin + length * ((self.value(s, origin, length) - first) / (last - first))
    }

    /// The map without scaling.
    fn value(&self, s: f64, origin: f64, length: f64) -> f64 {
        match self {
            Self::Tanh { factor, ends } => match ends {
                Ends::Low => (factor * (s - 1.0)).tanh(),
                Ends::High => (factor * s).tanh(),
                Ends::Both => (factor * (2.0 * s - 1.0)).tanh(),
            },
            // Roberts 1971 in the form of Tannehill, Anderson and Pletcher 1997, equation 5.221.
            Self::Sinh { factor, at } => {
                let c = (at - origin) / length;
                let [grown, shrunk] = [factor.exp(), (-factor).exp()];
                let ratio = (1.0 + (grown - 1.0) * c) / (1.0 + (shrunk - 1.0) * c);
                (factor * s - 0.5 * ratio.ln()).sinh()
            }
            Self::Polynomial { coefficients } => {
                coefficients.iter().rev().fold(0.0, |sum, c| s * (c + sum))
            }
            Self::Expression(expression) => expression.value_with(|name| match name {
                "s" => s,
                _ => std::f64::consts::PI,
            }),
        }
    }

    /// The error of the map on `axis`, which starts at `origin`, with this number of `intervals` and these ends: a sentence, with advice on
    /// a second line.
    pub fn problem(
        &self,
        axis: &str,
        [origin, length]: [f64; 2],
        intervals: u32,
        ends: Option<[End; 2]>,
    ) -> Option<String> {
        if let Self::Expression(expression) = self
            && let Some((_, sentence)) = expression.unknown_names(axis, &NAMES).into_iter().next()
        {
            return Some(sentence);
        }
        if let Self::Sinh { at, .. } = self
            && !(origin < *at && *at < origin + length)
        {
            let end = origin + length;
            return Some(format!("at = {at} must lie within the box: from {origin} to {end}"));
        }
        let [first, last] = [0.0, 1.0].map(|s| self.value(s, origin, length));
        if last <= first {
            let does = if last < first { "decreases" } else { "does not increase" };
            return Some(format!(
                "the map {does}, from {first:.6} at s = 0 to {last:.6} at s = 1\n\
                 a map must increase strictly, as s^2 + s does"
            ));
        }
        let x = |s: f64| self.place(s, origin, length);
        let samples = SAMPLES_PER_INTERVAL * intervals;
        let s = |sample: u32| f64::from(sample) / f64::from(samples);
        if let Some(s) = (0..=samples).map(s).find(|s| !x(*s).is_finite()) {
            return Some(format!("the map has no finite value at s = {s}"));
        }
        if let Some(sample) = (0..samples).find(|sample| x(s(sample + 1)) <= x(s(*sample))) {
            let [s, next] = [s(sample), s(sample + 1)];
            let ends = format!("{axis} = {:.6} and {:.6}", x(s), x(next));
            return Some(format!(
                "the map does not increase from s = {s:.6} to {next:.6}: {ends} after it is scaled to the box\n\
                 a map must increase strictly, as s^2 + s does"
            ));
        }
        let planes = ends.into_iter().flatten().zip([0.0, 1.0]).enumerate();
        for (end, (_, plane)) in planes.filter(|(_, (end, _))| *end == End::Symmetry) {
            let odd =
                |s: f64| (x(plane + s) + x(plane - s) - 2.0 * x(plane)).abs() <= ROUND_OFF * length;
            if !(0..samples).all(|sample| odd(0.5 * s(sample))) {
                let which = ["low", "high"][end];
                return Some(format!(
                    "at a symmetry plane the map must continue as its mirror image, at the {which} end\n\
                     as tanh with ends = {:?} does",
                    ["high", "low"][end]
                ));
            }
        }
        let closes = |s: f64| (x(s + 1.0) - x(s) - length).abs() <= ROUND_OFF * length;
        (ends.is_none() && !(0..samples).all(|sample| closes(s(sample) - 0.5))).then(|| {
            format!(
                "a periodic axis needs a map that continues periodically beyond its ends\n\
                 for example {axis} = \"s + 0.1*sin(2*pi*s)\""
            )
        })
    }
}
