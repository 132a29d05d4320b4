//! Output schedules and options that a user chooses.

use serde::{Deserialize, Serialize};

use crate::statistics::Statistic;
use crate::typed::{count, not_negative, positive, whole};

/// Maximum number of files per field and time, and of kept checkpoints.
pub(crate) const MAX_FILES: i64 = 1 << 20;

/// When something is done: at any of these that is set, and always at the first and the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// Interval in steps.
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u64>,
    /// Interval in non-dimensional time; the step is shortened to land on it.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub every_time: Option<f64>,
    /// Interval in seconds of wall time.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub every_wall: Option<f64>,
}

/// Default maximum number of files per field of a checkpoint: as many writers as suit parallel file systems, and few enough for
/// one rank to list.
const DEFAULT_FILES: usize = 512;

/// `checkpoint = { every_time, keep }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointConfig {
    /// Schedule, in addition to step 0 and the end; `None`: only the last state.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Option<Schedule>,
    /// Maximum number of checkpoints; older ones are removed.
    #[serde(deserialize_with = "whole::<usize, 1, MAX_FILES, _, _>")]
    pub keep: usize,
    /// Whether the run continues while a checkpoint is written.
    pub asynchronous: bool,
    /// Whether the values are compressed (Zstandard).
    pub compress: bool,
    /// Maximum number of files that the ranks write each field to.
    #[serde(
        deserialize_with = "whole::<usize, 1, MAX_FILES, _, _>",
        skip_serializing_if = "is_default_files"
    )]
    pub files: usize,
}

impl CheckpointConfig {
    /// The last state of a run, from which it can be extended. Two are kept, so that a previous one exists if the last is
    /// damaged.
    pub const LAST: Self = Self {
        schedule: None,
        keep: 2,
        asynchronous: false,
        compress: false,
        files: DEFAULT_FILES,
    };
}

fn is_default_files(files: &usize) -> bool {
    *files == DEFAULT_FILES
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self::LAST
    }
}

/// `statistics = { every_time, from, quantities }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatisticsConfig {
    /// Sampling schedule.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Schedule,
    /// Start of the averages over time.
    #[serde(default, deserialize_with = "not_negative")]
    pub from: f64,
    /// Quantities.
    #[serde(skip_deserializing)]
    pub quantities: Vec<Statistic>,
    /// The passive scalars of the flow, by their names.
    #[serde(skip)]
    pub scalars: Vec<String>,
}
