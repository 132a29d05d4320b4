//! Processors for which no machine code is generated.

use super::program::Code;
use super::rows::Rows;
use crate::real::Real;

/// Generated code: none.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) substitutes: bool,
}

impl Machine {
    /// Runs the code.
    ///
    /// # Safety
    /// None: it does not exist.
    pub(super) unsafe fn run<T: Real>(&self, _: Rows<T>, _: usize, _: &[T; 2]) {}
}

/// Generates nothing.
pub(super) fn generate<T: Real>(_: &mut Code<T>, _: pulp::Arch) {}
