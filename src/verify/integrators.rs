//! Runge-Kutta methods: one step multiplies a wave by R(z), which is exp(z) to the order of the method; and their order on
//! the equations themselves, which are nonlinear.

use num_complex::Complex;

use super::check::{Check, distance, float, order};
use super::fields::projection;
use super::setup::{Setup, spacing};
use crate::error::Result;
use crate::scheme::{TABLEAUX, Tableau, family};

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for tableau in TABLEAUX {
        if setup.is_brief() && tableau.name != "hale64" {
            continue;
        }
        checks.push(amplification(setup, tableau)?);
        checks.push(linear(tableau));
        checks.push(nonlinear(setup, tableau)?);
    }
    Ok(checks)
}

/// Published decimals meet the order conditions to this.
const DECIMALS: f64 = 3e-10;

/// ∂φ/∂t + ∂φ/∂x = 0 over steps of z = −i k' dt: the amplitude is multiplied by R(z) each.
fn amplification(setup: &Setup, tableau: &Tableau) -> Result<Check> {
    let (points, steps) = ([32, 1, 1], 10);
    let dt = 0.05;
    let set = [
        "case.shape=sine".to_string(),
        "case.wavenumber=[3, 0, 0]".into(),
        format!("time.integrator={}", tableau.name),
        format!("time.dt={dt}"),
    ];
    let mut run = setup.run("scalar-advection", points, &set)?;
    let before = projection(points, [3, 0, 0], &run.state()?[0]);
    run.steps(steps)?;
    let found = projection(points, [3, 0, 0], &run.state()?[0]) / before;
    let h = spacing(32);
    let symbol = family("compact6").map_or(f64::NAN, |family| family.first.symbol(3.0 * h) / h);
    let expected = tableau.amplification(Complex::new(0.0, -symbol * dt)).powu(10);
    Ok(Check::at_most(
        format!("{}-step", tableau.name),
        format!("{steps} steps of {} multiply a wave by R(z)^{steps}", tableau.name),
        (found - expected).norm(),
        // A step rounds once each of the stages, and the operators.
        10.0 * f64::EPSILON * float(steps * tableau.stages()),
        "R(z) = Σ γₖ zᵏ (Hairer and Wanner 1996, §IV.2); round-off",
    ))
}

/// The γₖ of R(z) up to the order are those of exp(z), 1/k!, as far as the published decimals go, and the next is not: the error
/// constant of one step of a linear problem.
fn linear(tableau: &Tableau) -> Check {
    let gamma = tableau.stability_polynomial();
    let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
    let off = |k: u32| (gamma.get(k as usize).copied().unwrap_or(0.0) - 1.0 / factorial(k)).abs();
    let worst = (0..=tableau.order).map(off).fold(0.0, f64::max);
    Check::at_most(
        format!("{}-linear", tableau.name),
        format!(
            "R(z) of {} is exp z to order {}; error constant found {:.3e}",
            tableau.name,
            tableau.order,
            off(tableau.order + 1)
        ),
        worst,
        DECIMALS,
        format!("{}; published decimals", tableau.source),
    )
}

/// A Taylor-Green vortex at one time with steps dt, dt/2, dt/4: differences fall at the order q, by 2^q (1 + O(dt)).
fn nonlinear(setup: &Setup, tableau: &Tableau) -> Result<Check> {
    let at = |steps: usize| -> Result<Vec<f64>> {
        let dt = 0.4 / float(steps);
        let set = [
            format!("time.integrator={}", tableau.name),
            format!("time.dt={dt:?}"),
            "case.mach=0.8".into(),
            "case.reynolds=20.0".into(),
        ];
        let mut run = setup.run("taylor-green", [8, 10, 9], &set)?;
        run.steps(steps)?;
        Ok(run.state()?.concat())
    };
    let [a, b, c] = [at(16)?, at(32)?, at(64)?];
    let found = order((2.0, distance(&a, &b)), (1.0, distance(&b, &c)));
    let formal = f64::from(tableau.order);
    Ok(Check::at_most(
        format!("{}-order", tableau.name),
        format!(
            "order of {} on the Navier-Stokes equations is {formal} at least: found {found:.3}",
            tableau.name
        ),
        formal - found,
        0.15,
        format!("{}; next term of the error", tableau.source),
    ))
}
