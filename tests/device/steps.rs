//! Complete runs on a device against the host, with the same configuration.

use std::sync::Arc;

use kolmo::Error;
use kolmo::backend::cpu::{self, Cpu, PointCode};
use kolmo::backend::device::{Gpu, LineSolver};
use kolmo::backend::{Backend, Field, Prepared};
use kolmo::config::{Config, Pencils, Precision, Variable, load};
use kolmo::engine::{Formula, Number, PointFormula};
use kolmo::physics::Drawn;
use kolmo::time::Simulation;

use super::{device, gpu, open};
use crate::common::{CONVECTION, ENERGY, LAWS, VISCOUS, config, noise, on_host, state, steps};
use crate::forcing::FORCES;
use crate::operators::check_random;

const STEPS: usize = 20;

fn on_device(config: &Config) -> Simulation {
    let gpu = gpu(config.compute.precision, config.grid.points.iter().product());
    Simulation::on(Arc::new(gpu), config).unwrap()
}

/// max |a − b| over the fields, each relative to its largest value including the base state.
fn difference(device: &Simulation, host: &mut Simulation) -> f64 {
    let reference = host.system_and_state().0.base_state();
    let (found, expected) = (state(device), state(host));
    // Momentum along an axis without motion is round-off, and so are the last digits of that of a weak wave, because the round-off of
    // the pressure drives it. Momentum is therefore compared with the largest momentum, or 0.01 ρc.
    let sizes: Vec<f64> = (expected.iter().zip(&reference))
        .map(|(field, at_rest)| field.iter().map(|x| (x + at_rest).abs()).fold(0.0, f64::max))
        .collect();
    let momentum = match sizes.as_slice() {
        [rho, m0, m1, m2, e, ..] => {
            [m0, m1, m2].into_iter().copied().fold(0.01 * (0.56 * rho * e).sqrt(), f64::max)
        }
        _ => 0.0,
    };
    let mut worst = 0.0_f64;
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let size = if (1..4).contains(&k) { momentum } else { sizes[k] };
        for (found, expected) in found.iter().zip(expected) {
            let deviation = (found - expected).abs() / size;
            assert!(deviation.is_finite(), "field {k}: {found} and {expected}");
            worst = worst.max(deviation);
        }
    }
    worst
}

/// Runs 20 steps on both and compares the fields and the row of the time series.
fn check(config: &Config, bound: f64, what: &str) {
    let (mut device, mut host) = (on_device(config), on_host(config));
    steps(&mut device, STEPS);
    steps(&mut host, STEPS);
    let deviation = difference(&device, &mut host);
    assert!(deviation <= bound, "{what}: {deviation:e}");
    let names = device.columns().to_vec();
    let (found, expected) = (device.row().unwrap(), host.row().unwrap());
    let largest = expected[3..].iter().copied().map(f64::abs).fold(1.0, f64::max);
    for ((name, found), expected) in names.iter().zip(found).zip(expected) {
        let deviation = (found - expected).abs() / largest;
        assert!(deviation <= 10.0 * bound, "{what}: {name} = {found:e}, on the host {expected:e}");
    }
}

/// Twelve runs that combine each pair of options of (convection, energy, viscous terms, viscosity law) (an orthogonal array), on grids of
/// different shapes.
#[test]
fn all_forms_match_the_host() {
    let shapes = [[16, 9, 11], [8, 17, 13], [31, 8, 9], [12, 10, 16]];
    for (i, convection) in CONVECTION.iter().enumerate() {
        for (j, energy) in ENERGY.iter().enumerate() {
            let (viscous, law) = (VISCOUS[(i + j) % 3], LAWS[(i + 2 * j) % 3]);
            let law = match law {
                "constant" => "'constant'".to_string(),
                "power" => "{ law = 'power', exponent = 0.76 }".to_string(),
                law => format!("{{ law = '{law}' }}"),
            };
            let set = [
                format!("scheme.convection={convection}"),
                format!("scheme.energy={energy}"),
                format!("scheme.viscous={viscous}"),
                format!("gas.viscosity={law}"),
                "case.mach=0.4".to_string(),
            ];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let config = config("taylor-green", shapes[(i + j) % 4], &set);
            check(&config, 1e-12, &set.join(", "));
        }
    }
}

