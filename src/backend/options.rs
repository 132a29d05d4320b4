//! What a user chooses of where and how a run is computed.

use serde::{Deserialize, Serialize};

use super::device::LineSolver;
use crate::engine::distributed::Method;
use crate::real::Precision;
use crate::typed::{or_auto, three, whole};

/// `[compute]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputeConfig {
    /// Where fields live.
    pub backend: BackendChoice,
    /// Number of the device among those of its interface; `None` gives each rank of a host the next.
    #[serde(deserialize_with = "whole::<usize, 0, 1023, _, _>", serialize_with = "or_auto")]
    pub device: Option<usize>,
    /// Threads; `None` is one per core.
    #[serde(deserialize_with = "whole::<usize, 1, 4096, _, _>", serialize_with = "or_auto")]
    pub threads: Option<usize>,
    /// Vector instructions of the host; `None` is the best that it has.
    #[serde(serialize_with = "or_auto")]
    pub simd: Option<Simd>,
    /// Precision of the fields.
    pub precision: Precision,
    /// How line systems are solved; `None` is the best for each operator.
    #[serde(serialize_with = "or_auto")]
    pub line_solver: Option<LineSolver>,
    /// How a device solves lines along y and z.
    pub pencils: Pencils,
    /// How sweeps that are one kernel are cut on a GPU.
    #[serde(skip_deserializing)]
    pub sweeps: SweepConfig,
    /// How the right-hand side is computed.
    pub right_hand_side: RightHandSide,
    /// Whether the backend measures how it cuts its work best, where that is not known of this machine.
    pub tune: bool,
    /// How lines that are spread over ranks are solved; `None` is the best for each operator.
    #[serde(serialize_with = "or_auto")]
    pub distributed: Option<Method>,
    /// Ranks along x, y and z; `None` is the best for their number.
    #[serde(deserialize_with = "three::<usize, 1, 65536, _, _>", serialize_with = "or_auto")]
    pub ranks: Option<[usize; 3]>,
    /// Whether MPI is given addresses in the memory of CUDA devices: `Auto` where the library says that it takes them and messages
    /// were seen to arrive; a library that does not take them crashes where it is forced.
    pub device_aware: Wish,
    /// Whether messages of CUDA devices go by NCCL: `Auto` where it is installed and messages were seen to arrive.
    pub nccl: Wish,
}

impl Default for ComputeConfig {
    fn default() -> Self {
        ComputeConfig {
            backend: BackendChoice::default(),
            device: None,
            threads: None,
            simd: None,
            precision: Precision::default(),
            line_solver: None,
            pencils: Pencils::default(),
            sweeps: SweepConfig::default(),
            right_hand_side: RightHandSide::default(),
            tune: true,
            distributed: None,
            ranks: None,
            device_aware: Wish::default(),
            nccl: Wish::default(),
        }
    }
}

/// `[compute.sweeps]`: the blocks of sweeps that are one kernel on a device. `None` is what is best for each sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepConfig {
    /// Points of a line that a thread takes.
    #[serde(deserialize_with = "whole::<usize, 4, 8, _, _>", serialize_with = "or_auto")]
    pub points: Option<usize>,
    /// Lines of a block.
    #[serde(deserialize_with = "whole::<usize, 1, 1024, _, _>", serialize_with = "or_auto")]
    pub lines: Option<usize>,
    /// Blocks that a multiprocessor holds at once; they share its registers and its on-chip memory.
    #[serde(deserialize_with = "whole::<usize, 1, 32, _, _>", serialize_with = "or_auto")]
    pub resident: Option<usize>,
    /// Whether fields come to on-chip memory before they are needed.
    #[serde(serialize_with = "or_auto")]
    pub early: Option<bool>,
    /// Tiles that a block does in turn at most, where fields come early.
    #[serde(deserialize_with = "whole::<usize, 1, 65536, _, _>", serialize_with = "or_auto")]
    pub turns: Option<usize>,
    /// Whether the last sweep of a stage leaves gradients for the next stage, where it can.
    #[serde(serialize_with = "or_auto")]
    pub link: Option<bool>,
}

impl SweepConfig {
    /// Whether something is asked for.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// Where fields live and loops run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendChoice {
    /// The best there is on this machine.
    #[default]
    Auto,
    /// Threads and SIMD on the host.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// A GPU of any maker, or a CPU through PoCL.
    OpenCl,
}

/// Vector instructions that the loops of the host are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Simd {
    /// x86-64 with AVX-512.
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// 64-bit Arm.
    Neon,
    /// What every processor of its kind has: SSE2 on x86-64.
    Baseline,
}

/// Whether something is used that not every machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wish {
    /// Where it is there and works.
    #[default]
    Auto,
    /// Nothing else will do.
    Force,
    /// Never.
    Off,
}

/// How lines along y and z, whose points lie far apart, are solved on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pencils {
    /// Where they lie.
    #[default]
    Strided,
    /// After the field is permuted so that a line's points are neighbours; then it is permuted back.
    Permuted,
}

/// How the right-hand side is computed; the results differ by round-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RightHandSide {
    /// One sweep an axis forms everything from the state, and the last one advances it.
    #[default]
    Fused,
    /// Operation by operation from stored primitive variables and gradients: the reference to read.
    Composed,
}
