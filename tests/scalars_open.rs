//! Passive scalars through open faces.

use std::sync::Arc;

use kolmo::Error;
use kolmo::config::{Config, parse};
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_close, assert_reproducible, config, float, max_difference, on_host, simulation,
    state, steps,
};
use crate::device::gpu;
use crate::open::open_box;
use crate::spread::blocks::assert_cuts_agree;

/// The length of the box of [`stream`].
const LENGTH: f64 = 6.0;
/// The speed of sound there.
const SOUND: f64 = 2.0;

/// A uniform inviscid stream of velocity `u` along x between the low and high `faces`, with a scalar that has the settings `dye`.
fn stream(n: usize, u: f64, faces: [&str; 2], dye: &str, more: &[&str]) -> Simulation {
    let [low, high] = faces;
    let set = [
        format!("case.u={u:?}"),
        "case.mach=0.5".into(),
        "case.reynolds=inf".into(),
        format!("grid.length=[{LENGTH}, 1, 1]"),
        format!("boundary.x={{ low = {low}, high = {high} }}"),
        format!("scalars.dye={{ schmidt = 1, {dye} }}"),
    ];
    let set: Vec<&str> = set.iter().map(String::as_str).chain(more.iter().copied()).collect();
    simulation("custom", [n, 1, 1], &set)
}

/// φ at all points.
fn dye(run: &mut Simulation) -> Vec<f64> {
    run.field("dye").unwrap().into_iter().collect()
}

/// The largest difference from `exact`(x, t) at the current time.
fn max_error(run: &mut Simulation, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let (grid, t) = (run.grid().clone(), run.time());
    let error = |(at, phi): (usize, &f64)| (phi - exact(grid.coordinate(0, at), t)).abs();
    dye(run).iter().enumerate().map(error).fold(0.0, f64::max)
}

/// Catches ∂(ρφ)/∂t that does not follow ∂ρ/∂t at a face, in a sponge, or where the state is prescribed.
#[test]
fn uniform_scalar_stays_uniform_with_every_kind_of_open_face() {
    const DYE: &str = "scalars.dye={ schmidt = 0.7, start = '1.7' }";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0], sponge = { width = 2.0 } }";
    let far = format!("boundary.x={{ low = {far}, high = {far} }}");
    let start = "{ kind = 'far-field', state = 'initial' }";
    let start = format!(
        "boundary.x={{ low = {{ kind = 'inflow', state = 'initial' }}, high = 'outflow' }}\nboundary.y={{ low = {start}, high = {start} }}"
    );
    let start: Vec<&str> = start.lines().collect();
    let supersonic = "boundary.x={ low = { kind = 'inflow', velocity = [1, 0, 0], pressure = 0.17857142857142858 }, high = 'outflow' }";
    let vortex = |set: &[&str]| {
        let set = [&["case.half_width=4", "case.strength=3", "time.dt=0.05", DYE], set].concat();
        config("vortex-outflow", [33, 32, 1], &set)
    };
    let pulse = "case.amplitude=0.2";
    for (label, config, count) in [
        ("inflow and outflow", vortex(&["case.mach=0.5"]), 100),
        ("inflow and outflow with rk4", vortex(&["case.mach=0.5", "time.integrator=rk4"]), 100),
        ("far fields with sponges", vortex(&["case.mach=0.5", &far]), 100),
        ("initial flow beyond the faces", vortex(&[&["case.mach=0.5"], &start[..]].concat()), 100),
        ("supersonic inflow", vortex(&["case.mach=2", supersonic]), 100),
        ("all faces, a wall and a filter", open_box([25, 24, 1], &[DYE]), 300),
        ("acoustic pulse", config("acoustic-pulse", [65, 1, 1], &[pulse, DYE]), 200),
    ] {
        let mut run = on_host(&config);
        let density = state(&run).swap_remove(0);
        steps(&mut run, count);
        let changed = max_difference(&density, &state(&run)[0]);
        assert!(changed > 1e-2, "{label}: the density changes by only {changed:e}");
        let difference = dye(&mut run).iter().map(|phi| (phi - 1.7).abs()).fold(0.0, f64::max);
        assert!(difference < 2e-12, "{label}: {difference:e}");
    }
}

