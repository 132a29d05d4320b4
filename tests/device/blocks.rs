//! Sweeps along lines that are split across ranks, on devices. The ranks are threads, each with its subdomain.

use std::sync::Arc;

use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::{Device, Fusing, Gpu};
use kolmo::backend::ranks::Ranks;
use kolmo::backend::{Backend, Weights};
use kolmo::comm::Communicator;
use kolmo::config::{ComputeConfig, Pencils, Precision};
use kolmo::engine::distributed::Method;
use kolmo::engine::{LineOperators, Op, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Decomposition, Grid};
use kolmo::scheme::family;

use super::device;
use crate::common::{config, noise};
use crate::operators::grid;
use crate::spread::threads::on_ranks;

/// A sweep with products, two operators in one stage, one operator applied to another, and a field that is read and written.
fn sweep() -> Sweep {
    let s = SweepBuilder::new();
    let (a, b, before) = (s.read(0), s.read(1), s.previous(1));
    s.add(0, s.d1(a * b) + 0.5 * s.d2(a));
    s.add(0, 0.25 * s.d1(s.apply(Op::InterpolateToMidpoints, b) * a));
    s.store(1, s.d1(before));
    s.build()
}

fn settings(method: Method) -> ComputeConfig {
    let mut compute = config("taylor-green", [8, 8, 8], &[]).compute;
    compute.distributed = Some(method);
    compute
}

fn values(grid: &Grid) -> [Vec<f64>; 3] {
    let mut random = noise(7);
    std::array::from_fn(|_| (0..grid.len()).map(|_| random()).collect())
}

/// The two fields that the sweep writes, in the order of the points of this rank.
fn swept(backend: &dyn Backend, scheme: &str, grid: &Grid, axis: Axis) -> [Vec<f64>; 2] {
    let operators = LineOperators::new(family(scheme).unwrap(), None, grid, backend.precision());
    let block = backend.block(grid.points);
    let [nx, ny, _] = grid.points;
    let part = |values: &[f64]| {
        let at = |[i, j, k]: [usize; 3]| values[i + nx * (j + ny * k)];
        let part: Vec<f64> = (0..block.len()).map(|here| at(block.index(here))).collect();
        backend.field(&part.into()).unwrap()
    };
    let [a, b, before] = values(grid).map(|values| part(&values));
    let mut written = [part(&vec![f64::NAN; grid.len()]), before];
    let program = backend.program(&sweep(), (axis, grid.points, &operators)).unwrap();
    let [first, second] = &mut written;
    backend.run(&program, &[&a, &b], &mut [first, second], Weights::SET);
    written.map(|field| backend.values(&field).unwrap().into())
}

fn on_device(
    device: Arc<Device>,
    comm: Arc<dyn Communicator>,
    method: Method,
    axis: Axis,
    points: [usize; 3],
    fusing: Fusing,
) -> Ranks {
    let mut ranks = [1; 3];
    ranks[axis.index()] = comm.size();
    let decomposition = Decomposition { ranks };
    let len = decomposition.block(comm.rank(), points).len();
    let gpu = Gpu::new(device, Precision::F64, len, None, Pencils::Strided).unwrap();
    Ranks::new(Box::new(gpu.fusing(fusing)), comm, decomposition, &settings(method)).unwrap()
}

/// The largest deviation from one rank on the host, relative to the largest value.
fn deviation(
    method: Method,
    scheme: &str,
    axis: Axis,
    n: usize,
    ranks: usize,
    fusing: Fusing,
) -> f64 {
    let grid = grid(axis, n, [5, 3], true);
    let expected = swept(&Cpu::<f64>::new(Some(1)).unwrap(), scheme, &grid, axis);
    let expected = expected.each_ref();
    let found = on_ranks(ranks, |comm| {
        let backend = on_device(device(), comm, method, axis, grid.points, fusing);
        let block = backend.block(grid.points);
        let found = swept(&backend, scheme, &grid, axis);
        let [nx, ny, _] = grid.points;
        let mut worst = 0.0_f64;
        for (found, expected) in found.iter().zip(expected) {
            let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            for (here, value) in found.iter().enumerate() {
                let [i, j, k] = block.index(here);
                let error = (value - expected[i + nx * (j + ny * k)]).abs() / largest;
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
            }
        }
        worst
    });
    found.into_iter().fold(0.0, f64::max)
}

#[test]
fn distributed_sweeps_on_devices_match_one_rank_on_the_host() {
    // Fusing changes only the solve within a subdomain, which is the same for all methods.
    for (method, scheme, axis, n, ranks, fusing) in [
        (Method::Neighbour, "compact6", Axis::X, 97, 2, Fusing::Nothing),
        (Method::Neighbour, "compact6", Axis::X, 97, 2, Fusing::All),
        (Method::Pcr, "compact6", Axis::Y, 35, 3, Fusing::All),
        (Method::Gather, "compact10-penta", Axis::Z, 26, 2, Fusing::Nothing),
        (Method::Gather, "compact10-penta", Axis::Z, 26, 2, Fusing::All),
        (Method::Chain, "compact4", Axis::X, 23, 3, Fusing::Nothing),
        // Subdomains with fewer points than a chunk of a pentadiagonal solve.
        (Method::Chain, "compact8-penta", Axis::X, 20, 4, Fusing::Nothing),
        (Method::Chain, "compact8-penta", Axis::Y, 20, 4, Fusing::All),
        (Method::Transpose, "compact6", Axis::Y, 23, 2, Fusing::All),
        (Method::Neighbour, "explicit4", Axis::Z, 25, 2, Fusing::All),
    ] {
        let error = deviation(method, scheme, axis, n, ranks, fusing);
        let name = method.name();
        assert!(error <= 1e-13, "{name} {scheme} along {axis:?}, {fusing:?} fused: {error:.1e}");
    }
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_coupled_blocks_match_one_rank_on_the_host() {
    let error = deviation(Method::Pcr, "compact4", Axis::X, 13, 2, Fusing::All);
    assert!(error <= 1e-13, "{error:.1e}");
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_blocks_of_an_explicit_scheme_match_one_rank_on_the_host() {
    let error = deviation(Method::Neighbour, "explicit2", Axis::Y, 16, 2, Fusing::Nothing);
    assert!(error <= 1e-13, "{error:.1e}");
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_blocks_with_transposed_lines_match_one_rank_on_the_host() {
    let error = deviation(Method::Transpose, "explicit2", Axis::Z, 7, 2, Fusing::Nothing);
    assert!(error <= 1e-13, "{error:.1e}");
}

/// Requests from `device` the kernels of sweeps along lines that are split across ranks.
pub(super) fn ask(device: &Arc<Device>) {
    for (method, axis) in
        [(Method::Neighbour, Axis::X), (Method::Pcr, Axis::Z), (Method::Transpose, Axis::Y)]
    {
        let grid = grid(axis, 256, [5, 3], true);
        on_ranks(2, |comm| {
            let backend =
                on_device(device.clone(), comm, method, axis, grid.points, Fusing::OnChip);
            swept(&backend, "compact6", &grid, axis);
        });
    }
}
