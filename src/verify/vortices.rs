//! Kida's vortex and the ABC flow: balance at their start, symmetry and decay.

use super::check::{Check, distance, float, largest, order, worse};
use super::setup::{Setup, spacing};
use crate::engine::{LineOperators, Op};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::real::Precision;
use crate::scheme::family;

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    Ok(vec![kida_pressure(setup)?, kida_symmetries(setup)?, abc_balance(setup)?, abc_decay(setup)?])
}

/// Without viscosity and at ρ = 1, ∂(ρu)/∂t is −u·∇u − ∇p, without divergence where −∇²p = ∂ᵢuⱼ ∂ⱼuᵢ.
fn kida_pressure(setup: &Setup) -> Result<Check> {
    let grids = if setup.quick { [32, 40] } else { [48, 64] };
    let mut errors = Vec::new();
    for n in grids {
        let config = setup.config("kida-vortex", [n; 3], &["case.reynolds=inf".to_string()])?;
        let grid = Grid::periodic([n; 3], &config.grid.domain);
        let mut run = setup.start(&config)?;
        let rate = run.rate()?;
        let mut divergence = vec![0.0; n * n * n];
        if let Some(compact6) = family("compact6") {
            let operators = LineOperators::new(compact6, None, &grid, Precision::F64);
            for axis in Axis::ALL {
                let along = setup.along(axis, [n; 3], Precision::F64)?;
                let part = along.apply(&operators, axis, Op::D1, &rate[1 + axis.index()])?;
                divergence.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        errors.push((spacing(n), largest(&divergence)));
    }
    let found = order(errors[0], errors[1]);
    Ok(Check::at_most(
        "kida-pressure",
        format!(
            "the flow starts without d(div u)/dt: what is left falls at order 6 at least: found {found:.2}, {:.1e}",
            errors[1].1
        ),
        6.0 - found,
        // Waves of the pressure with most of its gradient: (0, 2, 4) and (2, 2, 4), along an axis.
        1.3 * (4.0 * errors[0].0).powi(2),
        "Kida 1985; −∇²p = ∂ᵢuⱼ ∂ⱼuᵢ, in exact arithmetic; next term of Taylor's series",
    ))
}

/// v(x, y, z) = u(y, z, x), and u(x, y, z) = u(x + π, z + π, y + π) with v and w exchanged.
fn kida_symmetries(setup: &Setup) -> Result<Check> {
    let (n, steps) = (18, 40);
    let set = ["case.mach=0.3".to_string(), "case.reynolds=100".into()];
    let mut run = setup.run("kida-vortex", [n; 3], &set)?;
    run.steps(steps)?;
    let state = run.state()?;
    let mut off = 0.0;
    for (from, shift) in [([1, 2, 0], 0), ([0, 2, 1], n / 2)] {
        for field in 0..5 {
            let of = if let 1..=3 = field { 1 + from[field - 1] } else { field };
            let other = (0..n * n * n).map(|at| {
                let index = [at % n, at / n % n, at / (n * n)];
                // Component `from[a]` here is component a there, where the coordinates are exchanged alike.
                let [i, j, k] = from.map(|axis| (index[axis] + shift) % n);
                state[field][i + n * (j + n * k)]
            });
            off = worse(off, distance(&state[of], &other.collect::<Vec<_>>()));
        }
    }
    Ok(Check::at_most(
        "kida-symmetries",
        format!("Kida's vortex keeps two symmetries that exchange axes over {steps} steps"),
        off,
        // As for turned axes: ρE is up to p₀/(γ − 1) = 20.
        f64::EPSILON * float(6 * steps) * 20.0 * 8.0,
        "Kida 1985; round-off of every stage",
    ))
}

/// A Beltrami flow is in balance: without viscosity ∂(ρu)/∂t = 0. All its waves and those of its pressure have one wavenumber along
/// an axis, which a formula multiplies by one and the same number, and uⱼ does not vary along j: round-off is left.
fn abc_balance(setup: &Setup) -> Result<Check> {
    let n = 15;
    let config = setup.config("abc-flow", [n; 3], &["case.reynolds=inf".to_string()])?;
    let rate = largest(&setup.start(&config)?.rate()?[1..4].concat());
    let symbol = family("compact6").map_or(f64::NAN, |family| family.first.max_symbol().0);
    Ok(Check::at_most(
        "abc-balance",
        "a Beltrami flow is in balance: d(ρu)/dt",
        rate,
        // As for a uniform stream.
        8.0 * f64::EPSILON * config.gas.reference_pressure() * symbol / spacing(n),
        "u·∇u = ∇(u·u)/2 = −∇p; round-off of p k'max/h",
    ))
}

/// E = E₀ exp(−2k²t/Re), but for what sound holds: Ma² ⟨p'²⟩/2 = 3 Ma²/8, of E₀ = 3/2.
fn abc_decay(setup: &Setup) -> Result<Check> {
    let (mach, reynolds) = (0.1, 10.0);
    let set = [format!("case.mach={mach}"), format!("case.reynolds={reynolds}")];
    let mut run = setup.run("abc-flow", [16; 3], &set)?;
    let mut off = 0.0;
    for time in [0.5, 1.0, 1.5, 2.0] {
        run.advance(time)?;
        let [energy] = run.quantities(["kinetic_energy"])?;
        off = worse(off, (energy - 1.5 * (-2.0 * time / reynolds).exp()).abs());
    }
    Ok(Check::at_most(
        "abc-decay",
        "kinetic energy of the ABC flow decays as exp(−2k²t/Re)",
        off,
        3.0 / 8.0 * mach * mach,
        "exact incompressible solution; energy of sound, Ma² ⟨p'²⟩/2",
    ))
}