/// Catches faces that damp or reflect the outgoing blob. Without a filter sawtooth waves, which the derivative does not transport,
/// remain: 3e-4 on the finer grid.
#[test]
fn blob_leaves_through_outflow_and_far_field_without_residue() {
    let blob = |x: f64, t: f64| (-((x - 3.0 - t) / 0.5).powi(2)).exp();
    let start = "start = 'exp(-((x - 3)/0.5)^2)'";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    for faces in [["{ kind = 'inflow', velocity = [1, 0, 0] }", "'outflow'"], [far; 2]] {
        let errors = [61, 121].map(|n| {
            let filter = "scheme.filter={ order = 8, alpha = 0.45, every = 1 }";
            let mut run = stream(n, 1.0, faces, start, &["time.dt=0.02", filter]);
            advance(&mut run, 2.5);
            let while_leaving = max_error(&mut run, blob);
            advance(&mut run, 8.0);
            [while_leaving, max_error(&mut run, |_, _| 0.0)]
        });
        let [[coarse, residue], [fine, residue_fine]] = errors;
        // 5 and 10 points per half width; fourth order because of the boundary closures.
        assert!(coarse < 5e-4 && (12.0..25.0).contains(&(coarse / fine)), "{faces:?} {errors:?}");
        assert!(residue < 1e-9 && residue_fine < 1e-14, "{faces:?} {errors:?}");
    }
}

/// At the face dφ/dt = K (φ∞ − φ), with K = σ c/L at an inflow and σ |u_n|/L elsewhere. From the initial φ∞ − C exp(K s/U), with s the
/// distance from the face, φ = φ∞ − C exp(K (s/U − t)), smooth everywhere. Catches a wrong rate or value, and that of another face.
#[test]
fn incoming_scalar_relaxes_to_value_beyond_and_is_advected_exactly() {
    let rates = [0.25 * SOUND / LENGTH, 0.25 / LENGTH];
    let inflow = "{ kind = 'inflow', velocity = [1, 0, 0] }";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    let back = "{ kind = 'far-field', velocity = [-1, 0, 0] }";
    for (faces, u, end, rate) in [
        ([inflow, "'outflow'"], 1.0, "low", rates[0]),
        ([far, far], 1.0, "low", rates[1]),
        ([back, "'outflow'"], -1.0, "high", rates[1]),
    ] {
        // Distance of x from the face where the gas enters.
        let distance = if u > 0.0 { "x" } else { "(lx - x)" };
        let other = if end == "low" { "high" } else { "low" };
        let text = format!(
            "start = '2 - 1.5*exp({rate:?}*{distance})', beyond = {{ x = {{ {end} = 2.0, {other} = 77.0 }} }}"
        );
        let mut run = stream(49, u, faces, &text, &["time.dt=0.02"]);
        advance(&mut run, 4.0);
        let exact = |x: f64, t: f64| {
            let distance = if u > 0.0 { x } else { LENGTH - x };
            2.0 - 1.5 * (rate * (distance - t)).exp()
        };
        let error = max_error(&mut run, exact);
        assert!(error < 5e-8, "{faces:?}: {error:e}");
    }
}