#[test]
fn all_families_cases_and_both_integrator_kinds_match_the_host() {
    let dye = "scalars.dye={ schmidt = 0.5, start = 'sin(x)*cos(y) + 0.3*z' }";
    let runs: [(&str, [usize; 3], &[&str]); 11] = [
        (
            "taylor-green",
            [12, 17, 9],
            &[dye, "gas.viscosity=sutherland", "scheme.viscous=laplacian"],
        ),
        ("taylor-green", [16, 9, 1], &[dye, "time.integrator=rk4", "scheme.convection=staggered"]),
        ("taylor-green", [24, 20, 1], &["scheme.derivative=explicit4", "time.integrator=rk4"]),
        ("isentropic-vortex", [32, 27, 1], &["scheme.derivative=compact10-penta"]),
        ("isentropic-vortex", [20, 33, 9], &["scheme.derivative=spectral-like"]),
        ("entropy-wave", [65, 1, 1], &["scheme.derivative=compact8-penta"]),
        ("acoustic-wave", [33, 1, 1], &["scheme.derivative=compact4"]),
        ("shear-wave", [32, 1, 1], &["scheme.derivative=compact8", "time.integrator=ssprk3"]),
        ("scalar-advection", [33, 1, 1], &["scheme.derivative=compact6"]),
        ("scalar-advection", [12, 16, 9], &["case.diffusivity=0.01"]),
        (
            "taylor-green",
            [16, 16, 16],
            &["scheme.filter={ order = 8, alpha = 0.495, every = 1 }", "case.reynolds=inf"],
        ),
    ];
    for (case, points, set) in runs {
        let what = format!("{case} {points:?} {set:?}");
        check(&config(case, points, set), 1e-12, &what);
    }
}

#[test]
fn all_forces_match_the_host() {
    for (force, points) in FORCES.into_iter().zip([[12, 9, 11], [16, 13, 1], [9, 12, 10]]) {
        let set = [force, &["case.mach=0.4", "time.dt=0.02"]].concat();
        check(&config("taylor-green", points, &set), 1e-12, &format!("{force:?}"));
    }
}

#[test]
fn single_precision_matches_the_host() {
    let feiereisen = ["scheme.convection=feiereisen", "scheme.energy=split-enthalpy"];
    let staggered = ["scheme.convection=staggered", "gas.viscosity={ law = 'sutherland' }"];
    for (what, case, points, set) in [
        ("the default vortex", "taylor-green", [16, 9, 11], &[][..]),
        ("the fast forms", "taylor-green", [12, 16, 8], &feiereisen),
        ("staggered", "taylor-green", [9, 16, 12], &staggered),
        ("a scalar", "scalar-advection", [64, 1, 1], &[]),
    ] {
        let set = [set, &["compute.precision=f32"]].concat();
        check(&config(case, points, &set), 1e-5, what);
    }
}

/// Every input file that is distributed with the program, on a coarser grid.
#[test]
fn all_shipped_inputs_match_the_host() {
    for entry in std::fs::read_dir("configs").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let full = load(&path, &[]).unwrap();
        let most = if full.grid.points.contains(&1) { 48 } else { 18 };
        let small = full.grid.points.map(|n| n.min(most));
        let set = [format!("grid.points={small:?}"), "compute.threads=1".to_string()];
        let config = load(&path, &set).unwrap();
        check(&config, 1e-12, &path.display().to_string());
    }
}

#[test]
fn steps_copy_no_field_to_the_host_and_allocate_nothing() {
    let config = config("taylor-green", [16, 16, 16], &["scheme.filter={ order = 6 }"]);
    let device = open();
    let gpu = Gpu::configured(device.clone(), 16 * 16 * 16, &config.compute).unwrap();
    let mut simulation = Simulation::on(Arc::new(gpu), &config).unwrap();
    simulation.step(None).unwrap();
    let before = device.traffic();
    steps(&mut simulation, STEPS);
    let after = device.traffic();
    let count = STEPS as u64;
    assert_eq!(after.allocations, before.allocations);
    // A step fetches the time step, minus the smallest density and pressure, and the energy before and after the filter.
    assert_eq!(after.to_host - before.to_host, count * (3 + 2) * 8);
    // Only dt and the coefficients of the stages are sent to the device: far less than one plane of one field.
    assert!(after.to_device - before.to_device < count * 16 * 16 * 8);
    assert!(after.launches > before.launches);
}

