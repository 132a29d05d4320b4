//! Flows between walls driven by a pressure gradient, and their profiles.

use std::f64::consts::PI;
use std::path::Path;

use kolmo::Error;
use kolmo::comm::Solo;
use kolmo::config::{Config, parse, parse_on};
use kolmo::grid::{Axis, Decomposition};
use kolmo::physics::{CHANNEL_COLUMNS, FORCING_COLUMNS, Force, ForcingConfig, GRADIENT_COLUMNS};
use kolmo::statistics::profiles::{self, COLUMNS};
use kolmo::statistics::{BetweenWalls, RunningProfiles, Sample};
use kolmo::time::Simulation;

use crate::common::{
    advance, assert_orders, assert_reproducible, config, float, max_difference, on_host, set_flow,
    simulation, state, steps,
};
use crate::spread::blocks::{assert_cuts_agree, blocks};
use crate::spread::threads::on_ranks;

/// Relaxation time of a deviation of the mass flux, as in docs/theory.md.
const RELAXATION: f64 = 0.1;

/// A velocity so small that its square is negligible.
const SLOW: f64 = 1e-5;

/// Gas at rest between plates y = ±1 at Re = 1 under `force`, on `n` points.
fn at_rest(n: usize, force: &str) -> Simulation {
    let set = ["case.reynolds=1", "case.mach=0.5", "forcing.kind=pressure-gradient", force];
    let mut flow = simulation("poiseuille-flow", [1, n, 1], &set);
    set_flow(&mut flow, 1.4, |_, _| [1.0, 0.0, 0.0, 0.0, 1.0 / (1.4 * 0.25)]);
    flow
}

/// The largest difference of u from `exact(y)`, in units of [`SLOW`].
fn max_error(flow: &Simulation, exact: impl Fn(f64) -> f64) -> f64 {
    let (state, grid) = (state(flow), flow.grid());
    let found: Vec<f64> = state[1].iter().zip(&state[0]).map(|(m, rho)| m / rho / SLOW).collect();
    let exact: Vec<f64> = (0..found.len()).map(|j| exact(grid.coordinates([0, j, 0])[1])).collect();
    max_difference(&found, &exact)
}

#[test]
fn channel_from_rest_follows_the_series_and_reaches_the_parabola() {
    // Batchelor 1967, §4.3: u = 1 − y² − Σ 32 (−1)ⁿ / ((2n+1)π)³ cos((2n+1)πy/2) exp(−((2n+1)π/2)² t/Re).
    let series = |y: f64, t: f64| -> f64 {
        let term = |n: i32| {
            let k = f64::from(2 * n + 1) * PI;
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            32.0 * sign / k.powi(3) * (0.5 * k * y).cos() * (-0.25 * k * k * t).exp()
        };
        1.0 - y * y - (0..40).map(term).sum::<f64>()
    };
    let force = format!("forcing.value={}", 2.0 * SLOW);
    let error = |n: usize| {
        let mut flow = at_rest(n, &force);
        advance(&mut flow, 0.2);
        (2.0 / float(n - 1), max_error(&flow, |y| series(y, 0.2)))
    };
    // Closures of order 3 at the wall give one order more in the solution (Gustafsson 1975).
    let errors = [17, 33].map(error);
    assert_orders(&errors, 3.8..6.5, "start-up");
    assert!(errors[1].1 < 1e-6, "{errors:?}");
    // The slowest mode decays by 10⁻¹⁰ in t = 9.4; at constant mass flux its rate has (4.49)² instead of (π/2)².
    let mut flow = at_rest(17, &force);
    advance(&mut flow, 9.4);
    assert!(max_error(&flow, |y| 1.0 - y * y) < 2e-9);
    let mut flow = at_rest(17, &format!("forcing.mass_flux={}", SLOW * 2.0 / 3.0));
    advance(&mut flow, 3.0);
    assert!(max_error(&flow, |y| 1.0 - y * y) < 2e-9);
    let gradient = flow.quantity("pressure_gradient").unwrap();
    assert!((gradient / (2.0 * SLOW) - 1.0).abs() < 2e-9, "{gradient}");
}

/// A channel on a coarse grid with the settings `more`.
fn channel(points: [usize; 3], more: &[&str]) -> Config {
    let set = [
        "case.mach=0.5",
        "case.reynolds=300",
        "grid.length=[3.0, 2.0, 1.5]",
        "time.dt=0.005",
        "gas.viscosity={ law = 'power', exponent = 0.7 }",
    ];
    config("channel", points, &[&set, more].concat())
}

