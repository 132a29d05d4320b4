//! Walls: exact solutions of the discrete equations, orders, and the same result on all backends and ranks.

use super::channels;
use super::check::{Check, Convergence, distance, distance_of_all, float, largest, worse};
use super::exact::odd_error;
use super::fields::Run;
use super::setup::{FILTER, Setup};
use super::stretched;
use crate::config::Config;
use crate::error::Result;
use crate::gas::Gas;
use crate::scheme::{default_closure, family};

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for viscous in ["laplacian", "conservative"] {
        checks.extend(couette(setup, viscous)?);
    }
    checks.extend(stokes(setup)?);
    checks.push(cavity(setup)?);
    checks.push(octant(setup)?);
    checks.extend(channels::checks(setup)?);
    checks.extend(stretched::checks(setup)?);
    Ok(checks)
}

/// Points from wall to wall: at least five per rank.
const POINTS: usize = 45;

/// Couette flow with plates of given temperature, and with a given heat flux: polynomials of second degree in y, on which every
/// operator and closure is exact, so the discrete equations have the same steady solution.
fn couette(setup: &Setup, viscous: &str) -> Result<Vec<Check>> {
    const FLUX: f64 = 0.02;
    let scheme = format!("scheme.viscous={viscous}");
    let plates = format!(
        "boundary.y={{ low = {{ kind = 'wall', temperature = 1.0 }}, high = {{ kind = 'wall', heat_flux = {FLUX}, velocity = [1.0, 0.0, 0.0] }} }}"
    );
    let mut checks = Vec::new();
    for (name, set) in [("temperature", "case.temperature=1.3"), ("heat-flux", &plates)] {
        let config = setup.config("couette-flow", [1, POINTS, 1], &[&scheme, set])?;
        let mut run = setup.start(&config)?;
        let gas = config.gas;
        let profile = move |y: f64| match name {
            "temperature" => 1.0 + 0.3 * y + heating(&gas) * y * (1.0 - y),
            // k ∂T/∂y = q at y = 1.
            _ => {
                1.0 + (2.0 * heating(&gas) + FLUX / gas.conductivity()) * y - heating(&gas) * y * y
            }
        };
        let solution = move |_: [usize; 3], [_, y, _]: [f64; 3]| {
            [1.0 / profile(y), y, 0.0, 0.0, gas.reference_pressure()]
        };
        run.set(solution)?;
        let start = run.state()?;
        let [energy] = run.quantities(["kinetic_energy"])?;
        run.steps(50)?;
        let end = run.state()?;
        let deviation = distance_of_all(&start, &end);
        // ρE at rest, and the round-off that a step adds to it.
        let unit = gas.reference_pressure() / (gas.gamma - 1.0) * f64::EPSILON;
        checks.push(
            Check::at_most(format!("couette-{name}-{viscous}"), deviation, 50.0 * unit)
                .shows(format!("Couette flow with walls of given {name} remains steady, {viscous}"))
                .source(
                    "operators and closures are exact on polynomials of second degree; round-off",
                ),
        );
        if name == "temperature" && viscous == "laplacian" {
            checks.push(average(energy, profile));
        }
    }
    Ok(checks)
}

