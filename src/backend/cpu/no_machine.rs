//! Processors for which no machine code is generated.

use super::program::Code;
use super::rows::Rows;
use crate::real::Real;

/// Generated code: there is none.
#[derive(Debug)]
pub(super) enum Machine {}

impl Machine {
    pub(super) fn substitutes(&self) -> bool {
        match *self {}
    }

    pub(super) unsafe fn run<T: Real>(&self, _: Rows<T>, _: usize, _: &[T; 2]) {
        match *self {}
    }
}

/// Whether code can be generated: never.
pub(super) fn is_available(_: pulp::Arch) -> bool {
    false
}

/// Generates nothing.
pub(super) fn generate<T: Real>(_: &mut Code<T>, _: pulp::Arch) {}
