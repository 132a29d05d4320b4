//! Numbers in formulas that a kernel is given when it is launched, and that are not in its text: runs that differ in the Reynolds or
//! Mach number alone have the same kernels, compiled once.

use super::Arg;
use crate::real::Precision;

/// Most of them that a kernel takes; others are in its text.
pub(super) const MOST_COEFFICIENTS: usize = 32;

/// The coefficients of a kernel, its first parameters.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    precision: Precision,
    /// Their type in C.
    kind: &'static str,
    values: Vec<f64>,
}

impl Coefficients {
    pub(super) fn new(precision: Precision, kind: &'static str) -> Self {
        Self { precision, kind, values: Vec::new() }
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// A number as the text of the kernel has it: the name of a coefficient; or as it is where the method and not the gas asks for it,
    /// which is taken to be so of quarters of 1 and of whole numbers up to 16.
    pub(super) fn text(&mut self, value: f64) -> String {
        if value < 0.0 {
            return format!("(-{})", self.text(-value));
        }
        let known = self.values.iter().position(|old| *old == value);
        let parts = if value < 1.0 { 4.0 } else { 1.0 };
        let is_plain = value <= 16.0 && (parts * value).fract() == 0.0;
        if is_plain || (known.is_none() && self.values.len() == MOST_COEFFICIENTS) {
            return self.precision.literal(value);
        }
        let at = known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        format!("k{at}")
    }

    /// As parameters of the kernel, before `others`.
    pub(super) fn parameters(&self, others: impl Iterator<Item = String>) -> String {
        let own = (0..self.values.len()).map(|at| format!("const {} k{at}", self.kind));
        own.chain(others).collect::<Vec<_>>().join(", ")
    }

    /// As arguments of a launch.
    pub(super) fn arguments<'a>(&self) -> impl Iterator<Item = Arg<'a>> + Clone + use<'_, 'a> {
        self.values.iter().map(|value| Arg::Real(self.precision, *value))
    }
}
