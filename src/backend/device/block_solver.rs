//! Systems of blocks whose rows are the points of fields, on a device.

use std::sync::Arc;

use super::block_sweeps::integers;
use super::job::{Job, LaunchSize};
use super::text::{Text, parameters};
use super::{BlockKernels, BlockSweeps, Buffer, Device};
use crate::blocks::{Colouring, Factored, Sweeps};
use crate::error::Result;
use crate::real::Precision;

/// Threads of a block.
const THREADS: usize = 256;

/// A matrix, and b and x in the order in which its rows are solved.
pub(super) struct Solver {
    sweeps: BlockSweeps,
    /// The point of each place.
    rows: Buffer,
    b: Buffer,
    x: Buffer,
    order: Job,
    restore: Job,
}

impl Solver {
    /// Room for matrices of `nb` x `nb` blocks; fields have this precision.
    pub(super) fn new(
        (device, precision): (&Arc<Device>, Precision),
        colouring: &Colouring,
        nb: usize,
    ) -> Result<Self> {
        let rows = colouring.rows();
        let job = |back: bool| {
            let mut text = Text::new(precision);
            let fields = if back { [0, nb] } else { [nb, 0] };
            text.define("NB", nb);
            text.define("ROWS", rows);
            text.define("THREADS", THREADS);
            text.define("FIELDS", parameters(fields[0], fields[1]));
            let field = |k: usize| match back {
                true => format!("w{k}[row] = x[{k}];"),
                false => format!("b[{k}] = f{k}[row]; x[{k}] = 0;"),
            };
            text.define_lines("ALL_UNKNOWNS", &(0..nb).map(field).collect::<Vec<_>>());
            text.push(include_str!("../../../kernels/blocks/order.cu"));
            Job::new(device, &text.source("order.cu"), "order", &LaunchSize::over(rows, THREADS))
        };
        let unknowns = || Buffer::new(device, Precision::F64, rows * nb);
        let of = (colouring, nb, Precision::F32);
        let places = (0..rows).map(|place| colouring.row(place));
        #[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
        let places = places.map(|row| (row as u32).to_ne_bytes());
        Ok(Self {
            sweeps: BlockSweeps::room(device, of, BlockKernels::Fused)?,
            rows: integers(device, places)?,
            b: unknowns()?,
            x: unknowns()?,
            order: job(false)?,
            restore: job(true)?,
        })
    }

    pub(super) fn set(&mut self, matrix: &Factored<f32>) -> Result<()> {
        self.sweeps.set(matrix)
    }

    /// Put x of A x ≈ b, by sweeps from 0, on the list of the device.
    pub(super) fn sweep(&mut self, sweeps: Sweeps, b: &[&Buffer], x: &[&mut Buffer]) {
        let Self { rows, b: right, x: unknowns, .. } = self;
        let own = [&*rows, right, unknowns].map(Buffer::arg);
        self.order.launch(b.iter().map(|b| b.arg()).chain(own));
        self.sweeps.sweep(right, unknowns, sweeps);
        let own = [&*rows, right, unknowns].map(Buffer::arg);
        self.restore.launch(x.iter().map(|x| x.arg()).chain(own));
    }
}
