//! A boundary layer that grows along a plate, and open faces with the initial flow beyond them.

use std::sync::Arc;

use kolmo::cases::{BoundaryLayer, Case, Similarity};
use kolmo::config::{Config, Precision, RightHandSide, parse};
use kolmo::physics::{Gas, Viscosity};
use kolmo::time::Simulation;
use kolmo::{Error, Values};

use crate::common::{advance, assert_reproducible, config, max_difference, on_host, state, steps};
use crate::device::gpu;
use crate::spread::blocks::{blocks, whole};
use crate::spread::threads::on_ranks;

/// f''(0) and ∫(1 − f') dη of f''' + f f'' = 0.
const BLASIUS: [f64; 2] = [0.469_599_988, 1.216_780_622];

fn air(mach: f64) -> Gas {
    Gas { gamma: 1.4, prandtl: 0.71, mach, reynolds: 300.0, viscosity: Viscosity::Constant }
}

/// Catches a wrong factor of the similarity variable, a wrong sign or size of v, and a table read at the wrong position.
#[test]
fn layer_at_low_mach_number_matches_blasius() {
    let layer = Similarity::new(&air(1e-4), None).unwrap();
    let [shear, displacement] = BLASIUS;
    let x = layer.inflow();
    assert!((x - 150.0 / displacement.powi(2)).abs() < 1e-6 * x, "{x}");
    let root = (300.0 * x).sqrt();
    assert!((layer.friction(x) * root - shear * 2.0_f64.sqrt()).abs() < 1e-7);
    // u at y (U/νx)^½ = 1, 2, ...; the fifth and last digit of the table of Howarth (1938) is off by one at 1, 3 and 5.
    for (eta, u) in (1..).zip([0.329_780, 0.629_766, 0.846_044, 0.955_518, 0.991_542]) {
        let found = layer.flow(x, f64::from(eta) * x / root).velocity[0];
        assert!((found - u).abs() < 6e-7, "{eta}: {found}");
    }
    let far = layer.flow(x, 1e3);
    assert!((far.velocity[1] * root - displacement / 2.0_f64.sqrt()).abs() < 1e-7, "{far:?}");
}

/// Exact results: with Pr = 1 and an adiabatic plate the total temperature is uniform (Busemann 1931), and with μ = T the friction is
/// that of Blasius at every Mach number (Chapman and Rubesin 1949). Catches a wrong term of the energy equation.
#[test]
fn compressible_layers_satisfy_busemann_and_chapman_rubesin() {
    let gas = Gas { prandtl: 1.0, viscosity: Viscosity::SUTHERLAND, ..air(2.0) };
    let layer = Similarity::new(&gas, None).unwrap();
    for part in 0..40 {
        let flow = layer.flow(100.0, 0.2 * f64::from(part));
        let total = 1.0 / flow.density + 0.5 * 0.4 * 4.0 * flow.velocity[0].powi(2);
        assert!((total - 1.8).abs() < 1e-8, "{flow:?}");
    }
    for (mach, plate) in [(0.5, None), (2.0, Some(1.0)), (4.0, None), (1.0, Some(0.5))] {
        let gas = Gas { viscosity: Viscosity::Power { exponent: 1.0 }, ..air(mach) };
        let layer = Similarity::new(&gas, plate).unwrap();
        let found = layer.friction(1.0) * 300.0_f64.sqrt();
        assert!((found - BLASIUS[0] * 2.0_f64.sqrt()).abs() < 1e-7, "{mach} {plate:?}: {found}");
    }
}

/// Wall shear and δ* of layers for which Newton's method does not converge from estimates. Reference: SciPy's solve_bvp, a fourth-order
/// collocation method, with a tolerance of 1e-8.
#[test]
fn hot_layers_and_other_prandtl_numbers_match_a_collocation_solution() {
    let sutherland = Gas { viscosity: Viscosity::SUTHERLAND, ..air(5.0) };
    for (gas, plate, shear, displacement) in [
        (sutherland, None, 0.3789, 6.982),
        (sutherland, Some(2.0), 0.4175, 4.096),
        (Gas { prandtl: 2.0, ..air(0.2) }, Some(3.0), 0.3640, 1.968),
    ] {
        let layer = Similarity::new(&gas, plate).unwrap();
        let friction = layer.friction(1.0) * (300.0_f64 / 2.0).sqrt();
        assert!((friction - shear).abs() < 1e-4, "{plate:?}: {friction}");
        let found = (150.0 / layer.inflow()).sqrt();
        assert!((found - displacement).abs() < 1e-3, "{plate:?}: {found}");
    }
}

