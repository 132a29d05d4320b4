//! Flows between walls: tests beyond the checks of `kolmo verify`.

use kolmo::Error;
use kolmo::backend::{Backend, OnPart};
use kolmo::boundary::{Boundaries, Face, Heat, Wall};
use kolmo::config::{Config, Convection, Precision, ViscousForm, parse};
use kolmo::engine::distributed::Method;
use kolmo::engine::{Formula, Number, PointFormula};
use kolmo::grid::{Axis, Block};
use kolmo::scheme::families;
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_orders, assert_reproducible, config, host, max_difference, on_host, state,
    steps,
};
use crate::device::gpu;
use crate::spread::blocks::assert_cuts_agree;
use crate::verify::assert_verified;

#[test]
fn every_check_of_walls_passes() {
    assert_verified(&["walls"]);
}

/// A box with an oscillating lid, a warm wall and one with a heat flux, periodic along z.
fn box_with_walls(points: [usize; 3], more: &[&str]) -> Config {
    let set = [
        "case.mach=0.3",
        "case.reynolds=40",
        "time.dt=0.002",
        "boundary.x={ low = { kind = 'wall', temperature = 1.1 }, high = { kind = 'wall', heat_flux = 0.05 } }",
        "boundary.y={ low = 'wall', high = { kind = 'wall', temperature = 0.9, velocity = [0.7, 0.0, 0.3], frequency = 9.0 } }",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
    ];
    config("lid-driven-cavity", points, &[&set, more].concat())
}

#[test]
fn ranks_and_composed_right_hand_side_agree_with_one_rank() {
    for more in [&[][..], &["scheme.derivative=compact8-penta"], &["gas.viscosity=sutherland"]] {
        let config = box_with_walls([31, 50, 9], more);
        let cuts = [
            ([2, 1, 1], None),
            ([1, 3, 1], Some(Method::Gather)),
            ([1, 5, 1], None),
            ([3, 2, 1], Some(Method::Pcr)),
            ([2, 2, 1], Some(Method::Transpose)),
            ([1, 2, 2], Some(Method::Chain)),
        ];
        assert_cuts_agree(&config, 12, &cuts);
    }
}

#[test]
fn runs_and_restarts_between_walls_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
        let config = box_with_walls([19, 18, 1], more);
        let (_directory, saved) = assert_reproducible(&config, &format!("{more:?}"));
        // Refinement interpolates with Fourier modes, which needs periodic axes.
        let finer = box_with_walls([19, 36, 1], more);
        let resumed = Simulation::resume(host(&finer.compute), &finer, &saved);
        let Err(Error::Config(messages)) = resumed else {
            panic!("a restart on another grid between walls is accepted");
        };
        assert!(messages[0].contains("18 points along y, the grid has 36"), "{messages:?}");
    }
}

#[test]
fn state_at_walls_satisfies_the_wall_conditions() {
    let config = box_with_walls([18, 17, 1], &[]);
    let mut flow = on_host(&config);
    steps(&mut flow, 9);
    let [rho, u, v, w, e]: [Vec<f64>; 5] = state(&flow).try_into().unwrap();
    let phase = (9.0 * flow.time()).cos();
    let t = |at: usize| {
        let kinetic = 0.5 * (u[at] * u[at] + v[at] * v[at] + w[at] * w[at]) / rho[at];
        1.4 * 0.09 * 0.4 * (e[at] - kinetic) / rho[at]
    };
    for i in 1..17 {
        let at = i + 18 * 16;
        for (found, expected) in [(u[at], 0.7), (v[at], 0.0), (w[at], 0.3)] {
            assert!((found / rho[at] - expected * phase).abs() < 1e-14, "{found}");
        }
        assert!((t(at) - 0.9).abs() < 1e-13, "{}", t(at));
        assert_eq!((u[i], v[i], w[i]), (0.0, 0.0, 0.0));
    }
    for j in 1..16 {
        assert!((t(18 * j) - 1.1).abs() < 1e-13, "{}", t(18 * j));
    }
}