#[test]
fn mass_flux_stays_constant_and_follows_the_relaxation_law() {
    for more in [&[][..], &["time.integrator=rk4"], &["scheme.filter={ order = 6, alpha = 0.45 }"]]
    {
        let mut flow = on_host(&channel([12, 33, 10], more));
        let dt = 0.005;
        let now = |flow: &mut Simulation| {
            ["momentum_x", "pressure_gradient"].map(|name| flow.quantity(name).unwrap())
        };
        let mut history = vec![now(&mut flow)];
        for _ in 0..20 {
            steps(&mut flow, 1);
            history.push(now(&mut flow));
        }
        let friction: Vec<f64> =
            history.windows(2).map(|pair| pair[0][1] - (pair[1][0] - pair[0][0]) / dt).collect();
        // e ← (1 − dt/t_r) e + dt (Dₙ₋₁ − Dₙ). The round-off of M is that of G times dt.
        for n in 1..20 {
            let [before, after] = [history[n], history[n + 1]].map(|[flux, _]| flux - 1.0);
            let expected = (1.0 - dt / RELAXATION) * before + dt * (friction[n - 1] - friction[n]);
            assert!((after - expected).abs() < 1e-15, "{n}: {after:e} {expected:e}");
        }
        let changes = friction.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let largest = changes.fold((history[0][1] - friction[0]).abs(), f64::max);
        for [flux, _] in history {
            assert!((flux - 1.0).abs() <= RELAXATION * largest, "{more:?}: {flux}");
        }
    }
}

#[test]
fn ranks_and_composed_right_hand_side_agree_in_state_row_and_profiles() {
    for more in [&[][..], &["forcing.kind=pressure-gradient", "forcing.value=0.01"]] {
        let config = channel([11, 32, 10], more);
        assert_cuts_agree(
            &config,
            10,
            &[[1, 2, 1], [1, 3, 1], [2, 1, 2]].map(|ranks| (ranks, None)),
        );
        let take = |mut flow: Simulation, cut: Decomposition| {
            steps(&mut flow, 10);
            profile(&mut flow, cut).concat()
        };
        let expected = take(on_host(&config), Decomposition::ONE);
        for ranks in [[1, 3, 1], [2, 1, 2]] {
            let found = on_ranks(ranks.iter().product(), |comm| {
                let flow = Simulation::on(blocks(comm, ranks, &config), &config).unwrap();
                take(flow, Decomposition { ranks })
            });
            for profile in found {
                assert!(max_difference(&profile, &expected) < 1e-8, "{ranks:?}");
            }
        }
    }
}

#[test]
fn driven_runs_and_restarts_are_bitwise_identical() {
    for force in ["forcing.value=0.02", "forcing.mass_flux=constant", "forcing.mass_flux=1.1"] {
        for more in [&[][..], &["compute.precision=f32"], &["time.integrator=rk4"]] {
            let set = [&["forcing.kind=pressure-gradient", force], more].concat();
            assert_reproducible(&channel([9, 18, 8], &set), &format!("{force} {more:?}"));
        }
    }
}