/// ½ (γ − 1) Ma² Pr: −½ d²T/dη² of Couette flow.
fn heating(gas: &Gas) -> f64 {
    0.5 * (gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl
}

/// The kinetic energy ½ ρu²: by Simpson's rule on many points, and as computed by the run.
fn average(computed: f64, temperature: impl Fn(f64) -> f64) -> Check {
    const INTERVALS: usize = 2000;
    let energy = |at: usize| {
        let y = float(at) / float(INTERVALS);
        0.5 * y * y / temperature(y)
    };
    let weight = |at: usize| if at == 0 || at == INTERVALS { 1.0 } else { float(2 + 2 * (at % 2)) };
    let sum: f64 = (0..=INTERVALS).map(|at| weight(at) * energy(at)).sum();
    let expected = sum / float(3 * INTERVALS);
    Check::at_most("average", (computed - expected).abs() / expected, float(POINTS - 1).powi(-4))
        .shows("averages between walls are integrals by the norm of summation by parts")
        .source("h⁴: the norm is exact on polynomials of fifth degree, the trapezoidal rule would leave h²/12")
}

/// The oscillating plate, from half of the difference of two runs with opposite amplitudes.
fn stokes(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    let derivatives = ["compact6", "compact4", "compact8"];
    // Thousands of steps on few points, which are slow on a device or on several ranks.
    let few = setup.is_quick_on_device() || setup.comm.size() > 1;
    for derivative in derivatives.into_iter().take(if few { 1 } else { 3 }) {
        for viscous in ["laplacian", "conservative"] {
            let set = [
                "case.amplitude=1e-5",
                "time.dt=0.0005",
                &format!("scheme.derivative={derivative}"),
                &format!("scheme.viscous={viscous}"),
            ];
            let convergence = Convergence::between([POINTS, 2 * POINTS - 1], |n| {
                let config = setup.config("stokes-layer", [1, n, 1], &set)?;
                Ok((1.0 / float(n - 1), odd_error(setup, &config, 0.25)?))
            })?;
            let (order, error) = (convergence.order, convergence.error / 1e-5);
            let (required, reach) = order_at_wall(derivative, viscous);
            let what = format!(
                "a Stokes layer converges at order {required} or more ({derivative}, {viscous}): {order:.2}, {error:.1e} of A"
            );
            checks.push(
                Check::at_most(
                    format!("stokes-layer-{derivative}-{viscous}"),
                    (f64::from(required) - order).max(0.0),
                    reach * convergence.h / std::f64::consts::LN_2,
                )
                .shows(what)
                .source("the rows at the wall have one order less (Gustafsson 1975); next term of Taylor's series"),
            );
        }
    }
    Ok(checks)
}

/// The order of a solution with this viscous term, one more than that of the lowest row at a wall; and the reach of such rows.
pub(super) fn order_at_wall(derivative: &str, viscous: &str) -> (u32, f64) {
    let scheme = family(derivative).map(|family| match viscous {
        "laplacian" => &family.second,
        _ => &family.first,
    });
    let rows = scheme.and_then(default_closure).map_or(Vec::new(), |closure| closure.rows);
    let lowest = rows.iter().map(|row| row.order).min().unwrap_or(0);
    let widest = rows.iter().map(|row| row.rhs.len()).max().unwrap_or(1);
    (1 + lowest, float(widest - 1))
}

/// The Taylor-Green vortex between symmetry planes, and in its whole box on one host.
fn octant(setup: &Setup) -> Result<Check> {
    const INTERVALS: usize = 36;
    let state = |run: Result<Run>| -> Result<_> {
        let mut run = run?;
        run.steps(4)?;
        run.state()
    };
    let set = ["time.dt=0.01", "case.octant=true"];
    let octant = setup.config("taylor-green", [INTERVALS / 2 + 1; 3], &set)?;
    let whole = setup.config("taylor-green", [INTERVALS; 3], &set[..1])?;
    let (computed, expected) = (state(setup.start(&octant))?, state(setup.reference(&whole))?);
    let octant = octant.grid();
    let whole_index = |at: usize| {
        let [i, j, k] = octant.index(at);
        i + INTERVALS * (j + INTERVALS * k)
    };
    let deviation = computed.iter().zip(&expected).map(|(computed, whole)| {
        let same: Vec<f64> = (0..octant.len()).map(|at| whole[whole_index(at)]).collect();
        distance(computed, &same) / largest(whole).max(1.0)
    });
    Ok(Check::at_most("octant", deviation.fold(0.0, worse), 1e-12)
        .shows(
            "four steps of the Taylor-Green vortex between symmetry planes agree with the whole box",
        )
        .source("the same operators, reflected: round-off"))
}

/// The largest difference after four steps from `start` to the same run on one host, relative to the field.
pub(super) fn deviation_from_one_host(
    setup: &Setup,
    config: &Config,
    start: impl Fn(&mut Run) -> Result<()>,
) -> Result<f64> {
    let state = |mut run: Run| -> Result<_> {
        start(&mut run)?;
        run.steps(4)?;
        run.state()
    };
    let (computed, expected) = (state(setup.start(config)?)?, state(setup.reference(config)?)?);
    let deviation =
        computed.iter().zip(&expected).map(|(a, b)| distance(a, b) / largest(b).max(1e-3));
    Ok(deviation.fold(0.0, worse))
}

/// The first steps of the cavity, with corners, compared with one host.
fn cavity(setup: &Setup) -> Result<Check> {
    let config = setup.config("lid-driven-cavity", [31, 29, 1], &[FILTER])?;
    Ok(Check::at_most("cavity", deviation_from_one_host(setup, &config, |_| Ok(()))?, 1e-12)
        .shows("four steps of the lid-driven cavity agree with one host")
        .source("same formulas in another order: round-off"))
}
