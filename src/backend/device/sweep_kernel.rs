//! Description of a sweep that is one kernel.

/// Blocks and resource usage of a sweep that is one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SweepKernel {
    /// Registers per thread, if the driver reports them.
    pub registers: Option<usize>,
    /// Bytes of on-chip memory per block.
    pub on_chip: usize,
    /// Threads per block.
    pub threads: usize,
    /// Points of a line per thread.
    pub points: usize,
    /// Lines per block.
    pub lines: usize,
    /// Resident blocks per multiprocessor: as reported by the driver, or as assumed in the choice of the blocks.
    pub resident: usize,
    /// Number of blocks launched.
    pub blocks: usize,
}
