//! One check: its subject, the measured value, and the bound from theory.

use serde::Serialize;

use crate::error::Result;

/// The result of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Family and subject: `operators/compact6`.
    pub name: String,
    /// Description of the property that it verifies.
    pub what: String,
    /// The measured value: an error, or a deviation from theory. NaN fails.
    pub measured: f64,
    /// Maximum allowed value.
    pub bound: f64,
    /// Origin of the bound.
    pub source: String,
    /// Whether `measured` ≤ `bound`.
    pub passed: bool,
}

impl Check {
    /// A check that passes if `measured` ≤ `bound`; [`Report::add`](super::Report::add) adds the family to its `name`.
    pub(super) fn at_most(name: impl Into<String>, measured: f64, bound: f64) -> Self {
        let [what, source] = [const { String::new() }; 2];
        Self { name: name.into(), what, measured, bound, source, passed: measured <= bound }
    }

    /// Sets the description.
    pub(super) fn shows(self, what: impl Into<String>) -> Self {
        Self { what: what.into(), ..self }
    }

    /// Sets the origin of the bound.
    pub(super) fn source(self, source: impl Into<String>) -> Self {
        Self { source: source.into(), ..self }
    }
}

/// The larger of two errors; NaN if either is NaN.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// max |a − b| over the points; NaN if any value is NaN, or if the numbers of points differ.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, worse)
}

/// The same for the fields of two states.
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

/// Decrease of an error from one grid to a finer one.
pub(super) struct Convergence {
    /// The spacing of the coarse grid.
    pub(super) h: f64,
    /// The error on the fine grid.
    pub(super) error: f64,
    pub(super) order: f64,
}

impl Convergence {
    /// `errors` returns the spacing of a grid and the error on it.
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
