//! Block systems whose rows are the points of fields, on a device.

use std::sync::Arc;

use super::block_sweeps::integer_buffer;
use super::job::{Job, LaunchSize};
use super::numbers::to_i32;
use super::text::{Text, parameters};
use super::{Arg, BlockKernels, BlockSweeps, Buffer, Device};
use crate::backend::Field;
use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::error::Result;
use crate::real::Precision;

/// Threads per block.
const THREADS: usize = 256;

/// A matrix, and b and x in the order in which its rows are solved.
pub(super) struct Solver {
    sweeps: BlockSweeps,
    /// Point of each row in that order.
    rows: Buffer,
    b: Buffer,
    x: Buffer,
    order: Job,
    restore: Job,
    /// Values to send to and to receive from other ranks, and for each colour the kernels that pack and unpack them.
    border: Field,
    exchanges: Vec<[Option<Exchange>; 2]>,
}

/// Unknowns to send to other ranks, or to receive from them.
struct Exchange {
    job: Job,
    places: Buffer,
    /// Index of the first value in `border`.
    first: i32,
}

impl Exchange {
    fn new(
        (device, precision): (&Arc<Device>, Precision),
        unpack: bool,
        (places, first): (&[usize], usize),
        nb: usize,
    ) -> Result<Option<Self>> {
        if places.is_empty() {
            return Ok(None);
        }
        let mut text = Text::new(precision);
        text.define("THREADS", THREADS);
        text.define("NB", nb);
        text.define("COUNT", places.len());
        text.define("BACK", u8::from(unpack));
        text.push(include_str!("../../../kernels/blocks/border.cu"));
        let size = LaunchSize::over(places.len() * nb, THREADS);
        Ok(Some(Self {
            job: Job::new(device, &text.source("border.cu"), "border", &size)?,
            places: integer_buffer(device, row_bytes(places.iter().copied()))?,
            first: to_i32(first)?,
        }))
    }

    fn launch(&self, x: &Buffer, border: &Buffer) {
        self.job.launch([self.places.arg(), x.arg(), border.arg(), Arg::Int(self.first)]);
    }
}

/// Converts rows to the 32-bit integers of the kernels.
#[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
fn row_bytes(rows: impl Iterator<Item = usize>) -> impl Iterator<Item = [u8; 4]> {
    rows.map(|row| (row as u32).to_ne_bytes())
}

impl Solver {
    /// Allocates memory for matrices of `nb` x `nb` blocks; `precision` is that of the fields.
    pub(super) fn new(
        (device, precision): (&Arc<Device>, Precision),
        colouring: &Colouring,
        (halo, border): (&Halo, Field),
        nb: usize,
    ) -> Result<Self> {
        let (rows, width) = (colouring.rows(), colouring.pattern().width());
        let exchanges = halo.0.iter().zip(halo.ranges(nb)).map(|(shifts, ranges)| {
            let first = |which: usize| ranges.first().map_or(0, |range| range[which].start);
            let outgoing = shifts.iter().flat_map(|shift| &shift.rows);
            let outgoing: Vec<usize> = outgoing.map(|row| colouring.place(*row as usize)).collect();
            let incoming = shifts.iter().flat_map(|shift| &shift.columns);
            let incoming: Vec<usize> = incoming.map(|column| *column as usize).collect();
            let exchange = |unpack: bool, places: (&[usize], usize)| {
                Exchange::new((device, precision), unpack, places, nb)
            };
            Ok([exchange(false, (&outgoing, first(0)))?, exchange(true, (&incoming, first(1)))?])
        });
        let job = |restore: bool| {
            let mut text = Text::new(precision);
            let fields = if restore { [0, nb] } else { [nb, 0] };
            text.define("NB", nb);
            text.define("ROWS", rows);
            let visited = if restore { rows } else { width };
            text.define("WIDTH", visited);
            text.define("THREADS", THREADS);
            text.define("FIELDS", parameters(fields[0], fields[1]).collect::<Vec<_>>().join(", "));
            let field = |k: usize| match restore {
                true => format!("w{k}[row] = x[{k}];"),
                false => format!("b[{k}] = f{k}[row]; x[{k}] = 0;"),
            };
            text.define_lines("ALL_UNKNOWNS", &(0..nb).map(field).collect::<Vec<_>>());
            text.push(include_str!("../../../kernels/blocks/order.cu"));
            Job::new(device, &text.source("order.cu"), "order", &LaunchSize::over(visited, THREADS))
        };
        let unknowns = |rows: usize| Buffer::new(device, Precision::F64, rows * nb);
        let of = (colouring, nb, Precision::F32);
        Ok(Self {
            sweeps: BlockSweeps::allocate(device, of, BlockKernels::Fused)?,
            rows: integer_buffer(device, row_bytes((0..rows).map(|place| colouring.row(place))))?,
            b: unknowns(rows)?,
            x: unknowns(width)?,
            order: job(false)?,
            restore: job(true)?,
            exchanges: exchanges.collect::<Result<_>>()?,
            border,
        })
    }

    pub(super) fn set(&mut self, matrix: &Factored<f32>) -> Result<()> {
        self.sweeps.set(matrix)
    }

    /// Queues sweeps for A x ≈ b from x = 0 on the device. After each colour `exchange` brings the values of other ranks.
    pub(super) fn sweep(
        &mut self,
        sweeps: Sweeps,
        b: &[&Buffer],
        x: &[&mut Buffer],
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    ) {
        let Self { rows, b: right, x: unknowns, border, exchanges, .. } = self;
        let own = [&*rows, right, unknowns].map(Buffer::arg);
        self.order.launch(b.iter().map(|b| b.arg()).chain(own));
        self.sweeps.sweep_with_exchange(right, unknowns, sweeps, &mut |colour, unknowns| {
            let Some([outgoing, incoming]) = exchanges.get(colour) else { return };
            outgoing.iter().for_each(|outgoing| outgoing.launch(unknowns, border.get()));
            exchange(colour, border);
            incoming.iter().for_each(|incoming| incoming.launch(unknowns, border.get()));
        });
        let own = [&*rows, right, unknowns].map(Buffer::arg);
        self.restore.launch(x.iter().map(|x| x.arg()).chain(own));
    }
}
