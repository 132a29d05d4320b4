//! A backend whose fields are blocks and whose lines are solved on the whole field, put together from all ranks: what
//! is found wrong with it is not the fault of a distributed solve.

use std::borrow::Cow;
use std::sync::Arc;

use kolmo::backend::Backend;
use kolmo::backend::cpu::{Cpu, Field, Program};
use kolmo::comm::Communicator;
use kolmo::config::ComputeConfig;
use kolmo::engine::{Formula, LineOperators, Sweep};
use kolmo::grid::{Axis, Block, Decomposition};
use kolmo::{Real, Result};

/// One rank.
pub(super) struct Blocks<T: Real> {
    inner: Cpu<T>,
    comm: Arc<dyn Communicator>,
    decomposition: Decomposition,
}

impl<T: Real> Blocks<T> {
    pub(super) fn new(comm: Arc<dyn Communicator>, ranks: [usize; 3]) -> Self {
        let decomposition = Decomposition { ranks };
        assert_eq!(decomposition.size(), comm.size());
        Self { inner: Cpu::new(Some(1)).unwrap(), comm, decomposition }
    }

    /// A whole field on every rank.
    pub(super) fn whole(&self, points: [usize; 3], field: &[T]) -> Vec<T> {
        let bytes: Vec<u8> = field.iter().flat_map(|v| v.f64().to_ne_bytes()).collect();
        let mut whole = vec![T::of(f64::NAN); points.iter().product()];
        for rank in 0..self.comm.size() {
            let block = self.decomposition.block(rank, points);
            let part = self.comm.broadcast(rank, bytes.clone());
            for (at, &value) in part.as_chunks().0.iter().enumerate() {
                whole[position(points, block.index(at))] = T::of(f64::from_ne_bytes(value));
            }
        }
        whole
    }
}

fn position([nx, ny, _]: [usize; 3], [i, j, k]: [usize; 3]) -> usize {
    i + nx * (j + ny * k)
}

impl<T: Real> Backend for Blocks<T> {
    type Real = T;
    type Field = Field<T>;
    type Program = (Program<T>, [usize; 3]);
    type Prepared<F: Send + Sync + 'static> = <Cpu<T> as Backend>::Prepared<F>;

    fn open(_: &ComputeConfig, _: usize) -> Result<Self> {
        unreachable!("needs ranks")
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn threads(&self) -> usize {
        self.inner.threads()
    }

    fn simd(&self) -> &'static str {
        self.inner.simd()
    }

    fn device_name(&self) -> Option<String> {
        None
    }

    fn comm(&self) -> &dyn Communicator {
        &*self.comm
    }

    fn block(&self, points: [usize; 3]) -> Block {
        self.decomposition.block(self.comm.rank(), points)
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }

    fn field(&self, values: Vec<T>) -> Result<Field<T>> {
        self.inner.field(values)
    }

    fn zeros(&self, len: usize) -> Result<Field<T>> {
        self.inner.zeros(len)
    }

    fn values<'a>(&self, field: &'a Field<T>) -> Result<Cow<'a, [T]>> {
        self.inner.values(field)
    }

    fn copy(&self, from: &Field<T>, to: &mut Field<T>) {
        self.inner.copy(from, to);
    }

    fn clear(&self, field: &mut Field<T>) {
        self.inner.clear(field);
    }

    fn program(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators<T>,
    ) -> Result<Self::Program> {
        Ok((self.inner.program(sweep, axis, points, operators)?, points))
    }

    fn run(
        &self,
        (program, points): &Self::Program,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        beta: f64,
        scale: f64,
    ) {
        let whole = |field: &Field<T>| self.inner.field(self.whole(*points, field)).unwrap();
        let all_read: Vec<_> = read.iter().map(|field| whole(field)).collect();
        let mut all_written: Vec<_> = write.iter().map(|field| whole(field)).collect();
        let references: Vec<_> = all_read.iter().collect();
        let mut targets: Vec<_> = all_written.iter_mut().collect();
        self.inner.run(program, &references, &mut targets, beta, scale);
        let block = self.block(*points);
        for (field, whole) in write.iter_mut().zip(&all_written) {
            for at in 0..block.len() {
                field[at] = whole[position(*points, block.index(at))];
            }
        }
    }

    fn mapping<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Self::Prepared<F>> {
        self.inner.mapping(formula)
    }

    fn summing<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Self::Prepared<F>> {
        self.inner.summing(formula)
    }

    fn maximising<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Self::Prepared<F>> {
        self.inner.maximising(formula)
    }

    fn map<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Self::Prepared<F>,
        read: [&Field<T>; R],
        write: [&mut Field<T>; W],
        parameters: [f64; P],
    ) {
        self.inner.map(formula, read, write, parameters);
    }

    fn sum<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Self::Prepared<F>,
        read: [&Field<T>; R],
        parameters: [f64; P],
    ) -> Result<[f64; W]> {
        let mut sums = Backend::sum(&self.inner, formula, read, parameters)?;
        self.comm.sum(&mut sums);
        Ok(sums)
    }

    fn max<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Self::Prepared<F>,
        read: [&Field<T>; R],
        parameters: [f64; P],
    ) -> Result<[f64; W]> {
        let mut largest = Backend::max(&self.inner, formula, read, parameters)?;
        self.comm.max(&mut largest);
        Ok(largest)
    }
}
