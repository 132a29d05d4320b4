//! The line solvers by name.

use serde::{Deserialize, Serialize};

/// How the line systems are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineSolver {
    /// LU, one thread a line.
    Thomas,
    /// Cyclic reduction on chip.
    Cr,
    /// Cyclic reduction in device memory, rows sorted once.
    CrSortedDirect,
    /// Cyclic reduction in device memory, rows sorted level by level.
    CrSortedStepwise,
    /// Parallel cyclic reduction on chip.
    Pcr,
    /// Near-Toeplitz cyclic reduction in device memory.
    NeatoGlobal,
    /// Near-Toeplitz cyclic reduction on chip.
    NeatoShared,
    /// Parallel cyclic reduction of tri- and pentadiagonal systems on chip, coefficients worked out beforehand.
    PcrBanded,
    /// Chunks in registers.
    Chunked,
    /// NVIDIA's `gtsv2StridedBatch`.
    Cusparse,
}

impl LineSolver {
    /// All of them.
    pub const ALL: [LineSolver; 10] = [
        LineSolver::Thomas,
        LineSolver::Cr,
        LineSolver::CrSortedDirect,
        LineSolver::CrSortedStepwise,
        LineSolver::Pcr,
        LineSolver::NeatoGlobal,
        LineSolver::NeatoShared,
        LineSolver::PcrBanded,
        LineSolver::Chunked,
        LineSolver::Cusparse,
    ];

    /// What a user types.
    pub fn name(self) -> &'static str {
        match self {
            LineSolver::Thomas => "thomas",
            LineSolver::Cr => "cr",
            LineSolver::CrSortedDirect => "cr-sorted-direct",
            LineSolver::CrSortedStepwise => "cr-sorted-stepwise",
            LineSolver::Pcr => "pcr",
            LineSolver::NeatoGlobal => "neato-global",
            LineSolver::NeatoShared => "neato-shared",
            LineSolver::PcrBanded => "pcr-banded",
            LineSolver::Chunked => "chunked",
            LineSolver::Cusparse => "cusparse",
        }
    }

    /// The solver of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }
}
