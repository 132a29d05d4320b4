//! Multicolour sweeps over block systems on a device against those on the host.

use std::sync::Arc;

use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::{BlockKernels, BlockSweeps, Buffer, Device};
use kolmo::backend::ranks::Blocks;
use kolmo::backend::{BlockSolver, Field};
use kolmo::blocks::{Colouring, Direction, Factored, Halo, Pattern, Shift, Sweeps};
use kolmo::{Precision, Real};

use super::{device, gpu, on_two_threads};
use crate::blocks::{distance, filled, filled_as, graphs, pattern, right_hand_side};

/// Two sweeps of each kind: the second reads what the first wrote.
const KINDS: [Sweeps; 3] = [
    Sweeps { count: 2, direction: Direction::Forward, relaxation: 1.0 },
    Sweeps { count: 2, direction: Direction::Symmetric, relaxation: 1.0 },
    Sweeps { count: 2, direction: Direction::Symmetric, relaxation: 0.7 },
];

fn factored<S: Real>(pattern: &Pattern, nb: usize) -> Factored<S> {
    filled(pattern, nb, true, |_, _, _| ()).factored().unwrap()
}

const KERNEL_VARIANTS: [BlockKernels; 2] = [BlockKernels::Fused, BlockKernels::Split];

/// A matrix and b on a device, with every x so far.
struct OnDevice {
    sweeps: BlockSweeps,
    b: Buffer,
    x: Vec<Buffer>,
}

impl OnDevice {
    fn new<S: Real>(
        device: &Arc<Device>,
        matrix: &Factored<S>,
        kernels: BlockKernels,
        b: &[f64],
    ) -> Self {
        let sweeps = BlockSweeps::new(device, matrix, kernels).unwrap();
        Self { sweeps, b: Buffer::from_host(device, b).unwrap(), x: Vec::new() }
    }

    /// Returns x after the sweeps of `kind` from `start`.
    fn swept(&mut self, device: &Arc<Device>, start: &[f64], kind: Sweeps) -> Vec<f64> {
        let mut x = Buffer::from_host(device, start).unwrap();
        self.sweeps.sweep(&self.b, &mut x, kind);
        let found = x.download().unwrap();
        self.x.push(x);
        found
    }
}

/// Requests the kernels of sweeps over small and large blocks.
pub(super) fn ask(device: &Arc<Device>) {
    let pattern = pattern(&[vec![]]);
    for nb in (1..=16).chain([17, 31, 32, 33, 64, 100, 129, 300]) {
        BlockSweeps::new(device, &factored::<f32>(&pattern, nb), BlockKernels::Fused).unwrap();
    }
    for nb in [1, 5, 16, 17, 64, 300] {
        BlockSweeps::new(device, &factored::<f32>(&pattern, nb), BlockKernels::Split).unwrap();
    }
    for (nb, kernels) in [1, 5, 16, 64, 300].into_iter().zip(KERNEL_VARIANTS.into_iter().cycle()) {
        BlockSweeps::new(device, &factored::<f64>(&pattern, nb), kernels).unwrap();
    }
}

/// Compares every kind of sweep on this device with the host.
fn check<S: Real>(
    device: &Arc<Device>,
    (name, pattern): (&str, &Pattern),
    nb: usize,
) -> [OnDevice; 2] {
    let matrix = factored::<S>(pattern, nb);
    let b = right_hand_side(pattern.rows() * nb);
    let start: Vec<f64> = b.iter().rev().copied().collect();
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    KERNEL_VARIANTS.map(|kernels| {
        let mut on_device = OnDevice::new(device, &matrix, kernels, &b);
        for kind in KINDS {
            let mut expected = start.clone();
            cpu.within(|| matrix.sweep(cpu.arch(), &b, &mut expected, kind));
            let deviation = distance(&on_device.swept(device, &start, kind), &expected);
            let format = S::PRECISION.name();
            assert!(
                deviation < 1e-13,
                "{nb} rows, {name}, {format}, {kernels:?}, {kind:?}: {deviation:.1e}"
            );
        }
        on_device
    })
}

/// A ring whose rows of one colour fill several thread blocks, the last of them partly.
fn long_ring() -> Pattern {
    let ring = (0..205_u32).map(|i| vec![(i + 1) % 205, (i + 204) % 205, (i + 2) % 205]);
    pattern(&ring.collect::<Vec<_>>())
}

/// Catches a wrong thread, column, pivot, triangle or colour for any block size, any graph and both formats.
#[test]
fn device_sweeps_match_the_host_for_all_block_sizes_and_graphs() {
    let device = device();
    // All numbers of groups and of rows per block, full and partial panels, and threads with two unknowns.
    let sizes = vec![131, 64, 33, 32, 31, 17, 16, 12, 9, 8, 6, 5, 3, 2, 1];
    on_two_threads(sizes, |&nb| {
        for (name, pattern) in graphs() {
            check::<f32>(&device, (name, &pattern), nb);
            // The format changes no other number of the kernel text, so a few sizes suffice.
            if [1, 5, 16, 33].contains(&nb) {
                check::<f64>(&device, (name, &pattern), nb);
            }
        }
        check::<f32>(&device, ("a long ring", &long_ring()), nb);
    });
}

