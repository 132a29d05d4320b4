//! Sweeps as one kernel against the host: every operator, map and advance, fields in place, any line.

use std::sync::Arc;

use kolmo::backend::device::{Device, Fusing, Gpu};
use kolmo::backend::{Backend, Weights};
use kolmo::config::Precision;
use kolmo::engine::{Formula, LineOperators, Number, Op, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::{compact_filter, family};
use kolmo::time::Simulation;

use super::{gpu, nvrtc, runtime};
use crate::common::{config, cores, max_difference, noise, simulation, state, steps};
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

/// Products, formulas before and behind operators, a field that is advanced and then differentiated, fields in place.
fn sweep(periodic: bool) -> Sweep {
    let s = SweepBuilder::new();
    let (a, b, before) = (s.read(0), s.read(1), s.previous(1));
    let [ratio, other] = s.map(Ratio, [a, b]);
    s.add(0, s.d1(a * b) + 0.5 * s.d2(ratio));
    let op = if periodic { Op::InterpolateToMidpoints } else { Op::D1 };
    let behind = s.apply(op, other);
    s.add(0, 0.25 * s.d1(behind * a) + 1.5 * other);
    let new = s.advanced(s.previous(2), 0);
    let [ratio, _] = s.map(Ratio, [new, behind]);
    s.store(2, new);
    s.store(3, s.d1(ratio + before));
    s.store(1, s.apply(Op::Filter, before));
    s.build()
}

/// What the sweep makes of the four fields that it writes.
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
    let sweep = sweep(grid.closes(axis.index()));
    let program = backend.program(&sweep, (axis, grid.points, &operators)).unwrap();
    let [first, second, third, fourth] = &mut written;
    let weights = Weights { beta, advance: 0.3 };
    backend.run(&program, &read.each_ref(), &mut [first, second, third, fourth], weights);
    written.map(|field| backend.values(&field).unwrap().into())
}

/// The largest difference from the host, in units of the largest value of each field.
fn off(
    precision: Precision,
    scheme: &str,
    axis: Axis,
    n: usize,
    across: [usize; 2],
    periodic: bool,
) -> f64 {
    let grid = grid(axis, n, across, periodic);
    let beta = if n.is_multiple_of(2) { 0.0 } else { 0.5 };
    let expected = swept(&*cores(precision, 1), scheme, &grid, axis, beta);
    let found = swept(&fused(precision, grid.len()), scheme, &grid, axis, beta);
    let mut worst = 0.0_f64;
    for (found, expected) in found.iter().zip(&expected) {
        let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - expected).abs() / largest;
            worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
        }
    }
    worst
}

#[test]
fn fused_sweeps_give_the_answer_of_the_host() {
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
        let off = off(Precision::F64, scheme, axis, n, across, periodic);
        assert!(off <= 1e-12, "{scheme} along {axis:?}, {n} points: {off:.1e}");
    }
    for (scheme, axis, n) in [("compact6", Axis::X, 37), ("compact10-penta", Axis::Y, 64)] {
        let off = off(Precision::F32, scheme, axis, n, [5, 3], true);
        assert!(off <= 1e-5, "{scheme} along {axis:?}, {n} points, f32: {off:.1e}");
    }
}

#[test]
fn random_fused_sweeps_do_what_they_say() {
    let gpu = |len| -> Box<dyn Backend> { Box::new(fused(Precision::F64, len)) };
    (0..9).for_each(|seed| check_random(gpu, seed, 1e-12));
}

/// 20 fused steps against 20 of the host taken operator by operator. The last sweep of a stage leaves velocity gradients for the next.
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
        // Where symmetry keeps a momentum at zero: density and velocity are of size 1.
        let size = expected.iter().map(|a| (a + at_rest[k]).abs()).fold(1.0, f64::max);
        let off = max_difference(found, &expected);
        assert!(off <= bound * size, "{points:?} {set:?}, field {k}: {off:e} of {size}");
    }
}

#[test]
fn fused_steps_give_the_answer_of_the_host_operator_by_operator() {
    let staggered = ["scheme.convection=staggered", "gas.viscosity=sutherland"];
    // The order of the sweeps along three axes and what they leave for each other do not depend on the scheme; without line systems
    // the kernels compile several times faster.
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
fn operators_apply_to_what_a_sweep_advances_where_it_is_one_kernel() {
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
        let found = gpu.program_of_advanced(&s.build(), (Axis::Y, grid.points, &operators));
        assert_eq!(found.unwrap().is_some(), applies, "{n} points, {fusing:?}");
    }
}

/// NVRTC 13 counts 1 KiB that the system takes as the kernel's own: the driver starts no block that asks for all that there is.
#[test]
fn sweeps_leave_on_chip_what_the_compiler_counts_as_theirs() {
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
    let off = off(Precision::F64, "compact6", Axis::X, 13, [2, 1], true);
    assert!(off <= 1e-12, "{off:.1e}");
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_fused_sweep_with_ends() {
    let off = off(Precision::F64, "explicit4", Axis::Y, 20, [3, 1], false);
    assert!(off <= 1e-12, "{off:.1e}");
}
