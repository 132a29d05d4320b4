//! Implicit steps: orders in time, steady flows, ranks, restarts, and rejected inputs.

use kolmo::Error;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Solo;
use kolmo::config::{Config, parse};
use kolmo::grid::Decomposition;
use kolmo::io::checkpoint::Checkpoint;
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_orders, assert_reproducible, config, host, host_with_threads, max_difference,
    on_host, state, steps,
};
use crate::spread::blocks::whole;
use crate::spread::threads::on_ranks;

/// The steady flow around a cylinder at Re = 40, on a coarse grid.
fn cylinder(more: &[&str]) -> Config {
    let set = [
        "grid.mapping={ kind = 'ring', inner = 0.5, outer = 12.0 }",
        "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [1.0, 0.0, 0.0], temperature = 1.0 } }",
        "case.reynolds=40",
        "case.gust=0",
        "scheme.filter={ order = 8, alpha = 0.45, time = 0.01 }",
        "time.cfl=20",
        "time.implicit={ method = 'steady' }",
    ];
    config("cylinder", [32, 33, 1], &[&set, more].concat())
}

/// Advance until the flow is steady; returns the number of steps.
fn steady(flow: &mut Simulation) -> usize {
    (1..60)
        .find(|_| {
            flow.step(None).unwrap();
            flow.is_steady()
        })
        .unwrap_or_else(|| panic!("not steady: {:?}", flow.row().unwrap()))
}

fn column(flow: &mut Simulation, name: &str) -> f64 {
    flow.quantity(name).unwrap()
}

/// The simulation of `config`, continued from the state of `flow`.
fn restarted(flow: &Simulation, config: &Config) -> Simulation {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(format!("step_{:08}.zarr", flow.steps()));
    flow.save(&path).unwrap();
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    Simulation::resume(host(&config.compute), config, &saved).unwrap()
}

/// Catches mass that pseudo-time creates or loses between walls, where the steady equations allow any mass: 12 % was lost.
#[test]
fn steady_run_in_a_closed_box_conserves_mass() {
    let set = [
        "case.mach=0.3",
        "case.reynolds=100",
        "case.u='0'",
        "gas.viscosity={ law = 'power', exponent = 0.7 }",
        "grid.length=[1.0, 1.0, 1.0]",
        "boundary.y={ low = { kind = 'wall', temperature = 1.0 }, high = { kind = 'wall', temperature = 1.3, velocity = [1.0, 0.0, 0.0] } }",
        "time.cfl=20",
        "time.implicit={ method = 'steady' }",
    ];
    // No gas passes through the faces of an axis with one point.
    let open =
        "boundary.x={ low = { kind = 'far-field', velocity = [1.0, 0.0, 0.0] }, high = 'outflow' }";
    for more in [&[][..], &[open]] {
        let mut flow = on_host(&config("custom", [1, 33, 1], &[&set[..], more].concat()));
        steady(&mut flow);
        assert!((column(&mut flow, "mass") - 1.0).abs() < 1e-12);
        // The kinetic energy that explicit steps reach.
        assert!((column(&mut flow, "kinetic_energy") - 0.16344).abs() < 1e-4);
    }
}

/// Catches a residual that differs from that of explicit steps, a wrong row of a wall or the far field, and steps that do not grow.
#[test]
fn steady_residual_falls_by_ten_orders_and_explicit_steps_agree() {
    let steady_config = cylinder(&[]);
    let mut flow = on_host(&steady_config);
    let first = column(&mut flow, "residual");
    steady(&mut flow);
    assert!(column(&mut flow, "residual") <= 1e-10 * first);
    let explicit = cylinder(&["time.implicit=none", "time.cfl=0.8"]);
    let mut explicit = restarted(&flow, &explicit);
    let drag = column(&mut flow, "drag");
    assert!(drag > 1.0 && drag < 2.0, "{drag}");
    steps(&mut explicit, 300);
    assert!((column(&mut explicit, "drag") / drag - 1.0).abs() < 1e-8);
    let differences =
        state(&flow).into_iter().zip(state(&explicit)).map(|(a, b)| max_difference(&a, &b));
    assert!(differences.fold(0.0, f64::max) < 1e-7);
}

/// Catches pseudo-time without preconditioning, and a preconditioner with the speed of sound as upwind speed: 6929 products, not 4193.
#[test]
fn steady_flow_at_low_mach_converges_within_5500_matrix_products() {
    let implicit = "time.implicit={ method = 'steady', products = 300, krylov = 300 }";
    let mut flow = on_host(&cylinder(&["case.mach=0.005", "time.cfl=3000", implicit]));
    let first = column(&mut flow, "residual");
    let mut products = 0.0;
    while !flow.is_steady() && products < 5500.0 {
        flow.step(None).unwrap();
        products += column(&mut flow, "linear_products");
    }
    let reduction = column(&mut flow, "residual") / first;
    assert!(reduction <= 1e-10, "{reduction} after {products} products");
}

