//! Invariance of the solution to the order of the axes, the number of threads and the output times; and the size of the time
//! step, which depends only on the flow and the scheme.

use kolmo::backend::cpu::Field;
use kolmo::backend::on_host;
use kolmo::config::{StepSize, parse};
use kolmo::scheme::{family, tableau};
use kolmo::time::Simulation;
use kolmo::verify::invariance::Turn;

use crate::open::open_box;

use crate::common::{
    CONVECTION, ENERGY, VISCOUS, advance, assert_close, config, float, max_difference, noise,
    set_flow, simulation, state, steps,
};

/// The state after a few steps from a flow without symmetry. New axis a is old axis `from[a]`, reflected where `flip` is true. The
/// result is in the old order.
fn permuted(from: [usize; 3], flip: [bool; 3], set: &[&str]) -> [Vec<f64>; 5] {
    let turn = Turn { from, flip };
    let length = format!("grid.length={:?}", turn.lengths());
    let set = [&["case.mach=0.5", "case.reynolds=40.0", "time.dt=0.01", &length], set].concat();
    let mut run = simulation("taylor-green", turn.points(), &set);
    set_flow(&mut run, 1.4, |index, _| turn.flow(index));
    steps(&mut run, 5);
    turn.back(&state(&run))
}

#[test]
fn solution_is_invariant_under_permutation_and_reflection_of_axes() {
    let turns = [[1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1]];
    for (convection, energy) in CONVECTION.iter().flat_map(|c| ENERGY.map(|e| (c, e))) {
        for (viscous, law) in
            VISCOUS.iter().flat_map(|v| ["constant", "sutherland"].map(|l| (v, l)))
        {
            if energy != "split-pressure" && (*viscous, law) != ("midpoint", "sutherland") {
                continue;
            }
            let set = [
                format!("scheme.convection={convection}"),
                format!("scheme.energy={energy}"),
                format!("scheme.viscous={viscous}"),
                format!("gas.viscosity={law}"),
                "scheme.filter={order=6, alpha=0.4, every=2}".to_string(),
            ];
            let set = set.each_ref().map(String::as_str);
            let reference = permuted([0, 1, 2], [false; 3], &set);
            let mirrored = [[true, false, false], [false, true, true]];
            let others = turns
                .map(|from| permuted(from, [false; 3], &set))
                .into_iter()
                .chain(mirrored.map(|flip| permuted([0, 1, 2], flip, &set)));
            for other in others {
                for v in 0..5 {
                    let difference = max_difference(&reference[v], &other[v]);
                    assert!(
                        difference < 1e-12,
                        "{set:?}: variable {v} differs by {difference:.1e}"
                    );
                }
            }
        }
    }
}

/// The bits of U and of the row of the time series after some steps on `threads` threads.
fn bits(precision: &str, threads: usize, case: &str, set: &[&str]) -> Vec<u64> {
    let own = [format!("compute.precision={precision}"), format!("compute.threads={threads}")];
    let set = [&own.each_ref().map(String::as_str), set].concat();
    let mut run = simulation(case, [21, 18, 26], &set);
    steps(&mut run, 6);
    let row = run.row().unwrap();
    state(&run).concat().into_iter().chain(row).map(f64::to_bits).collect()
}

fn assert_independent_of_threads(precision: &str) {
    let filter = "scheme.filter={order=8, alpha=0.45, every=3}";
    for (case, set) in [
        ("taylor-green", &["case.mach=0.4", "gas.viscosity=power", filter][..]),
        ("taylor-green", &["scheme.convection=staggered", "time.integrator=rk4"][..]),
        ("scalar-advection", &["case.velocity=[1.0, 0.5, 0.2]", filter][..]),
    ] {
        let one = bits(precision, 1, case, set);
        assert!(one.iter().any(|&bits| bits != one[0]));
        for threads in [2, 3] {
            assert!(one == bits(precision, threads, case, set), "{case} on {threads} threads");
        }
    }
}

#[test]
fn solution_is_bitwise_identical_on_any_number_of_threads() {
    assert_independent_of_threads("f64");
    assert_independent_of_threads("f32");
}

