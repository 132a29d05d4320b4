//! Published numbers, each table with its paper and page. Numbers that a paper gives only in a figure are not included.

/// Times in ms to solve tridiagonal systems on an NVIDIA K20 and an Intel Xeon E5-2670 v2, f64 (Srinath 2015, table 4.1, p. 54).
pub(super) struct SolverTimes {
    /// Rows of a system.
    pub(super) rows: usize,
    /// Number of systems.
    pub(super) systems: usize,
    /// MKL on one core and on eight, CUSPARSE if it had enough memory, NEATO in global and in shared memory.
    pub(super) mkl: [f64; 2],
    pub(super) cusparse: Option<f64>,
    pub(super) neato: [f64; 2],
}

#[rustfmt::skip]
pub(super) const SOLVER_TIMES: [SolverTimes; 12] = [
    solver_times([32, 32], [0.045, 0.042], Some(0.273), [0.201, 0.024]),
    solver_times([64, 64], [0.048, 0.048], Some(0.271), [0.247, 0.025]),
    solver_times([128, 128], [0.089, 0.084], Some(0.271), [0.284, 0.032]),
    solver_times([256, 256], [0.263, 0.107], Some(0.305), [0.326, 0.066]),
    solver_times([512, 512], [0.959, 0.299], Some(0.629), [0.403, 0.272]),
    solver_times([1024, 1024], [3.775, 1.023], Some(1.939), [1.375, 1.252]),
    solver_times([2048, 2048], [16.272, 4.823], Some(7.607), [5.811, 10.407]),
    solver_times([32, 1024], [0.152, 0.094], Some(0.31), [0.207, 0.092]),
    solver_times([64, 4096], [0.879, 0.306], Some(0.556), [0.751, 0.409]),
    solver_times([128, 16384], [7.052, 2.553], Some(3.128), [3.669, 2.225]),
    solver_times([256, 65536], [63.858, 18.792], Some(28.495), [21.148, 12.565]),
    solver_times([512, 262_144], [515.792, 196.748], None, [145.34, 125.311]),
];

const fn solver_times(
    [rows, systems]: [usize; 2],
    mkl: [f64; 2],
    cusparse: Option<f64>,
    neato: [f64; 2],
) -> SolverTimes {
    SolverTimes { rows, systems, mkl, cusparse, neato }
}

/// Times in ms to compute derivatives along the fastest axis of n³ points (Srinath 2015, table 4.2, p. 58).
pub(super) struct Derivatives {
    /// n.
    pub(super) points: usize,
    /// Times of the reference program on [`CORES`].
    pub(super) reference: [Option<f64>; 3],
    /// Times of NEATO on [`GPUS`].
    pub(super) neato: [Option<f64>; 3],
}

/// The numbers of cores and of GPUs in [`DERIVATIVES`].
pub(super) const CORES: [usize; 3] = [8, 64, 512];
pub(super) const GPUS: [usize; 3] = [1, 8, 64];

#[rustfmt::skip]
pub(super) const DERIVATIVES: [Derivatives; 4] = [
    Derivatives { points: 256, reference: [Some(79.5), Some(20.8), Some(11.1)], neato: [Some(19.9), Some(5.17), Some(2.79)] },
    Derivatives { points: 512, reference: [Some(556.8), Some(146.5), Some(29.2)], neato: [Some(164.5), Some(23.24), Some(5.62)] },
    Derivatives { points: 1024, reference: [Some(5188.0), Some(1092.0), Some(223.7)], neato: [None, Some(174.9), Some(24.49)] },
    Derivatives { points: 2048, reference: [None, None, Some(1741.0)], neato: [None, None, Some(297.07)] },
];

/// Bits per second of the links between nodes with two GPUs each (Srinath 2015, §4.2, p. 53).
pub(super) const LINK_BITS: f64 = 56e9;

/// Operations per row of a tridiagonal system (Esfahanian et al. 2014, section 2): cyclic reduction; elimination takes 8 N − 1.
pub(super) const REDUCTION_OPERATIONS: f64 = 17.0;
pub(super) const ELIMINATION_OPERATIONS: f64 = 8.0;

/// Tetrahedral meshes: points, off-diagonal blocks, colours, most and fewest rows of a colour (Zubair et al. 2017, table II).
pub(super) const MESHES: [[usize; 5]; 6] = [
    [6309, 85_768, 10, 1076, 5],
    [103_178, 1_370_396, 10, 17_826, 15],
    [204_983, 2_740_266, 10, 35_218, 42],
    [394_745, 5_309_536, 10, 67_748, 96],
    [800_322, 10_823_162, 11, 138_080, 1],
    [983_633, 13_567_574, 11, 166_800, 3],
];

/// Times in ms of one sweep on an NVIDIA K40: points of the mesh, and for blocks of 1, 2, ... rows the times by libraries and by
/// optimised kernels (Zubair et al. 2017, tables III and IV).
#[rustfmt::skip]
pub(super) const SWEEPS: [(usize, [&[f64]; 2]); 5] = [
    (103_178, [&[9.3, 11.8, 14.7, 16.2, 19.6, 27.1, 28.5, 30.3, 42.8, 45.7],
               &[1.5, 1.6, 1.9, 2.2, 2.9, 4.8, 5.0, 5.1, 8.4, 9.0]]),
    (204_983, [&[17.2, 20.5, 24.4, 27.7, 35.3, 49.9, 55.1, 57.3, 81.7, 85.8],
               &[2.7, 3.0, 3.6, 4.3, 5.5, 9.3, 9.7, 10.0, 16.5, 17.8]]),
    (394_745, [&[31.4, 39.1, 47.5, 52.5, 66.5, 96.5, 104.7, 107.9, 155.9, 165.9],
               &[5.1, 5.6, 6.8, 8.1, 10.4, 17.8, 18.7, 19.2, 31.8, 34.3]]),
    (800_322, [&[61.9, 78.2, 93.0, 104.6, 126.8, 188.7], &[10.1, 11.1, 13.7, 16.3, 21.1, 36.1]]),
    (983_633, [&[74.9, 92.7, 112.1, 130.0, 164.9, 236.0], &[12.5, 13.8, 16.9, 20.0, 25.7, 44.2]]),
];