#[test]
fn profiles_of_a_known_flow_match_its_averages_to_round_off() {
    const A: f64 = 0.2;
    const B: f64 = 0.3;
    const D: f64 = 0.1;
    const E: f64 = 0.4;
    let set = ["case.reynolds=50", "case.mach=0.5", "grid.length=[1.0, 2.0, 1.0]"];
    let mut flow = simulation("poiseuille-flow", [12, 17, 8], &set);
    let gas = config("poiseuille-flow", [12, 17, 8], &set).gas;
    let grid = flow.grid().clone();
    let heat = |y: f64| 1.0 + 0.3 * (1.0 - y * y);
    let mut rows_of = |shift: f64| {
        set_flow(&mut flow, 1.4, |_, [x, y, _]| {
            let (s, c) = (2.0 * PI * x).sin_cos();
            let rho = 1.0 + A * s;
            [rho, 1.0 - y * y + B * s + shift, D * s, E * c, rho * heat(y) / (1.4 * 0.25)]
        });
        let Sample::Flow(sample) = flow.sample(true).unwrap() else { unreachable!() };
        let walls = sample.walls.clone().unwrap();
        assert_eq!(walls.axis, Axis::Y);
        (profiles::means(&Solo, &Decomposition::ONE, &grid, &sample, &walls), walls)
    };
    let (means, walls) = rows_of(0.0);
    let (later, _) = rows_of(0.2);
    let rows = |means: &[f64]| profiles::rows(means, &grid, &walls);
    let of = |row: &[f64], name: &str| row[COLUMNS.iter().position(|it| *it == name).unwrap()];
    let u_tau = (2.0_f64 / 50.0).sqrt();
    for row in rows(&means) {
        let y = of(&row, "coordinate");
        let (u, t) = (1.0 - y * y, heat(y));
        let p = t / (1.4 * 0.25);
        let distance = 1.0 - y.abs();
        let half = 0.5_f64.sqrt();
        for (name, expected) in [
            ("density", 1.0),
            ("pressure", p),
            ("temperature", t),
            ("viscosity", 1.0 / 50.0),
            ("velocity_x", u),
            ("velocity_y", 0.0),
            ("favre_velocity_x", u + 0.5 * A * B),
            ("favre_velocity_y", 0.5 * A * D),
            ("favre_velocity_z", 0.0),
            ("reynolds_stress_xx", 0.5 * B * B),
            ("reynolds_stress_zz", 0.5 * E * E),
            ("reynolds_stress_xy", 0.5 * B * D),
            ("reynolds_stress_xz", 0.0),
            ("favre_stress_xy", 0.5 * B * D - 0.25 * A * A * B * D),
            ("density_rms", A * half),
            ("pressure_rms", A * p * half),
            ("temperature_rms", 0.0),
            ("viscous_stress", -2.0 * y / 50.0),
            ("turbulent_stress", -0.5 * B * D + 0.25 * A * A * B * D),
            ("heat_conduction", gas.conductivity() * 0.6 * y),
            ("turbulent_heat_flux", 0.0),
            ("friction_velocity", u_tau),
            ("friction_reynolds", 50.0 * u_tau),
            ("wall_distance", distance),
            ("y_plus", distance * 50.0 * u_tau),
            ("u_plus", u / u_tau),
            ("u_plus_van_driest", u / u_tau),
            ("y_star", distance * 50.0 * u_tau),
            ("u_plus_trettel_larsson", u / u_tau),
        ] {
            // The root of a variance has the square root of the round-off of the variance.
            let bound = if name == "temperature_rms" { 1e-7 } else { 1e-13 };
            let found = of(&row, name);
            assert!((found - expected).abs() <= bound, "{name} at {y}: {found} {expected}");
        }
    }
    // A change of the mean in time also counts as a fluctuation, here ±0.1. Time averages use the trapezoidal rule.
    let mut running = RunningProfiles::default();
    for (time, means) in [(0.0, &means), (1.0, &later), (2.0, &means)] {
        running.add(time, means, &walls);
    }
    assert_eq!(running.duration(), 2.0);
    assert!(running.check(2.0).is_ok() && running.check(1.0).is_err());
    let saved = serde_json::to_string(&running).unwrap();
    assert_eq!(serde_json::from_str::<RunningProfiles>(&saved).unwrap(), running);
    let row = &rows(&running.means().unwrap())[8];
    assert!((of(row, "velocity_x") - 1.1).abs() < 1e-13);
    assert!((of(row, "reynolds_stress_xx") - 0.5 * B * B - 0.01).abs() < 1e-13);
    // A sample of another gas discards the earlier ones.
    running.add(3.0, &later, &BetweenWalls { at_rest: [1.0, 10.0, 1.0], ..walls.clone() });
    assert_eq!(running.duration(), 0.0);
}

/// The rows of the profile at one instant. Collective.
fn profile(flow: &mut Simulation, cut: Decomposition) -> Vec<Vec<f64>> {
    let grid = flow.grid().clone();
    let Sample::Flow(sample) = flow.sample(true).unwrap() else { unreachable!() };
    let walls = sample.walls.as_ref().unwrap();
    let means = profiles::means(flow.backend().comm(), &cut, &grid, &sample, walls);
    profiles::rows(&means, &grid, walls)
}

