//! The terms of the right-hand side, and the selection of some of them.

use super::Gas;

/// Terms of the right-hand side: all, or one kind.
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
    /// All groups in the order of the variants.
    pub(super) const ALL: [TermGroup; 4] =
        [TermGroup::All, TermGroup::Convection, TermGroup::Pressure, TermGroup::Viscous];

    /// Whether the terms of this kind are included.
    pub(super) fn has(self, kind: TermGroup) -> bool {
        self == TermGroup::All || self == kind
    }

    /// Whether viscous terms are included.
    pub(super) fn is_viscous(self, gas: &Gas) -> bool {
        self.has(TermGroup::Viscous) && !gas.is_inviscid()
    }
}
