//! Invariance of the solution: uniform stream, frame of reference, exchange of axes, and symmetries of a flow.

use std::f64::consts::TAU;

use super::check::{Check, Convergence, distance, float, largest, worse};
use super::setup::{Forms, Setup, compact6, spacing};
use crate::error::Result;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for forms in setup.pairs() {
        checks.push(free_stream(setup, &forms)?);
        checks.push(turned_axes(setup, &forms)?);
    }
    if !setup.is_quick_on_device() {
        checks.push(moving_frame(setup)?);
    }
    checks.push(symmetries(setup)?);
    Ok(checks)
}

/// A uniform stream stays uniform: dU/dt is the round-off of the fluxes, (ρE + p) |u| k'max/h summed over the axes.
fn free_stream(setup: &Setup, forms: &Forms) -> Result<Check> {
    let points = [12, 14, 16];
    let config = setup.config("taylor-green", points, &forms.with(&[]))?;
    let (u, p) = ([0.9, -0.7, 0.4_f64], config.gas.reference_pressure());
    let mut run = setup.start(&config)?;
    run.set(|_, _| [1.0, u[0], u[1], u[2], p])?;
    let rate = largest(&run.rate()?.concat());
    let enthalpy = config.gas.gamma / (config.gas.gamma - 1.0) * p;
    let symbol = compact6().first.max_symbol().0;
    let flux: f64 = (0..3).map(|a| enthalpy * u[a].abs() * symbol / spacing(points[a])).sum();
    Ok(Check::at_most(
        format!("free-stream/{}", forms.name()),
        rate,
        // Each of the few dozen operators has one rounding; staggered operators also interpolate.
        8.0 * f64::EPSILON * flux,
    )
    .shows("a uniform stream is preserved: dU/dt")
    .source("derivatives of constants are zero; round-off of (ρE + p) u k'max/h"))
}

/// sin(2π k·x + phase).
fn plane_wave(x: [f64; 3], [a, b, c]: [f64; 3], phase: f64) -> f64 {
    (TAU * (a * x[0] + b * x[1] + c * x[2]) + phase).sin()
}

/// A smooth flow without symmetry, in (x, y, z) with a period of one each.
pub fn asymmetric_flow(x: [f64; 3]) -> [f64; 5] {
    let wave = |a, b, c, phase| plane_wave(x, [a, b, c], phase);
    [
        1.0 + 0.1 * wave(1.0, 0.0, 1.0, 0.3) + 0.05 * wave(0.0, 2.0, -1.0, 1.0),
        0.3 + 0.4 * wave(1.0, 1.0, 0.0, 0.7) + 0.2 * wave(2.0, 0.0, 1.0, 2.0),
        -0.2 + 0.5 * wave(0.0, 1.0, 1.0, 1.9) + 0.1 * wave(1.0, -1.0, 1.0, 0.2),
        0.1 + 0.3 * wave(1.0, 0.0, -1.0, 2.6) + 0.3 * wave(1.0, 1.0, 1.0, 1.1),
        3.0 + 0.3 * wave(0.0, 1.0, 0.0, 0.9) + 0.2 * wave(1.0, 0.0, 2.0, 0.1),
    ]
}

/// A change of axes: new axis a is old axis `from[a]`, reflected where `flip[a]` is true.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The old axis of every new axis.
    pub from: [usize; 3],
    /// Whether each new axis is reflected.
    pub flip: [bool; 3],
}

impl Turn {
    /// Points along the old axes.
    const POINTS: [usize; 3] = [12, 16, 14];
    /// Lengths of the box along the old axes.
    const LENGTHS: [f64; 3] = [TAU, 5.0, 7.0];

    /// Points along the new axes.
    pub fn points(&self) -> [usize; 3] {
        self.from.map(|axis| Self::POINTS[axis])
    }

    /// Lengths of the box along the new axes.
    pub fn lengths(&self) -> [f64; 3] {
        self.from.map(|axis| Self::LENGTHS[axis])
    }

    /// The index in the old grid of a point of the new grid.
    fn old_index(&self, index: [usize; 3]) -> [usize; 3] {
        let mut old = [0; 3];
        for (a, n) in self.points().into_iter().enumerate() {
            old[self.from[a]] = if self.flip[a] { (n - index[a]) % n } else { index[a] };
        }
        old
    }

    fn sign(&self, axis: usize) -> f64 {
        if self.flip[axis] { -1.0 } else { 1.0 }
    }

    /// [`asymmetric_flow`] at a point of the new grid, with velocity components along the new axes.
    pub fn flow(&self, index: [usize; 3]) -> [f64; 5] {
        let old = self.old_index(index);
        let flow = asymmetric_flow([0, 1, 2].map(|a| float(old[a]) / float(Self::POINTS[a])));
        let mut new = flow;
        for a in 0..3 {
            new[1 + a] = self.sign(a) * flow[1 + self.from[a]];
        }
        new
    }

    /// U of the new grid mapped to the old one, with momentum along the old axes.
    pub fn back(&self, state: &[Vec<f64>]) -> [Vec<f64>; 5] {
        let ([nx, ny, _], len) = (self.points(), state[0].len());
        let mut back: [Vec<f64>; 5] = std::array::from_fn(|_| vec![f64::NAN; len]);
        for at in 0..len {
            let old = self.old_index([at % nx, at / nx % ny, at / (nx * ny)]);
            let to = old[0] + Self::POINTS[0] * (old[1] + Self::POINTS[1] * old[2]);
            back[0][to] = state[0][at];
            back[4][to] = state[4][at];
            for a in 0..3 {
                back[1 + self.from[a]][to] = self.sign(a) * state[1 + a][at];
            }
        }
        back
    }
}