/// Catches a wrong row of an inflow or an outflow, and a residual that does not fall to round-off: only the stream must remain.
#[test]
fn after_a_vortex_leaves_only_the_uniform_stream_remains() {
    let config = config(
        "vortex-outflow",
        [40, 41, 1],
        &[
            "scheme.filter={ order = 6, alpha = 0.4, time = 0.02 }",
            "time.cfl=20",
            "time.implicit={ method = 'steady' }",
        ],
    );
    let mut flow = on_host(&config);
    steady(&mut flow);
    let momentum = &state(&flow)[1];
    assert!(momentum.iter().all(|it| (it - 1.0).abs() < 1e-8));
}

/// Catches a wrong coefficient, stage or time level, which lowers the order.
#[test]
fn implicit_methods_converge_at_their_orders_in_time() {
    for (case, points, end, more) in [
        ("acoustic-wave", [24, 1, 1], 0.4, &["case.amplitude=0.05", "case.reynolds=200"][..]),
        // Walls with prescribed heat flux at rest and oscillating, and an isothermal one that oscillates.
        (
            "lid-driven-cavity",
            [18, 17, 1],
            0.2,
            &[
                "case.mach=0.5",
                "case.reynolds=20",
                "boundary.x={ low = { kind = 'wall', temperature = 1.1 }, high = { kind = 'wall', heat_flux = 0.05 } }",
                "boundary.y={ low = { kind = 'wall', velocity = [0.4, 0.0, -0.2], frequency = 11.0 }, high = { kind = 'wall', temperature = 0.9, velocity = [0.7, 0.0, 0.3], frequency = 5.0 } }",
            ],
        ),
    ] {
        let run = |method: &str, dt: f64| {
            let (dt, implicit) = (format!("time.dt={dt}"), format!("time.implicit={method}"));
            let set = [&["scheme.filter=none", dt.as_str(), implicit.as_str()], more].concat();
            let mut flow = simulation_of(case, points, &set);
            advance(&mut flow, end);
            state(&flow).concat()
        };
        let reference = run("none", end / 1024.0);
        for (name, orders) in [
            ("backward-euler", 0.85..1.15),
            ("sdirk22", 1.8..2.2),
            ("bdf2", 1.7..2.3),
            ("esdirk64", if case == "acoustic-wave" { 3.6..4.4 } else { 2.5..4.5 }),
        ] {
            let method =
                format!("{{ method = '{name}', tolerance = 1e-9, linear_tolerance = 1e-3 }}");
            let error = |parts: f64| {
                let dt = end / parts;
                (dt, max_difference(&run(&method, dt), &reference))
            };
            let first = if name == "esdirk64" { 6.0 } else { 16.0 };
            let errors = [error(first), error(2.0 * first)];
            assert_orders(&errors, orders, &format!("{name} of {case}"));
        }
    }
}

fn simulation_of(case: &str, points: [usize; 3], set: &[&str]) -> Simulation {
    on_host(&config(case, points, set))
}

/// Catches sums over one rank only, and neighbours on other ranks that belong to another line.
#[test]
fn ranks_agree_to_the_solver_tolerance() {
    let method =
        "time.implicit={ method = 'esdirk64', tolerance = 1e-10, linear_tolerance = 1e-4 }";
    let config = cylinder(&[method, "time.cfl=5"]);
    let mut one = on_host(&config);
    steps(&mut one, 3);
    let expected = state(&one);
    for cut in [[2, 1, 1], [1, 3, 1], [2, 2, 1], [5, 1, 1]] {
        let found = on_ranks(cut.iter().product(), |comm| {
            let compute = config.compute.clone();
            let ranks = Ranks::new(
                host_with_threads(compute.precision, 1),
                comm,
                Decomposition { ranks: cut },
                &compute,
            );
            let mut flow = Simulation::on(std::sync::Arc::new(ranks.unwrap()), &config).unwrap();
            steps(&mut flow, 3);
            whole(&flow, cut)
        });
        for (a, b) in found.iter().flat_map(|found| found.iter().zip(&expected)) {
            assert!(max_difference(a, b) < 1e-8, "{cut:?}: {:e}", max_difference(a, b));
        }
    }
}

