//! Passive scalars through open faces.

use std::sync::Arc;

use kolmo::Error;
use kolmo::config::{Config, parse};
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_close, assert_repeats, config, float, max_difference, on_host, simulation,
    state, steps,
};
use crate::device::gpu;
use crate::open::open_box;
use crate::spread::blocks::assert_cuts_agree;

/// The length of the box of [`stream`].
const LENGTH: f64 = 6.0;
/// The speed of sound there.
const SOUND: f64 = 2.0;

/// A uniform stream of this velocity along x, of gas without viscosity, between these faces, with a scalar that starts so.
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

/// The largest difference to `exact`(x, t) now.
fn off_by(run: &mut Simulation, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let (grid, t) = (run.grid().clone(), run.time());
    let off = |(at, phi): (usize, &f64)| (phi - exact(grid.coordinate(0, at), t)).abs();
    dye(run).iter().enumerate().map(off).fold(0.0, f64::max)
}

/// Each wrong by its own: where ∂(ρφ)/∂t does not follow ∂ρ/∂t at a face, in a sponge, or where the state is given.
#[test]
fn a_uniform_scalar_stays_uniform_through_every_kind_of_face() {
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
    for (what, config, count) in [
        ("inflow and outflow", vortex(&["case.mach=0.5"]), 100),
        ("by the Runge-Kutta method", vortex(&["case.mach=0.5", "time.integrator=rk4"]), 100),
        ("far fields with sponges", vortex(&["case.mach=0.5", &far]), 100),
        ("the flow of the start", vortex(&[&["case.mach=0.5"], &start[..]].concat()), 100),
        ("supersonic", vortex(&["case.mach=2", supersonic]), 100),
        ("all, with a wall and a filter", open_box([25, 24, 1], &[DYE]), 300),
        ("sound", config("acoustic-pulse", [65, 1, 1], &[pulse, DYE]), 200),
    ] {
        let mut run = on_host(&config);
        let density = state(&run).swap_remove(0);
        steps(&mut run, count);
        let changed = max_difference(&density, &state(&run)[0]);
        assert!(changed > 1e-2, "{what}: nothing happens, {changed:e}");
        let off = dye(&mut run).iter().map(|phi| (phi - 1.7).abs()).fold(0.0, f64::max);
        assert!(off < 2e-12, "{what}: {off:e}");
    }
}

/// Where what leaves were damped, or came back, it would not be the exact blob, or stay behind. Without a filter sawtooth waves,
/// which the formulas do not move, stay: 3e-4 on the finer grid.
#[test]
fn a_blob_leaves_through_an_outflow_and_a_far_field_as_the_exact_one_and_leaves_nothing_behind() {
    let blob = |x: f64, t: f64| (-((x - 3.0 - t) / 0.5).powi(2)).exp();
    let start = "start = 'exp(-((x - 3)/0.5)^2)'";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    for faces in [["{ kind = 'inflow', velocity = [1, 0, 0] }", "'outflow'"], [far; 2]] {
        let errors = [61, 121].map(|n| {
            let filter = "scheme.filter={ order = 8, alpha = 0.45, every = 1 }";
            let mut run = stream(n, 1.0, faces, start, &["time.dt=0.02", filter]);
            advance(&mut run, 2.5);
            let while_leaving = off_by(&mut run, blob);
            advance(&mut run, 8.0);
            [while_leaving, off_by(&mut run, |_, _| 0.0)]
        });
        let [[coarse, behind], [fine, behind_fine]] = errors;
        // On 5 and on 10 points a half width; fourth order by the rows at the ends.
        assert!(coarse < 5e-4 && (12.0..25.0).contains(&(coarse / fine)), "{faces:?} {errors:?}");
        assert!(behind < 1e-9 && behind_fine < 1e-14, "{faces:?} {errors:?}");
    }
}

