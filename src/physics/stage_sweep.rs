//! The passes and sweeps of a stage, for those who time them one by one.

use crate::grid::Axis;

/// A pass or a sweep of a stage in 2N storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageSweep {
    /// Along which its lines lie.
    pub axis: Axis,
    /// What it does, and in which stages.
    pub part: StagePart,
    /// Values read and written at a point, where the rates of an earlier stage are read.
    pub words: usize,
}

/// What a pass or a sweep has to do with a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePart {
    /// Velocity gradients that the last sweep of the stage before leaves, where there is one.
    FirstGradients,
    /// Velocity gradients.
    Gradients,
    /// Terms, and gradients for the sweeps that follow.
    Terms,
    /// Terms, the state advanced, and gradients of it for the stage that follows.
    LinkedTerms,
    /// The same without gradients, where no stage of the step follows.
    LastTerms,
}

impl StagePart {
    /// What it makes.
    pub fn name(self) -> &'static str {
        match self {
            StagePart::FirstGradients | StagePart::Gradients => "gradients",
            StagePart::Terms | StagePart::LastTerms => "terms",
            StagePart::LinkedTerms => "terms and gradients",
        }
    }

    /// The stages of a step that it is part of.
    pub fn stages(self) -> &'static str {
        match self {
            StagePart::FirstGradients => "first",
            StagePart::Gradients | StagePart::Terms => "all",
            StagePart::LinkedTerms => "all but last",
            StagePart::LastTerms => "last",
        }
    }

    /// Whether it is a pass for gradients alone.
    pub(crate) fn is_pass(self) -> bool {
        matches!(self, StagePart::FirstGradients | StagePart::Gradients)
    }
}
