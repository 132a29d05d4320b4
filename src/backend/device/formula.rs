//! Formulas on a device: maps, and sums and maxima as trees of fixed shape.

use std::sync::Arc;

use super::pointwise::{THREADS, Visit, blocks, pointwise};
use super::text::{Text, formula, parameters};
use super::{Arg, Buffer, Coming, Device, Kernel};
use crate::engine::{Code, PointFormula};
use crate::error::Result;
use crate::real::Real;

/// Most blocks of a reduction. How many there are depends on the length of the fields alone, and with it the order.
const MOST_BLOCKS: u32 = 1024;

/// A formula, ready to run on a device.
pub struct Prepared(Kind);

enum Kind {
    Map { kernel: Kernel, blocks: u32 },
    Reduction { points: Kernel, count: u32, blocks: Kernel, partials: Wide, results: Wide },
}

/// Numbers in f64 where the device has it.
enum Wide {
    Double(Buffer<f64>),
    Single(Buffer<f32>),
}

impl Wide {
    fn new(device: &Arc<Device>, len: usize) -> Result<Self> {
        Ok(match device.info().has_f64 {
            true => Wide::Double(Buffer::new(device, len)?),
            false => Wide::Single(Buffer::new(device, len)?),
        })
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Wide::Double(buffer) => buffer.arg(),
            Wide::Single(buffer) => buffer.arg(),
        }
    }

    fn fetch(&self) -> Result<Coming> {
        match self {
            Wide::Double(buffer) => buffer.fetch(buffer.len()),
            Wide::Single(buffer) => buffer.fetch(buffer.len()),
        }
    }
}

impl Prepared {
    /// For fields of `len` values.
    pub(super) fn new<T: Real>(
        device: &Arc<Device>,
        len: usize,
        of: &PointFormula,
    ) -> Result<Self> {
        match of.code {
            Code::Map(_) => Self::map_of::<T>(device, len, of),
            Code::Sum(_) => Self::reduction_of::<T>(device, len, of, false),
            Code::Max(_) => Self::reduction_of::<T>(device, len, of, true),
        }
    }

    fn map_of<T: Real>(device: &Device, len: usize, of: &PointFormula) -> Result<Self> {
        let PointFormula { name, nodes, results, reads, .. } = of;
        let mut lines = formula::<T>(nodes, results, "REAL", |at, result| {
            format!("const REAL r{at} = {result};")
        });
        lines.extend((0..results.len()).map(|at| format!("w{at}[at] = r{at};")));
        let visit = Visit::all(len);
        let kernel = pointwise::<T>(device, &visit, name, [*reads, results.len()], &lines)?;
        Ok(Self(Kind::Map { kernel, blocks: blocks(len) }))
    }

    /// A sum, or the maximum.
    fn reduction_of<T: Real>(
        device: &Arc<Device>,
        len: usize,
        of: &PointFormula,
        maximum: bool,
    ) -> Result<Self> {
        let info = device.info();
        let PointFormula { name, nodes, results, reads, .. } = of;
        let store = |at, result: &str| format!("r[{at}] = {result};");
        let lines = match info.has_f64 {
            true => formula::<f64>(nodes, results, "WIDE", store),
            false => formula::<f32>(nodes, results, "WIDE", store),
        };
        let mut text = Text::new::<T>();
        text.define("FIELDS", parameters(*reads, 0));
        text.define("WIDE_IS_DOUBLE", u8::from(info.has_f64));
        text.define("THREADS", THREADS);
        let count = blocks(len).min(MOST_BLOCKS);
        text.define("BLOCKS", count);
        text.define("LENGTH", len);
        text.define("RESULTS", results.len());
        text.define("MAXIMUM", u8::from(maximum));
        text.define_lines("POINT(at)", &lines);
        text.push(include_str!("../../../kernels/reduce.cu"));
        let source = text.source(name);
        let on_chip = THREADS as usize * if info.has_f64 { 8 } else { 4 };
        let kernel = |entry| device.kernel(&source, entry, [THREADS, 1, 1], on_chip);
        let kind = Kind::Reduction {
            points: kernel("over_points")?,
            count,
            blocks: kernel("over_blocks")?,
            partials: Wide::new(device, results.len() * count as usize)?,
            results: Wide::new(device, results.len())?,
        };
        Ok(Self(kind))
    }

    pub(super) fn map<T: Real>(
        &self,
        device: &Device,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        parameters: &[f64],
    ) {
        let Kind::Map { kernel, blocks } = &self.0 else { unreachable!("made for a map") };
        let read = read.iter().map(|field| field.arg());
        let write = write.iter().map(|field| field.arg());
        let arguments = read.chain(write).chain([Arg::Scalars(parameters)]);
        device.launch::<T>(kernel, [*blocks, 1, 1], arguments);
    }

    /// Sums or maxima, on their way.
    pub(super) fn reduce<T: Real>(
        &self,
        device: &Device,
        read: &[&Buffer<T>],
        parameters: &[f64],
    ) -> Result<Coming> {
        let Kind::Reduction { points, count, blocks, partials, results } = &self.0 else {
            unreachable!("made for a sum or a maximum")
        };
        let fields = read.iter().map(|field| field.arg());
        let arguments = fields.chain([partials.arg(), Arg::Scalars(parameters)]);
        device.launch::<T>(points, [*count, 1, 1], arguments);
        device.launch::<T>(blocks, [1, 1, 1], [partials.arg(), results.arg()]);
        results.fetch()
    }
}