/// A gas with velocity `u` between walls across x.
fn tube(points: usize, u: &str, reynolds: f64, more: &[&str]) -> Simulation {
    let own = [format!("case.u='{u}'"), format!("case.reynolds={reynolds}")];
    let own = own.iter().map(String::as_str);
    let set: Vec<_> =
        own.chain(["case.mach=0.5", "grid.length=[1, 1, 1]"]).chain(more.iter().copied()).collect();
    on_host(&config("custom", [points, 1, 1], &set))
}

/// Catches a wall temperature that is extrapolated from inside: sound grew at about c/L.
#[test]
fn sound_between_adiabatic_walls_does_not_grow() {
    let adiabatic = "boundary.x={ low = 'wall', high = 'wall' }";
    let isothermal = "boundary.x={ low = { kind = 'wall', temperature = 1 }, high = 'wall' }";
    for family in families().iter().filter(|family| family.first.half_band() < 2) {
        for viscous in ["laplacian", "conservative"] {
            for walls in [adiabatic, isothermal] {
                let [derivative, viscous] = [
                    format!("scheme.derivative={}", family.name),
                    format!("scheme.viscous={viscous}"),
                ];
                let set = [walls, &derivative, &viscous, "time.cfl=0.3"];
                let mut flow = tube(33, "0.01*sin(pi*x)", 1e5, &set);
                let energy = |flow: &mut Simulation| flow.quantity("kinetic_energy").unwrap();
                let first = energy(&mut flow);
                while flow.time() < 10.0 {
                    flow.step(None).unwrap();
                    if flow.steps().is_multiple_of(50) {
                        let ratio = energy(&mut flow) / first;
                        assert!(ratio < 1.0, "{set:?}: {ratio} at {}", flow.time());
                    }
                }
            }
        }
    }
}

/// Catches a heat flux with a wrong strength, sign or viscosity, and one that does not converge.
#[test]
fn energy_gain_equals_the_prescribed_wall_heat_flux() {
    let walls = "boundary.x={ low = 'wall', high = { kind = 'wall', heat_flux = 0.05 } }";
    for viscous in ["scheme.viscous=conservative", "scheme.viscous=laplacian"] {
        let [coarse, fine] = [33, 65].map(|points| {
            let set = [walls, viscous, "gas.viscosity=sutherland"];
            let mut flow = tube(points, "0", 50.0, &set);
            let first = flow.quantity("total_energy").unwrap();
            advance(&mut flow, 1.0);
            let heat = flow.quantity("total_energy").unwrap() - first;
            (heat / 0.05 - 1.0).abs()
        });
        assert!(coarse < 2.5e-3 && fine < coarse / 5.0, "{viscous}: {coarse} {fine}");
    }
}

/// Catches internal energy that an oscillating adiabatic wall loses or creates, which lowers the order in time to 2.
#[test]
fn oscillating_adiabatic_wall_preserves_the_order_in_time() {
    let walls = "boundary.x={ low = { kind = 'wall', velocity = [0, 2, 0], frequency = 30 }, high = { kind = 'wall', temperature = 1 } }";
    for integrator in ["rk4", "hale64"] {
        let run = |dt: f64| {
            let set = [format!("time.dt={dt}"), format!("time.integrator={integrator}")];
            let mut flow = tube(25, "0.2*sin(pi*x)", 20.0, &[walls, &set[0], &set[1]]);
            advance(&mut flow, 0.12);
            state(&flow).concat()
        };
        let reference = run(0.000125);
        let errors = [0.002, 0.001].map(|dt| (dt, max_difference(&run(dt), &reference)));
        assert_orders(&errors, 3.6..4.6, integrator);
    }
}

/// Combines values read, previous values and a parameter.
struct Marked;