/// dφ/dt = K (φ∞ − φ) at the face, K = σ c/L at an inflow and σ |u_n|/L elsewhere. With the start φ∞ − C exp(K s/U), s the distance
/// from it, φ = φ∞ − C exp(K (s/U − t)), smooth everywhere. A wrong rate, a wrong value, or one of another face shows at once.
#[test]
fn what_comes_in_relaxes_to_the_value_beyond_and_is_carried_in_exactly() {
    let c = [0.25 * SOUND / LENGTH, 0.25 / LENGTH];
    let inflow = "{ kind = 'inflow', velocity = [1, 0, 0] }";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    let back = "{ kind = 'far-field', velocity = [-1, 0, 0] }";
    for (faces, u, end, rate) in [
        ([inflow, "'outflow'"], 1.0, "low", c[0]),
        ([far, far], 1.0, "low", c[1]),
        ([back, "'outflow'"], -1.0, "high", c[1]),
    ] {
        // How far the gas at x has come.
        let way = if u > 0.0 { "x" } else { "(lx - x)" };
        let other = if end == "low" { "high" } else { "low" };
        let text = format!(
            "start = '2 - 1.5*exp({rate:?}*{way})', beyond = {{ x = {{ {end} = 2.0, {other} = 77.0 }} }}"
        );
        let mut run = stream(49, u, faces, &text, &["time.dt=0.02"]);
        advance(&mut run, 4.0);
        let exact = |x: f64, t: f64| {
            let way = if u > 0.0 { x } else { LENGTH - x };
            2.0 - 1.5 * (rate * (way - t)).exp()
        };
        let off = off_by(&mut run, exact);
        assert!(off < 5e-8, "{faces:?}: {off:e}");
    }
}