const POINTS: [usize; 3] = [31, 33, 1];
const LENGTH: f64 = 60.0;

/// Two flow-through times. Compares friction on the middle half of the plate, and u in the middle of the box, with the similarity
/// solution. The differences are the growth that boundary-layer theory neglects and the error of the grid. Catches an outflow or a far
/// field that removes the displaced gas too slowly or too fast: with wave amplitudes that ignore the growth of the layer it is 3 %.
#[test]
fn boundary_layer_stays_on_the_similarity_solution() {
    let set = [
        "case.mach=0.3",
        "grid.length=[60.0, 15.0, 1.0]",
        "grid.stretching={ y = { map = 'tanh', factor = 2.0, ends = 'low' } }",
    ];
    let config = config("boundary-layer", POINTS, &set);
    let Case::BoundaryLayer(case) = config.case else { panic!("{:?}", config.case) };
    let layer = case.similarity(&config.gas).unwrap();
    let grid = config.grid();
    let mut flow = on_host(&config);
    let velocity = |flow: &Simulation| -> Vec<f64> {
        let [rho, momentum, ..] = &state(flow)[..] else { panic!() };
        rho.iter().zip(momentum).map(|(rho, m)| m / rho).collect()
    };
    advance(&mut flow, 1.5 * LENGTH);
    let before = velocity(&flow);
    advance(&mut flow, 2.0 * LENGTH);
    let u = velocity(&flow);
    // du/dy at the plate by the one-sided fourth-order formula in the coordinate of the map.
    let friction = |i: usize| {
        let slope =
            [-25.0, 48.0, -36.0, 16.0, -3.0].iter().zip(0..).map(|(w, j)| w * u[i + 31 * j]);
        let dy = grid.spacing[1] * grid.jacobian(1, 0);
        2.0 / 300.0 * slope.sum::<f64>() / (12.0 * dy)
    };
    for i in 8..=23 {
        let x = layer.inflow() + grid.coordinate(0, i);
        let error = friction(i) / layer.friction(x) - 1.0;
        assert!(error.abs() < 0.004, "{i}: {error:e}");
    }
    let of_layer = |j: usize| {
        let x = layer.inflow() + grid.coordinate(0, 15);
        layer.flow(x, grid.coordinate(1, j)).velocity[0]
    };
    let error = (0..33).map(|j| (u[15 + 31 * j] - of_layer(j)).abs()).fold(0.0, f64::max);
    assert!(error < 1e-3, "{error:e}");
    let drift = max_difference(&before, &u) / (0.5 * LENGTH);
    assert!(drift < 1e-5, "{drift:e} per unit of time");
}

/// A box with faces that use the initial flow and a sponge, and a flow that departs from the initial one.
fn open_box(points: [usize; 3], more: &[&str]) -> Config {
    let set = [
        "case.reynolds=60",
        "case.mach=0.4",
        "time.dt=0.002",
        "boundary.x={ low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }",
        "boundary.y={ low = 'wall', high = { kind = 'far-field', state = 'initial', sponge = { width = 2.0 } } }",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
    ];
    config("taylor-green", points, &[&set, more].concat())
}

#[test]
fn ranks_device_and_composed_right_hand_side_agree_with_one_host() {
    let config = open_box([31, 32, 9], &[]);
    let mut one = on_host(&config);
    steps(&mut one, 12);
    let expected = state(&one);
    let assert_agrees = |found: &[Vec<f64>], label: &str| {
        for (a, b) in expected.iter().zip(found) {
            let difference = max_difference(a, b) / a.iter().map(|a| a.abs()).fold(1.0, f64::max);
            assert!(difference <= 1e-12, "{label}: {difference:e}");
        }
    };
    for ranks in [[2, 1, 1], [1, 3, 1], [2, 2, 1]] {
        let found = on_ranks(ranks.iter().product(), |comm| {
            let mut flow = Simulation::on(blocks(comm, ranks, &config), &config).unwrap();
            steps(&mut flow, 12);
            whole(&flow, ranks)
        });
        found.iter().for_each(|fields| assert_agrees(fields, &format!("{ranks:?}")));
    }
    let mut composed = config.clone();
    composed.compute.right_hand_side = RightHandSide::Composed;
    let mut composed = on_host(&composed);
    steps(&mut composed, 12);
    assert_agrees(&state(&composed), "composed");
    let device = Arc::new(gpu(Precision::F64, config.grid().len()));
    let mut device = Simulation::on(device, &config).unwrap();
    steps(&mut device, 12);
    assert_agrees(&state(&device), "device");
}

