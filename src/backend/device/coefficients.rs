//! Coefficients of formulas that are kernel arguments, not part of the kernel text: runs that differ only in the Reynolds
//! or Mach number use the same compiled kernels.

use super::Arg;
use crate::real::Precision;

/// Largest number of coefficients per kernel; further coefficients go into its text.
pub(super) const MAX_COEFFICIENTS: usize = 32;

/// Coefficients of a kernel: its first parameters.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    precision: Precision,
    /// Their C type.
    c_type: &'static str,
    values: Vec<f64>,
}

impl Coefficients {
    pub(super) fn new(precision: Precision, c_type: &'static str) -> Self {
        Self { precision, c_type, values: Vec::new() }
    }

    pub(super) fn c_type(&self) -> &'static str {
        self.c_type
    }

    /// Returns a number as the kernel text contains it: the name of a coefficient, or a literal for constants of the
    /// method rather than of the gas. Quarters of 1 and integers up to 16 are taken to be constants of the method.
    pub(super) fn text(&mut self, value: f64) -> String {
        if value < 0.0 {
            return format!("(-{})", self.text(-value));
        }
        let known = self.values.iter().position(|old| *old == value);
        let parts = if value < 1.0 { 4.0 } else { 1.0 };
        let is_plain = value <= 16.0 && (parts * value).fract() == 0.0;
        if is_plain || (known.is_none() && self.values.len() == MAX_COEFFICIENTS) {
            return self.precision.literal(value);
        }
        let at = known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        format!("k{at}")
    }

    /// Returns the kernel parameters: the coefficients, then `others`.
    pub(super) fn parameters(&self, others: impl Iterator<Item = String>) -> String {
        let own = (0..self.values.len()).map(|at| format!("const {} k{at}", self.c_type));
        own.chain(others).collect::<Vec<_>>().join(", ")
    }

    /// Returns the arguments of a launch.
    pub(super) fn arguments<'a>(&self) -> impl Iterator<Item = Arg<'a>> + Clone + use<'_, 'a> {
        self.values.iter().map(|value| Arg::Real(self.precision, *value))
    }
}
