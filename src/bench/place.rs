//! Where a bench runs: a backend, with what the benches need of it beyond what a run does.

use std::sync::Arc;

use super::measure::Clock;
use super::permute::HostPermutation;
use crate::backend::cpu::{Cpu, Field, Program};
use crate::backend::device::LineSolver;
use crate::backend::device::{Buffer, Device, DeviceOperator, Gpu, Permutation, choose, obstacle};
use crate::backend::ranks::Blocks;
use crate::backend::{Backend, Weights};
use crate::comm::placement::Placement;
use crate::comm::{Communicator, agree};
use crate::config::{ComputeConfig, Pencils};
use crate::engine::{Formula, LineOperators, Number, Op, PointFormula, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;

/// What the user chose.
pub(super) struct Setup {
    /// `None` is the host.
    pub(super) device: Option<Arc<Device>>,
    pub(super) compute: ComputeConfig,
    /// The core of each thread, where this rank has some of the host's to itself.
    cores: Option<Vec<usize>>,
    /// Where the ranks are, on rank 0 of several.
    pub(super) placement: Option<String>,
}

impl Setup {
    /// Each rank of a host has its share of the cores, and the next device. Collective.
    pub(super) fn new(mut compute: ComputeConfig, comm: &dyn Communicator) -> Result<Self> {
        let open = |(api, index)| Device::open(api, index);
        let chosen = choose(&compute, comm.local().0);
        let device = agree(comm, chosen.and_then(|chosen| chosen.map(open).transpose()))?;
        let (mut cores, mut places) = (None, None);
        if comm.size() > 1 {
            let placement = Placement::find(comm, compute.threads);
            let name = device.as_ref().map(|device| device.info().name.as_str());
            places = placement.described(comm, name);
            cores = placement.pins().map(<[usize]>::to_vec);
            compute.threads = Some(placement.threads);
        }
        Ok(Self { device, compute, cores, placement: places })
    }

    /// Whether device memory, or what stands for it, is the host's.
    pub(super) fn shares_memory(&self) -> bool {
        self.device.as_ref().is_none_or(|device| !device.info().is_gpu)
    }

    /// Bytes of device memory.
    #[allow(clippy::cast_precision_loss, reason = "for a comparison")]
    pub(super) fn device_memory(&self) -> Option<f64> {
        let device = self.device.as_ref()?;
        Some(device.free_memory().unwrap_or(device.info().memory) as f64)
    }

    /// Bytes of the largest field.
    #[allow(clippy::cast_precision_loss, reason = "for a comparison")]
    pub(super) fn largest_buffer(&self) -> Option<f64> {
        self.device.as_ref().map(|device| device.info().largest_buffer as f64)
    }

    /// How a device solves lines along y and z.
    pub(super) fn pencils(&self) -> Option<&'static str> {
        self.device.as_ref().map(|_| match self.compute.pencils {
            Pencils::Strided => "strided",
            Pencils::Permuted => "permuted",
        })
    }
}

/// A copy that the compiler does not make a call to the system's own copy of.
pub(super) struct Negated;

impl Formula<1, 1> for Negated {
    #[inline(always)]
    fn at<N: Number>(&self, [f]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [-f]
    }
}

/// A backend that can be measured. Everything it makes may be used from any thread.
pub(super) trait Place: Blocks<Field: Sync, Program: Sync, Combination: Sync> {
    /// −f of f: as much traffic as a copy.
    type Copier: Sync;
    /// A derivative along lines.
    type Operator: Sync;
    /// Axes in another order.
    type Permuter: Sync;

