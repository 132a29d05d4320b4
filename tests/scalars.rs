//! Passive scalars: tests beyond the checks of `kolmo verify`.

use std::f64::consts::PI;
use std::sync::Arc;

use kolmo::cases::AtWall;
use kolmo::comm::Solo;
use kolmo::config::{Variable, parse};
use kolmo::fourier::Fourier;
use kolmo::grid::Decomposition;
use kolmo::io::checkpoint::Checkpoint;
use kolmo::statistics::{Sample, spectrum};
use kolmo::time::Simulation;

use crate::common::{
    CONVECTION, VISCOUS, advance, assert_close, assert_reproducible, config, host, max_difference,
    on_host, rate, run_with, simulation, state, steps,
};
use crate::device::gpu;
use crate::spread::blocks::{assert_cuts_agree, blocks, whole};
use crate::spread::threads::on_ranks;
use crate::verify::assert_verified;

/// A scalar that varies along all axes.
const DYE: &str = "scalars.dye={ schmidt = 0.7, start = '1.5 + sin(x)*cos(y) + 0.5*cos(z)' }";
const INK: &str = "scalars.ink={ schmidt = 2.0, start = 'cos(x + y)' }";
const FILTER: &str = "scheme.filter={ order = 8, alpha = 0.45, every = 2 }";

/// The values of the columns `names` in the current row of the time series.
fn columns<const N: usize>(run: &mut Simulation, names: [&str; N]) -> [f64; N] {
    let row = run.row().unwrap();
    names.map(|name| row[run.columns().iter().position(|column| column == name).unwrap()])
}

#[test]
fn scalar_constancy_variance_budget_and_decay_checks_pass() {
    assert_verified(&["scalars"]);
}

#[test]
fn conservative_diffusion_of_variance_equals_scalar_dissipation() {
    // Σ φ d(μ dφ) = − Σ μ (dφ)²: the first derivative is antisymmetric.
    for law in ["constant", "sutherland"] {
        let law = format!("gas.viscosity={law}");
        let set = [DYE, INK, &law, "scheme.viscous=conservative", "case.mach=0.4"];
        let mut run = simulation("taylor-green", [11, 9, 12], &set);
        steps(&mut run, 5);
        for name in ["dye", "ink"] {
            let [diffusion, dissipation] = ["rate_diffusion", "dissipation"]
                .map(|column| columns(&mut run, [&format!("{name}_{column}")])[0]);
            assert_close(-diffusion, dissipation, 1e-13, name);
        }
    }
}

#[test]
fn all_convective_and_viscous_forms_give_the_same_scalar_rate() {
    let rate_with = |convection: &str, viscous: &str| {
        let forms = ["compact10-penta", convection, "divergence", viscous];
        let set = [DYE, "case.mach=0.4", "case.reynolds=5", "gas.viscosity=sutherland"];
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let mut run = run_with("taylor-green", [32, 32, 32], forms, &set);
        rate(&mut run).swap_remove(5)
    };
    let expected = rate_with("divergence", "conservative");
    let size = expected.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
    assert!(size > 0.5, "{size}");
    for (convection, viscous) in CONVECTION
        .map(|it| (it, "conservative"))
        .into_iter()
        .chain(VISCOUS.map(|it| ("divergence", it)))
    {
        let difference = max_difference(&rate_with(convection, viscous), &expected) / size;
        // The sixth-order error of waves with four points per radian.
        assert!(difference < 2e-5, "{convection} {viscous}: {difference:.1e}");
    }
}

#[test]
fn scalars_do_not_change_the_flow_or_each_other_bitwise() {
    for right_hand_side in ["fused", "composed"] {
        let final_state = |more: &[&'static str]| {
            let own = format!("compute.right_hand_side={right_hand_side}");
            let set: Vec<&str> =
                more.iter().copied().chain([&*own, FILTER, "time.dt=0.01"]).collect();
            let mut run = simulation("taylor-green", [9, 10, 11], &set);
            steps(&mut run, 4);
            state(&run)
        };
        let (both, dye, ink, none) =
            (final_state(&[DYE, INK]), final_state(&[DYE]), final_state(&[INK]), final_state(&[]));
        let bits = |field: &[f64]| field.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for k in 0..5 {
            assert_eq!(bits(&both[k]), bits(&none[k]));
        }
        assert_eq!(bits(&both[5]), bits(&dye[5]));
        assert_eq!(bits(&both[6]), bits(&ink[5]));
    }
}

