//! One check: what it shows, what was measured, and what the method should give.

use serde::Serialize;

use crate::error::Result;

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Family and subject: `operators/compact6`.
    pub name: String,
    /// What it shows.
    pub what: String,
    /// The figure: an error, or a distance from what theory gives. Not-a-number fails.
    pub measured: f64,
    /// The most that it may be.
    pub bound: f64,
    /// Where the bound comes from.
    pub source: String,
    /// Whether it is no more.
    pub passed: bool,
}

impl Check {
    /// Whether `measured` ≤ `bound`; `name` has no family yet, [`Report::add`](super::Report::add) gives it one.
    pub(super) fn at_most(name: impl Into<String>, measured: f64, bound: f64) -> Self {
        let [what, source] = [const { String::new() }; 2];
        Self { name: name.into(), what, measured, bound, source, passed: measured <= bound }
    }

    /// With what it shows.
    pub(super) fn shows(self, what: impl Into<String>) -> Self {
        Self { what: what.into(), ..self }
    }

    /// With where the bound comes from.
    pub(super) fn source(self, source: impl Into<String>) -> Self {
        Self { source: source.into(), ..self }
    }
}

/// The larger of two errors; not-a-number wins.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// max |a − b| over the points; not-a-number wins, and is the distance of fields of other points.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, worse)
}

/// The same of the fields of two states.
pub(super) fn distance_of_all(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| distance(a, b)).fold(0.0, worse)
}

/// max |a|.
pub(super) fn largest(a: &[f64]) -> f64 {
    a.iter().map(|a| a.abs()).fold(0.0, worse)
}

/// ln(e₁/e₂) / ln(h₁/h₂): the order at which an error falls with the spacing or the step.
pub(super) fn order(coarse: (f64, f64), fine: (f64, f64)) -> f64 {
    (coarse.1 / fine.1).ln() / (coarse.0 / fine.0).ln()
}

/// How an error falls from a grid to a finer one.
pub(super) struct Fall {
    /// The spacing of the coarse grid.
    pub(super) h: f64,
    /// The error on the fine one.
    pub(super) error: f64,
    pub(super) order: f64,
}

impl Fall {
    /// `errors` gives the spacing of a grid and the error on it.
    pub(super) fn between<G>(
        [coarse, fine]: [G; 2],
        mut errors: impl FnMut(G) -> Result<(f64, f64)>,
    ) -> Result<Self> {
        let (coarse, fine) = (errors(coarse)?, errors(fine)?);
        Ok(Self { h: coarse.0, error: fine.1, order: order(coarse, fine) })
    }
}

/// A count as a number.
pub(super) fn float(count: usize) -> f64 {
    count as f64
}
