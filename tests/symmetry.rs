//! Symmetry planes: part of a symmetric flow, computed with symmetry planes, equals the same part of the full flow.

use std::f64::consts::PI;

use kolmo::backend::cpu::{Cpu, Field};
use kolmo::config::{Config, Precision, RightHandSide, parse};
use kolmo::engine::distributed::Method;
use kolmo::engine::{LineOperators, Op};
use kolmo::grid::{Axis, Domain, End, Grid};
use kolmo::scheme::compact_filter;

use crate::common::{
    FAMILIES, assert_reproducible, config, float, max_difference, on_host, scheme_family, state,
    steps,
};
use crate::operators::apply;
use crate::spread::blocks::assert_cuts_agree;

#[test]
fn operators_at_symmetry_planes_match_those_of_the_full_line() {
    let filter = compact_filter(8, 0.45);
    let cpu = Cpu::new(Some(1)).unwrap();
    let field = |values: &[f64]| {
        let mut field = Field::zeros(values.len());
        field.copy_from_slice(values);
        field
    };
    for (family, _) in FAMILIES {
        for n in [13, 20] {
            let length = |n: usize| Domain { origin: [0.0; 3], length: [float(n - 1), 1.0, 1.0] };
            let half = Grid::new([n, 1, 1], &length(n), [Some([End::Symmetry; 2]), None, None]);
            let all = Grid::periodic([2 * n - 2, 1, 1], &length(2 * n - 1));
            let [of_half, of_all] = [&half, &all].map(|grid| {
                LineOperators::new(scheme_family(family), Some(&filter), grid, Precision::F64)
            });
            let x = |at: usize| PI * float(at) / float(n - 1);
            let even: Vec<f64> = (0..2 * n - 2).map(|at| 1.0 / (1.5 + x(at).cos())).collect();
            let odd: Vec<f64> = (0..2 * n - 2).map(|at| (2.0 * x(at)).sin() * even[at]).collect();
            for (op, of_odd) in
                [(Op::D1, Op::D1OfOdd), (Op::D2, Op::D2OfOdd), (Op::Filter, Op::FilterOfOdd)]
            {
                for (own, values) in [(op, &even), (of_odd, &odd)] {
                    let expected = apply(&cpu, &of_all, &all, Axis::X, op, &field(values));
                    let found = apply(&cpu, &of_half, &half, Axis::X, own, &field(&values[..n]));
                    let difference = max_difference(&expected[..n], &found);
                    let size = expected.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                    assert!(
                        difference <= 4e-14 * size,
                        "{family} {own:?} {n}: {difference:e} of {size}"
                    );
                }
            }
        }
    }
}

/// The Taylor-Green vortex in a box with this number of intervals, or its octant with the same spacing.
fn vortex(intervals: [usize; 3], octant: bool, more: &[&str]) -> Config {
    let points = intervals.map(|n| if octant { n / 2 + 1 } else { n });
    let octant = format!("case.octant={octant}");
    let own = ["case.mach=0.3", "case.reynolds=80", "time.dt=0.02", &octant];
    config("taylor-green", points, &[&own, more].concat())
}

/// Compare the fields of the octant with those of the box at the points of the octant.
fn assert_is_octant(octant: &[Vec<f64>], all: &[Vec<f64>], intervals: [usize; 3], label: &str) {
    let [nx, ny, nz] = intervals.map(|n| n / 2 + 1);
    for (name, (octant, all)) in ["ρ", "ρu", "ρv", "ρw", "ρE"].iter().zip(octant.iter().zip(all))
    {
        let mut difference = 0.0_f64;
        for (at, value) in octant.iter().enumerate() {
            let [i, j, k] = [at % nx, at / nx % ny, at / (nx * ny)];
            difference =
                difference.max((value - all[i + intervals[0] * (j + intervals[1] * k)]).abs());
        }
        let size = all.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        assert_eq!(octant.len(), nx * ny * nz);
        assert!(difference <= 1e-13 * size, "{label}: {name} differs by {difference:e}");
    }
}

#[test]
fn octant_of_a_vortex_matches_the_full_vortex_to_round_off() {
    let filter = "scheme.filter={ order = 8, alpha = 0.45, every = 2 }";
    #[rustfmt::skip]
    let all = [
        &[][..],
        &[filter, "gas.viscosity=sutherland", "scheme.viscous=laplacian"],
        &["scheme.derivative=compact8-penta", "scheme.convection=feiereisen", "scheme.energy=split-enthalpy", "scheme.viscous=conservative"],
        &["scheme.derivative=explicit6", "scheme.convection=divergence", "scheme.energy=divergence", "gas.viscosity=power", "scheme.viscous=laplacian", "time.integrator=rk4"],
    ];
    let intervals = [24, 20, 28];
    for more in all {
        let mut full = on_host(&vortex(intervals, false, more));
        steps(&mut full, 10);
        for right_hand_side in [RightHandSide::Fused, RightHandSide::Composed] {
            let mut config = vortex(intervals, true, more);
            config.compute.right_hand_side = right_hand_side;
            let mut octant = on_host(&config);
            steps(&mut octant, 10);
            assert_is_octant(
                &state(&octant),
                &state(&full),
                intervals,
                &format!("{more:?} {right_hand_side:?}"),
            );
            // Averages are equal, except momentum, which cancels between the octants.
            let (found, expected) = (octant.row().unwrap(), full.row().unwrap());
            let names = kolmo::physics::columns(&config.problem());
            for ((name, a), b) in names.iter().zip(&found).zip(&expected) {
                let close = (a - b).abs() <= 1e-12 * b.abs().max(1.0);
                assert!(close || name.starts_with("momentum"), "{more:?} {name}: {a} {b}");
            }
        }
    }
}

