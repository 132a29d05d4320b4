//! The passes and sweeps of a stage, to be timed one by one.

use crate::grid::Axis;

/// A pass or a sweep of a stage in 2N storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageSweep {
    /// Axis of its lines.
    pub axis: Axis,
    /// Its task, and the stages that contain it.
    pub part: StagePart,
    /// Values read and written per point in a stage that reads the rates of an earlier one.
    pub words: usize,
}

/// The task of a pass or a sweep in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePart {
    /// Velocity gradients, in the first stage only: later stages get them from the last sweep of the stage before.
    FirstGradients,
    /// Velocity gradients.
    Gradients,
    /// Terms, and gradients for the sweeps that follow.
    Terms,
    /// Terms, update of the state, and its gradients for the next stage.
    LinkedTerms,
    /// Terms and update of the state without gradients, in the last stage of a step.
    LastTerms,
}

impl StagePart {
    /// Its results.
    pub fn name(self) -> &'static str {
        match self {
            StagePart::FirstGradients | StagePart::Gradients => "gradients",
            StagePart::Terms | StagePart::LastTerms => "terms",
            StagePart::LinkedTerms => "terms and gradients",
        }
    }

    /// The stages of a step that contain it.
    pub fn stages(self) -> &'static str {
        match self {
            StagePart::FirstGradients => "first",
            StagePart::Gradients | StagePart::Terms => "all",
            StagePart::LinkedTerms => "all but last",
            StagePart::LastTerms => "last",
        }
    }

    /// Whether it is a pass that only computes gradients.
    pub(crate) fn is_pass(self) -> bool {
        matches!(self, StagePart::FirstGradients | StagePart::Gradients)
    }
}
