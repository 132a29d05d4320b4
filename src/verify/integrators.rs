//! Runge-Kutta methods: one step multiplies a wave by R(z), which equals exp(z) up to the order of the method; and their order
//! for the nonlinear equations themselves.

use num_complex::Complex;

use super::check::{Check, distance, float, order};
use super::setup::{Forms, Setup, compact6, hale64, spacing};
use crate::error::Result;
use crate::gas::Viscosity;
use crate::scheme::{TABLEAUX, Tableau};

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for tableau in TABLEAUX {
        if setup.is_quick_on_device() && tableau.name != "hale64" {
            continue;
        }
        checks.push(amplification(setup, tableau)?);
        checks.push(linear(tableau));
        checks.push(nonlinear(setup, tableau)?);
    }
    for forms in setup.pairs() {
        checks.push(step_size(setup, &forms)?);
    }
    Ok(checks)
}

/// The step of a uniform stream, dt (k'max (Σ|uⱼ|/hⱼ + c √Σhⱼ⁻²) / I + κ ν Σhⱼ⁻² / R) = cfl.
fn step_size(setup: &Setup, forms: &Forms) -> Result<Check> {
    const CFL: f64 = 0.6;
    let points = [12, 14, 16];
    let cfl = format!("time.cfl={CFL}");
    let set = forms.with(&["case.mach=0.6", "case.reynolds=7.0", &cfl, "time.integrator=hale64"]);
    let config = setup.config("taylor-green", points, &set)?;
    let gas = config.gas;
    let (rho, u, p) = (1.2, [0.9, -0.7, 0.4_f64], 1.1 * gas.reference_pressure());
    let mut run = setup.start(&config)?;
    run.set(|_, _| [rho, u[0], u[1], u[2], p])?;
    // The first step uses the step size of the previous state.
    run.steps(1)?;
    let computed = run.simulation.step(None)?;

    let first = compact6().first.max_symbol().0;
    // Interpolation to midpoints followed by the derivative back has a smaller modified wavenumber than the collocated
    // derivative.
    let kappa = match forms.viscous {
        "laplacian" => compact6().second.max_symbol().0,
        "midpoint" => compact6().midpoint_derivative.max_symbol().0.powi(2),
        _ => first * first,
    };
    let temperature = gas.gamma * gas.mach * gas.mach * p / rho;
    let mu = match gas.viscosity {
        Viscosity::Constant => 1.0,
        Viscosity::Power { exponent } => temperature.powf(exponent),
        Viscosity::Sutherland { temperature_ratio: s } => {
            temperature.powf(1.5) * (1.0 + s) / (temperature + s)
        }
    };
    let nu = (4.0_f64 / 3.0).max(gas.gamma / gas.prandtl) * mu / (rho * gas.reynolds);
    let h = points.map(spacing);
    let squares: f64 = h.iter().map(|h| 1.0 / (h * h)).sum();
    let carried: f64 = (0..3).map(|a| u[a].abs() / h[a]).sum();
    let sound = (gas.gamma * p / rho).sqrt() * squares.sqrt();
    let rate = first * (carried + sound) / hale64().imaginary_limit()
        + kappa * nu * squares / hale64().negative_real_limit();
    Ok(Check::at_most(
        format!("step-size/{}", forms.name()),
        (computed * rate / CFL - 1.0).abs(),
        32.0 * f64::EPSILON,
    )
    .shows("the step in a uniform stream agrees with cfl and the stability limits, relative")
    .source("triangle between the limits I and R of the integrator; round-off"))
}

/// Accuracy to which published decimals satisfy the order conditions.
const DECIMALS: f64 = 3e-10;

/// ∂φ/∂t + ∂φ/∂x = 0 with steps of z = −i k' dt: each step multiplies the amplitude by R(z).
fn amplification(setup: &Setup, tableau: &Tableau) -> Result<Check> {
    let (steps, dt) = (10, 0.05);
    let set = [
        "case.shape=sine",
        "case.wavenumber=[3, 0, 0]",
        &format!("time.integrator={}", tableau.name),
        &format!("time.dt={dt}"),
    ];
    let mut run = setup.run("scalar-advection", [32, 1, 1], &set)?;
    let computed = run.gain(0, [3, 0, 0], steps)?;
    let h = spacing(32);
    let symbol = compact6().first.symbol(3.0 * h) / h;
    let expected = tableau.amplification(Complex::new(0.0, -symbol * dt)).powu(10);
    Ok(Check::at_most(
        format!("{}-step", tableau.name),
        (computed - expected).norm(),
        // A step has one rounding per stage, plus those of the operators.
        10.0 * f64::EPSILON * float(steps * tableau.stages()),
    )
    .shows(format!("{steps} steps of {} multiply a wave by R(z)^{steps}", tableau.name))
    .source("R(z) = Σ γₖ zᵏ (Hairer and Wanner 1996, §IV.2); round-off"))
}

/// The γₖ of R(z) up to the order are those of exp(z), 1/k!, to the accuracy of the published decimals; the deviation of the next
/// one is the error constant of one step of a linear problem.
fn linear(tableau: &Tableau) -> Check {
    let gamma = tableau.stability_polynomial();
    let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
    let deviation =
        |k: u32| (gamma.get(k as usize).copied().unwrap_or(0.0) - 1.0 / factorial(k)).abs();
    let worst = (0..=tableau.order).map(deviation).fold(0.0, f64::max);
    Check::at_most(format!("{}-linear", tableau.name), worst, DECIMALS)
        .shows(format!(
            "R(z) of {} is exp z to order {}; error constant found {:.3e}",
            tableau.name,
            tableau.order,
            deviation(tableau.order + 1)
        ))
        .source(format!("{}; published decimals", tableau.source))
}

/// A Taylor-Green vortex at one time with steps dt, dt/2, dt/4: differences decrease at the order q, by 2^q (1 + O(dt)).
fn nonlinear(setup: &Setup, tableau: &Tableau) -> Result<Check> {
    let at = |steps: usize| -> Result<Vec<f64>> {
        let dt = 0.4 / float(steps);
        let set = [
            "case.mach=0.8",
            "case.reynolds=20.0",
            &format!("time.integrator={}", tableau.name),
            &format!("time.dt={dt:?}"),
        ];
        let mut run = setup.run("taylor-green", [8, 10, 9], &set)?;
        run.steps(steps)?;
        Ok(run.state()?.concat())
    };
    let [a, b, c] = [at(16)?, at(32)?, at(64)?];
    let measured = order((2.0, distance(&a, &b)), (1.0, distance(&b, &c)));
    let formal = f64::from(tableau.order);
    Ok(Check::at_most(format!("{}-order", tableau.name), formal - measured, 0.15)
        .shows(format!(
            "order of {} on the Navier-Stokes equations is at least {formal}: found {measured:.3}",
            tableau.name
        ))
        .source(format!("{}; next term of the error", tableau.source)))
}