    /// What to call the two copies: a loop with ordinary stores, and that of a library or a driver, which may do what no
    /// loop of ours does.
    const COPIES: [&'static str; 2];

    /// Fields of `len` values there, lines solved by `solver`.
    fn at(setup: &Setup, len: usize, solver: Option<LineSolver>) -> Result<Self>;

    fn clock(&self) -> Clock;

    /// Operations a second in registers, where it can be measured.
    fn peak(&self) -> Option<f64> {
        None
    }

    fn copier(&self) -> Result<Self::Copier>;
    fn negated(&self, copier: &Self::Copier, from: &Self::Field, to: &mut Self::Field);
    fn other_copy(&self, from: &Self::Field, to: &mut Self::Field);

    /// Why `solver` cannot solve the lines of this operator there.
    fn obstacle(
        setup: &Setup,
        solver: LineSolver,
        operators: &LineOperators,
        axis: Axis,
    ) -> Option<String>;

    /// ∂/∂`axis` by the solver of this place.
    fn derivative(
        &self,
        operators: &LineOperators,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<Self::Operator>;
    fn differentiate(&self, by: &Self::Operator, from: &Self::Field, to: &mut Self::Field);

    /// Axis `order[a]` of `points` becomes axis a.
    fn permuter(&self, points: [usize; 3], order: [usize; 3]) -> Result<Self::Permuter>;
    fn permute(&self, by: &Self::Permuter, from: &Self::Field, to: &mut Self::Field);
}

impl<T: Real> Place for Cpu<T> {
    type Copier = PointFormula;
    type Operator = Program<T>;
    type Permuter = HostPermutation;

    const COPIES: [&'static str; 2] = ["ordinary-stores", "copy_from_slice"];

    fn at(setup: &Setup, _: usize, _: Option<LineSolver>) -> Result<Self> {
        match &setup.cores {
            Some(cores) => Cpu::pinned(cores),
            None => Cpu::new(setup.compute.threads),
        }
    }

    fn clock(&self) -> Clock {
        Clock::Host
    }

    fn peak(&self) -> Option<f64> {
        Some(Cpu::peak(self))
    }

    fn copier(&self) -> Result<PointFormula> {
        Ok(PointFormula::map(Negated))
    }

    fn negated(&self, copier: &PointFormula, from: &Field<T>, to: &mut Field<T>) {
        self.map(copier, &[from], &mut [to], &[]);
    }

    fn other_copy(&self, from: &Field<T>, to: &mut Field<T>) {
        use rayon::prelude::*;
        let part = from.len().div_ceil(self.threads()).max(1);
        to.par_chunks_mut(part)
            .zip(from.par_chunks(part))
            .for_each(|(to, from)| to.copy_from_slice(from));
    }

    fn obstacle(_: &Setup, solver: LineSolver, _: &LineOperators, _: Axis) -> Option<String> {
        (solver != LineSolver::THOMAS).then(|| "the cpu solves lines by thomas only".to_string())
    }

    fn derivative(
        &self,
        operators: &LineOperators,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<Program<T>> {
        let s = SweepBuilder::new();
        s.store(0, s.d1(s.read(0)));
        Ok(Program::new(&s.build(), axis, points, operators))
    }

    fn differentiate(&self, by: &Program<T>, from: &Field<T>, to: &mut Field<T>) {
        self.run(by, &[from], &mut [to], Weights::SET);
    }

    fn permuter(&self, points: [usize; 3], order: [usize; 3]) -> Result<HostPermutation> {
        Ok(HostPermutation::new(points, order))
    }

    fn permute(&self, by: &HostPermutation, from: &Field<T>, to: &mut Field<T>) {
        by.apply(from, to);
    }
}

impl<T: Real> Place for Gpu<T> {
    type Copier = <Self as Backend>::Prepared;
    type Operator = DeviceOperator;
    type Permuter = Permutation;

    const COPIES: [&'static str; 2] = ["kernel", "driver"];

    fn at(setup: &Setup, len: usize, solver: Option<LineSolver>) -> Result<Self> {
        let Some(device) = &setup.device else { unreachable!("a device was chosen") };
        Gpu::new(device.clone(), len, solver, setup.compute.pencils)
    }

    fn clock(&self) -> Clock {
        Clock::Device(self.device().clone())
    }

    fn copier(&self) -> Result<Self::Copier> {
        self.prepare(PointFormula::map(Negated))
    }

    fn negated(&self, copier: &Self::Copier, from: &Buffer, to: &mut Buffer) {
        self.map(copier, &[from], &mut [to], &[]);
    }

    fn other_copy(&self, from: &Buffer, to: &mut Buffer) {
        self.device().copy(from, to);
    }

    fn obstacle(
        setup: &Setup,
        solver: LineSolver,
        operators: &LineOperators,
        axis: Axis,
    ) -> Option<String> {
        let info = setup.device.as_ref()?.info();
        obstacle(solver, operators.get(axis, Op::D1), info)
    }

    fn derivative(
        &self,
        operators: &LineOperators,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator> {
        self.operator(operators.get(axis, Op::D1), points, axis)
    }

    fn differentiate(&self, by: &DeviceOperator, from: &Buffer, to: &mut Buffer) {
        by.apply(from, to);
    }

    fn permuter(&self, points: [usize; 3], order: [usize; 3]) -> Result<Permutation> {
        Permutation::new(self.device(), T::PRECISION, points, order)
    }

    fn permute(&self, by: &Permutation, from: &Buffer, to: &mut Buffer) {
        by.apply(from, to);
    }
}
