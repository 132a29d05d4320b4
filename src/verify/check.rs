//! One check: what it shows, what was measured, and what the method should give.

use serde::Serialize;

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
    pub(super) fn at_most(
        name: impl Into<String>,
        what: impl Into<String>,
        measured: f64,
        bound: f64,
        source: impl Into<String>,
    ) -> Self {
        let (name, what, source) = (name.into(), what.into(), source.into());
        Self { name, what, measured, bound, source, passed: measured <= bound }
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

/// max |a|.
pub(super) fn largest(a: &[f64]) -> f64 {
    a.iter().map(|a| a.abs()).fold(0.0, worse)
}

/// ln(e₁/e₂) / ln(h₁/h₂): the order at which an error falls with the spacing or the step.
pub(super) fn order(coarse: (f64, f64), fine: (f64, f64)) -> f64 {
    (coarse.1 / fine.1).ln() / (coarse.0 / fine.0).ln()
}

/// A count as a number.
pub(super) fn float(count: usize) -> f64 {
    count as f64
}