/// Catches a checkpoint without the previous state, the filter or the first residual.
#[test]
fn runs_and_restarts_are_bitwise_identical() {
    for method in ["steady", "bdf2", "esdirk64"] {
        let method = format!("time.implicit={{ method = '{method}', products = 30 }}");
        let filter = "scheme.filter={ order = 8, alpha = 0.45, every = 2 }";
        assert_reproducible(&cylinder(&[&method, filter, "time.cfl=3"]), &method);
    }
}

/// Catches edge conditions that are imposed again when a quantity is only read.
#[test]
fn reading_quantities_does_not_change_a_run_where_walls_meet() {
    let cavity = config(
        "lid-driven-cavity",
        [18, 17, 1],
        &[
            "case.reynolds=100",
            "time.dt=0.05",
            "time.implicit={ method = 'bdf2', tolerance = 1e-4 }",
        ],
    );
    assert_reproducible(&cavity, "a cavity");
}

/// Catches a tolerance below the round-off of the residual: this flow is steady from the start.
#[test]
fn initially_steady_flow_converges() {
    for method in ["bdf2", "esdirk64"] {
        let method = format!("time.implicit={{ method = '{method}', tolerance = 1e-10 }}");
        let mut flow = on_host(&config("couette-flow", [1, 24, 1], &["time.cfl=4", &method]));
        steps(&mut flow, 3);
        assert!(flow.error().unwrap().unwrap()[1] < 1e-6);
    }
}

/// Catches a last sweep that precomputes values for the next stage from a state that the filter changes afterwards.
#[test]
fn filter_as_a_rate_agrees_in_fused_and_composed_right_hand_sides() {
    let set = [
        "time.dt=0.008",
        "scheme.filter={ order = 6, alpha = 0.3, time = 0.05 }",
        "case.reynolds=50",
    ];
    let run = |more: &str| {
        let mut flow =
            on_host(&config("taylor-green", [16, 16, 16], &[&set[..], &[more]].concat()));
        steps(&mut flow, 4);
        state(&flow)
    };
    let fused = run("compute.right_hand_side=fused");
    for (a, b) in fused.iter().zip(run("compute.right_hand_side=composed")) {
        let size = a.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
        assert!(max_difference(a, &b) < 1e-12 * size);
    }
}

/// Catches an unconverged step that is accepted.
#[test]
fn unconverged_step_is_an_error() {
    let method = "time.implicit={ method = 'sdirk22', krylov = 1, products = 1, sweeps = 1 }";
    let mut flow = on_host(&cylinder(&[method, "time.cfl=2000"]));
    let Err(error) = flow.step(None) else { panic!("converged with one matrix product") };
    let message = error.to_string();
    assert!(matches!(error, Error::NotConverged { .. }), "{message}");
    assert!(
        message.contains("the step after step 0") && message.contains("time.implicit"),
        "{message}"
    );
    let mut flow = on_host(&cylinder(&["time.cfl=1e300"]));
    let error = flow.step(None).unwrap_err();
    assert!(
        matches!(error, Error::NotConverged { .. }) && error.to_string().contains("singular"),
        "{error}"
    );
}

/// Catches implicit steps that silently ignore a part of the problem.
#[test]
fn implicit_steps_reject_unsupported_settings() {
    let error_message = |case: &str, more: &str| {
        let text = format!(
            "[case]\nname = '{case}'\n[grid]\npoints = [16, 16, 16]\n[time]\nimplicit = {{ method = 'bdf2' }}\nend = 1\n{more}"
        );
        parse(&text, "test", &[]).unwrap_err().to_string()
    };
    for (case, more, expected) in [
        ("scalar-advection", "", "is not available for scalar-advection"),
        ("taylor-green", "[compute]\nprecision = 'f32'\n", "needs 64-bit fields"),
        (
            "taylor-green",
            "[scalars.dye]\nschmidt = 1\nstart = 1\n",
            "does not support passive scalars",
        ),
        (
            "taylor-green",
            "[forcing]\nkind = 'linear'\nenergy = 'constant'\n",
            "does not support a force",
        ),
    ] {
        let message = error_message(case, more);
        assert!(message.contains("implicit = {") && message.contains(expected), "{message}");
    }
}

/// Catches a steady run that requires an end time or a number of steps.
#[test]
fn steady_run_needs_no_end_time() {
    let text = "[case]\nname = 'cylinder'\n[grid]\npoints = [32, 33, 1]\n[time]\nimplicit = { method = 'steady' }\n";
    let config = parse(text, "test", &[]).unwrap();
    assert_eq!((config.time.end, config.time.max_steps), (None, None));
    let again = parse(&config.to_toml(), "again", &[]).unwrap();
    assert_eq!(again.time, config.time);
}