impl Formula<2, 2, 1> for Marked {
    fn at<N: Number>(&self, [a, b]: [N; 2], [c, d]: [N; 2], [p]: [N; 1]) -> [N; 2] {
        [a + N::of(1000.0) * c, b * p - d]
    }
}

#[test]
fn map_on_a_part_reads_offset_points_and_changes_only_its_points() {
    let points = [5, 43, 3];
    let host = host(&config("taylor-green", [8; 3], &[]).compute);
    let device = gpu(Precision::F64, points.iter().product());
    let backends: [&dyn Backend; 2] = [&*host, &device];
    for backend in backends {
        let values =
            |first: f64| -> Vec<f64> { (0..645).map(|at| first + f64::from(at)).collect() };
        let field = |first| backend.field(&values(first).into()).unwrap();
        let mut fields = [field(0.0), field(0.5)];
        let part = Block { start: [1, 2, 0], points: [3, 41, 2] };
        // The next point along z in field 1, and the previous one along x in field 0.
        let map = backend.prepare_part(OnPart {
            formula: PointFormula::map(Marked),
            points,
            part: Block { points: [1, 41, 2], ..part },
            reads: vec![(1, 215), (0, -1)],
            own: 0,
        });
        let [a, b] = &mut fields;
        backend.map_part(&map.unwrap(), &mut [a, b], &[2.0]);
        let found: Vec<Vec<f64>> =
            fields.iter().map(|f| backend.values(f).unwrap().into()).collect();
        let (one, two) = (values(0.0), values(0.5));
        for at in 0..645 {
            let [i, j, k] = [at % 5, at / 5 % 43, at / 215];
            let is_mapped = i == 1 && j >= 2 && k < 2;
            let expected = match is_mapped {
                true => [two[at + 215] + 1000.0 * one[at], 2.0 * one[at - 1] - two[at]],
                false => [one[at], two[at]],
            };
            assert_eq!([found[0][at], found[1][at]], expected, "{i} {j} {k}");
        }
    }
}

const GOOD: &str = "[case]\nname = 'couette-flow'\nreynolds = 50\n[grid]\npoints = [9, 18, 8]\n[boundary]\n\
                    y = { low = 'wall', high = 'wall' }\n[time]\nend = 1\n";

