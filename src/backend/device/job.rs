//! A kernel with its launch size.

use std::sync::Arc;

use super::coefficients::Coefficients;
use super::sweep_kernel::SweepKernel;
use super::{Arg, Device, Kernel, KernelRequest, Source};
use crate::error::{Error, Result};

/// Threads, blocks and on-chip memory of a launch.
pub(super) struct LaunchSize {
    /// Threads per block along x, y, z.
    pub(super) threads: [usize; 3],
    /// Blocks along x, y, z.
    pub(super) blocks: [usize; 3],
    /// Bytes of on-chip memory per block.
    pub(super) on_chip: usize,
}

impl LaunchSize {
    /// Launch with one thread per item, in blocks of `threads` threads.
    pub(super) fn over(items: usize, threads: usize) -> Self {
        Self::linear(items.div_ceil(threads), threads, 0)
    }

    /// One-dimensional launch.
    pub(super) fn linear(blocks: usize, threads: usize, on_chip: usize) -> Self {
        Self { threads: [threads, 1, 1], blocks: [blocks, 1, 1], on_chip }
    }

    pub(super) fn request(&self, source: &Source, entry: &str) -> Result<KernelRequest> {
        let (source, entry, on_chip) = (source.clone(), entry.into(), self.on_chip);
        Ok(KernelRequest { source, entry, threads: counts(self.threads)?, on_chip })
    }
}

/// A compiled kernel with its number of blocks.
pub(super) struct Job {
    kernel: Kernel,
    blocks: [u32; 3],
    coefficients: Option<Coefficients>,
}

impl Job {
    /// Compiles the kernel `entry` of `source`.
    pub(super) fn new(
        device: &Arc<Device>,
        source: &Source,
        entry: &str,
        shape: &LaunchSize,
    ) -> Result<Self> {
        let kernel = device.kernel(shape.request(source, entry)?)?;
        Self::from_kernel(kernel, shape)
    }

    /// Wraps a compiled kernel with the blocks of `shape`.
    pub(super) fn from_kernel(kernel: Kernel, shape: &LaunchSize) -> Result<Self> {
        Ok(Self { kernel, blocks: counts(shape.blocks)?, coefficients: None })
    }

    /// Passes `coefficients` as the first parameters of the kernel.
    pub(super) fn with_coefficients(self, coefficients: Coefficients) -> Self {
        Self { coefficients: Some(coefficients), ..self }
    }

    /// Returns the resource usage of a sweep over tiles of `lines` lines with `points` points per thread, designed for
    /// `resident` blocks per multiprocessor.
    pub(super) fn describe_sweep(
        &self,
        [points, lines]: [usize; 2],
        resident: usize,
    ) -> Result<SweepKernel> {
        let usage = self.kernel.usage()?;
        Ok(SweepKernel {
            registers: usage.map(|usage| usage.registers),
            on_chip: self.kernel.on_chip,
            threads: self.kernel.block_threads(),
            points,
            lines,
            resident: usage.map_or(resident, |usage| usage.resident),
            blocks: self.blocks.iter().map(|&n| n as usize).product(),
        })
    }

    /// Queues it on the device.
    pub(super) fn launch<'a>(&self, arguments: impl IntoIterator<Item = Arg<'a>, IntoIter: Clone>) {
        let coefficients = self.coefficients.iter().flat_map(Coefficients::arguments);
        self.kernel.launch(self.blocks, coefficients.chain(arguments));
    }
}

/// Converts numbers of blocks or threads for a launch.
fn counts(sizes: [usize; 3]) -> Result<[u32; 3]> {
    let mut counts = [0; 3];
    for (count, size) in counts.iter_mut().zip(sizes) {
        let refusal = |_| Error::Device(format!("a launch of {size} blocks along one axis"));
        *count = u32::try_from(size).map_err(refusal)?;
    }
    Ok(counts)
}