/// Defaults: the initial value at an inflow and beyond a prescribed stream, the continued initial profile beyond the initial flow, and
/// the value at the face where gas enters through an outflow.
#[test]
fn incoming_scalar_defaults_to_the_initial_scalar() {
    // The incoming gas has the initial φ of the face: at the front, x = t, the slope jumps.
    let constant = |x: f64, t: f64| (x - t).max(0.0);
    // dφ/dt = −U (1 + (σ/L) φ) at the face.
    let continued = |x: f64, t: f64| match x - t {
        ahead if ahead > 0.0 => ahead,
        behind => 4.0 * LENGTH * ((behind / (4.0 * LENGTH)).exp() - 1.0),
    };
    let initial = "{ kind = 'far-field', state = 'initial' }";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    let inflow = "{ kind = 'inflow', velocity = [1, 0, 0] }";
    type Exact<'a> = &'a dyn Fn(f64, f64) -> f64;
    let rows: [(_, _, Exact<'_>, _); 4] = [
        ([inflow, "'outflow'"], 1.0, &constant, 2e-2),
        ([far, "'outflow'"], 1.0, &constant, 2e-2),
        ([initial, initial], 1.0, &continued, 1e-4),
        (
            ["{ kind = 'far-field', velocity = [-1, 0, 0] }", "'outflow'"],
            -1.0,
            &|x, t| (x + t).min(LENGTH),
            2e-2,
        ),
    ];
    for (faces, u, exact, bound) in rows {
        let mut run = stream(97, u, faces, "start = 'x'", &["time.dt=0.01"]);
        let face = if u > 0.0 { 0 } else { 96 };
        advance(&mut run, 3.0);
        let error = max_error(&mut run, exact);
        let at_face = (dye(&mut run)[face] - exact(6.0 * float(face) / 96.0, 3.0)).abs();
        assert!(error < bound, "{faces:?}: {error:e}");
        assert!(at_face < 2e-5, "{faces:?}: {at_face:e}");
    }
}

/// In a gas at rest the points are independent: φ − φ∞ decays as exp(−σ t), σ = 3 (1 − x/2)³. ρ is not 1, so ρ∞φ∞ differs from φ∞.
#[test]
fn sponge_damps_scalar_towards_the_value_beyond_the_face() {
    let far = "{ kind = 'far-field', velocity = [0, 0, 0], temperature = 0.8, sponge = { width = 2, strength = 3 } }";
    let sigma = |x: f64| 3.0 * (1.0 - x / 2.0).max(0.0).powi(3);
    for (beyond, value) in [("", None), (", beyond = { x = { low = 5.0 } }", Some(5.0))] {
        let text = format!("start = '1 + sin(x)'{beyond}");
        let mut run = stream(41, 0.0, [far, "'outflow'"], &text, &["case.T=0.8", "time.dt=0.02"]);
        advance(&mut run, 1.0);
        let error = max_error(&mut run, |x, t| {
            let start = 1.0 + x.sin();
            let target = value.unwrap_or(start);
            target + (start - target) * (-sigma(x) * t).exp()
        });
        assert!(error < 1e-7, "{beyond}: {error:e}");
    }
}

#[test]
fn supersonic_inflow_imposes_the_scalar() {
    let inflow = "boundary.x={ low = { kind = 'inflow', velocity = [2.0, 0.1, 0.0], temperature = 1.2, pressure = 0.9 }, high = 'outflow' }";
    let given = ", beyond = { x = { low = 0.3 } }";
    for (beyond, expected, integrator) in [
        ("", None, "time.integrator=hale64"),
        (given, Some(0.3), "time.integrator=hale64"),
        ("", None, "time.integrator=rk4"),
        (given, Some(0.3), "time.integrator=rk4"),
    ] {
        let text = format!("scalars.dye={{ schmidt = 1, start = 'cos(y)'{beyond} }}");
        let mut run = on_host(&config(
            "taylor-green",
            [18, 17, 1],
            &["case.mach=1", inflow, &text, integrator],
        ));
        let start = dye(&mut run);
        steps(&mut run, 3);
        let found = dye(&mut run);
        for at in (0..17).map(|j| 18 * j) {
            let expected = expected.unwrap_or(start[at]);
            assert!((found[at] - expected).abs() < 1e-14, "{} {expected}", found[at]);
        }
    }
}

/// Two scalars in the box with every kind of face: one with prescribed values beyond the faces, one with the initial values.
fn scalars_in_open_box(points: [usize; 3], more: &[&str]) -> Config {
    const SCALARS: [&str; 2] = [
        "scalars.dye={ schmidt = 0.7, start = '1.5 + sin(x)*cos(y)', beyond = { x = { low = 1.0, high = 2.0 }, y = { high = -1.0 } }, walls = { y = { low = { value = 1.0 } } } }",
        "scalars.ink={ schmidt = 2.0, start = 'cos(x + y)' }",
    ];
    open_box(points, &[&SCALARS, more].concat())
}

#[test]
fn ranks_device_and_composed_right_hand_side_agree_with_one_host() {
    for more in [&[][..], &["time.integrator=rk4", "gas.viscosity=sutherland"]] {
        let config = scalars_in_open_box([31, 32, 9], more);
        let cuts = [[2, 1, 1], [1, 3, 1], [2, 2, 1]].map(|ranks| (ranks, None));
        assert_cuts_agree(&config, 12, &cuts);
        let device = Arc::new(gpu(config.compute.precision, 31 * 32 * 9));
        let mut device = Simulation::on(device, &config).unwrap();
        let mut one = on_host(&config);
        steps(&mut device, 3);
        steps(&mut one, 3);
        for (a, b) in state(&one)[5..].iter().zip(&state(&device)[5..]) {
            assert!(max_difference(a, b) < 1e-12, "{more:?}: {:e}", max_difference(a, b));
        }
    }
}

/// A checkpoint does not contain the initial state that is used beyond the faces.
#[test]
fn runs_and_restarts_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
        assert_reproducible(&scalars_in_open_box([19, 18, 1], more), &format!("{more:?}"));
    }
}