/// Catches sums whose order depends on which thread runs first.
#[test]
fn device_sweeps_are_bitwise_reproducible() {
    let device = device();
    for (nb, kernels) in [1, 5, 16, 33].into_iter().zip(KERNEL_VARIANTS.into_iter().cycle()) {
        let (pattern, kind) = (long_ring(), KINDS[2]);
        let b = right_hand_side(pattern.rows() * nb);
        let matrix = factored::<f32>(&pattern, nb);
        let mut instances = [(); 2].map(|()| OnDevice::new(&device, &matrix, kernels, &b));
        let first = instances[0].swept(&device, &b, kind);
        for instance in &mut instances {
            assert_eq!(instance.swept(&device, &b, kind), first, "{nb} rows");
        }
    }
}

/// Catches a failing launch or a missing array where there is nothing to compute.
#[test]
fn empty_systems_and_zero_sweeps_leave_x_unchanged() {
    let device = device();
    let empty = factored::<f32>(&pattern(&[]), 3);
    let single = factored::<f32>(&pattern(&[vec![]]), 2);
    let none = Sweeps { count: 0, ..Sweeps::default() };
    for kernels in KERNEL_VARIANTS {
        let mut empty = OnDevice::new(&device, &empty, kernels, &[]);
        assert!(empty.swept(&device, &[], KINDS[0]).is_empty());
        let mut single = OnDevice::new(&device, &single, kernels, &[1.0, 2.0]);
        assert_eq!(single.swept(&device, &[3.0, 4.0], none), [3.0, 4.0]);
    }
}

/// Catches races, out-of-bounds reads, and reads of uninitialised on-chip memory.
#[test]
#[ignore = "run under Oclgrind"]
fn small_systems_match_the_host() {
    let (device, graphs) = (device(), graphs());
    let mut retained = Vec::new();
    let [star, random] = [&graphs[4], &graphs[6]].map(|(name, pattern)| (*name, pattern));
    for nb in [1, 5, 17] {
        retained.push(check::<f32>(&device, random, nb));
    }
    retained.push(check::<f64>(&device, star, 3));
}

/// x of a small system stored as fields, on a rank that is its own neighbour. Also returns the objects that must live until the end
/// of the test (see `small.rs`).
fn in_fields(backend: &dyn Blocks) -> (Vec<f64>, Vec<Field>, BlockSolver) {
    const NB: usize = 5;
    let pattern =
        Pattern::with_columns(6, vec![0, 3, 5, 8, 10], vec![1, 3, 4, 0, 2, 1, 3, 5, 2, 0]).unwrap();
    let colouring = Colouring::given(&pattern, 2, &[0, 1, 0, 1, 1, 1]).unwrap();
    let matrix = filled_as::<f32>(&pattern, colouring, NB, true, |_, _, _| ());
    let shift = |rows, columns| vec![Shift { to: Some(0), rows, from: Some(0), columns }];
    let halo = Halo(vec![shift(vec![0], vec![]), shift(vec![1, 3], vec![4, 5])]);
    let mut solver = backend.block_solver(&matrix.colouring, &halo, NB).unwrap();
    backend.set_blocks(&mut solver, matrix.factored().unwrap()).unwrap();
    let b = right_hand_side(4 * NB);
    let mut fields: Vec<Field> =
        b.chunks(4).map(|b| backend.field(&b.to_vec().into()).unwrap()).collect();
    let mut x: Vec<Field> =
        (0..NB).map(|_| backend.field(&vec![f64::NAN; 4].into()).unwrap()).collect();
    // The buffer contains the values sent for the first colour, then those sent and those received for the second.
    let mut exchange = |colour: usize, border: &mut Field| {
        let mut bytes = [0; 5 * NB * 8];
        if colour == 1 {
            backend.fetch(border, 0, &mut bytes).unwrap();
            bytes.copy_within(NB * 8..3 * NB * 8, 3 * NB * 8);
            backend.put(border, 0, &bytes).unwrap();
        }
    };
    let (read, mut write) = (fields.iter().collect::<Vec<_>>(), x.iter_mut().collect::<Vec<_>>());
    backend.sweep_blocks_with_exchange(&mut solver, KINDS[1], &read, &mut write, &mut exchange);
    let found = x.iter().flat_map(|x| backend.values(x).unwrap().iter().collect::<Vec<_>>());
    let found = found.collect();
    fields.append(&mut x);
    (found, fields, solver)
}

/// Catches a thread beyond the rows, or beyond the values sent to and received from other ranks.
#[test]
#[ignore = "run under Oclgrind"]
fn small_systems_stored_as_fields_match_the_host() {
    let gpu = gpu(Precision::F64, 4);
    let (found, ..) = &in_fields(&gpu);
    let (expected, ..) = in_fields(&Cpu::<f64>::new(Some(1)).unwrap());
    assert!(distance(found, &expected) < 1e-13, "{found:?} {expected:?}");
}