/// The faces use the initial state, not the state of the checkpoint.
#[test]
fn runs_and_restarts_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
        assert_reproducible(&open_box([19, 18, 1], more), &format!("{more:?}"));
    }
    // An initial state that is computed on the grid.
    let set = ["grid.stretching={ y = { map = 'tanh', factor = 1.5, ends = 'low' } }"];
    assert_reproducible(&config("boundary-layer", [19, 18, 1], &set), "boundary-layer");
}

/// Catches a target with a scaling or a field other than that of the state it is compared with.
#[test]
fn uniform_initial_state_beyond_a_face_equals_a_prescribed_stream() {
    let run = |beyond: &str, precision: &str| {
        let face = |kind: &str| format!("{{ kind = '{kind}', {beyond}, relaxation = 1.0 }}");
        let faces = format!("boundary.x={{ low = {}, high = 'outflow' }}", face("inflow"));
        let more = format!("boundary.y={{ low = {0}, high = {0} }}", face("far-field"));
        let expressions = ["case.u='0.6'", "case.v='0.2'", "case.T='1.1'"];
        let set = [&expressions[..], &["case.mach=0.5", precision, &faces, &more]].concat();
        let mut flow = on_host(&config("custom", [18, 17, 1], &set));
        let changed: Vec<Values<'_>> = state(&flow)
            .into_iter()
            .map(|field| {
                let values =
                    field.iter().zip(0..).map(|(x, at)| x + 0.01 * (0.3 * f64::from(at)).sin());
                Values::from(values.collect::<Vec<f64>>())
                    .with_precision(flow.backend().precision())
            })
            .collect();
        let fields: Vec<_> = changed.iter().map(|it| flow.backend().field(it).unwrap()).collect();
        flow.state_mut().iter_mut().zip(fields).for_each(|(field, new)| *field = new);
        steps(&mut flow, 20);
        state(&flow)
    };
    let stream = "velocity = [0.6, 0.2, 0.0], temperature = 1.1";
    // The slope of a uniform initial state is not 0 but ε (ρE + p)/h, with weights of sum 10, and 20 steps are about 6 h/(u + c):
    // 64 ε (ρE + p). The direction along the face contributes the same.
    for (precision, unit) in [("f64", f64::EPSILON), ("f32", f64::from(f32::EPSILON))] {
        let bound = 128.0 * unit * 10.0;
        let precision = format!("compute.precision={precision}");
        let initial = run("state = 'initial'", &precision);
        for (a, b) in initial.iter().zip(run(stream, &precision)) {
            let difference = max_difference(a, &b);
            assert!(difference < bound, "{difference:e}");
        }
    }
}

const GOOD: &str = "[case]\nname = 'boundary-layer'\nreynolds = 300\n[grid]\npoints = [17, 18, 1]\n[boundary]\n\
                    x = { low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }\n[time]\nend = 1\n";

#[test]
fn errors_for_bad_layers_and_initial_states_give_line_and_allowed_values() {
    #[rustfmt::skip]
    let rows = [
        ("state = 'initial'", "state = 'first'", "7: state = \"first\": unknown"),
        ("state = 'initial'", "state = 'initial', temperature = 1", "7: temperature = 1: cannot be combined with `state`"),
        ("reynolds = 300", "wall_temperature = 0", "3: wall_temperature = 0: must be a positive finite number"),
        ("reynolds = 300", "wall_temperature = 0.001", "3: no boundary layer with a displacement thickness"),
        ("reynolds = 300", "reynolds = inf", "3: reynolds = inf: without viscosity there is no boundary layer"),
    ];
    let good = parse(GOOD, "in.toml", &[]).unwrap();
    assert_eq!(parse(&good.to_toml(), "in.toml", &[]).unwrap(), good);
    assert_eq!(good.case, Case::BoundaryLayer(BoundaryLayer::default()));
    for (from, to, expected) in rows {
        let text = GOOD.replacen(from, to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert!(messages[0].starts_with(&format!("error: in.toml:{expected}")), "{messages:?}");
    }
}
