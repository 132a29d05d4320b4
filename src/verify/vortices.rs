//! Kida's vortex and the ABC flow: initial balance, symmetry and decay.

use super::check::{Check, Convergence, distance, float, largest, worse};
use super::setup::{Setup, compact6, spacing};
use crate::engine::{LineOperators, Op};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::real::Precision;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    Ok(vec![kida_pressure(setup)?, kida_symmetries(setup)?, abc_balance(setup)?, abc_decay(setup)?])
}

/// Without viscosity and at ρ = 1, ∂(ρu)/∂t is −u·∇u − ∇p, which is divergence-free if −∇²p = ∂ᵢuⱼ ∂ⱼuᵢ.
fn kida_pressure(setup: &Setup) -> Result<Check> {
    let grids = if setup.quick { [32, 40] } else { [48, 64] };
    let Convergence { h, error, order } = Convergence::between(grids, |n| {
        let config = setup.config("kida-vortex", [n; 3], &["case.reynolds=inf"])?;
        let grid = Grid::periodic([n; 3], &config.grid.domain);
        let rate = setup.start(&config)?.rate()?;
        let mut divergence = vec![0.0; n * n * n];
        let operators = LineOperators::new(compact6(), None, &grid, Precision::F64);
        for axis in Axis::ALL {
            let along = setup.along(axis, [n; 3], Precision::F64)?;
            let part = along.apply(&operators, axis, Op::D1, &rate[1 + axis.index()])?;
            divergence.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok((spacing(n), largest(&divergence)))
    })?;
    Ok(Check::at_most(
        "kida-pressure",
        6.0 - order,
        // Waves with most of the pressure gradient: (0, 2, 4) and (2, 2, 4), along an axis.
        1.3 * (4.0 * h).powi(2),
    )
    .shows(format!(
        "the flow starts with d(div u)/dt = 0: the remainder falls at least at order 6: found {order:.2}, {error:.1e}"
    ))
    .source("Kida 1985; −∇²p = ∂ᵢuⱼ ∂ⱼuᵢ, in exact arithmetic; next term of Taylor's series"))
}

/// v(x, y, z) = u(y, z, x), and u(x, y, z) = u(x + π, z + π, y + π) with v and w exchanged.
fn kida_symmetries(setup: &Setup) -> Result<Check> {
    let (n, steps) = (18, 40);
    let mut run = setup.run("kida-vortex", [n; 3], &["case.mach=0.3", "case.reynolds=100"])?;
    run.steps(steps)?;
    let state = run.state()?;
    let mut deviation = 0.0;
    for (from, shift) in [([1, 2, 0], 0), ([0, 2, 1], n / 2)] {
        for field in 0..5 {
            let of = if let 1..=3 = field { 1 + from[field - 1] } else { field };
            let other = (0..n * n * n).map(|at| {
                let index = [at % n, at / n % n, at / (n * n)];
                // Component `from[a]` here equals component a there, with the coordinates exchanged in the same way.
                let [i, j, k] = from.map(|axis| (index[axis] + shift) % n);
                state[field][i + n * (j + n * k)]
            });
            deviation = worse(deviation, distance(&state[of], &other.collect::<Vec<_>>()));
        }
    }
    Ok(Check::at_most(
        "kida-symmetries",
        deviation,
        // As for changed axes: ρE is up to p₀/(γ − 1) = 20.
        f64::EPSILON * float(6 * steps) * 20.0 * 8.0,
    )
    .shows(format!("Kida's vortex keeps two symmetries that exchange axes over {steps} steps"))
    .source("Kida 1985; round-off of every stage"))
}

/// A Beltrami flow is in balance: without viscosity ∂(ρu)/∂t = 0. All its waves and those of its pressure have a single
/// wavenumber along an axis, so a formula multiplies them by the same number, and uⱼ does not vary along j: only round-off
/// remains.
fn abc_balance(setup: &Setup) -> Result<Check> {
    let n = 15;
    let config = setup.config("abc-flow", [n; 3], &["case.reynolds=inf"])?;
    let rate = largest(&setup.start(&config)?.rate()?[1..4].concat());
    let symbol = compact6().first.max_symbol().0;
    Ok(Check::at_most(
        "abc-balance",
        rate,
        // As for a uniform stream.
        8.0 * f64::EPSILON * config.gas.reference_pressure() * symbol / spacing(n),
    )
    .shows("a Beltrami flow is in balance: d(ρu)/dt")
    .source("u·∇u = ∇(u·u)/2 = −∇p; round-off of p k'max/h"))
}

/// E = E₀ exp(−2k²t/Re), except for the energy of sound: Ma² ⟨p'²⟩/2 = 3 Ma²/8, relative to E₀ = 3/2.
fn abc_decay(setup: &Setup) -> Result<Check> {
    let (mach, reynolds) = (0.1, 10.0);
    let mut run = setup.run("abc-flow", [16; 3], &["case.mach=0.1", "case.reynolds=10"])?;
    let mut deviation = 0.0;
    for time in [0.5, 1.0, 1.5, 2.0] {
        run.advance(time)?;
        let [energy] = run.quantities(["kinetic_energy"])?;
        deviation = worse(deviation, (energy - 1.5 * (-2.0 * time / reynolds).exp()).abs());
    }
    Ok(Check::at_most("abc-decay", deviation, 3.0 / 8.0 * mach * mach)
        .shows("kinetic energy of the ABC flow decays as exp(−2k²t/Re)")
        .source("exact incompressible solution; energy of sound, Ma² ⟨p'²⟩/2"))
}
