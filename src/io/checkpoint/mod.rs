//! Checkpoints: the complete state for a restart, in Zarr v3, complete or absent.
//!
//! `step_00000100.zarr` is a group. It has one array for every conserved field over the whole grid, in the order z, y, x, in at
//! most `output.checkpoint.files` files: up to that many ranks each write their own blocks; with more ranks, some also write the
//! blocks of their neighbours, block by block, so that no rank holds more than one in addition to its own. A file is a shard
//! whose parts, each of one block, have a CRC32C each. Three more arrays, x, y and z, are the coordinates of the points, on
//! curvilinear grids z alone. The attributes of the group are time and step, the [`Head`], the length and XXH3 (128 bit) of every
//! other file, and the XXH3 of both. The hash of a file also covers the run, the step and the name in the group, so that a file
//! in the place of another is detected, even with equal content. Everything is written under the name with `.part` added, flushed to
//! disk and renamed.
//!
//! Reading checks every file before anything is used, and is independent of the ranks and the precision that wrote it. Only rank
//! 0 reads the attributes; it sends every rank the hashes of the files that the rank has to check. The hashes detect accidents,
//! but can be forged, so every value of the head is checked as well.

mod check;
mod directory;
mod files;
mod read;
mod write;
mod zarr;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RunId;
use crate::io::series::{TableMark, xxh3};
use crate::io::summary::Part;
use crate::statistics::{Running, RunningProfiles};
use files::FileChecksum;

pub use directory::{check_name, path, prune, set_aside, steps, steps_on_all, tidy};
pub(crate) use files::{REPLACED, remove};
pub use read::Checkpoint;
pub(crate) use read::is_damaged;
pub use write::Writing;

/// Format that is written, and the newest that can be read.
const FORMAT: u32 = 2;
/// The version of Zarr.
const ZARR_FORMAT: u32 = 3;

/// The content of a checkpoint in addition to the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Version of Kolmo that wrote it.
    pub version: String,
    /// Its run.
    pub run: RunId,
    /// Steps done.
    pub step: u64,
    /// Time reached.
    pub time: f64,
    /// The last dt; 0 before the first step.
    pub last_dt: f64,
    /// Time since the last filtering, and the filter's rate of change of the kinetic energy.
    pub unfiltered: f64,
    /// See `unfiltered`.
    pub filter_rate: f64,
    /// The same rate for the variance of each passive scalar, in the order of their fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalar_filter_rates: Vec<f64>,
    /// Points of the whole grid along x, y, z.
    pub points: [usize; 3],
    /// Names of the fields, in the order of U.
    pub fields: Vec<String>,
    /// Constants that the values of the fields are relative to: the `add_offset` of their arrays.
    pub references: Vec<f64>,
    /// The resolved input, as in `config.toml`.
    pub config: String,
    /// State of the force on the flow, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forcing: Option<ForcingState>,
    /// State of implicit steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<ImplicitState>,
    /// Progress of the outputs of the run.
    pub course: OutputProgress,
}

/// Values that implicit steps keep from their start on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImplicitState {
    /// τ of the filter: (F U − U)/τ is a part of dU/dt. `None` without a filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_time: Option<f64>,
    /// `every` of the filter with this τ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_every: Option<u64>,
    /// Root mean square of dU/dt at the start of a steady run; 0 in others.
    pub first_residual: f64,
    /// Present residual over the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fall: Option<f64>,
}

/// State of a force on the flow between two steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForcingState {
    /// ⟨ρ u·u⟩ / 2 and ⟨ρE⟩ at the start of the run; `None` before its first step.
    pub energies_at_start: Option<[f64; 2]>,
    /// The mass flux that a pressure gradient keeps constant, and the flux and the gradient at the beginning of the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_flux: Option<[f64; 3]>,
    /// Real and imaginary parts of the random processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<f64>,
}

/// Progress of the outputs of a run, from which a restart continues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputProgress {
    /// The last step at which each output was due, if any: rows and files of later steps are removed.
    pub written: BTreeMap<String, u64>,
    /// Number of pictures taken of a run that writes no fields.
    pub pictures: u64,
    /// Averages over time so far.
    pub statistics: Option<Running>,
    /// Averages of profiles between walls so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<RunningProfiles>,
    /// State of the tables, by their names in the run directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, TableMark>,
    /// (step, time) of the written fields and planes, by their folders in the run directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub volumes: BTreeMap<String, Vec<(u64, f64)>>,
    /// Steps from which the run was restarted, in order.
    pub restarts: Vec<u64>,
    /// Earlier parts of the run with another grid or another flow, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Part>,
    /// Wall time so far in seconds.
    pub wall_seconds: f64,
}

/// The attributes of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attributes {
    format: u32,
    head: Head,
    /// Every other file, by its path in the group.
    files: BTreeMap<String, FileChecksum>,
    /// Of the JSON of the other values: XXH3 (128 bit) in hexadecimal digits.
    checksum: String,
}

impl Attributes {
    fn new(head: Head, files: BTreeMap<String, FileChecksum>) -> Self {
        let mut all = Self { format: FORMAT, head, files, checksum: String::new() };
        all.checksum = all.sum();
        all
    }

    fn sum(&self) -> String {
        xxh3(&serde_json::to_vec(&(self.format, &self.head, &self.files)).unwrap_or_default())
    }

    /// A value that distinguishes it from any other checkpoint.
    fn identity(&self) -> Vec<u8> {
        format!("\"{}\"", self.checksum).into_bytes()
    }
}

/// The metadata of a group.
#[derive(Serialize, Deserialize)]
struct Group {
    zarr_format: u32,
    node_type: NodeType,
    attributes: Kolmo,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NodeType {
    Group,
}

#[derive(Serialize, Deserialize)]
struct Kolmo {
    /// Time and step of the head, where other programs find them.
    time: f64,
    /// See `time`.
    step: u64,
    kolmo: Attributes,
}