/// Catches a viscosity at a temperature other than that of the wall: steps were first-order.
#[test]
fn wall_heat_flux_with_variable_viscosity_keeps_the_order_in_time() {
    let at = |dt: f64| {
        let walls = "boundary.y={ low = { kind = 'wall', heat_flux = 1.0 }, high = { kind = 'wall', temperature = 1.0 } }";
        let (dt, law) =
            (format!("time.dt={dt}"), "gas.viscosity={ law = 'power', exponent = 1.5 }");
        let set =
            ["case.mach=0.5", "case.reynolds=20", "grid.length=[1.0, 2.0, 1.0]", law, walls, &dt];
        let mut flow = on_host(&config("custom", [1, 21, 1], &set));
        advance(&mut flow, 0.32);
        flow.field("temperature").unwrap()
    };
    let fields = [0.008, 0.004, 0.002].map(at);
    let difference = |a: usize, b: usize| {
        fields[a].iter().zip(&fields[b]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let [coarse, fine] = [difference(0, 1), difference(1, 2)];
    assert!(coarse > 10.0 * fine && coarse < 1e-6, "{coarse:e} {fine:e}");
}

#[test]
fn errors_for_bad_boundaries_give_line_and_allowed_values() {
    let y = "y = { low = 'wall', high = 'wall' }";
    #[rustfmt::skip]
    let rows = [
        (y, "y = { low = 'wall' }", "7: [boundary.y] needs `high`"),
        (y, "y = { low = 'wall', high = 'periodic' }", "7: high = \"periodic\": one end alone cannot be periodic"),
        (y, "y = { low = 'wal', high = 'wall' }", "7: low = \"wal\": unknown; did you mean `wall`?"),
        (y, "y = 'wall'", "7: y = \"wall\": unknown"),
        (y, "y = { low = { temperature = 1.0 }, high = 'wall' }", "7: [boundary.y.low] needs `kind`"),
        (y, "y = { low = { kind = 'wall', temperature = -1.0 }, high = 'wall' }", "7: temperature = -1.0: must be a positive finite number"),
        (y, "y = { low = { kind = 'wall', temperature = 1.0, heat_flux = 0.1 }, high = 'wall' }",
            "7: heat_flux = 0.1: cannot be combined with `temperature`; only one of them is prescribed at a wall"),
        (y, "y = { low = { kind = 'wall', velocity = [0, 1, 0] }, high = 'wall' }",
            "7: velocity = [0, 1, 0]: a wall across y cannot move along y"),
        (y, "y = { low = { kind = 'wall', frequency = 3.0 }, high = 'wall' }", "7: frequency = 3.0: a wall at rest has none"),
        (y, "w = { low = 'wall', high = 'wall' }", "7: unknown key `w` in [boundary]; did you mean `x`?"),
        ("reynolds = 50", "reynolds = inf", "7: y = { high = \"wall\", low = \"wall\" }: a no-slip wall needs viscosity, and reynolds = inf has none"),
        ("[9, 18, 8]", "[9, 4, 8]", "5: points = [9, 4, 8]: 4 points along y; compact6 between walls needs 17"),
        ("[time]", "[scheme]\nconvection = 'staggered'\n[time]", "9: convection = \"staggered\": uses midpoints, which have no closures at walls"),
        ("[time]", "[scheme]\nviscous = 'midpoint'\n[time]", "9: viscous = \"midpoint\": uses midpoints, which have no closures at walls"),
        ("[time]", "[forcing]\nkind = 'linear'\ncoefficient = 1\n[time]", "8: [forcing] is only available in a periodic box"),
        ("[time]", "[output]\nstatistics = { every_time = 1 }\n[time]", "9: statistics = { every_time = 1 }: quantities other than `profiles` need a fully periodic box"),
    ];
    parse(GOOD, "in.toml", &[]).expect("a valid input");
    for (from, to, expected) in rows {
        let text = GOOD.replacen(from, to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert_eq!(
            messages[0].lines().next(),
            Some(&*format!("error: in.toml:{expected}")),
            "{to}"
        );
        assert_eq!(messages.len(), 2, "{messages:?}");
    }
}

#[test]
fn boundaries_default_to_the_case_and_round_trip() {
    let read = |text: &str| parse(text, "in.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let config = read(GOOD);
    let walls = [Wall::ADIABATIC, Wall::ADIABATIC];
    assert_eq!(config.boundaries, Boundaries::along(Axis::Y, walls));
    assert_eq!(config.grid().spacing[1], 1.0 / 17.0);
    assert!(!config.follows_case() && read(&config.to_toml()) == config);
    let own = read(&GOOD.replace("y = {", "x = 'periodic' #"));
    let moving = Wall { velocity: [1.0, 0.0, 0.0], ..Wall::isothermal(1.0) };
    assert_eq!(own.boundaries, Boundaries::along(Axis::Y, [Wall::isothermal(1.0), moving]));
    assert!(own.follows_case() && !own.to_toml().contains("boundary"));
    let all = box_with_walls([17, 17, 1], &["gas.viscosity=sutherland"]);
    assert_eq!(read(&all.to_toml()), all);
    assert!(matches!(
        all.boundaries.0[0],
        Some([_, Face::Wall(Wall { heat: Heat::HeatFlux(0.05), .. })])
    ));
    // Midpoints have no closures.
    assert_eq!(all.scheme.viscous, ViscousForm::Conservative);
    assert_eq!(all.scheme.convection, Convection::KennedyGruber);
}