#[test]
fn single_precision_stays_close_to_double() {
    let energies = |precision: &str, mach: f64| {
        let [mach, precision] =
            [format!("case.mach={mach}"), format!("compute.precision={precision}")];
        let set = [&*mach, "case.reynolds=100.0", &precision];
        let mut run = simulation("taylor-green", [16, 16, 16], &set);
        advance(&mut run, 2.0);
        ["kinetic_energy", "mass", "total_energy"].map(|name| run.quantity(name).unwrap())
    };
    for mach in [0.1, 0.5] {
        let (single, double) = (energies("f32", mach), energies("f64", mach));
        for (name, (single, double)) in
            ["kinetic energy", "mass", "total energy"].iter().zip(single.into_iter().zip(double))
        {
            // The round-off of f32 is 6e-8, at each of a hundred steps.
            assert_close(single, double, 5e-7, &format!("{name} at Ma = {mach}"));
            assert!(single.to_bits() != double.to_bits(), "{name} is not computed in f32");
        }
    }
}

#[test]
fn steps_reach_output_times_exactly_without_tiny_steps() {
    let mut run = simulation("entropy-wave", [16, 1, 1], &["time.cfl=0.7"]);
    let mut largest = 0.0_f64;
    for target in [1.0_f64 / 3.0, 0.4, 0.4000001, 1.0, 2.0] {
        let from = run.time();
        let mut smallest = f64::INFINITY;
        while run.time() < target {
            let dt = run.step(Some(target)).unwrap();
            (smallest, largest) = (smallest.min(dt), largest.max(dt));
        }
        assert_eq!(run.time().to_bits(), target.to_bits());
        let bound = (0.49 * largest).min(target - from);
        assert!(smallest >= bound, "to {target}: a step of {smallest}, largest step {largest}");
    }
    // With a prescribed dt every step uses it, except the last one before an output time.
    let mut run = simulation("entropy-wave", [16, 1, 1], &["time.dt=0.03"]);
    let mut taken = Vec::new();
    while run.time() < 0.1 {
        taken.push(run.step(Some(0.1)).unwrap());
    }
    assert_eq!(taken[..3], [0.03; 3]);
    assert_eq!((taken.len(), run.time().to_bits()), (4, 0.1_f64.to_bits()));
    // The time error that many steps accumulate does not become an extra step.
    let mut run = simulation("entropy-wave", [16, 1, 1], &["time.dt=0.03"]);
    let target = 0.12 + 1e-8;
    let taken = (0..4).map(|_| run.step(Some(target)).unwrap()).collect::<Vec<_>>();
    assert!(taken[3] > 0.03 && run.time().to_bits() == target.to_bits(), "{taken:?}");
}

#[test]
fn time_step_is_the_cfl_fraction_of_the_linear_stability_limit() {
    // dt = cfl / (C/I + V/R), C = k'max (Σ|uⱼ|/hⱼ + c √Σhⱼ⁻²), V = κ ν Σhⱼ⁻², ν = max(4/3, γ/Pr) μ/(ρ Re).
    let (mach, cfl) = (0.5, 0.6);
    let velocity: [f64; 3] = [0.9, -0.4, 0.2];
    for (points, viscous, prandtl, reynolds, integrator, derivative) in [
        ([16, 20, 25], "laplacian", 0.71, 1.0, "rk4", "compact6"),
        ([16, 20, 25], "midpoint", 2.0, 1.0, "hale64", "compact4"),
        ([16, 20, 1], "conservative", 0.71, 3.0, "ck54", "compact8"),
        ([1, 20, 25], "laplacian", 0.71, f64::INFINITY, "ssprk3", "compact10-penta"),
    ] {
        let reynolds_key = match f64::is_finite(reynolds) {
            true => format!("case.reynolds={reynolds}"),
            false => "case.reynolds=inf".into(),
        };
        let mut run = simulation(
            "entropy-wave",
            points,
            &[
                "case.amplitude=0.0",
                &format!("case.velocity={velocity:?}"),
                &format!("case.mach={mach}"),
                &reynolds_key,
                &format!("gas.prandtl={prandtl}"),
                &format!("scheme.viscous={viscous}"),
                &format!("scheme.derivative={derivative}"),
                &format!("time.integrator={integrator}"),
                &format!("time.cfl={cfl}"),
                "grid.length=[1.0, 2.0, 3.0]",
            ],
        );
        let inverse: Vec<f64> = (0..3)
            .filter(|&a| points[a] > 1)
            .map(|a| float(points[a]) / (1.0 + float(a)))
            .collect();
        let advection: f64 = (0..3)
            .filter(|&a| points[a] > 1)
            .map(|a| velocity[a].abs() * float(points[a]) / (1.0 + float(a)))
            .sum();
        let squares: f64 = inverse.iter().map(|x| x * x).sum();
        let formulas = family(derivative).unwrap();
        let k_max = formulas.first.max_symbol().0;
        let kappa = match viscous {
            "laplacian" => formulas.second.max_symbol().0,
            "midpoint" => formulas.midpoint_derivative.max_symbol().0.powi(2),
            _ => k_max * k_max,
        };
        let c = k_max * (advection + squares.sqrt() / mach);
        let v = kappa * (4.0_f64 / 3.0).max(1.4 / prandtl) / reynolds * squares;
        let rk = tableau(integrator).unwrap();
        let expected = cfl / (c / rk.imaginary_limit() + v / rk.negative_real_limit());
        let dt = run.step(None).unwrap();
        assert_close(dt, expected, 1e-12, &format!("{points:?} {viscous}"));
    }
}