#[test]
fn fused_and_composed_steps_and_integrators_give_the_same_scalar() {
    let run = |set: &[&str]| {
        let set: Vec<&str> =
            set.iter().copied().chain([DYE, FILTER, "time.dt=0.002", "case.mach=0.4"]).collect();
        let mut run = simulation("taylor-green", [12, 11, 13], &set);
        steps(&mut run, 6);
        state(&run).swap_remove(5)
    };
    let fused = run(&[]);
    assert!(max_difference(&fused, &run(&["compute.right_hand_side=composed"])) < 1e-13);
    for integrator in ["rk4", "williamson3", "ssprk3"] {
        // Leading truncation error of a third-order method: (k u dt)⁴/24 per step.
        let difference = max_difference(&fused, &run(&[&format!("time.integrator={integrator}")]));
        assert!(difference < 1e-9, "{integrator}: {difference:.1e}");
    }
}

#[test]
fn scalar_is_independent_of_the_decomposition() {
    for more in ["scheme.viscous=conservative", "scheme.convection=staggered"] {
        let set = [DYE, INK, FILTER, more, "gas.viscosity=power", "case.mach=0.4"];
        let config = config("taylor-green", [13, 12, 11], &set);
        let mut one = on_host(&config);
        steps(&mut one, 3);
        let (row, expected) = (one.row().unwrap(), state(&one));
        for decomposition in [[2, 1, 1], [1, 3, 1], [2, 3, 2]] {
            let found = on_ranks(decomposition.iter().product(), |comm| {
                let mut run =
                    Simulation::on(blocks(comm, decomposition, &config), &config).unwrap();
                steps(&mut run, 3);
                (run.row().unwrap(), whole(&run, decomposition))
            });
            for (found_row, fields) in found {
                for (name, (a, b)) in one.columns().iter().zip(row.iter().zip(&found_row)) {
                    assert!((a - b).abs() <= 1e-13 * a.abs().max(1.0), "{name}: {a:e} {b:e}");
                }
                for k in [5, 6] {
                    assert!(max_difference(&expected[k], &fields[k]) < 1e-12, "{decomposition:?}");
                }
            }
        }
    }
}

#[test]
fn single_precision_scalar_matches_double_to_round_off() {
    let run = |precision: &str| {
        let precision = format!("compute.precision={precision}");
        let set = [DYE, "time.dt=0.01", "case.mach=0.3", &precision];
        let mut run = simulation("taylor-green", [12, 13, 11], &set);
        steps(&mut run, 10);
        let field: Vec<f64> = run.field("dye").unwrap().into_iter().collect();
        (field, columns(&mut run, ["dye_mean", "dye_variance", "dye_dissipation"]))
    };
    let ((single, single_columns), (double, double_columns)) = (run("f32"), run("f64"));
    // Rounding errors of values up to 3, accumulated over the steps and stages.
    assert!(max_difference(&single, &double) < 3.0 * 10.0 * 5.0 * f64::from(f32::EPSILON));
    for (a, b) in single_columns.into_iter().zip(double_columns) {
        assert_close(a, b, 1e-5, "column");
    }
}

