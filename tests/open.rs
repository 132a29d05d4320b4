//! Flows through open faces: tests beyond the checks of `kolmo verify`.

use kolmo::Error;
use kolmo::Values;
use kolmo::boundary::{Beyond, Face, Known, Sponge};
use kolmo::comm::Solo;
use kolmo::config::{Config, parse};
use kolmo::io::checkpoint::Checkpoint;
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_reproducible, config, float, host, max_difference, on_host, state, steps,
};
use crate::spread::blocks::assert_cuts_agree;
use crate::verify::assert_verified;

#[test]
fn every_check_of_open_faces_passes() {
    assert_verified(&["open"]);
}

/// A box with all kinds of faces, a sponge, and a state that the faces change.
pub(crate) fn open_box(points: [usize; 3], more: &[&str]) -> Config {
    let set = [
        "case.reynolds=60",
        "case.mach=0.4",
        "time.dt=0.002",
        "boundary.x={ low = { kind = 'inflow', velocity = [0.5, 0.1, 0.0], temperature = 1.1 }, high = 'outflow' }",
        "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [0.3, 0.0, 0.1], sponge = { width = 2.0 } } }",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
    ];
    config("taylor-green", points, &[&set, more].concat())
}

#[test]
fn ranks_and_composed_right_hand_side_agree_with_one_rank() {
    for more in [&[][..], &["time.integrator=rk4", "gas.viscosity=sutherland"]] {
        let cuts = [[2, 1, 1], [3, 1, 1], [1, 3, 1], [2, 2, 1]].map(|ranks| (ranks, None));
        assert_cuts_agree(&open_box([31, 32, 9], more), 12, &cuts);
    }
}

#[test]
fn runs_and_restarts_with_open_faces_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
        assert_reproducible(&open_box([19, 18, 1], more), &format!("{more:?}"));
    }
}

#[test]
fn single_precision_flow_matches_double_to_round_off() {
    let run = |precision: &str| {
        let mut flow = on_host(&open_box([18, 17, 1], &[precision]));
        steps(&mut flow, 30);
        let base = flow.system_and_state().0.base_state();
        let with_base =
            |(field, base): (Vec<f64>, f64)| field.into_iter().map(|x| x + base).collect();
        let fields = state(&flow).into_iter().zip(base).map(with_base).collect::<Vec<Vec<f64>>>();
        (fields, flow.quantity("pressure_dilatation").unwrap())
    };
    let ((double, work), (single, rounded)) =
        (run("compute.precision=f64"), run("compute.precision=f32"));
    // The work of the pressure relative to the gas at rest, independent of the base state of the fields.
    assert!(work.abs() > 1e-5 && (work - rounded).abs() < 1e-3 * work.abs(), "{work} {rounded}");
    for (a, b) in double.iter().zip(&single) {
        assert!(max_difference(a, b) < 2e-5, "{:e}", max_difference(a, b));
    }
}

/// Catches a state that only 2N-storage integrators impose, and implicit steps that ignore it.
#[test]
fn supersonic_inflow_imposes_the_prescribed_state() {
    let inflow = "boundary.x={ low = { kind = 'inflow', velocity = [2.0, 0.1, 0.0], temperature = 1.2, pressure = 0.9 }, high = 'outflow' }";
    let rho: f64 = 1.4 * 0.9 / 1.2;
    let energy = 0.9 / 0.4 + 0.5 * rho * (4.0 + 0.01);
    let expected = [rho, 2.0 * rho, 0.1 * rho, 0.0, energy];
    for (integrator, bound) in [
        ("time.integrator=hale64", 1e-14),
        ("time.integrator=rk4", 1e-14),
        ("time.implicit={ method = 'sdirk22' }", 1e-9),
    ] {
        let set = ["case.mach=1", inflow, integrator, "time.cfl=0.5"];
        let mut flow = on_host(&config("taylor-green", [18, 17, 1], &set));
        steps(&mut flow, 3);
        for (field, expected) in state(&flow).iter().zip(expected) {
            for j in 0..17 {
                let found = field[18 * j];
                assert!((found - expected).abs() < bound, "{integrator}: {found} {expected}");
            }
        }
    }
}