/// Catches fluctuations that are lost in the round-off of the squared pressure and temperature at a low Mach number.
#[test]
fn small_fluctuations_are_resolved_at_a_low_mach_number() {
    let set = ["case.mach=1e-3", "grid.length=[1.0, 2.0, 1.0]"];
    let mut flow = simulation("poiseuille-flow", [12, 17, 8], &set);
    let p0 = 1e6 / 1.4;
    set_flow(&mut flow, 1.4, |_, [x, ..]| {
        let s = (2.0 * PI * x).sin();
        [1.0, 1.0, 0.0, 0.0, p0 + 0.01 * s]
    });
    for row in profile(&mut flow, Decomposition::ONE) {
        let of = |name: &str| row[COLUMNS.iter().position(|it| *it == name).unwrap()];
        let (p, t) = (0.01 * 0.5_f64.sqrt(), 0.01 * 0.5_f64.sqrt() / p0);
        assert!((of("pressure_rms") - p).abs() < 1e-6 * p, "{}", of("pressure_rms"));
        assert!((of("temperature_rms") - t).abs() < 1e-6 * t, "{}", of("temperature_rms"));
    }
}

/// Catches wall units along an axis with almost no flow when the main flow has zero mean, and units of the farther wall when one half has
/// fewer points.
#[test]
fn wall_units_use_the_flow_direction_and_the_nearer_wall() {
    let low = "grid.stretching={ y = { map = 'tanh', factor = 2.0, ends = 'low' } }";
    for stretching in [&[][..], &[low]] {
        let set = ["case.reynolds=50", "case.mach=0.5", "grid.length=[1.0, 2.0, 1.0]"];
        let mut flow = simulation("poiseuille-flow", [8, 33, 8], &[&set[..], stretching].concat());
        set_flow(&mut flow, 1.4, |_, [_, y, _]| {
            [1.0, y, 0.0, 0.01 * (1.0 - y * y), 1.0 / (1.4 * 0.25)]
        });
        for row in profile(&mut flow, Decomposition::ONE) {
            let of = |name: &str| row[COLUMNS.iter().position(|it| *it == name).unwrap()];
            let distance = 1.0 - of("coordinate").abs();
            assert!((of("wall_distance") - distance).abs() < 1e-14);
            assert!((of("viscous_stress") - 0.02).abs() < 1e-12);
            assert!((of("u_plus") - distance / 0.02_f64.sqrt()).abs() < 1e-9);
        }
    }
}