#[test]
fn first_time_step_follows_a_state_set_by_the_caller() {
    let set = ["case.amplitude=0.0", "case.velocity=[3.0, 1.0, 2.0]", "case.mach=0.5"];
    let mut reference = simulation("entropy-wave", [12, 14, 16], &set);
    let mut replaced = simulation("entropy-wave", [12, 14, 16], &["case.mach=0.5"]);
    let p0 = 1.0 / (1.4 * 0.25);
    set_flow(&mut replaced, 1.4, |_, _| [1.0, 3.0, 1.0, 2.0, p0]);
    let (reference, replaced) = (reference.step(None).unwrap(), replaced.step(None).unwrap());
    assert_close(replaced, reference, 1e-14, "first step");
}

/// Amplification of white noise over 400 steps; infinite if the run diverged.
fn growth(cfl: f64, derivative: &str, integrator: &str) -> f64 {
    let mut run = simulation(
        "scalar-advection",
        [32, 1, 1],
        &[
            &format!("time.cfl={cfl}"),
            &format!("scheme.derivative={derivative}"),
            &format!("time.integrator={integrator}"),
        ],
    );
    let mut next = noise(3);
    run.state_mut()[0].get_mut::<Field<f64>>().iter_mut().for_each(|phi| *phi = next());
    let size = |run: &_| state(run)[0].iter().map(|x| x * x).sum::<f64>().sqrt();
    let before = size(&run);
    for _ in 0..400 {
        if run.step(None).is_err() {
            return f64::INFINITY;
        }
    }
    size(&run) / before
}

#[test]
fn scalar_advection_is_stable_below_the_linear_limit_and_unstable_above() {
    for (derivative, integrator) in [
        ("compact6", "rk4"),
        ("compact6", "hale64"),
        ("compact4", "ck54"),
        ("compact10-penta", "ssprk3"),
        ("explicit4", "berland64"),
    ] {
        let [below, above] = [0.99, 1.3].map(|cfl| growth(cfl, derivative, integrator));
        assert!(below < 1.0, "{derivative} {integrator}: {below} below the limit");
        assert!(above > 1e10, "{derivative} {integrator}: {above} above the limit");
    }
}

/// A run with the vector instructions `simd`; `None` if the processor does not support them.
fn with_instructions(simd: &str, set: &[&str]) -> Option<Simulation> {
    let chosen = format!("compute.simd={simd}");
    let config = config("taylor-green", [32, 33, 18], &[&[&*chosen], set].concat());
    let host = on_host(&config.compute, None).ok()?;
    let mut run = Simulation::on(host.into(), &config).unwrap();
    steps(&mut run, 3);
    Some(run)
}

/// Lines of all kinds: full tiles from field to field and partial ones, other half-widths, explicit and pentadiagonal schemes,
/// filters. After three steps 100 rounding errors may have accumulated.
#[test]
fn solutions_with_all_vector_instructions_agree_to_round_off() {
    for (set, tolerance) in [
        (&["compute.right_hand_side=composed"][..], 2.2e-14),
        // The filter matrix has the condition number (1 + 2α) / (1 − 2α) = 99, which amplifies round-off.
        (&["scheme.filter={ order = 8, alpha = 0.49 }"], 1e-13),
        (&["scheme.derivative=explicit4"], 2.2e-14),
        (&["compute.precision=f32"], 1.2e-5),
        (&["scheme.derivative=spectral-like"], 2.2e-14),
    ] {
        let baseline = with_instructions("baseline", set).unwrap();
        assert_eq!(baseline.backend().simd(), simd_of("baseline"));
        let mut bits: Option<Vec<Vec<f64>>> = None;
        for simd in ["avx512", "avx2", "neon"] {
            let Some(run) = with_instructions(simd, set) else { continue };
            assert_eq!(run.backend().simd(), simd_of(simd));
            let found = state(&run);
            for (found, expected) in found.iter().zip(state(&baseline)) {
                // Momenta are sums of terms of size 1, also where these cancel.
                let size = expected.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
                let difference = max_difference(found, &expected);
                assert!(difference <= tolerance * size, "{simd} {set:?}: {difference:e} of {size}");
            }
            // Instruction sets with fused multiply-add round identically for any register width.
            assert_eq!(bits.get_or_insert_with(|| found.clone()), &found, "{simd} {set:?}");
        }
    }
}