/// Reading the state between two steps discards the step that was begun early, because it uses the same fields.
#[test]
fn diagnostics_between_steps_leave_the_state_bitwise_identical() {
    for set in [&[][..], &["scheme.filter={ order = 6, every = 2 }"], &["time.integrator=rk4"]] {
        let config = config("taylor-green", [12, 13, 8], set);
        let [mut plain, mut watched] = [(), ()].map(|()| on_device(&config));
        for step in 0..6 {
            plain.step(None).unwrap();
            watched.step(None).unwrap();
            match step {
                0 => drop(watched.row().unwrap()),
                1 => drop(watched.output(&Variable::QCriterion).unwrap()),
                2 => drop(watched.sample(true).unwrap()),
                3 => {
                    let zeros = |_| watched.backend().zeros(12 * 13 * 8).unwrap();
                    let mut rate: Vec<_> = watched.state().iter().map(zeros).collect();
                    watched.rhs(&mut rate);
                }
                4 => drop(watched.picture(Drawn::Vorticity).unwrap()),
                _ => {}
            }
        }
        assert_eq!(state(&plain), state(&watched));
    }
}

/// A step that was begun early started from the previous state.
#[test]
fn replaced_states_discard_the_step_begun_from_the_old_state() {
    let config = config("taylor-green", [12, 13, 8], &[]);
    let [mut other, mut used, mut fresh] = [(); 3].map(|()| on_device(&config));
    steps(&mut other, 5);
    used.step(None).unwrap();
    for simulation in [&mut used, &mut fresh] {
        for (to, from) in simulation.state_mut().iter_mut().zip(state(&other)) {
            *to = other.backend().field(&from.into()).unwrap();
        }
        simulation.step(None).unwrap();
    }
    assert_eq!(state(&used), state(&fresh));
}

#[test]
fn next_step_begins_early_unless_its_fields_are_read_first() {
    let config = config("taylor-green", [12, 13, 8], &[]);
    let device = open();
    let gpu = Gpu::configured(device.clone(), 12 * 13 * 8, &config.compute).unwrap();
    let mut simulation = Simulation::on(Arc::new(gpu), &config).unwrap();
    let mut launches = |look: bool, lands: bool| {
        let before = device.traffic().launches;
        simulation.expect_read(look);
        let until = simulation.time() + 1e-3;
        simulation.step(lands.then_some(until)).unwrap();
        device.traffic().launches - before
    };
    let complete = launches(true, false);
    assert_eq!(launches(true, false), complete);
    let begun = launches(false, false) - complete;
    assert!(begun > 0, "{complete} launches");
    // Each step is begun by the previous one.
    assert_eq!([(); 3].map(|()| launches(false, false)), [complete; 3]);
    assert_eq!(launches(true, false), complete - begun);
    assert_eq!(launches(false, false), complete + begun);
    assert_eq!(launches(false, true), complete - begun);
    assert_eq!(launches(false, true), complete);
}

#[test]
fn divergence_is_reported_with_the_step_and_field_of_the_host() {
    let config = config("taylor-green", [12, 12, 12], &["time.dt=0.2", "scheme.viscous=laplacian"]);
    let (mut device, mut host) = (on_device(&config), on_host(&config));
    let errors = loop {
        match (device.step(None), host.step(None)) {
            (Ok(_), Ok(_)) => {}
            (Err(device), Err(host)) => break [device, host],
            (device, host) => panic!("device {device:?}, host {host:?}"),
        }
    };
    let [a, b] = errors.map(|error| match error {
        Error::Diverged { step, field, index, .. } => (step, field, index),
        other => panic!("{other}"),
    });
    assert_eq!((a.0, a.1), (b.0, b.1), "step and field");
}