/// In single precision the state contains ρ − 1. Catches a face that takes it for ρ.
#[test]
fn single_precision_scalars_match_double_to_round_off() {
    let run = |precision: &str| {
        let mut run = on_host(&scalars_in_open_box([18, 17, 1], &[precision]));
        steps(&mut run, 30);
        [dye(&mut run), run.field("ink").unwrap().into_iter().collect()]
    };
    let (double, single) = (run("compute.precision=f64"), run("compute.precision=f32"));
    for (a, b) in double.iter().zip(&single) {
        assert!(max_difference(a, b) < 2e-5, "{:e}", max_difference(a, b));
    }
}

/// Since d(ρφ''²)/dt = −∇·(ρuφ''²), the convection column is the net flux through the faces divided by the length of the box.
#[test]
fn convection_in_the_scalar_budget_equals_the_flux_through_faces() {
    let faces = ["{ kind = 'inflow', velocity = [1, 0, 0] }", "'outflow'"];
    let mut run = stream(121, 1.0, faces, "start = 'exp(-((x - 3)/0.5)^2)'", &["time.dt=0.01"]);
    let names = ["dye_mean", "dye_variance", "dye_rate_convection", "dye_rate"];
    let columns = |run: &mut Simulation| {
        let row = run.row().unwrap();
        names.map(|name| row[run.columns().iter().position(|it| it == name).unwrap()])
    };
    steps(&mut run, 274);
    let [_, before, ..] = columns(&mut run);
    steps(&mut run, 1);
    let [mean, _, convection, rate] = columns(&mut run);
    let phi = dye(&mut run);
    steps(&mut run, 1);
    let [_, after, ..] = columns(&mut run);
    let net_flux = (phi[120] - mean).powi(2) - (phi[0] - mean).powi(2);
    assert_close(convection, -net_flux / LENGTH, 1e-3, "net flux through the faces");
    assert_close(rate, (after - before) / 0.02, 1e-3, "rate of change");
}

const GOOD: &str = "[case]\nname = 'taylor-green'\nmach = 0.5\n[grid]\npoints = [17, 18, 18]\n[boundary]\n\
                    x = { low = { kind = 'inflow', velocity = [1, 0, 0] }, high = 'outflow' }\n\
                    y = { low = 'wall', high = 'symmetry' }\n[time]\nend = 1\n\
                    [scalars.dye]\nschmidt = 1\nstart = 'y'\n";

#[test]
fn errors_for_bad_values_beyond_faces_give_line_and_allowed_values() {
    #[rustfmt::skip]
    let rows = [
        ("beyond = { y = { low = 1 } }", "low = 1: there is no open face at the low end of y", "`walls`, with `value` or `flux`"),
        ("beyond = { y = { high = 1 } }", "high = 1: there is no open face at the high end of y", "open faces are set in [boundary]"),
        ("beyond = { z = { high = 1 } }", "high = 1: there is no open face at the high end of z", "open faces are set in [boundary]"),
        ("beyond = { x = { low = 'a' } }", "low = \"a\": found a string", "a finite number"),
        ("beyond = { x = { low = inf } }", "low = inf: must be a finite number", ""),
        ("beyond = { x = 1 }", "x = 1: found", "must be a table such as { low = 1.0, high = 0.0 }"),
        ("beyond = { x = { middle = 1 } }", "unknown key `middle` in [scalars.dye.beyond.x]", ""),
        ("walls = { x = { low = { value = 1 } } }", "low = { value = 1 }: the low end of x is open", "allowed there: `beyond`"),
    ];
    for (line, expected, allowed) in rows {
        let text = format!("{GOOD}{line}\n");
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert!(messages[0].starts_with(&format!("error: in.toml:14: {expected}")), "{messages:?}");
        assert!(messages[0].contains(allowed), "{messages:?}");
        assert_eq!(messages.len(), 2, "{messages:?}");
    }
}

#[test]
fn values_beyond_faces_round_trip() {
    let text = format!("{GOOD}beyond = {{ x = {{ low = 0.5 }} }}\n");
    let config = parse(&text, "in.toml", &[]).unwrap();
    assert_eq!(config.scalars[0].beyond, [[Some(0.5), None], [None; 2], [None; 2]]);
    assert_eq!(parse(&config.to_toml(), "in.toml", &[]).unwrap(), config);
    let all = scalars_in_open_box([17, 17, 1], &[]);
    assert_eq!(parse(&all.to_toml(), "in.toml", &[]).unwrap(), all);
}