#[test]
fn forcing_of_the_case_round_trips_and_can_be_changed_or_disabled() {
    let text = "[case]\nname = 'poiseuille-flow'\n[grid]\npoints = [1, 17, 1]\n[time]\nend = 1\n";
    let read = |text: &str| parse(text, "in.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let unchanged = read(text);
    assert!(
        unchanged.follows_case()
            && unchanged.forcing.is_some()
            && !unchanged.to_toml().contains("[forcing]")
    );
    assert_eq!(read(&unchanged.to_toml()), unchanged);
    let kind = "[forcing]\nkind = 'pressure-gradient'\n";
    let others = [
        "[forcing]\nkind = 'none'\n".to_string(),
        format!("{kind}value = 0.5\naxis = 'z'\nheat_removal = true\n"),
        format!("{kind}mass_flux = 'constant'\n"),
        format!("{kind}mass_flux = -0.5\n"),
        // Changed partly.
        "[forcing]\naxis = 'z'\n".into(),
        "[forcing]\nmass_flux = 0.5\n".into(),
        "[forcing]\nheat_removal = true\n".into(),
    ];
    for force in others {
        let other = read(&format!("{text}{force}"));
        assert!(!other.follows_case() && other.forcing != unchanged.forcing, "{force}");
        assert_eq!(read(&other.to_toml()), other);
        let typed = other.to_toml();
        let base = |_: &Path| Ok(typed.clone());
        let origin = "[case]\nname = 'from-checkpoint'\npath = 'runs/a'\n";
        assert_eq!(parse_on(origin, "in.toml", &[], &base).unwrap().forcing, other.forcing);
    }
    let other = parse(&format!("{text}[forcing]\nenergy = 1\n"), "in.toml", &[]).unwrap_err();
    assert!(other.to_string().contains("[forcing] needs `kind`"), "{other}");
    let part = |key| read(&format!("{text}[forcing]\n{key}\n")).forcing.unwrap();
    let case_forcing = unchanged.forcing.clone().unwrap();
    assert_eq!(
        part("heat_removal = true"),
        ForcingConfig { heat_removal: true, ..case_forcing.clone() }
    );
    let (Force::PressureGradient(turned), Force::PressureGradient(force)) =
        (part("axis = 'z'").kind, case_forcing.kind)
    else {
        panic!("another kind")
    };
    assert_eq!((turned.axis, turned.strength), (Axis::Z, force.strength));
    let flow = on_host(&unchanged);
    let names: Vec<&str> = flow.columns().iter().map(|name| &**name).collect();
    let forced = [&FORCING_COLUMNS[..3], &GRADIENT_COLUMNS, &CHANNEL_COLUMNS].concat();
    assert_eq!(names[22..22 + forced.len()], forced);
    assert_eq!(names[22 + forced.len()..], ["error_l2", "error_max"]);
    let periodic = ["forcing.kind=pressure-gradient", "forcing.value=1"];
    let flow = simulation("taylor-green", [8; 3], &periodic);
    assert_eq!(flow.columns().len(), 22 + 3 + GRADIENT_COLUMNS.len());
}

#[test]
fn pressure_gradient_in_a_periodic_box_accelerates_the_gas_uniformly() {
    // ρ dU/dt = G with the heat of G removed: nothing else changes.
    let set = ["forcing.kind=pressure-gradient", "forcing.value=0.3", "forcing.heat_removal=true"];
    let mut flow = simulation("taylor-green", [8, 9, 10], &[&set[..], &["time.dt=0.01"]].concat());
    set_flow(&mut flow, 1.4, |_, _| [1.0, 0.5, 0.1, 0.0, 1.0 / (1.4 * 0.01)]);
    let energy = flow.quantity("total_energy").unwrap();
    steps(&mut flow, 10);
    let names = ["momentum_x", "momentum_y", "forcing_power", "total_energy", "bulk_velocity"];
    let [x, y, power, after, bulk] = names.map(|name| flow.quantity(name).unwrap());
    assert!((x - 0.53).abs() < 1e-13 && (y - 0.1).abs() < 1e-13 && (bulk - 0.53).abs() < 1e-13);
    assert!((power - 0.3 * 0.53).abs() < 1e-13);
    // The growth of the power within a step remains as heat until the next step.
    assert!((after - energy).abs() < 0.6 * 1e-4 * 0.09 + 1e-11, "{after} {energy}");
}

#[test]
fn errors_for_bad_gradients_and_profiles_give_line_and_allowed_values() {
    let good = "[case]\nname = 'channel'\n[grid]\npoints = [16, 18, 16]\n[forcing]\nkind = 'pressure-gradient'\n\
                value = 0.1\n[output]\nstatistics = { every_time = 1, quantities = ['profiles'] }\n[time]\nend = 1\n";
    #[rustfmt::skip]
    let rows = [
        ("value = 0.1", "value = 0.1\nmass_flux = 1", "8: mass_flux = 1: cannot be combined with `value`; only one of them sets the force"),
        ("value = 0.1", "", "5: [forcing] needs `value` or `mass_flux`"),
        ("value = 0.1", "mass_flux = 'steady'", "7: mass_flux = \"steady\": unknown"),
        ("value = 0.1", "value = 0.1\naxis = 'y'", "8: forcing.axis = \"y\": no flow passes through the boundaries of y"),
        ("value = 0.1", "value = 0.1\naxis = 'r'", "8: axis = \"r\": unknown; did you mean `x`?"),
        ("value = 0.1", "value = inf", "7: value = inf: must be a finite number"),
        ("['profiles']", "['profiles', 'spectra']", "9: statistics = { every_time = 1, quantities = [\"profiles\", \"spectra\"] }: quantities other than `profiles` need a fully periodic box"),
        ("[time]", "[boundary]\ny = 'periodic'\n[time]", "9: statistics = { every_time = 1, quantities = [\"profiles\"] }: profiles need walls at both ends of exactly one axis"),
    ];
    parse(good, "in.toml", &[]).expect("a valid input");
    for (from, to, expected) in rows {
        let text = good.replacen(from, to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        assert_eq!(
            messages[0].lines().next(),
            Some(&*format!("error: in.toml:{expected}")),
            "{to}"
        );
    }
}

/// Catches wall closures without summation by parts, which lose mass at the walls and produce kinetic energy: 1e-4 and 1e-3 here.
#[test]
fn mass_is_conserved_and_convection_produces_no_energy_between_walls() {
    for stretching in [&[][..], &["grid.stretching={ y = { map = 'tanh', factor = 2.0 } }"]] {
        let mut flow = on_host(&channel([12, 19, 10], stretching));
        steps(&mut flow, 20);
        let mass = flow.quantity("mass").unwrap();
        assert!((mass - 1.0).abs() < 1e-14, "{mass}");
        let production = flow.quantity("ke_rate_convection").unwrap();
        assert!(production.abs() < 1e-15, "{production:e}");
    }
}
