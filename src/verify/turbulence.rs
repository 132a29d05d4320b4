//! The initial state of isotropic turbulence: its spectrum, and the pressure that balances convection.

use super::check::{Check, Convergence, float, worse};
use super::setup::{Setup, spacing};
use crate::comm::Solo;
use crate::error::Result;
use crate::fourier::Fourier;
use crate::gas::Gas;
use crate::grid::{Decomposition, Grid};
use crate::statistics::{Flow, spectrum};

/// E(k) with waves of one and two periods, whose products have at most four.
const FEW_WAVES: &str = "case.spectrum='max(0, 2.5 - k)'";
/// Largest wavenumber of their products.
const MAX_WAVENUMBER: f64 = 4.0;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = spectra(setup)?;
    checks.push(balance(setup)?);
    Ok(checks)
}

/// (E_s, its dilatational part) of a vector field, by shells.
fn energies(gas: Gas, grid: &Grid, velocity: [Vec<f64>; 3]) -> [Vec<f64>; 2] {
    let ones = vec![1.0; grid.len()];
    let flow = Flow {
        density: ones.clone(),
        pressure: ones.clone(),
        temperature: ones,
        velocity,
        scalars: Vec::new(),
        gradient: None,
        viscosity: 0.0,
        gas,
        walls: None,
    };
    let fourier = Fourier::new(Decomposition::ONE, grid.points, 1);
    let mut computed = spectrum::flow(&Solo, &fourier, grid, &flow).values;
    ["energy", "energy_dilatational"].map(|name| {
        let at = spectrum::FLOW.iter().position(|known| *known == name);
        at.map_or(vec![f64::NAN], |at| std::mem::take(&mut computed[at]))
    })
}

/// Every shell has the energy E(k), with a share χ in the dilatational part.
fn spectra(setup: &Setup) -> Result<Vec<Check>> {
    let points = [15, 12, 14];
    let mut deviation = [0.0, 0.0];
    for share in [0.0, 0.3] {
        // At Ma = 0.1 the pressure of the sound, √(2 χ E)/Ma, is small compared with p₀ = 1/(γ Ma²).
        let share_key = format!("case.dilatational={share}");
        let set = ["case.mach=0.1", "case.spectrum='1/(1 + k^2)'", &share_key];
        let mut run = setup.run("isotropic-turbulence", points, &set)?;
        let [_, x, y, z, _] = <[Vec<f64>; 5]>::try_from(run.state()?).unwrap_or_default();
        let [energy, dilatational] = energies(run.problem.gas, run.simulation.grid(), [x, y, z]);
        // The shells 1 to 5 are complete on 12 points.
        let shape = |shell: usize| match shell {
            1..=5 => 1.0 / (1.0 + float(shell * shell)),
            _ => 0.0,
        };
        let sum: f64 = (1..=5).map(shape).sum();
        for shell in 0..energy.len() {
            let expected = 1.5 * shape(shell) / sum;
            deviation[0] = worse(deviation[0], (energy[shell] - expected).abs());
            deviation[1] = worse(deviation[1], (dilatational[shell] - share * expected).abs());
        }
    }
    let check = |at: usize, name, what| {
        Check::at_most(name, deviation[at], 1e-13)
            .shows(what)
            .source("round-off of the transforms, of ½⟨u·u⟩ = 3/2")
    };
    Ok(vec![
        check(0, "spectrum", "the start has the energy of the prescribed spectrum in every shell"),
        check(
            1,
            "dilatation",
            "the start has the prescribed share of dilatational energy in every shell",
        ),
    ])
}

/// The pressure removes the divergence of d(ρu)/dt, to the accuracy of the derivatives of the scheme.
fn balance(setup: &Setup) -> Result<Check> {
    let grids = if setup.quick { [24, 32] } else { [32, 48] };
    let Convergence { h, error, order } = Convergence::between(grids, |n| {
        let mut run = setup.run("isotropic-turbulence", [n; 3], &[FEW_WAVES])?;
        let [_, x, y, z, _] = <[Vec<f64>; 5]>::try_from(run.rate()?).unwrap_or_default();
        let sums = energies(run.problem.gas, run.simulation.grid(), [x, y, z])
            .map(|shells| shells.iter().sum::<f64>());
        Ok((spacing(n), (sums[1] / sums[0]).sqrt()))
    })?;
    Ok(Check::at_most("pressure", (order - 6.0).abs(), (MAX_WAVENUMBER * h).powi(2))
        .shows(format!(
            "div d(ρu)/dt with the pressure falls to 0 at order 6: found {order:.2}, {error:.1e}"
        ))
        .source("Lele 1992, eq. 2.1.7; next term of the scheme's error for waves of four periods"))
}
