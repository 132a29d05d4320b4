//! Fused sweeps (one kernel each) against the host: all operators, maps, advanced fields, fields updated in place, and lines of any length.

use std::sync::Arc;

use kolmo::backend::device::{Device, Fusing, Gpu};
use kolmo::backend::{Backend, Weights};
use kolmo::config::Precision;
use kolmo::engine::{Formula, LineOperators, Number, Op, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::{compact_filter, family};
use kolmo::time::Simulation;

use super::{gpu, nvrtc, runtime};
use crate::common::{config, host_with_threads, max_difference, noise, simulation, state, steps};
use crate::operators::{check_random, grid};

fn fused(precision: Precision, len: usize) -> Gpu {
    gpu(precision, len).fusing(Fusing::All)
}

/// a / √(3 + b²), a b + b.
struct Ratio;

impl Formula<2, 2> for Ratio {
    fn at<N: Number>(&self, [a, b]: [N; 2], _: [N; 2], _: [N; 0]) -> [N; 2] {
        [a / (N::of(3.0) + b * b).sqrt(), a * b + b]
    }
}

/// A sweep with products, formulas of operands and of results of operators, a field that is advanced and then differentiated, and fields
/// updated in place.
fn sweep(periodic: bool) -> Sweep {
    let s = SweepBuilder::new();
    let (a, b, before) = (s.read(0), s.read(1), s.previous(1));
    let [ratio, other] = s.map(Ratio, [a, b]);
    s.add(0, s.d1(a * b) + 0.5 * s.d2(ratio));
    let op = if periodic { Op::InterpolateToMidpoints } else { Op::D1 };
    let applied = s.apply(op, other);
    s.add(0, 0.25 * s.d1(applied * a) + 1.5 * other);
    let new = s.advanced(s.previous(2), 0);
    let [ratio, _] = s.map(Ratio, [new, applied]);
    s.store(2, new);
    s.store(3, s.d1(ratio + before));
    s.store(1, s.apply(Op::Filter, before));
    s.build()
}

/// The four fields that the sweep writes.
fn swept(backend: &dyn Backend, scheme: &str, grid: &Grid, axis: Axis, beta: f64) -> [Vec<f64>; 4] {
    let filter = compact_filter(8, 0.3);
    let operators =
        LineOperators::new(family(scheme).unwrap(), Some(&filter), grid, backend.precision());
    let mut random = noise(3);
    let mut field = |_| {
        let values: Vec<f64> = (0..grid.len()).map(|_| random()).collect();
        backend.field(&values.into()).unwrap()
    };
    let (read, mut written) = ([0, 1].map(&mut field), [0, 1, 2, 3].map(&mut field));
    let sweep = sweep(grid.is_closed_along(axis.index()));
    let program = backend.program(&sweep, (axis, grid.points, &operators)).unwrap();
    let [first, second, third, fourth] = &mut written;
    let weights = Weights { beta, advance: 0.3 };
    backend.run(&program, &read.each_ref(), &mut [first, second, third, fourth], weights);
    written.map(|field| backend.values(&field).unwrap().into())
}

/// The largest deviation from the host, relative to the largest value of each field.
fn deviation(
    precision: Precision,
    scheme: &str,
    axis: Axis,
    n: usize,
    across: [usize; 2],
    periodic: bool,
) -> f64 {
    let grid = grid(axis, n, across, periodic);
    let beta = if n.is_multiple_of(2) { 0.0 } else { 0.5 };
    let expected = swept(&*host_with_threads(precision, 1), scheme, &grid, axis, beta);
    let found = swept(&fused(precision, grid.len()), scheme, &grid, axis, beta);
    let mut worst = 0.0_f64;
    for (found, expected) in found.iter().zip(&expected) {
        let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        for (found, expected) in found.iter().zip(expected) {
            let error = (found - expected).abs() / largest;
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    worst
}

#[test]
fn fused_sweeps_match_the_host() {
    for (scheme, axis, n, across, periodic) in [
        ("compact6", Axis::X, 64, [5, 3], true),
        ("compact10-penta", Axis::Y, 37, [17, 2], true),
        ("spectral-like", Axis::X, 23, [3, 3], true),
        ("compact4", Axis::Z, 13, [9, 1], true),
        ("explicit4", Axis::Y, 29, [3, 5], true),
        ("compact8-penta", Axis::Z, 32, [1, 7], true),
        ("compact6", Axis::X, 39, [5, 1], false),
        ("compact6", Axis::Z, 40, [5, 3], false),
        ("explicit4", Axis::Y, 41, [2, 3], false),
    ] {
        let error = deviation(Precision::F64, scheme, axis, n, across, periodic);
        assert!(error <= 1e-12, "{scheme} along {axis:?}, {n} points: {error:.1e}");
    }
    for (scheme, axis, n) in [("compact6", Axis::X, 37), ("compact10-penta", Axis::Y, 64)] {
        let error = deviation(Precision::F32, scheme, axis, n, [5, 3], true);
        assert!(error <= 1e-5, "{scheme} along {axis:?}, {n} points, f32: {error:.1e}");
    }
}

#[test]
fn random_fused_sweeps_match_plain_evaluation() {
    let gpu = |len| -> Box<dyn Backend> { Box::new(fused(Precision::F64, len)) };
    (0..9).for_each(|seed| check_random(gpu, seed, 1e-12));
}

/// Compares 20 fused steps with 20 steps of the host, which evaluates operator by operator. The last sweep of a stage stores velocity
/// gradients for the next stage.
fn check_steps(points: [usize; 3], set: &[&str], bound: f64) {
    let fused_config = config("taylor-green", points, set);
    let composed: Vec<&str> =
        set.iter().copied().chain(["compute.right_hand_side=composed"]).collect();
    let gpu = fused(fused_config.compute.precision, points.iter().product());
    let mut device = Simulation::on(Arc::new(gpu), &fused_config).unwrap();
    let mut host = simulation("taylor-green", points, &composed);
    steps(&mut device, 20);
    steps(&mut host, 20);
    let at_rest = host.system_and_state().0.base_state();
    for (k, (found, expected)) in state(&device).iter().zip(state(&host)).enumerate() {
        // At least 1, the size of density and velocity, because symmetry keeps a momentum at zero.
        let size = expected.iter().map(|a| (a + at_rest[k]).abs()).fold(1.0, f64::max);
        let deviation = max_difference(found, &expected);
        assert!(
            deviation <= bound * size,
            "{points:?} {set:?}, field {k}: {deviation:e} of {size}"
        );
    }
}

#[test]
fn fused_steps_match_composed_steps_of_the_host() {
    let staggered = ["scheme.convection=staggered", "gas.viscosity=sutherland"];
    // The order of the sweeps along three axes and the fields that they store for each other do not depend on the scheme; without line
    // systems the kernels compile several times faster.
    let explicit = [
        "scheme.derivative=explicit4",
        "scheme.convection=feiereisen",
        "scheme.energy=split-enthalpy",
    ];
    check_steps([9, 16, 1], &[], 1e-12);
    check_steps([9, 16, 1], &["compute.precision=f32"], 1e-5);
    check_steps([12, 13, 1], &staggered, 1e-12);
    check_steps([8, 9, 11], &explicit, 1e-12);
}

#[test]
fn operators_apply_to_advanced_fields_only_in_fused_sweeps() {
    for (n, fusing, applies) in [
        (40, Fusing::All, true),
        (37, Fusing::All, true),
        (40, Fusing::Nothing, false),
        (1 << 16, Fusing::All, false),
    ] {
        let grid = grid(Axis::Y, n, [5, 3], true);
        let operators =
            LineOperators::new(family("compact6").unwrap(), None, &grid, Precision::F64);
        let s = SweepBuilder::new();
        s.add(0, s.d1(s.previous(1)));
        let new = s.advanced(s.previous(1), 0);
        s.store(1, new);
        s.store(2, s.d1(new));
        let gpu = gpu(Precision::F64, grid.len()).fusing(fusing);
        let found = gpu.program_on_advanced_field(&s.build(), (Axis::Y, grid.points, &operators));
        assert_eq!(found.unwrap().is_some(), applies, "{n} points, {fusing:?}");
    }
}

/// NVRTC 13 counts the 1 KiB reserved by the system as part of the kernel: the driver starts no thread block that requests all on-chip
/// memory.
#[test]
fn sweeps_leave_1_kib_of_on_chip_memory_for_the_system() {
    let info = runtime::gpu();
    for points in [[9, 8, 500], [9, 500, 8], [500, 9, 8], [9, 8, 320]] {
        let (device, recording) = Device::recording(info.clone(), |_| 0);
        nvrtc::run("taylor-green", points, &[])(&device);
        let most = recording.kernels().iter().map(|kernel| kernel.on_chip).max().unwrap();
        assert!(most + 1024 <= info.on_chip, "{points:?}: {most} bytes");
    }
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_fused_sweep_along_x() {
    let error = deviation(Precision::F64, "compact6", Axis::X, 13, [2, 1], true);
    assert!(error <= 1e-12, "{error:.1e}");
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_fused_sweep_with_boundary_closures() {
    let error = deviation(Precision::F64, "explicit4", Axis::Y, 20, [3, 1], false);
    assert!(error <= 1e-12, "{error:.1e}");
}