/// 1/Re of such a Reynolds number overflows to infinity: the kernels must report the same error as the host.
#[test]
fn parameters_that_overflow_are_rejected_as_on_the_host() {
    for (what, set) in [("time step", "case.reynolds=1e-310"), ("pressure", "case.mach=1e-160")] {
        let config = config("taylor-green", [8, 8, 8], &[set]);
        match Simulation::on(Arc::new(gpu(Precision::F64, 512)), &config).err() {
            Some(Error::Diverged { field, .. }) => assert_eq!(field, what),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn unsuitable_line_solvers_are_rejected_with_the_operator() {
    let config = config("taylor-green", [16, 16, 16], &["scheme.derivative=compact10-penta"]);
    let solver = LineSolver::from_name("cr");
    let gpu = Gpu::new(device(), Precision::F64, 4096, solver, Pencils::Strided).unwrap();
    let error = Simulation::on(Arc::new(gpu), &config).err().unwrap();
    let message = error.to_string();
    assert!(
        message.contains("that is the first derivative along x") && error.exit_code() == 2,
        "{message}"
    );
}

#[test]
fn outputs_match_the_host() {
    let config = config("taylor-green", [16, 12, 9], &["case.mach=0.5"]);
    let (mut device, mut host) = (on_device(&config), on_host(&config));
    device.step(None).unwrap();
    host.step(None).unwrap();
    let variables = [
        Variable::Velocity,
        Variable::Density,
        Variable::Pressure,
        Variable::Temperature,
        Variable::Vorticity,
        Variable::QCriterion,
        Variable::Dilatation,
    ];
    let close = |a: &[f64], b: &[f64], what: &str| {
        let size = b.iter().copied().map(f64::abs).fold(0.01, f64::max);
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-11 * size, "{what}: {a} and {b}");
        }
    };
    for variable in variables {
        let [found, expected]: [Vec<f64>; 2] =
            [&mut device, &mut host].map(|run| run.output(&variable).unwrap().into());
        close(&found, &expected, variable.name());
    }
    let [found, expected] =
        [&mut device, &mut host].map(|it| it.picture(Drawn::Vorticity).unwrap());
    close(&found, &expected, "vorticity");
}

/// In f32 the fields store deviations from the state at rest. A run of the vortex at Ma 0.1 then stays within 1e-5 of the kinetic energy
/// of the f64 run; with the total energy itself in f32, the initial error would be 1e-4 of the kinetic energy.
#[test]
fn single_precision_follows_the_kinetic_energy_of_double_precision() {
    let config = |precision| config("taylor-green", [16, 16, 16], &["time.dt=0.01", precision]);
    let mut single = on_device(&config("compute.precision=f32"));
    let mut double = on_host(&config("compute.precision=f64"));
    steps(&mut single, 50);
    steps(&mut double, 50);
    for (name, bound) in [("kinetic_energy", 1e-6), ("enstrophy", 1e-5), ("dissipation", 1e-5)] {
        let (a, b) = (single.quantity(name).unwrap(), double.quantity(name).unwrap());
        println!("{name}: {a:e} in f32, {b:e} in f64: {:.1e}", a / b - 1.0);
        assert!((a / b - 1.0).abs() <= bound, "{name}: {a:e} and {b:e}");
    }
    let drift = single.quantity("total_energy").unwrap() / double.quantity("total_energy").unwrap();
    assert!((drift - 1.0).abs() < 1e-8, "total energy: {drift}");
}

/// u, u v, 1.
struct Products;

impl Formula<2, 3> for Products {
    fn at<N: Number>(&self, [u, v]: [N; 2], _: [N; 3], _: [N; 0]) -> [N; 3] {
        [u, u * v, N::of(1.0)]
    }
}

/// Every operation that a formula may use.
struct Everything;

impl Formula<2, 2, 1> for Everything {
    fn at<N: Number>(&self, [u, v]: [N; 2], [before, w]: [N; 2], [s]: [N; 1]) -> [N; 2] {
        let root = (u * u + N::of(2.0)).sqrt() / (N::of(1e-3) + v.abs());
        [before - root * (-u) - (u - v), w * s + (v * v + N::of(0.5)).powf(-1.7)]
    }
}

fn random(len: usize, seed: u64) -> Vec<f64> {
    let mut next = noise(seed);
    (0..len).map(|_| next()).collect()
}

fn host_field(values: &[f64]) -> cpu::Field<f64> {
    let mut field = cpu::Field::zeros(values.len());
    field.copy_from_slice(values);
    field
}

#[test]
fn sums_and_maxima_match_the_host_and_are_bitwise_reproducible() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for len in [1, 7, 255, 256, 257, 65_535, 65_537, 200_003] {
        let gpu = gpu(Precision::F64, len);
        let (u, v) = (random(len, 1), random(len, 2));
        let [a, b] = [&u, &v].map(|values| gpu.field(&values.clone().into()).unwrap());
        let sum = gpu.prepare(PointFormula::sum(Products)).unwrap();
        let max = gpu.prepare(PointFormula::max(Products)).unwrap();
        let total = |of: &Prepared, a: &Field| -> [f64; 3] {
            gpu.reduce(of, &[a, &b], &[]).unwrap().wait().unwrap()
        };
        let sums = total(&sum, &a);
        let again = total(&sum, &a);
        assert_eq!(sums.map(f64::to_bits), again.map(f64::to_bits));
        let fields = [&host_field(&u), &host_field(&v)];
        let on_host = |of| -> [f64; 3] { cpu.reduce(&PointCode::new(of), &fields, &[]) };
        let expected = on_host(PointFormula::sum(Products));
        for (found, expected) in sums.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-14 * len as f64, "{len}: {found} {expected}");
        }
        let expected = on_host(PointFormula::max(Products));
        assert_eq!(total(&max, &a), expected);
        for at in [0, len / 2, len - 1] {
            let mut with_nan = u.clone();
            with_nan[at] = f64::NAN;
            let with_nan = gpu.field(&with_nan.into()).unwrap();
            let [u, product, one] = total(&max, &with_nan);
            assert_eq!([u, product, one], [f64::INFINITY, f64::INFINITY, 1.0]);
            assert!(total(&sum, &with_nan)[0].is_nan());
        }
    }
}

