//! What a run is asked to do, and how it ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::config::Config;
use crate::error::Result;
use crate::grid::Decomposition;
use crate::io::Live;
use crate::io::checkpoint::{Checkpoint, Head, OutputProgress};

/// How a run ended, where nothing went wrong.
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

/// What is asked of a run while it goes on, by signals for example.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// End after the present step, with a checkpoint.
    pub stop: Arc<AtomicBool>,
    /// Write a checkpoint after the present step, and go on.
    pub checkpoint: Arc<AtomicBool>,
    /// Called when the run is about to begin, to watch for signals: only now, since libraries of devices and of MPI put handlers
    /// of their own in the place of others when they are loaded.
    pub watch: Option<fn(&Requests) -> Result<()>>,
    /// Where its report is shown as it grows; of rank 0 alone.
    pub live: Option<Live>,
}

/// What a run begins from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The initial state of its case.
    Case,
    /// A checkpoint of its own: the run in its directory goes on.
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

    /// What the checkpoint says, where the run goes on in its directory.
    pub(super) fn own_head(&self) -> Option<&Head> {
        self.checkpoint().filter(|_| matches!(self, Self::Own(_))).map(|own| &own.head)
    }

    /// How far the outputs are there.
    pub(super) fn course(&self) -> Option<&OutputProgress> {
        self.own_head().map(|head| &head.course)
    }
}

/// What a run needs to know beside its backend.
pub struct Task<'a> {
    /// What is run.
    pub config: &'a Config,
    /// Where it writes.
    pub directory: &'a Path,
    /// What it begins from.
    pub origin: Origin,
    /// How the grid is cut over ranks.
    pub decomposition: Decomposition,
    /// What is asked of it while it goes on.
    pub requests: &'a Requests,
}
