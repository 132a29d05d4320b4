//! Processors for which no machine code is generated.

use super::program::Code;
use super::rows::Rows;
use super::run::Job;
use super::tile::Group;
use crate::real::Real;

/// Generated code: there is none.
#[derive(Debug)]
pub(super) enum Machine {}

impl Machine {
    pub(super) fn substitutes(&self) -> bool {
        match *self {}
    }

    pub(super) unsafe fn run<T: Real>(&self, _: &Job<'_, T>, _: Group, _: Rows<T>, _: usize) {
        match *self {}
    }
}

/// Whether code can be generated: never.
pub(super) fn is_available(_: pulp::Arch) -> bool {
    false
}

/// Whether generated code can load and store the fields: never.
pub(super) fn can_transfer<T: Real>(_: &Code<T>) -> bool {
    false
}

/// Generates nothing.
pub(super) fn generate<T: Real>(_: &mut Code<T>, _: pulp::Arch) {}
