//! What became of a sweep that is one kernel.

/// The blocks of a sweep that is one kernel, and what its compiler made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SweepKernel {
    /// Registers of a thread, where the driver tells.
    pub registers: Option<usize>,
    /// Bytes of on-chip memory of a block.
    pub on_chip: usize,
    /// Threads of a block.
    pub threads: usize,
    /// Points of a line that a thread takes.
    pub points: usize,
    /// Lines of a block.
    pub lines: usize,
    /// Blocks that a multiprocessor holds at once: as the driver counts, or as the sweep was cut for.
    pub resident: usize,
    /// Blocks that are launched.
    pub blocks: usize,
}