#[test]
fn formulas_match_the_host_at_every_point() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for len in [1, 255, 256, 257, 1031] {
        let gpu = gpu(Precision::F64, len);
        let values = [1, 2, 3, 4].map(|seed| random(len, seed));
        let [u, v, mut w, mut x] = values.each_ref().map(|values| host_field(values));
        let [a, b, mut c, mut d] = values.map(|values| gpu.field(&values.into()).unwrap());
        let prepared = gpu.prepare(PointFormula::map(Everything)).unwrap();
        let code = PointCode::new(PointFormula::map(Everything));
        for s in [0.75, -2.0] {
            gpu.map(&prepared, &[&a, &b], &mut [&mut c, &mut d], &[s]);
            cpu.map(&code, &[&u, &v], &mut [&mut w, &mut x], &[s]);
        }
        for (found, expected) in [(c, w), (d, x)] {
            for (found, expected) in gpu.values(&found).unwrap().iter().zip(expected.iter()) {
                assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0));
            }
        }
    }
}

/// Scalars that change with each launch are stored one after another, f32 and f64 in the same array.
#[test]
fn both_precisions_share_a_device() {
    let (len, [a, b]) = (257, [0.1, 0.7]);
    let (single, double) = (gpu(Precision::F32, len), gpu(Precision::F64, len));
    let formula = PointFormula::map(Scaled);
    let scaled = (single.prepare(formula.clone()).unwrap(), double.prepare(formula).unwrap());
    let ones = vec![1.0_f64; len].into();
    let ones = (single.field(&ones).unwrap(), double.field(&ones).unwrap());
    let mut results = (single.zeros(len).unwrap(), double.zeros(len).unwrap());
    single.map(&scaled.0, &[&ones.0], &mut [&mut results.0], &[a]);
    double.map(&scaled.1, &[&ones.1], &mut [&mut results.1], &[b]);
    assert!(double.values(&results.1).unwrap().iter().all(|x| x == b));
    assert!(single.values(&results.0).unwrap().iter().all(|x| x == f64::from(0.1_f32)));
}

/// s u.
struct Scaled;

impl Formula<1, 1, 1> for Scaled {
    fn at<N: Number>(&self, [u]: [N; 1], _: [N; 1], [s]: [N; 1]) -> [N; 1] {
        [s * u]
    }
}

#[test]
fn random_sweeps_match_plain_evaluation() {
    let gpu = |len| -> Box<dyn Backend> { Box::new(gpu(Precision::F64, len)) };
    (0..12).for_each(|seed| check_random(gpu, seed, 1e-12));
}