/// The name that a run reports for its vector instructions.
fn simd_of(name: &str) -> &'static str {
    match name {
        "avx512" => "AVX-512",
        "avx2" => "AVX2 and FMA",
        "neon" => "NEON",
        _ if cfg!(target_arch = "x86_64") => "SSE2",
        _ => "baseline",
    }
}

#[test]
fn unsupported_instructions_are_rejected_and_the_best_ones_are_named() {
    let other = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    let config = config("taylor-green", [8; 3], &[&format!("compute.simd={other}")]);
    let error = on_host(&config.compute, None).err().unwrap().to_string();
    assert!(error.contains(&format!("compute.simd = \"{other}\": the best that")), "{error}");
}

/// Catches a face, a force or a scalar that only one kind of time step includes: integrators differ only by their truncation errors,
/// which are negligible for small steps.
#[test]
fn explicit_and_implicit_integrators_agree_for_small_steps() {
    const SUPERSONIC: &str = "boundary.x={ low = { kind = 'inflow', velocity = [2.0, 0.1, 0.0], temperature = 1.2, pressure = 0.9 }, high = 'outflow' }";
    const SCALAR: &str = "scalars.dye={ schmidt = 0.7, start = '1.5 + sin(x)*cos(y)' }";
    const RATE: &str = "scheme.filter={ order = 6, alpha = 0.45, time = 0.05 }";
    const TURNING: &str = "boundary.y={ low = { kind = 'wall', velocity = [0.5, 0.0, 0.2], frequency = 8.0 }, high = { kind = 'far-field', velocity = [1.0, 0.0, 0.0] } }";
    const IMPLICIT: &str = "time.implicit={ method = 'esdirk64', tolerance = 1e-9 }";
    let forced = ["forcing={ kind = 'linear', energy = 0.5 }"];
    let fast = |more: &[&str]| {
        config("taylor-green", [19, 18, 1], &[&["case.mach=1", SUPERSONIC], more].concat())
    };
    // Implicit steps apply filters as rates instead of every few steps, and support neither forces nor scalars.
    for (name, is_implicit, mut config) in [
        ("faces", true, open_box([19, 18, 9], &["scheme.filter=none"])),
        ("faces, a scalar, a filter", false, open_box([19, 18, 9], &[SCALAR])),
        ("a supersonic stream", true, fast(&[])),
        ("a supersonic stream, a scalar", false, fast(&[SCALAR])),
        ("an oscillating wall", true, config("stokes-layer", [1, 21, 1], &[])),
        ("a lid", true, config("lid-driven-cavity", [17, 17, 1], &[])),
        ("a channel", false, config("channel", [16, 17, 16], &[])),
        ("a body", true, config("cylinder", [48, 25, 1], &["scheme.filter=none"])),
        (
            "an oscillating body",
            true,
            config("cylinder", [48, 25, 1], &["scheme.filter=none", TURNING]),
        ),
        ("a force", false, config("isotropic-turbulence", [16; 3], &forced)),
        ("a filter as a rate", true, config("taylor-green", [16; 3], &[RATE])),
    ] {
        config.time.step = StepSize::Fixed(2e-4);
        let text = config.to_toml();
        let run = |method: &str| {
            let mut flow =
                Simulation::new(&parse(&text, name, &[method.to_string()]).unwrap()).unwrap();
            steps(&mut flow, 10);
            state(&flow)
        };
        let expected = run("time.integrator=hale64");
        let explicit = ["time.integrator=rk4", "time.integrator=ssprk54"];
        for method in explicit.into_iter().chain(is_implicit.then_some(IMPLICIT)) {
            for (a, b) in expected.iter().zip(run(method)) {
                let difference =
                    max_difference(a, &b) / a.iter().map(|a| a.abs()).fold(1.0, f64::max);
                assert!(difference < 1e-9, "{name}, {method}: {difference:.1e}");
            }
        }
    }
}
