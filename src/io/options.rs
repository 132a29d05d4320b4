//! What a user chooses of when something is written.

use serde::{Deserialize, Serialize};

use crate::statistics::Statistic;
use crate::typed::{count, not_negative, positive, whole};

/// Most files that fields of one time may be written into, and most checkpoints that may be kept.
pub(crate) const MOST_FILES: i64 = 1 << 20;

/// When something is done: any of these that is set; the first and the last step always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// Steps.
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u64>,
    /// Non-dimensional time; the step is cut to land on it.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub every_time: Option<f64>,
    /// Seconds of wall time.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub every_wall: Option<f64>,
}

/// Files into which a field of a checkpoint goes at most, where nobody asks for another number: as many writers as parallel file
/// systems like, and few enough for one rank to list.
const FILES: usize = 512;

/// `checkpoint = { every_time, keep }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointConfig {
    /// When, besides at step 0 and at the end; `None`: the last state alone.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Option<Schedule>,
    /// How many there are at most; older ones are removed.
    #[serde(deserialize_with = "whole::<usize, 1, MOST_FILES, _, _>")]
    pub keep: usize,
    /// Whether steps go on while one is written.
    pub asynchronous: bool,
    /// Whether the values are compressed (Zstandard).
    pub compress: bool,
    /// Into how many files the ranks write each field at most.
    #[serde(
        deserialize_with = "whole::<usize, 1, MOST_FILES, _, _>",
        skip_serializing_if = "is_usual"
    )]
    pub files: usize,
}

impl CheckpointConfig {
    /// A run leaves its last state, by which it can be extended. Of several, two are kept: should one be damaged there is one
    /// before.
    pub const LAST: Self =
        Self { schedule: None, keep: 2, asynchronous: false, compress: false, files: FILES };
}

fn is_usual(files: &usize) -> bool {
    *files == FILES
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self::LAST
    }
}

/// `statistics = { every_time, from, quantities }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatisticsConfig {
    /// When.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Schedule,
    /// The time at which averages over time begin.
    #[serde(default, deserialize_with = "not_negative")]
    pub from: f64,
    /// Of what.
    #[serde(skip_deserializing)]
    pub quantities: Vec<Statistic>,
    /// The passive scalars of the flow, by their names.
    #[serde(skip)]
    pub scalars: Vec<String>,
}