#[test]
fn ranks_agree_with_one_rank_between_symmetry_planes() {
    let cuts = [
        ([3, 1, 1], Some(Method::Pcr)),
        ([1, 2, 1], Some(Method::Neighbour)),
        ([1, 2, 2], Some(Method::Gather)),
    ];
    assert_cuts_agree(&vortex([26, 30, 34], true, &[]), 5, &cuts);
}

/// Gas between two warm plates across y that oscillate in phase, or between one of them and the symmetry plane in the middle, with a wave
/// along x.
fn plates(half: bool) -> Config {
    let plate = "{ kind = 'wall', temperature = 1.2, velocity = [0.3, 0.0, 0.0], frequency = 5.0 }";
    let (points, length) = if half { ([12, 19, 1], 0.5) } else { ([12, 37, 1], 1.0) };
    let other = if half { "'symmetry'" } else { plate };
    let boundary = format!("boundary.y={{ low = {plate}, high = {other} }}");
    let length = format!("grid.length=[1.0, {length}, 1.0]");
    let set = [
        "case.mach=0.3",
        "case.reynolds=50",
        "case.u=0.2*sin(2*pi*x)*sin(pi*y)",
        "case.v=0.1*cos(2*pi*x)*sin(2*pi*y)",
        "time.dt=0.002",
        &*boundary,
        &length,
    ];
    config("custom", points, &set)
}

#[test]
fn wall_and_symmetry_plane_match_half_of_two_walls() {
    let [mut half, mut all] = [true, false].map(|half| on_host(&plates(half)));
    steps(&mut half, 20);
    steps(&mut all, 20);
    for (half, all) in state(&half).iter().zip(state(&all)) {
        let size = all.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        assert!(max_difference(half, &all[..half.len()]) <= 1e-12 * size);
    }
}

#[test]
fn runs_and_restarts_between_planes_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"]] {
        assert_reproducible(&vortex([16, 18, 20], true, more), &format!("{more:?}"));
    }
}

#[test]
fn bad_symmetry_planes_are_rejected_and_valid_ones_round_trip() {
    let text = |boundary: &str, reynolds: &str| {
        format!(
            "[case]\nname = 'taylor-green'\nreynolds = {reynolds}\n[grid]\npoints = [18, 18, 18]\n[boundary]\n{boundary}\n[time]\nend = 1\n"
        )
    };
    let planes = "y = { low = 'symmetry', high = { kind = 'symmetry' } }";
    let config = parse(&text(planes, "inf"), "in.toml", &[]).unwrap();
    assert_eq!(config.grid().ends, [None, Some([End::Symmetry; 2]), None]);
    assert_eq!(parse(&config.to_toml(), "in.toml", &[]).unwrap(), config);
    // A stagnation flow: the incoming gas leaves along the plane.
    let inflow = "x = { low = 'symmetry', high = { kind = 'inflow', velocity = [-1, 0, 0] } }";
    let stagnation = format!("{inflow}\ny = {{ low = 'outflow', high = 'outflow' }}");
    parse(&text(&stagnation, "100"), "in.toml", &[]).unwrap();
    let moving = "x = { low = { kind = 'wall', velocity = [0, 1, 0] }, high = 'wall' }";
    #[rustfmt::skip]
    let rows = [
        ("y = { low = { kind = 'symmetry', temperature = 1 }, high = 'symmetry' }", "7: unknown key `temperature` in [boundary.y.low]"),
        (&*format!("{planes}\n{moving}"), "8: x = { high = \"wall\", low = { kind = \"wall\", velocity = [0, 1,...: a wall that moves along y goes through the symmetry plane across y"),
        (&*format!("{planes}\n[scheme]\nconvection = 'staggered'"), "9: convection = \"staggered\": uses midpoints, which have no closures at walls"),
    ];
    for (boundary, expected) in rows {
        let Err(kolmo::Error::Config(messages)) = parse(&text(boundary, "100"), "in.toml", &[])
        else {
            panic!("{boundary}")
        };
        let first = messages[0].lines().next().unwrap();
        assert!(first.starts_with(&format!("error: in.toml:{expected}")), "{first}");
    }
}
