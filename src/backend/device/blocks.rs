//! A device's part in lines that are spread over ranks.

use std::sync::Arc;

use super::ends::{Lines, blocks};
use super::program::Program;
use super::text::Text;
use super::{Api, Arg, Buffer, Device, Gpu, Kernel, bytes_of, bytes_of_mut};
use crate::backend::ranks::{Blocks, Deal, Memory, Sums};
use crate::backend::{Backend, Weights};
use crate::error::Result;
use crate::real::Real;

const THREADS: usize = 128;

/// Sums of planes, ready to be taken on a device.
pub struct Combination<T> {
    kernel: Kernel,
    blocks: [u32; 3],
    lists: Buffer<T>,
    rows: Buffer<T>,
    terms: Buffer<T>,
}

/// Host memory beside that of a device, locked to its place where the driver can.
pub struct Pinned<T> {
    values: Vec<T>,
    is_pinned: bool,
    device: Arc<Device>,
}

impl<T> AsRef<[T]> for Pinned<T> {
    fn as_ref(&self) -> &[T] {
        &self.values
    }
}

impl<T> AsMut<[T]> for Pinned<T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.is_pinned {
            self.device.unpin(self.values.as_mut_ptr().cast());
        }
    }
}

impl<T: Real> Blocks for Gpu<T> {
    type Combination = Combination<T>;
    type Staging = Pinned<T>;

    fn staging(&self, len: usize) -> Pinned<T> {
        let mut values = vec![T::ZERO; len];
        let bytes = size_of_val(values.as_slice());
        let is_pinned = len > 0 && self.device.pin(values.as_mut_ptr().cast(), bytes);
        Pinned { values, is_pinned, device: self.device.clone() }
    }

    fn planes(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::from_host(&self.device, &vec![T::ZERO; len])
    }

    fn pack(
        &self,
        program: &Program<T>,
        stage: usize,
        read: &[&Buffer<T>],
        write: &mut [&mut Buffer<T>],
        planes: &mut [Buffer<T>],
    ) {
        program.pack(self, stage, read, write, planes);
    }

    fn complete(
        &self,
        program: &Program<T>,
        read: &[&Buffer<T>],
        write: &mut [&mut Buffer<T>],
        planes: &[Buffer<T>],
        weights: Weights,
    ) {
        program.run(self, read, write, planes, weights);
    }

    fn run_on_beginnings(&self, program: &Program<T>, read: &Buffer<T>, write: &mut Buffer<T>) {
        self.run(program, &[read], &mut [write], Weights::SET);
    }

    #[allow(clippy::cast_precision_loss, reason = "far fewer planes than numbers that are exact")]
    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination<T>> {
        let (mut lists, mut rows, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        let whole = |n: usize| T::of(n as f64);
        for list in &sums {
            lists.extend([whole(rows.len() / 3), whole(list.len())]);
            for (to, sum) in list {
                rows.extend([whole(*to), whole(terms.len() / 2), whole(sum.len())]);
                for (plane, coefficient) in sum {
                    terms.extend([whole(*plane), T::of(*coefficient)]);
                }
            }
        }
        let mut text = Text::new::<T>();
        text.define("LINES", lines);
        text.define("THREADS", THREADS);
        text.push(include_str!("../../../kernels/ranks/combine.cu"));
        let source = text.source("combine.cu");
        Ok(Combination {
            kernel: self.device.kernel(&source, "combine", [blocks(THREADS)?, 1, 1], 0)?,
            blocks: [blocks(lines.div_ceil(THREADS))?, blocks(sums.len())?, 1],
            lists: Buffer::from_host(&self.device, &lists)?,
            rows: Buffer::from_host(&self.device, &rows)?,
            terms: Buffer::from_host(&self.device, &terms)?,
        })
    }

    fn combine(&self, combination: &Combination<T>, planes: &mut Buffer<T>) {
        let Combination { kernel, blocks, lists, rows, terms } = combination;
        let arguments = [lists.arg(), rows.arg(), terms.arg(), planes.arg()];
        self.device.launch::<T>(kernel, *blocks, arguments);
    }

    fn deal(&self, deal: &Deal, at: usize, field: &Buffer<T>, parts: &mut Buffer<T>) {
        self.device.note(self.launch_deal(deal, false, at, [field, parts]));
    }

    fn collect(&self, deal: &Deal, at: usize, parts: &Buffer<T>, field: &mut Buffer<T>) {
        self.device.note(self.launch_deal(deal, true, at, [field, parts]));
    }

    fn memory(&self, array: &mut Buffer<T>) -> Memory {
        match self.device.info().api {
            Api::OpenCl => Memory::Opaque,
            Api::Cuda => self.device.address(array.handle).map_or(Memory::Opaque, Memory::Device),
        }
    }

    fn fetch(&self, array: &Buffer<T>, first: usize, to: &mut [T]) -> Result<()> {
        self.device.download(array.handle, first * size_of::<T>(), bytes_of_mut(to))
    }

    fn put(&self, array: &mut Buffer<T>, first: usize, values: &[T]) -> Result<()> {
        self.device.upload(bytes_of(values), array.handle, first * size_of::<T>())
    }
}

impl<T: Real> Gpu<T> {
    fn launch_deal(
        &self,
        deal: &Deal,
        collect: bool,
        at: usize,
        [field, parts]: [&Buffer<T>; 2],
    ) -> Result<()> {
        let axis = deal.axis.index();
        let lines = Lines {
            points: deal.points[axis],
            count: deal.lines(),
            inner: deal.points[..axis].iter().product(),
        };
        let mut text = Text::new::<T>();
        lines.define(&mut text);
        text.define("PARTS", deal.parts);
        text.define("FIELDS", deal.fields);
        text.define("COLLECT", u8::from(collect));
        text.push(include_str!("../../../kernels/ranks/deal.cu"));
        let block = [blocks(THREADS)?, 1, 1];
        let kernel = self.device.kernel(&text.source("deal.cu"), "deal", block, 0)?;
        let count = blocks((lines.count * lines.points).div_ceil(THREADS))?;
        let at = Arg::Int(i32::try_from(at).unwrap_or(i32::MAX));
        self.device.launch::<T>(&kernel, [count, 1, 1], [field.arg(), parts.arg(), at]);
        Ok(())
    }
}