#[test]
fn scalar_columns_and_output_match_the_field() {
    let mut run = simulation("taylor-green", [10, 9, 8], &[DYE, "case.mach=0.4"]);
    steps(&mut run, 4);
    let names = ["dye_mean", "dye_variance", "dye_min", "dye_max", "mass"];
    let [mean, variance, min, max, mass] = columns(&mut run, names);
    let phi: Vec<f64> = run.field("dye").unwrap().into_iter().collect();
    let rho: Vec<f64> = run.field("density").unwrap().into_iter().collect();
    let average = |of: &dyn Fn(f64, f64) -> f64| {
        rho.iter().zip(&phi).map(|(rho, phi)| of(*rho, *phi)).sum::<f64>() / 720.0
    };
    assert_close(mean, average(&|rho, phi| rho * phi) / mass, 1e-14, "mean");
    let expected = average(&|rho, phi| rho * (phi - mean).powi(2)) / mass;
    assert_close(variance, expected, 1e-13, "variance");
    assert_eq!(min, phi.iter().copied().fold(f64::INFINITY, f64::min));
    assert_eq!(max, phi.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let rho_phi: Vec<f64> = run.conserved("rho_dye").unwrap().into_owned().into_iter().collect();
    let differences =
        rho_phi.iter().zip(rho.iter().zip(&phi)).map(|(c, (rho, phi))| (c - rho * phi).abs());
    assert!(differences.fold(0.0, f64::max) < 1e-15);
    assert_eq!(run.output(&Variable::Passive("dye".into())).unwrap().len(), 720);
}

#[test]
fn scalar_budget_includes_the_filter() {
    let mut run = simulation("taylor-green", [10, 9, 11], &[DYE, FILTER, "time.dt=0.01"]);
    let variance = |run: &mut Simulation| {
        let [variance, mass] = columns(run, ["dye_variance", "mass"]);
        variance * mass
    };
    let after_two_steps = |set: &[&str]| {
        let set: Vec<&str> = [DYE, "time.dt=0.01"].iter().chain(set).copied().collect();
        let mut run = simulation("taylor-green", [10, 9, 11], &set);
        steps(&mut run, 2);
        run
    };
    steps(&mut run, 2);
    let (with, without) = (variance(&mut run), variance(&mut after_two_steps(&[])));
    let [rate, filter, convection, diffusion] = columns(
        &mut run,
        ["dye_rate", "dye_rate_filter", "dye_rate_convection", "dye_rate_diffusion"],
    );
    assert!(filter < -1e-9, "{filter}");
    assert_close(filter, (with - without) / 0.02, 1e-6, "filter");
    assert!((rate - filter - convection - diffusion).abs() < 1e-15);
}

#[test]
fn strongly_diffusive_scalar_reduces_the_time_step() {
    let dt = |set: &[&str]| {
        let set: Vec<&str> =
            ["case.reynolds=1", "case.mach=1"].iter().chain(set).copied().collect();
        let mut run = simulation("taylor-green", [12; 3], &set);
        run.step(None).unwrap()
    };
    let [none, weak, strong] = [
        dt(&[]),
        dt(&["scalars.dye={ schmidt = 1.0, start = 'sin(x)' }"]),
        dt(&["scalars.dye={ schmidt = 0.01, start = 'sin(x)' }"]),
    ];
    assert_eq!(none.to_bits(), weak.to_bits(), "the flow diffuses faster");
    // γ/Pr = 1.97 against 1/Sc = 100 in the diffusive part, which dominates both limits.
    assert!((30.0..55.0).contains(&(none / strong)), "{none} {strong}");
}

#[test]
fn restart_is_bitwise_identical_and_can_add_a_scalar() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("step_00000003.zarr");
    let alone = config("taylor-green", [9, 10, 11], &[DYE, FILTER]);
    let mut run = on_host(&alone);
    steps(&mut run, 3);
    run.save(&path).unwrap();
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    assert_eq!(saved.head.fields[5..], ["rho_dye"]);
    let mut resumed = Simulation::resume(host(&alone.compute), &alone, &saved).unwrap();
    assert_eq!(resumed.row().unwrap(), run.row().unwrap());
    let both = config("taylor-green", [9, 10, 11], &[DYE, INK, FILTER]);
    let mut extended = Simulation::resume(host(&both.compute), &both, &saved).unwrap();
    let grid = extended.grid().clone();
    for (at, ink) in extended.field("ink").unwrap().into_iter().enumerate() {
        let [x, y, _] = grid.coordinates(grid.index(at));
        assert!((ink - (x + y).cos()).abs() < 1e-15);
    }
    for run in [&mut run, &mut resumed, &mut extended] {
        steps(run, 3);
    }
    let (expected, restarted, extended) = (state(&run), state(&resumed), state(&extended));
    for k in 0..6 {
        assert!(expected[k].iter().zip(&restarted[k]).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert!(expected[k].iter().zip(&extended[k]).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn scalar_can_start_from_an_array_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let values: Vec<u8> = (0..60).flat_map(|at| f64::from(at).to_le_bytes()).collect();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, 5), }";
    let header = format!("{header:<117}\n");
    let npy = [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes(), &values].concat();
    std::fs::write(dir.path().join("dye.npy"), npy).unwrap();
    let input = |start: &str| {
        format!(
            "[case]\nname = 'custom'\nfile = '{}'\nu = 'sin(y)'\n[scalars.dye]\nschmidt = 1\n{start}\n\
             [scheme]\nderivative = 'explicit2'\n[grid]\npoints = [5, 4, 3]\n[time]\nend = 1\n",
            dir.path().display()
        )
    };
    let given = parse(&input(""), "given", &[]).unwrap();
    let mut run = on_host(&given);
    let dye = run.field("dye").unwrap();
    assert!(dye.iter().zip(0..60).all(|(found, at)| (found - f64::from(at)).abs() < 1e-13));
    let twice = parse(&input("start = 1"), "twice", &[]).unwrap();
    let error = Simulation::on(host(&twice.compute), &twice).err().unwrap().to_string();
    assert!(error.contains("dye is given by `scalars.dye.start` and by `case.file`"), "{error}");
    std::fs::rename(dir.path().join("dye.npy"), dir.path().join("v.npy")).unwrap();
    let error = Simulation::on(host(&given.compute), &given).err().unwrap().to_string();
    assert!(error.contains("[scalars.dye] needs `start`"), "{error}");
}

#[test]
fn error_for_nan_initial_scalar_names_the_scalar_and_the_point() {
    let set = ["scalars.dye={ schmidt = 1, start = 'sqrt(x - 1)' }"];
    let config = config("taylor-green", [8, 9, 10], &set);
    let error = Simulation::on(host(&config.compute), &config).err().unwrap();
    assert_eq!(error.exit_code(), 2);
    let expected =
        "the initial state has dye = NaN at point (0, 0, 0): scalars.dye.start = \"sqrt(x - 1)\"";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn error_for_a_diverged_scalar_names_the_scalar() {
    let mut run = simulation("taylor-green", [8, 9, 10], &[DYE, INK]);
    let field = run.state_mut()[6].get_mut::<kolmo::backend::cpu::Field<f64>>();
    field[100] = f64::NAN;
    let error = run.step(None).unwrap_err().to_string();
    assert!(error.contains("ink = NaN at point ("), "{error}");
}

#[test]
fn resolved_input_round_trips_the_scalars() {
    let config = config("taylor-green", [8, 9, 10], &[DYE, INK]);
    let again = parse(&config.to_toml(), "again", &[]).unwrap();
    assert_eq!(again.scalars, config.scalars);
    assert_eq!(again, config);
}

#[test]
fn scalar_spectrum_sums_to_the_scalar_variance() {
    let mut run = simulation("taylor-green", [10, 9, 8], &[DYE, INK, "case.mach=0.4"]);
    steps(&mut run, 3);
    let ink: Vec<f64> = run.field("ink").unwrap().into_iter().collect();
    let mean = ink.iter().sum::<f64>() / 720.0;
    let variance = ink.iter().map(|phi| (phi - mean).powi(2)).sum::<f64>() / 720.0;
    let Sample::Flow(flow) = run.sample(false).unwrap() else { panic!("not a flow") };
    let fourier = Fourier::new(Decomposition::ONE, [10, 9, 8], 1);
    let spectra = spectrum::flow(&Solo, &fourier, run.grid(), &flow);
    assert_eq!(spectra.values.len(), spectrum::FLOW.len() + 2);
    assert_close(spectra.values[spectrum::FLOW.len() + 1].iter().sum(), variance, 1e-13, "ink");
}

/// Gas at rest between walls at y = 0 and y = 1, with a scalar of Re Sc = 20.
fn between_walls(points: [usize; 3], start: &str, walls: &str, more: &[&str]) -> Simulation {
    let dye = format!("scalars.dye={{ schmidt = 2.0, start = '{start}', walls = {walls} }}");
    let set = [
        "case.u=0",
        "case.mach=0.3",
        "case.reynolds=10",
        "grid.length=[1, 1, 1]",
        "boundary.y={ low = { kind = 'wall', temperature = 1.0 }, high = { kind = 'wall', temperature = 1.0 } }",
        &dye,
    ];
    simulation("custom", points, &[&set, more].concat())
}

/// The largest deviation from `exact`(y).
fn max_error(run: &mut Simulation, exact: impl Fn(f64) -> f64) -> f64 {
    let grid = run.grid().clone();
    let found = run.field("dye").unwrap().into_iter();
    let error = |(at, phi): (usize, f64)| {
        (phi - exact(grid.coordinate(1, at / grid.points[0] % grid.points[1]))).abs()
    };
    found.enumerate().map(error).fold(0.0, f64::max)
}

#[test]
fn scalar_conduction_and_decay_between_walls_match_exact_solutions() {
    let stretching = "grid.stretching={ y = { map = 'tanh', factor = 1.5 } }";
    for more in [&[][..], &[stretching], &["scheme.viscous=conservative"], &["time.integrator=rk4"]]
    {
        // The flux along y, −1/(Re Sc) dφ/dy = −0.15, enters at y = 0 and leaves at y = 1.
        for walls in [
            "{ y = { low = { value = 1.0 }, high = { value = 4.0 } } }",
            "{ y = { low = { value = 1.0 }, high = { flux = 0.15 } } }",
            "{ y = { low = { flux = -0.15 }, high = { value = 4.0 } } }",
        ] {
            let mut run = between_walls([6, 25, 1], "1 + 3*y", walls, more);
            steps(&mut run, 30);
            let error = max_error(&mut run, |y| 1.0 + 3.0 * y);
            assert!(error < 1e-12, "{more:?} {walls}: {error:.1e}");
        }
    }
    let errors = [25, 49].map(|n| {
        let mut run = between_walls([6, n, 1], "1 + cos(pi*y)", "{}", &["time.dt=0.001"]);
        steps(&mut run, 400);
        let decay = (-PI * PI * run.time() / 20.0).exp();
        let [mean] = columns(&mut run, ["dye_mean"]);
        (mean, max_error(&mut run, |y| 1.0 + decay * (PI * y).cos()))
    });
    // The wall condition has a slope error of h³π⁴/2, which causes at most (Dt/π)^½ h³π⁴ in a layer of thickness (Dt)^½, D = 1/20.
    let [(mean, coarse), (_, fine)] = errors;
    let bound = (0.4 / 20.0 / PI).sqrt() * (PI.powi(4) / 24.0_f64.powi(3));
    assert!(coarse < bound && coarse / fine > 7.5, "{errors:?}");
    assert!((mean - 1.0).abs() < 1e-12, "{mean}");
}

/// ⟨ρφ⟩.
fn mean_rho_phi(run: &mut Simulation) -> f64 {
    let [mean, mass] = columns(run, ["dye_mean", "mass"]);
    mean * mass
}

/// Catches extrapolation of φ to a wall.
#[test]
fn scalar_is_conserved_in_flow_between_closed_walls() {
    let relative_change = |derivative: &str, convection: &str, integrator: &str| {
        let set = [
            "case.u='y*(1 + sin(2*pi*x)*(1 - y))'",
            "case.v='0.5*sin(pi*y)*cos(2*pi*x)'",
            "case.mach=0.5",
            "case.reynolds=100",
            "grid.length=[1, 1, 1]",
            "boundary.y={ low = 'wall', high = { kind = 'wall', temperature = 1.1, velocity = [1, 0, 0] } }",
            // Weak diffusion: its flux through a wall vanishes only to the order of the wall condition.
            "scalars.dye={ schmidt = 1e20, start = '1 + 0.5*sin(2*pi*x)*cos(3*y)' }",
            &format!("scheme.derivative={derivative}"),
            &format!("scheme.convection={convection}"),
            &format!("time.integrator={integrator}"),
        ];
        let mut run = simulation("custom", [16, 21, 1], &set);
        let first = mean_rho_phi(&mut run);
        steps(&mut run, 40);
        (mean_rho_phi(&mut run) / first - 1.0).abs()
    };
    for derivative in ["explicit8", "compact6"] {
        for convection in ["divergence", "feiereisen", "kennedy-gruber"] {
            for integrator in ["hale64", "rk4"] {
                let change = relative_change(derivative, convection, integrator);
                assert!(change < 1e-14, "{derivative} {convection} {integrator}: {change:e}");
            }
        }
    }
}

/// Catches a wall flux with a wrong strength, sign or viscosity.
#[test]
fn scalar_gain_equals_the_prescribed_wall_flux() {
    for viscous in ["scheme.viscous=conservative", "scheme.viscous=laplacian"] {
        let [coarse, fine] = [33, 65].map(|n| {
            let walls = "{ y = { low = { flux = 0.02 }, high = { flux = 0.03 } } }";
            let more = [viscous, "gas.viscosity={ law = 'power', exponent = 0.7 }"];
            let mut run = between_walls([1, n, 1], "1", walls, &more);
            let first = mean_rho_phi(&mut run);
            advance(&mut run, 1.0);
            ((mean_rho_phi(&mut run) - first) / 0.05 - 1.0).abs()
        });
        assert!(coarse < 2.5e-3 && fine < coarse / 5.0, "{viscous}: {coarse:e} {fine:e}");
    }
}

/// Catches extrapolation of φ to a wall, with which φ grows at 0.08 c/L.
#[test]
fn scalar_variance_decays_in_shear_flow_between_walls() {
    for (derivative, viscous) in [("explicit8", "conservative"), ("compact6", "laplacian")] {
        let [derivative, viscous] =
            [format!("scheme.derivative={derivative}"), format!("scheme.viscous={viscous}")];
        let set = [
            "case.u='4*y*(1 - y)'",
            "case.mach=0.8",
            "case.reynolds=1e4",
            "grid.length=[0.5, 1, 1]",
            "boundary.y={ low = { kind = 'wall', temperature = 1 }, high = { kind = 'wall', temperature = 1 } }",
            // Noise in y.
            "scalars.dye={ schmidt = 1, start = 'sin(4*pi*x)*cos(1e3*y)' }",
            &derivative,
            &viscous,
        ];
        let mut run = simulation("custom", [12, 65, 1], &set);
        let [mut before] = columns(&mut run, ["dye_variance"]);
        for part in 1..11 {
            advance(&mut run, 4.0 * f64::from(part));
            let [now] = columns(&mut run, ["dye_variance"]);
            assert!(now < before, "{set:?}: {now:e} at {}", run.time());
            before = now;
        }
    }
}

/// Catches ρφ that does not follow the density at the edge of two walls, and a condition of the earlier axis that prevails there.
#[test]
fn uniform_scalar_stays_uniform_and_later_axis_prevails_at_wall_edges() {
    let run = |walls: &str, more: &[&str]| {
        let dye = format!("scalars.dye={{ schmidt = 0.7, start = '1.7', walls = {walls} }}");
        let set = [
            "case.mach=0.5",
            "case.reynolds=100",
            "scheme.derivative=explicit4",
            "boundary.z={ low = 'wall', high = 'wall' }",
            &dye,
        ];
        let mut run = simulation("lid-driven-cavity", [13, 12, 11], &[&set, more].concat());
        steps(&mut run, 60);
        run.field("dye").unwrap().into_iter().collect::<Vec<f64>>()
    };
    for more in [&[][..], &["time.integrator=rk4"], &["compute.right_hand_side=composed"]] {
        let phi = run("{}", more);
        let difference = phi.iter().map(|phi| (phi - 1.7).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-13, "{more:?}: {difference:e}");
    }
    let phi = run("{ x = { low = { flux = 0.1 } }, y = { high = { value = 2.0 } } }", &[]);
    let lid = phi.chunks_exact(13 * 12).flat_map(|plane| &plane[13 * 11..]);
    assert!(lid.clone().count() == 13 * 11 && lid.clone().all(|phi| (phi - 2.0).abs() < 1e-14));
}

/// Catches ρφ that follows its own equation at the start of a moving wall, as the density does not: φ grows at velocity over spacing.
#[test]
fn scalar_in_a_lid_driven_cavity_stays_bounded() {
    let set = [
        "case.mach=0.5",
        "case.reynolds=1000",
        "time.cfl=0.5",
        "scheme.filter={ order = 8, alpha = 0.45, every = 1 }",
        "scalars.dye={ schmidt = 1, start = 'cos(3*x)*cos(3*y)' }",
    ];
    let mut run = simulation("lid-driven-cavity", [24, 25, 1], &set);
    steps(&mut run, 600);
    let [min, max] = columns(&mut run, ["dye_min", "dye_max"]);
    assert!(min > -1.5 && max < 1.5, "{min} {max}");
}

/// Catches a time-step limit without the rate of the wall flux, which exceeds that of the interior points.
#[test]
fn steps_at_the_wall_flux_stability_limit_are_stable() {
    for derivative in ["explicit2", "explicit8", "compact4"] {
        let derivative = format!("scheme.derivative={derivative}");
        let more = [
            &derivative,
            "scheme.viscous=conservative",
            "scalars.dye.schmidt=0.2",
            "case.reynolds=0.1",
            "time.cfl=0.97",
        ];
        let mut run = between_walls([1, 21, 1], "cos(1e3*y)", "{}", &more);
        let [mut before] = columns(&mut run, ["dye_variance"]);
        for _ in 0..40 {
            steps(&mut run, 5);
            let [now] = columns(&mut run, ["dye_variance"]);
            assert!(now < before, "{derivative}: {now:e}");
            before = now;
        }
    }
}

#[test]
fn scalar_between_walls_agrees_on_ranks_device_and_restart() {
    let more = [
        "case.mach=0.3",
        "case.reynolds=40",
        "time.dt=0.002",
        "gas.viscosity=sutherland",
        "boundary.x={ low = 'wall', high = 'symmetry' }",
        "boundary.y={ low = 'wall', high = { kind = 'wall', temperature = 0.9, velocity = [0.0, 0.0, 0.3] } }",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
        "scalars.dye={ schmidt = 0.7, start = 'cos(x)*y', walls = { x = { low = { value = 0.5 } }, y = { high = { flux = 0.1 } } } }",
    ];
    let config = config("taylor-green", [22, 24, 9], &more);
    assert_cuts_agree(&config, 8, &[[2, 1, 1], [1, 2, 1], [2, 1, 2]].map(|ranks| (ranks, None)));
    assert_reproducible(&config, "scalar between walls");
    let mut device =
        Simulation::on(Arc::new(gpu(config.compute.precision, 22 * 24 * 9)), &config).unwrap();
    let mut one = on_host(&config);
    steps(&mut device, 3);
    steps(&mut one, 3);
    assert!(max_difference(&state(&one)[5], &state(&device)[5]) < 1e-12);
}

#[test]
fn errors_for_bad_scalar_walls_give_line_and_allowed_values() {
    let assert_rejected = |walls: &str, expected: &str| {
        let text = format!(
            "[case]\nname = 'couette-flow'\n[grid]\npoints = [6, 25, 1]\n[time]\nend = 1\n[scalars.dye]\nschmidt = 1\nstart = 'y'\nwalls = {walls}\n"
        );
        let message = parse(&text, "in.toml", &[]).unwrap_err().to_string();
        assert!(
            message.contains("in.toml:10: ") && message.contains(expected),
            "{walls}: {message}"
        );
    };
    assert_rejected("{ x = { low = { value = 1 } } }", "there is no wall at the low end of x");
    assert_rejected(
        "{ y = { low = { value = 1, flux = 0 } } }",
        "only one of them is prescribed at a wall",
    );
    assert_rejected("{ y = { low = {} } }", "needs `value` or `flux`");
    assert_rejected("{ y = { low = 1 } }", "must be a table such as { value = 1.0 }");
    assert_rejected("{ y = { high = { value = 'a' } } }", "found a string");
    let text = "[case]\nname = 'couette-flow'\n[grid]\npoints = [6, 25, 1]\n[time]\nend = 1\n[scalars.dye]\nschmidt = 1\nstart = 'y'\nwalls = { y = { high = { value = 2.0 } } }\n";
    let config = parse(text, "in.toml", &[]).unwrap();
    assert_eq!(config.scalars[0].walls[1], [AtWall::CLOSED, AtWall::Value(2.0)]);
    assert_eq!(parse(&config.to_toml(), "in.toml", &[]).unwrap(), config);
}
