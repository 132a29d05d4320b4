//! A matrix on the host or device that solves it.

use crate::backend::cpu::Cpu;
use crate::backend::device::{BlockKernels, BlockSweeps, Buffer};
use crate::bench::place::Setup;
use crate::blocks::{Factored, Sweeps};
use crate::error::Result;
use crate::huge_pages;
use crate::real::Real;

/// Sweeps over A x = b on the host or on a device.
pub(super) enum Solver<'a, S> {
    Host { cpu: &'a Cpu<f64>, matrix: &'a Factored<S>, b: &'a [f64], x: Vec<f64> },
    Device { sweeps: Box<BlockSweeps>, b: Buffer, x: Buffer },
}

impl<'a, S: Real> Solver<'a, S> {
    /// A solver on the backend of `setup`, with this initial x.
    pub(super) fn new(
        (setup, kernels): (&Setup, BlockKernels),
        cpu: &'a Cpu<f64>,
        matrix: &'a Factored<S>,
        b: &'a [f64],
        x: &[f64],
    ) -> Result<Self> {
        Ok(match &setup.device {
            None => {
                let mut own = huge_pages::filled(x.len(), 0.0);
                own.copy_from_slice(x);
                Self::Host { cpu, matrix, b, x: own }
            }
            Some(device) => Self::Device {
                sweeps: BlockSweeps::new(device, matrix, kernels)?.into(),
                b: Buffer::from_host(device, b)?,
                x: Buffer::from_host(device, x)?,
            },
        })
    }

    /// One sweep; on a device it is only enqueued.
    pub(super) fn sweep(&mut self) {
        let once = Sweeps::default();
        match self {
            Self::Host { cpu, matrix, b, x } => {
                cpu.within(|| matrix.sweep(cpu.arch(), b, x, once));
            }
            Self::Device { sweeps, b, x } => sweeps.sweep(b, x, once),
        }
    }

    pub(super) fn x(&self) -> Result<Vec<f64>> {
        match self {
            Self::Host { x, .. } => Ok(x.clone()),
            Self::Device { x, .. } => x.download(),
        }
    }
}
