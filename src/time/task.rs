//! What a run is asked to do, and how it ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::config::Config;
use crate::error::Result;
use crate::grid::Decomposition;
use crate::io::checkpoint::{Checkpoint, OutputProgress};
use crate::io::{Live, RunId};

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

    /// What tells the run that goes on from others; `None` of one that begins, and of one that began when runs had no number.
    pub(super) fn id(&self) -> Option<RunId> {
        match self {
            Self::Own(checkpoint) => checkpoint.head.run,
            Self::Case | Self::Other(_) => None,
        }
    }

    /// How far the outputs are in the directory, where the run goes on in it.
    pub(super) fn course(&self) -> Option<&OutputProgress> {
        match self {
            Self::Own(checkpoint) => Some(&checkpoint.head.course),
            Self::Case | Self::Other(_) => None,
        }
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
