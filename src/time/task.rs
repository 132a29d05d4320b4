//! Requests to a run, and how it ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::config::Config;
use crate::error::Result;
use crate::grid::Decomposition;
use crate::io::Live;
use crate::io::checkpoint::{Checkpoint, Head, OutputProgress};

/// How a run ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its end.
    Finished,
    /// It was asked to stop, and has written a checkpoint.
    Stopped,
    /// Its wall time was nearly over, and it has written a checkpoint.
    OutOfTime,
}

impl Ending {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Finished => "reached its end",
            Self::Stopped => "asked to stop",
            Self::OutOfTime => "its wall time was nearly over",
        }
    }
}

/// Requests to a running simulation, for example by signals.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// End after the present step, with a checkpoint.
    pub stop: Arc<AtomicBool>,
    /// Write a checkpoint after the present step, and continue.
    pub checkpoint: Arc<AtomicBool>,
    /// Called when the run is about to begin, to install signal handlers: not earlier, since device and MPI libraries install
    /// their own when they are loaded.
    pub watch: Option<fn(&Requests) -> Result<()>>,
    /// Live display of its report; on rank 0 only.
    pub live: Option<Live>,
}

/// Origin of a run.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The initial state of its case.
    Case,
    /// A checkpoint of its own: the run in its directory continues.
    Own(Checkpoint),
    /// A checkpoint of another run.
    Other(Checkpoint),
}

impl Origin {
    pub(super) fn checkpoint(&self) -> Option<&Checkpoint> {
        match self {
            Self::Case => None,
            Self::Own(checkpoint) | Self::Other(checkpoint) => Some(checkpoint),
        }
    }

    /// The head of the checkpoint, where the run continues in its directory.
    pub(super) fn own_head(&self) -> Option<&Head> {
        self.checkpoint().filter(|_| matches!(self, Self::Own(_))).map(|own| &own.head)
    }

    /// Progress of the outputs at that point.
    pub(super) fn course(&self) -> Option<&OutputProgress> {
        self.own_head().map(|head| &head.course)
    }
}

/// Parameters of a run in addition to its backend.
pub struct Task<'a> {
    /// Configuration.
    pub config: &'a Config,
    /// Output directory.
    pub directory: &'a Path,
    /// Origin.
    pub origin: Origin,
    /// Partition of the grid over ranks.
    pub decomposition: Decomposition,
    /// Requests during the run.
    pub requests: &'a Requests,
}
