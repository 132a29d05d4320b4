//! User options of the hardware and the algorithms of a run.

use serde::{Deserialize, Serialize};

use super::device::LineSolver;
use crate::engine::distributed::Method;
use crate::real::Precision;
use crate::typed::{or_auto, three, whole};

/// `[compute]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputeConfig {
    /// Hardware that stores the fields and runs the loops.
    pub backend: BackendChoice,
    /// Number of the device among those of its interface; `None` assigns the devices of a host to its ranks in turn.
    #[serde(deserialize_with = "whole::<usize, 0, 1023, _, _>", serialize_with = "or_auto")]
    pub device: Option<usize>,
    /// Number of threads; `None` is one per core.
    #[serde(deserialize_with = "whole::<usize, 1, 4096, _, _>", serialize_with = "or_auto")]
    pub threads: Option<usize>,
    /// Vector instructions of the host; `None` is the best available.
    #[serde(serialize_with = "or_auto")]
    pub simd: Option<Simd>,
    /// Precision of the fields.
    pub precision: Precision,
    /// Solver of line systems; `None` is the best for each operator.
    #[serde(serialize_with = "or_auto")]
    pub line_solver: Option<LineSolver>,
    /// Solver of lines along y and z on a device.
    pub pencils: Pencils,
    /// Partition of single-kernel sweeps on a GPU.
    #[serde(skip_deserializing)]
    pub sweeps: SweepConfig,
    /// Evaluation of the right-hand side.
    pub right_hand_side: RightHandSide,
    /// Whether the backend measures the best partition of its work, if it is not known for this machine.
    pub tune: bool,
    /// Solution method for lines split across ranks; `None` is the best for each operator.
    #[serde(serialize_with = "or_auto")]
    pub distributed: Option<Method>,
    /// Ranks along x, y and z; `None` is the best for their number.
    #[serde(deserialize_with = "three::<usize, 1, 65536, _, _>", serialize_with = "or_auto")]
    pub ranks: Option<[usize; 3]>,
    /// Whether MPI is given addresses in the memory of CUDA devices: `Auto` where the library reports support and test
    /// messages arrived; with `Force`, a library without support crashes.
    pub device_aware: Wish,
    /// Whether messages of CUDA devices use NCCL: `Auto` where it is installed and test messages arrived.
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

/// `[compute.sweeps]`: the blocks of single-kernel sweeps on a device. `None` is the best for each sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepConfig {
    /// Points of a line per thread.
    #[serde(deserialize_with = "whole::<usize, 4, 8, _, _>", serialize_with = "or_auto")]
    pub points: Option<usize>,
    /// Lines per block.
    #[serde(deserialize_with = "whole::<usize, 1, 1024, _, _>", serialize_with = "or_auto")]
    pub lines: Option<usize>,
    /// Blocks that are resident on a multiprocessor; they share its registers and its on-chip memory.
    #[serde(deserialize_with = "whole::<usize, 1, 32, _, _>", serialize_with = "or_auto")]
    pub resident: Option<usize>,
    /// Whether fields are loaded to on-chip memory before they are needed.
    #[serde(serialize_with = "or_auto")]
    pub early: Option<bool>,
    /// Maximum number of tiles that a block processes in turn, if fields are loaded early.
    #[serde(deserialize_with = "whole::<usize, 1, 65536, _, _>", serialize_with = "or_auto")]
    pub turns: Option<usize>,
    /// Whether the last sweep of a stage provides gradients to the next stage, where it can.
    #[serde(serialize_with = "or_auto")]
    pub link: Option<bool>,
}

impl SweepConfig {
    /// True if any option is set.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// Hardware that stores the fields and runs the loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendChoice {
    /// The best available on this machine.
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
    /// Instructions that every processor of the architecture has: SSE2 on x86-64.
    Baseline,
}

/// Use of a feature that is not available on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wish {
    /// Where it is available and works.
    #[default]
    Auto,
    /// Always, without a fallback.
    Force,
    /// Never.
    Off,
}

/// Solution of lines along y and z, whose points are far apart in memory, on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pencils {
    /// In place, with strided access.
    #[default]
    Strided,
    /// After a permutation of the field that makes a line's points contiguous; then it is permuted back.
    Permuted,
}

/// Evaluation of the right-hand side; the results differ by round-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RightHandSide {
    /// One sweep per axis computes everything from the state, and the last one advances it.
    #[default]
    Fused,
    /// Operation by operation from stored primitive variables and gradients: the readable reference.
    Composed,
}