/// Catches an initial flow that a supersonic inflow only relaxes to, so that deviations grow from the face, and one that is imposed at a
/// subsonic inflow too.
#[test]
fn initial_flow_is_imposed_where_the_inflow_is_supersonic() {
    const WAKE: &str = "case.u='1 - 0.9*exp(-((y - 5)/2)^2) + 0.1*sin(pi*x/5)*sin(pi*y/5)^2'";
    let faces = "boundary.x={ low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }";
    let filter = "scheme.filter={ order = 8, alpha = 0.45, every = 1 }";
    for (integrator, bound) in [
        ("time.integrator=hale64", 1e-14),
        ("time.integrator=rk4", 1e-14),
        // 20 steps, each solved to 1e-6 of its first residual.
        ("time.implicit={ method = 'sdirk22' }", 1e-8),
    ] {
        let set = [
            "case.mach=2",
            "case.reynolds=100",
            "grid.length=[10.0, 10.0, 1.0]",
            WAKE,
            faces,
            filter,
            integrator,
            "time.cfl=0.5",
        ];
        let mut flow = on_host(&config("custom", [21, 20, 1], &set));
        let start = state(&flow);
        steps(&mut flow, 20);
        let now = state(&flow);
        let mut subsonic_change = 0.0_f64;
        for j in 0..20 {
            let change =
                (0..5).map(|k| (now[k][21 * j] - start[k][21 * j]).abs()).fold(0.0, f64::max);
            match 2.0 * start[1][21 * j] > 1.0 {
                true => assert!(change < bound, "{integrator}: {change:e} at {j}"),
                false => subsonic_change = subsonic_change.max(change),
            }
        }
        assert!(subsonic_change > 1e-4, "{integrator}: {subsonic_change:e}");
    }
}