/// The state after a few steps from [`asymmetric_flow`] along other axes, mapped back to the old axes.
fn state_after_turn(setup: &Setup, forms: &Forms, turn: Turn) -> Result<[Vec<f64>; 5]> {
    let set = forms.with(&[
        "case.mach=0.5",
        "case.reynolds=40",
        "time.dt=0.01",
        &format!("grid.length={:?}", turn.lengths()),
        "scheme.filter={ order = 6, alpha = 0.4, every = 2 }",
    ]);
    let mut run = setup.run("taylor-green", turn.points(), &set)?;
    run.set(|index, _| turn.flow(index))?;
    run.steps(5)?;
    Ok(turn.back(&run.state()?))
}

/// Rotated or mirrored axes give the rotated or mirrored solution.
fn turned_axes(setup: &Setup, forms: &Forms) -> Result<Check> {
    let straight = state_after_turn(setup, forms, Turn { from: [0, 1, 2], flip: [false; 3] })?;
    let mut deviation = 0.0;
    let others = [
        ([1, 2, 0], [false, true, true]),
        ([1, 0, 2], [false; 3]),
        ([0, 1, 2], [true, false, false]),
        ([2, 1, 0], [false; 3]),
    ];
    // A grid of another shape needs a compilation: the first change of axes rotates and mirrors all of them.
    let few = if setup.is_quick_on_device() { 1 } else { others.len() };
    for (from, flip) in others.into_iter().take(few) {
        let other = state_after_turn(setup, forms, Turn { from, flip })?;
        deviation = worse(deviation, distance(&straight.concat(), &other.concat()));
    }
    Ok(Check::at_most(
        format!("axes/{}", forms.name()),
        deviation,
        // 30 stages round values up to 10, and individual terms are several times as large.
        f64::EPSILON * 30.0 * 10.0 * 8.0,
    )
    .shows("turned and mirrored axes give the turned and mirrored answer")
    .source("isotropy of the equations; round-off of 30 stages"))
}

/// Galilean invariance: a flow seen from a frame that moves by whole points. Nonlinear terms in split form satisfy it to the
/// order of the scheme.
fn moving_frame(setup: &Setup) -> Result<Check> {
    let (end, steps) = (0.25, 40);
    let stream = TAU / 8.0 / end;
    let dt = format!("time.dt={}", end / float(steps));
    let set = ["case.mach=0.5", "case.reynolds=50", &dt];
    let grids = if setup.quick { [16, 24] } else { [24, 40] };
    let Convergence { h, error, order } = Convergence::between(grids, |n| {
        let after = |u: f64| -> Result<Vec<Vec<f64>>> {
            let mut run = setup.run("taylor-green", [n; 3], &set)?;
            run.set(|index, _| {
                let mut flow = long_wave_flow(index.map(|i| float(i) / float(n)));
                flow[1] += u;
                flow
            })?;
            run.steps(steps)?;
            run.state()
        };
        let (rest, moving) = (after(0.0)?, after(stream)?);
        // ρ and ρv are the same in both frames, at points n/8 apart.
        let mut deviation = 0.0;
        for field in [0, 2, 3] {
            let back: Vec<f64> =
                (0..n * n * n).map(|at| moving[field][at / n * n + (at % n + n / 8) % n]).collect();
            deviation = worse(deviation, distance(&back, &rest[field]));
        }
        Ok((spacing(n), deviation))
    })?;
    Ok(Check::at_most("moving-frame", 6.0 - order, 1.3 * (2.0 * h).powi(2))
        .shows(format!(
            "a flow seen from a moving frame converges at least at order 6: found {order:.2}, {error:.1e}"
        ))
        .source("Galilean invariance of the equations; next term of Taylor's series for products of waves"))
}

/// A smooth flow of long waves.
fn long_wave_flow(x: [f64; 3]) -> [f64; 5] {
    let wave = |a, b, c, phase| plane_wave(x, [a, b, c], phase);
    [
        1.0 + 0.1 * wave(1.0, 0.0, 0.0, 0.3),
        0.2 * wave(0.0, 1.0, 0.0, 0.7),
        0.2 * wave(1.0, 0.0, 0.0, 1.9) + 0.1 * wave(0.0, 0.0, 1.0, 0.2),
        0.2 * wave(1.0, 0.0, 0.0, 2.6),
        3.0 + 0.1 * wave(0.0, 1.0, 0.0, 0.9),
    ]
}

/// The Taylor-Green vortex keeps its mirror planes: the normal velocity is odd at each plane, everything else even (Brachet et
/// al. 1983).
fn symmetries(setup: &Setup) -> Result<Check> {
    let (n, steps) = ([16, 20, 18], 40);
    let mut run = setup.run("taylor-green", n, &["case.mach=0.5", "case.reynolds=100"])?;
    run.steps(steps)?;
    let state = run.state()?;
    let mut deviation = 0.0;
    for axis in 0..3 {
        for (field, values) in state.iter().enumerate() {
            let sign = if field == 1 + axis { -1.0 } else { 1.0 };
            let mirrored = (0..values.len()).map(|at| {
                let mut index = [at % n[0], at / n[0] % n[1], at / (n[0] * n[1])];
                index[axis] = (n[axis] - index[axis]) % n[axis];
                sign * values[index[0] + n[0] * (index[1] + n[1] * index[2])]
            });
            deviation = worse(deviation, distance(values, &mirrored.collect::<Vec<_>>()));
        }
    }
    Ok(Check::at_most(
        "mirror-planes",
        deviation,
        // As for changed axes, with ρE up to 8.
        f64::EPSILON * float(6 * steps) * 8.0 * 8.0,
    )
    .shows(format!("the Taylor-Green vortex keeps its three mirror planes over {steps} steps"))
    .source("Brachet et al. 1983; round-off of every stage"))
}