/// Without a word of the user: the start at an inflow and beyond a stream, one that goes on beyond the flow of the start, what was
/// there where the gas turns round.
#[test]
fn where_nothing_is_said_what_comes_in_is_that_of_the_start() {
    // What comes in keeps φ of the face: at the front, x = t, the slope jumps.
    let kept = |x: f64, t: f64| (x - t).max(0.0);
    // dφ/dt = −U (1 + (σ/L) φ) at the face.
    let grown = |x: f64, t: f64| match x - t {
        ahead if ahead > 0.0 => ahead,
        behind => 4.0 * LENGTH * ((behind / (4.0 * LENGTH)).exp() - 1.0),
    };
    let initial = "{ kind = 'far-field', state = 'initial' }";
    let far = "{ kind = 'far-field', velocity = [1, 0, 0] }";
    let inflow = "{ kind = 'inflow', velocity = [1, 0, 0] }";
    type Exact<'a> = &'a dyn Fn(f64, f64) -> f64;
    let rows: [(_, _, Exact<'_>, _); 4] = [
        ([inflow, "'outflow'"], 1.0, &kept, 2e-2),
        ([far, "'outflow'"], 1.0, &kept, 2e-2),
        ([initial, initial], 1.0, &grown, 1e-4),
        (
            ["{ kind = 'far-field', velocity = [-1, 0, 0] }", "'outflow'"],
            -1.0,
            &|x, t| (x + t).min(LENGTH),
            2e-2,
        ),
    ];
    for (faces, u, exact, most) in rows {
        let mut run = stream(97, u, faces, "start = 'x'", &["time.dt=0.01"]);
        let face = if u > 0.0 { 0 } else { 96 };
        advance(&mut run, 3.0);
        let off = off_by(&mut run, exact);
        let at_face = (dye(&mut run)[face] - exact(6.0 * float(face) / 96.0, 3.0)).abs();
        assert!(off < most, "{faces:?}: {off:e}");
        assert!(at_face < 2e-5, "{faces:?}: {at_face:e}");
    }
}

/// In a gas at rest each point is by itself: φ − φ∞ falls as exp(−σ t), σ = 3 (1 − x/2)³. ρ is not 1: ρ∞φ∞ is no φ∞.
#[test]
fn a_sponge_damps_a_scalar_towards_what_is_beyond() {
    let far = "{ kind = 'far-field', velocity = [0, 0, 0], temperature = 0.8, sponge = { width = 2, strength = 3 } }";
    let sigma = |x: f64| 3.0 * (1.0 - x / 2.0).max(0.0).powi(3);
    for (beyond, value) in [("", None), (", beyond = { x = { low = 5.0 } }", Some(5.0))] {
        let text = format!("start = '1 + sin(x)'{beyond}");
        let mut run = stream(41, 0.0, [far, "'outflow'"], &text, &["case.T=0.8", "time.dt=0.02"]);
        advance(&mut run, 1.0);
        let off = off_by(&mut run, |x, t| {
            let start = 1.0 + x.sin();
            let known = value.unwrap_or(start);
            known + (start - known) * (-sigma(x) * t).exp()
        });
        assert!(off < 1e-7, "{beyond}: {off:e}");
    }
}

#[test]
fn a_supersonic_inflow_has_the_scalar_that_is_given() {
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

/// Scalars in the box with every kind of face: of given values, and of the start.
fn scalars_in_open_box(points: [usize; 3], more: &[&str]) -> Config {
    const SCALARS: [&str; 2] = [
        "scalars.dye={ schmidt = 0.7, start = '1.5 + sin(x)*cos(y)', beyond = { x = { low = 1.0, high = 2.0 }, y = { high = -1.0 } }, walls = { y = { low = { value = 1.0 } } } }",
        "scalars.ink={ schmidt = 2.0, start = 'cos(x + y)' }",
    ];
    open_box(points, &[&SCALARS, more].concat())
}

#[test]
fn ranks_sweeps_operator_by_operator_and_devices_agree() {
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

/// What is known of the start beyond faces is no part of a checkpoint.
#[test]
fn a_run_repeats_itself_to_the_bit_also_from_a_checkpoint() {
    for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
        assert_repeats(&scalars_in_open_box([19, 18, 1], more), &format!("{more:?}"));
    }
}

/// In single precision the state has ρ − 1: a face that took it for ρ would show.
#[test]
fn in_single_precision_scalars_are_the_same_to_its_round_off() {
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

/// With d(ρφ''²)/dt = −∇·(ρuφ''²) the column of convection is what leaves through the faces, over the length of the box.
#[test]
fn convection_in_the_budget_is_what_goes_through_the_faces() {
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
    let out = (phi[120] - mean).powi(2) - (phi[0] - mean).powi(2);
    assert_close(convection, -out / LENGTH, 1e-3, "what leaves");
    assert_close(rate, (after - before) / 0.02, 1e-3, "what changes");
}

const GOOD: &str = "[case]\nname = 'taylor-green'\nmach = 0.5\n[grid]\npoints = [17, 18, 18]\n[boundary]\n\
                    x = { low = { kind = 'inflow', velocity = [1, 0, 0] }, high = 'outflow' }\n\
                    y = { low = 'wall', high = 'symmetry' }\n[time]\nend = 1\n\
                    [scalars.dye]\nschmidt = 1\nstart = 'y'\n";

#[test]
fn bad_values_beyond_faces_are_told_with_their_line_and_what_is_allowed() {
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
        let Err(Error::Config(told)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert!(told[0].starts_with(&format!("error: in.toml:14: {expected}")), "{told:?}");
        assert!(told[0].contains(allowed), "{told:?}");
        assert_eq!(told.len(), 2, "{told:?}");
    }
}

#[test]
fn values_beyond_faces_are_read_back() {
    let text = format!("{GOOD}beyond = {{ x = {{ low = 0.5 }} }}\n");
    let config = parse(&text, "in.toml", &[]).unwrap();
    assert_eq!(config.scalars[0].beyond, [[Some(0.5), None], [None; 2], [None; 2]]);
    assert_eq!(parse(&config.to_toml(), "in.toml", &[]).unwrap(), config);
    let all = scalars_in_open_box([17, 17, 1], &[]);
    assert_eq!(parse(&all.to_toml(), "in.toml", &[]).unwrap(), all);
}