/// Catches a scalar that the filter changes where the flow is imposed, and an inflow state taken from the checkpoint instead of the
/// initial flow: the restart has another initial flow.
#[test]
fn supersonic_initial_inflow_is_imposed_at_every_step() {
    let faces = "boundary.x={ low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }";
    let flow_of = |u: &str, filter: &str, integrator: &str| {
        let set = [
            "case.mach=2",
            "case.reynolds=100",
            "case.rho='1 + 0.3*exp(-(y - 5)^2)'",
            "grid.length=[10.0, 10.0, 1.0]",
            "scalars.dye={ start = '1', schmidt = 1.0 }",
            faces,
            u,
            filter,
            integrator,
        ];
        config("custom", [21, 24, 1], &set)
    };
    let filter = "scheme.filter={ order = 6, alpha = 0.4, every = 1 }";
    for integrator in ["time.integrator=hale64", "time.integrator=rk4"] {
        let mut flow = on_host(&flow_of("case.u='1'", filter, integrator));
        steps(&mut flow, 40);
        let dye = flow.field("dye").unwrap();
        for (at, phi) in dye.iter().enumerate() {
            let on_face = at % 21 == 0;
            assert!((phi - 1.0).abs() < if on_face { 1e-14 } else { 1e-2 }, "{integrator}: {phi}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("step_00000040.zarr");
        flow.save(&path).unwrap();
        let faster = flow_of("case.u='1.2'", "scheme.filter=none", integrator);
        let saved = Checkpoint::open(&Solo, &path).unwrap();
        let mut flow = Simulation::resume(host(&faster.compute), &faster, &saved).unwrap();
        steps(&mut flow, 1);
        let u = flow.field("velocity_x").unwrap();
        assert!(u.iter().step_by(21).all(|u| (u - 1.2).abs() < 1e-14), "{integrator}");
    }
}

/// Catches a scalar or wall condition that is not imposed before the first stage.
#[test]
fn inflow_is_imposed_before_the_first_step_and_wall_prevails_at_corner() {
    let from_start =
        "boundary.x={ low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }";
    let dye = "scalars.dye={ schmidt = 1.0, start = '0', beyond = { x = { low = 1.0 } } }";
    let set = ["case.mach=1", "case.u='2'", from_start, dye];
    let mut flow = on_host(&config("custom", [33, 1, 1], &set));
    assert_eq!(flow.field("dye").unwrap()[[0, 0, 0]], 1.0);
    let given = "boundary.x={ low = { kind = 'inflow', velocity = [2.0, 0.0, 0.0], pressure = 0.7142857142857143 }, high = 'outflow' }";
    let wall = "boundary.y={ low = { kind = 'wall', temperature = 1.0 }, high = 'symmetry' }";
    let set = ["case.mach=1", "case.reynolds=50", "case.u='2*(1 - exp(-3*y))'", given, wall];
    let mut flow = on_host(&config("custom", [24, 25, 1], &set));
    let u = flow.field("velocity_x").unwrap();
    assert_eq!([u[[0, 0, 0]], u[[0, 1, 0]]], [0.0, 2.0]);
}

const FILTER: &str = "scheme.filter={ order = 8, alpha = 0.49, every = 1 }";

/// The largest deviation of a field from its mean at time `end`, after initial noise of 1e-4.
fn remaining_noise(flow: &mut Simulation, end: f64) -> f64 {
    let mut noise = 0.5_f64;
    for field in 0..5 {
        let mut values: Vec<f64> = state(flow)[field].clone();
        for value in &mut values {
            noise = (noise * 997.13 + 0.371).fract();
            *value += 1e-4 * (noise - 0.5);
        }
        let changed = flow.backend().field(&Values::from(values)).unwrap();
        flow.state_mut()[field] = changed;
    }
    advance(flow, end);
    let deviation = |field: Vec<f64>| {
        let mean = field.iter().sum::<f64>() / float(field.len());
        field.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max)
    };
    state(flow).into_iter().map(deviation).fold(0.0, f64::max)
}

/// The filter removes sawtooth waves, for which the derivative is zero; the rest of the noise leaves the box.
#[test]
fn noise_decays_between_open_faces() {
    let stream = "{ kind = 'far-field', velocity = [1.0, 1.0, 1.0] }";
    let faces = format!("boundary.x={{ low = {stream}, high = 'outflow' }}");
    let set = ["case.mach=0.5", "case.amplitude=0", FILTER, &faces];
    let remaining = remaining_noise(&mut on_host(&config("entropy-wave", [41, 1, 1], &set)), 40.0);
    assert!(remaining < 1e-5, "{remaining:e}");
}

/// Catches transport along a face from an end where the arriving flow is unknown: waves would grow there without bound.
#[test]
fn noise_decays_in_a_stream_along_open_faces() {
    let face =
        |kind: &str, [u, v]: [f64; 2]| format!("{{ kind = '{kind}', velocity = [{u}, {v}, 0.0] }}");
    let [along, aslant] = [[1.0, 0.0], [0.7, 0.7]];
    let lines = "grid.mapping={ kind = 'expressions', x = '2*pi*s', y = '2*pi*(t + 0.5*s)' }";
    for ([u, v], low, high, grid) in [
        (along, face("inflow", along), "'outflow'".to_string(), None),
        (aslant, face("far-field", aslant), face("far-field", aslant), None),
        (along, face("far-field", along), face("far-field", along), Some(lines)),
    ] {
        let side = face("far-field", [u, v]);
        let set = [
            format!("case={{ name = 'custom', mach = 0.5, reynolds = inf, u = '{u}', v = '{v}' }}"),
            FILTER.into(),
            format!("boundary.x={{ low = {low}, high = {high} }}"),
            format!("boundary.y={{ low = {side}, high = {side} }}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).chain(grid).collect();
        let config = config("custom", [41, 39, 1], &set);
        let remaining = remaining_noise(&mut on_host(&config), 70.0);
        assert!(remaining < 1e-5, "{low} {high}: {remaining:e}");
    }
}

/// Catches Taylor closures next to a wall and at a face with clustered points, with which sound grows at c/L and more; a derivative on a
/// face other than that of the scheme, with which it grows at 0.4 c/L at a clustered exit; and the full pressure gradient along a far field
/// with oblique inflow.
#[test]
fn noise_does_not_grow_without_a_filter() {
    let far = "{ kind = 'far-field', velocity = [0.8, 0.6, 0] }";
    let inflow = "{ kind = 'inflow', velocity = [0.5, 0, 0] }";
    let wall = "{ kind = 'wall', temperature = 1.0 }";
    let clustered = |end: &str| {
        Some(format!("grid.stretching={{ x = {{ map = 'tanh', factor = 2.0, ends = '{end}' }} }}"))
    };
    for (points, [u, v], faces, grid) in [
        ([65, 1, 1], [0.5, 0.0], [inflow, "'outflow'"], clustered("low")),
        ([65, 1, 1], [0.5, 0.0], [inflow, "'outflow'"], clustered("high")),
        ([33, 1, 1], [0.0, 0.0], [wall, "'outflow'"], None),
        ([33, 32, 1], [0.8, 0.6], [far, far], None),
    ] {
        let [low, high] = faces;
        let set = [
            format!(
                "case={{ name = 'custom', mach = 1.0, reynolds = 1e6, u = '{u}', v = '{v}', p = 'p0' }}"
            ),
            format!("boundary.x={{ low = {low}, high = {high} }}"),
        ];
        let set: Vec<&str> = set.iter().chain(&grid).map(String::as_str).collect();
        let remaining = remaining_noise(&mut on_host(&config("custom", points, &set)), 60.0);
        assert!(remaining < 2e-4, "{low} {high}: {remaining:e}");
    }
}

/// Catches inflow faces that discard the rates of sponges, other faces or viscosity: these boxes diverged at t = 4 to 27.
#[test]
fn noise_decays_at_edges_and_in_sponges_with_inflow() {
    let stream = "velocity = [0.8, -0.5, 0]";
    let far = &*format!("{{ kind = 'far-field', {stream} }}");
    let damped = &*format!("{{ kind = 'far-field', {stream}, sponge = {{ width = 1.5 }} }}");
    let inflow = &*format!("{{ kind = 'inflow', {stream} }}");
    for (reynolds, [west, east, south, north]) in [
        ("inf", [damped, damped, damped, damped]),
        ("inf", [inflow, "'outflow'", far, far]),
        ("100", [far, far, far, far]),
    ] {
        let set = [
            &*format!(
                "case={{ name = 'custom', mach = 0.5, reynolds = {reynolds}, u = 0.8, v = -0.5 }}"
            ),
            &*format!("boundary.x={{ low = {west}, high = {east} }}"),
            &*format!("boundary.y={{ low = {south}, high = {north} }}"),
        ];
        let remaining = remaining_noise(&mut on_host(&config("custom", [25, 25, 1], &set)), 40.0);
        assert!(remaining < 2e-4, "{west} {east} {south} {north}: {remaining:e}");
    }
}

/// Catches the full pressure gradient along a far field in vorticity waves: the enstrophy grew by a factor of 8.
#[test]
fn oblique_sound_leaves_upstream_without_creating_vorticity() {
    let packet = "exp(-((x - 2)/0.7)^2)*cos(4*x - 4*y)";
    let far = "{ kind = 'far-field', velocity = [0.6, 0, 0] }";
    let set = [
        format!(
            "case={{ name = 'custom', mach = 0.5, reynolds = inf, u = '0.6 - 7e-4*{packet}', v = '7e-4*{packet}', \
             p = 'p0 + 2e-3*{packet}', rho = '1 + 5e-4*{packet}' }}"
        ),
        format!("boundary.x={{ low = {far}, high = {far} }}"),
    ];
    let set = set.each_ref().map(String::as_str);
    let mut flow = on_host(&config("custom", [97, 64, 1], &set));
    let before = flow.quantity("enstrophy").unwrap();
    advance(&mut flow, 2.5);
    let after = flow.quantity("enstrophy").unwrap();
    assert!((after / before - 1.0).abs() < 0.01, "{before:e} {after:e}");
}

/// Catches missing transport by U along lines that meet the face at an angle: 15 % of the pressure remained.
#[test]
fn vortex_leaves_through_a_face_that_grid_lines_meet_at_60_degrees() {
    const SWIRL: f64 = 0.25;
    let stream = 0.5 * 1.4_f64.sqrt();
    let round = "exp(0.5 - 50*((x - 0.5)^2 + (y - 0.5)^2))";
    let face = format!("{{ kind = 'far-field', velocity = [{stream}, 0.0, 0.0], relaxation = 0 }}");
    let set = [
        format!(
            "case={{ name = 'custom', mach = {}, reynolds = inf, u = '{stream} + 10*{SWIRL}*(y - 0.5)*{round}', \
             v = '-10*{SWIRL}*(x - 0.5)*{round}', p = 'p0 - 0.5*({SWIRL}*{round})^2' }}",
            1.4_f64.powf(-0.5)
        ),
        "grid.length=[1, 1, 1]".into(),
        "grid.mapping={ kind = 'expressions', x = 's', y = 't + (s - 0.5)/sqrt(3)' }".into(),
        format!("boundary.x={{ low = {face}, high = {face} }}"),
        format!("boundary.y={{ low = {face}, high = {face} }}"),
    ];
    let set = set.each_ref().map(String::as_str);
    let mut flow = on_host(&config("custom", [61, 61, 1], &set));
    let max_deviation = |flow: &mut Simulation| {
        let pressure = flow.field("pressure").unwrap();
        pressure.iter().map(|p| (p - 1.0).abs()).fold(0.0, f64::max)
    };
    let initial = max_deviation(&mut flow);
    advance(&mut flow, 1.4);
    let remaining = max_deviation(&mut flow) / initial;
    assert!(remaining < 0.01, "{remaining:e}");
}

const GOOD: &str = "[case]\nname = 'taylor-green'\nmach = 0.5\n[grid]\npoints = [17, 18, 8]\n[boundary]\n\
                    x = { low = { kind = 'inflow', velocity = [1, 0, 0] }, high = 'outflow' }\n[time]\nend = 1\n";

#[test]
fn errors_for_bad_open_faces_give_line_and_allowed_values() {
    let low = "{ kind = 'inflow', velocity = [1, 0, 0] }";
    #[rustfmt::skip]
    let rows = [
        (low, "'inflow'", "7: low = \"inflow\": needs the state of the incoming flow"),
        (low, "'far-field'", "7: low = \"far-field\": needs the state of the incoming flow"),
        (low, "{ kind = 'inflow' }", "7: [boundary.x.low] needs `velocity`"),
        (low, "{ kind = 'inflow', velocity = [-1, 0, 0] }", "7: velocity = [-1, 0, 0]: does not lead into the box along x"),
        (low, "{ kind = 'inflow', velocity = [3, 0, 0] }", "7: [boundary.x.low] needs `pressure`"),
        (low, "{ kind = 'inflow', velocity = [1, 0, 0], pressure = 1 }", "7: pressure = 1: at a subsonic inflow the pressure is that of the flow inside"),
        (low, "{ kind = 'far-field', velocity = [1, 0, 0], sponge = { width = 7 } }", "7: x = { high = \"outflow\", low = {"),
        (low, "{ kind = 'far-field', velocity = [1, 0, 0], sponge = { strength = 7 } }", "7: [boundary.x.low.sponge] needs `width`"),
        ("'outflow'", "{ kind = 'outflow', pressure = 0 }", "7: pressure = 0: must be a positive finite number"),
        ("'outflow'", "{ kind = 'outflow', velocity = [1, 0, 0] }", "7: unknown key `velocity` in [boundary.x.high]"),
    ];
    parse(GOOD, "in.toml", &[]).expect("a valid input");
    for (from, to, expected) in rows {
        let text = GOOD.replacen(from, to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert!(messages[0].starts_with(&format!("error: in.toml:{expected}")), "{messages:?}");
    }
}

#[test]
fn open_faces_round_trip() {
    let read = |text: &str| parse(text, "in.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let all = open_box([17, 17, 1], &[]);
    assert_eq!(read(&all.to_toml()), all);
    let Some([_, Face::Open(top)]) = all.boundaries.0[1] else { panic!("{:?}", all.boundaries) };
    let stream = match top.beyond {
        Beyond::FarField(Known::Stream(stream)) => stream,
        other => panic!("{other:?}"),
    };
    assert_eq!((stream.temperature, stream.pressure), (1.0, all.gas.reference_pressure()));
    let Some(Sponge { width: 2.0, strength }) = top.sponge else { panic!("{top:?}") };
    // exp(−2 ∫σ dx/c) = 1/100 with ∫σ dx = strength × width / 4.
    assert!(((-2.0 * strength * 2.0 / 4.0 * 0.4_f64).exp() - 0.01).abs() < 1e-12);
    let case =
        read("[case]\nname = 'vortex-outflow'\n[grid]\npoints = [17, 17, 1]\n[time]\nend = 1\n");
    assert!(case.follows_case() && !case.to_toml().contains("boundary"));
}
