//! The terms of the right-hand side, and which of them are asked for.

use super::Gas;

/// The terms of the right-hand side, together or one kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermGroup {
    /// Everything.
    All,
    /// Transport of mass and momentum.
    Convection,
    /// The pressure gradient.
    Pressure,
    /// The viscous force.
    Viscous,
}

impl TermGroup {
    /// In the order of the variants.
    pub(super) const ALL: [TermGroup; 4] =
        [TermGroup::All, TermGroup::Convection, TermGroup::Pressure, TermGroup::Viscous];

    /// Whether the terms of one kind are among these.
    pub(super) fn has(self, kind: TermGroup) -> bool {
        self == TermGroup::All || self == kind
    }

    /// Whether viscous terms are among these.
    pub(super) fn is_viscous(self, gas: &Gas) -> bool {
        self.has(TermGroup::Viscous) && !gas.is_inviscid()
    }
}
