//! Conservation by the discrete equations: mass, momentum, total energy, and kinetic energy under convection.

use kolmo::backend::{Field, cpu};
use kolmo::config::Config;
use kolmo::physics::TermGroup;
use kolmo::verify::conservation::{production, totals};

use crate::common::{
    CONVECTION, ENERGY, LAWS, advance, assert_close, config, conserved, host, noise, run_with,
    simulation, state, steps, terms,
};

/// Largest drift over 1000 steps of a Taylor-Green vortex at Ma = 0.1: relative for mass and energy, absolute for momentum.
fn drift(forms: [&str; 3], law: &str, reynolds: f64, set: &[&str]) -> f64 {
    let [convection, energy, viscous] = forms;
    let own = [
        format!("gas.viscosity={law}"),
        format!("case.reynolds={reynolds}"),
        "case.mach=0.1".into(),
        "time.integrator=williamson3".into(),
    ];
    let set: Vec<String> = own.into_iter().chain(set.iter().map(ToString::to_string)).collect();
    let forms = ["compact6", convection, energy, viscous];
    let mut run = run_with("taylor-green", [10, 12, 14], forms, &set);
    let before = totals(&state(&run));
    steps(&mut run, 1000);
    let after = totals(&state(&run));
    let change: [f64; 5] = std::array::from_fn(|v| (after[v] - before[v]).abs());
    let relative = [change[0] / before[0], change[1], change[2], change[3], change[4] / before[4]];
    relative.into_iter().fold(0.0, f64::max)
}

#[test]
fn conservative_and_midpoint_viscous_forms_conserve_for_any_viscosity() {
    for law in LAWS {
        for viscous in ["conservative", "midpoint"] {
            let found = drift(["kennedy-gruber", "split-pressure", viscous], law, 100.0, &[]);
            assert!(found < 1e-13, "{viscous} {law}: {found:.1e}");
        }
    }
}

#[test]
fn every_convective_form_and_the_filter_conserve() {
    let filter = "scheme.filter={order=8, alpha=0.45, every=1}";
    for (convection, energy, set) in [
        ("feiereisen", "split-enthalpy", &[][..]),
        ("staggered", "divergence", &[]),
        ("divergence", "divergence", &[filter]),
        ("kennedy-gruber", "split-pressure", &[filter]),
    ] {
        let found = drift([convection, energy, "laplacian"], "constant", 100.0, set);
        assert!(found < 1e-13, "{convection} {energy}: {found:.1e}");
    }
}

#[test]
fn the_laplacian_viscous_form_conserves_for_constant_viscosity_only() {
    let forms = ["kennedy-gruber", "split-pressure", "laplacian"];
    let constant = drift(forms, "constant", 100.0, &[]);
    assert!(constant < 1e-13, "{constant:.1e}");
    for law in ["power", "sutherland"] {
        let variable = drift(forms, law, 100.0, &[]);
        // 1.5e-7 in both laws; round-off is 1e-16.
        assert!((5e-8..5e-7).contains(&variable), "{law}: {variable:.1e}");
    }
}

/// Kinetic energy produced by convection, as a fraction of all terms.
fn relative_production(config: &Config, state: &[Field]) -> f64 {
    let rate = terms(TermGroup::Convection, config, state);
    let state: Vec<&[f64]> =
        state.iter().map(|field| &field.get::<cpu::Field<f64>>()[..]).collect();
    production(&state, &rate)
}

/// White noise in density, velocity and pressure.
fn white_noise(config: &Config) -> Vec<Field> {
    let mut next = noise(7);
    let points = config.grid.points.iter().product();
    let mut state = vec![vec![0.0; points]; 5];
    for at in 0..points {
        let rho = 1.0 + 0.4 * next();
        let flow = [rho, next(), next(), next(), 10.0 * (1.0 + 0.4 * next())];
        for (field, value) in state.iter_mut().zip(conserved(1.4, flow)) {
            field[at] = value;
        }
    }
    let host = host(&config.compute);
    state.into_iter().map(|field| host.field(&field.into()).unwrap()).collect()
}

#[test]
fn convection_conserves_kinetic_energy_in_the_preserving_forms_only() {
    let points = [15, 16, 18];
    let gas = ["case.mach=0.5", "case.reynolds=400.0", "gas.viscosity=sutherland"];
    let mut evolved = simulation("taylor-green", points, &gas);
    advance(&mut evolved, 3.0);
    let random = white_noise(&config("taylor-green", points, &[]));
    for derivative in ["explicit4", "compact6", "compact10-penta"] {
        for (convection, preserves) in CONVECTION.into_iter().zip([false, true, true, false]) {
            let set = [("convection", convection), ("derivative", derivative)]
                .map(|(key, value)| format!("scheme.{key}={value}"));
            let config = config("taylor-green", points, &set.each_ref().map(String::as_str));
            for (label, state) in [("random", &random[..]), ("evolved", evolved.state())] {
                let produced = relative_production(&config, state);
                let label = format!("{derivative} {convection} {label}: {produced:.1e}");
                assert_eq!(produced < 1e-15, preserves, "{label}");
                // The others produce about 1e-3 where the fields are not resolved; more accurate schemes produce less.
                let floor = if derivative == "compact10-penta" { 5e-5 } else { 5e-4 };
                assert!(preserves || produced > floor, "{label}");
            }
        }
    }
}

#[test]
fn the_kinetic_energy_budget_closes_to_round_off() {
    for convection in CONVECTION {
        for energy in ENERGY {
            for (viscous, law) in
                [("laplacian", "constant"), ("midpoint", "power"), ("conservative", "sutherland")]
            {
                let mut run = simulation(
                    "taylor-green",
                    [12, 14, 15],
                    &[
                        "case.mach=0.4",
                        "case.reynolds=50.0",
                        &format!("scheme.convection={convection}"),
                        &format!("scheme.energy={energy}"),
                        &format!("scheme.viscous={viscous}"),
                        &format!("gas.viscosity={law}"),
                        "scheme.filter={order=8, alpha=0.45, every=2}",
                    ],
                );
                steps(&mut run, 12);
                let [rate, convective, pressure, viscous_rate, filter] = [
                    "ke_rate",
                    "ke_rate_convection",
                    "ke_rate_pressure",
                    "ke_rate_viscous",
                    "ke_rate_filter",
                ]
                .map(|name| run.quantity(name).unwrap());
                let parts = [convective, pressure, viscous_rate, filter];
                let largest = parts.iter().fold(0.0_f64, |max, part| max.max(part.abs()));
                let gap = (rate - parts.iter().sum::<f64>()).abs() / largest;
                let label = format!("{convection} {energy} {viscous}: {parts:?}");
                assert!(gap < 1e-14, "{label}: gap {gap:.1e}");
                let preserves = matches!(convection, "feiereisen" | "kennedy-gruber");
                assert_eq!(convective.abs() / largest < 1e-14, preserves, "{label}");
                assert!(pressure > 2e-4 && viscous_rate < -1e-2 && filter < -1e-4, "{label}");
            }
        }
    }
}

#[test]
fn kinetic_energy_rate_matches_the_change_in_time() {
    let run_to = |end: f64| {
        let mut run = simulation(
            "taylor-green",
            [16, 16, 16],
            &["case.mach=0.4", "case.reynolds=50.0", "time.dt=0.0025"],
        );
        advance(&mut run, end);
        run
    };
    let h = 0.02;
    let [before, after] = [0.5 - h, 0.5 + h].map(|t| run_to(t).quantity("kinetic_energy").unwrap());
    let [before2, after2] =
        [0.5 - 2.0 * h, 0.5 + 2.0 * h].map(|t| run_to(t).quantity("kinetic_energy").unwrap());
    let slope = (8.0 * (after - before) - (after2 - before2)) / (12.0 * h);
    let rate = run_to(0.5).quantity("ke_rate").unwrap();
    // The error of the slope is h⁴/30 times the fifth derivative, for sound that crosses the box in 2.5.
    assert_close(rate, slope, 2e-6, "d(kinetic energy)/dt");
}
