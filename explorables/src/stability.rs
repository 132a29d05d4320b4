//! Stability of a step of an integrator for u_t + c u_x = ν u_xx: z = λ dt of the discrete operator and the region |R(z)| ≤ 1.

use std::f64::consts::TAU;

use kolmo::config;
use kolmo::engine::LineOperator;
use kolmo::lines;
use kolmo::physics::Limits;
use kolmo::scheme::{SchemeFamily, Tableau, compact_filter};
use nalgebra::{Complex, DMatrix};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error_message;
use crate::operators::{Line, family_of, tableau_of};
use crate::waves::wavenumbers;

/// The displayed part of the complex plane, its number of lines, and the number of intervals of a line.
const REAL: [f64; 2] = [-7.0, 1.0];
const IMAGINARY: [f64; 2] = [-5.5, 5.5];
const LINES: u32 = 240;
const STEPS: u32 = 400;
/// Excess of |R| over 1 that is attributed to the rounding of published coefficients, as in `Tableau`.
const GROWTH_TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    scheme: String,
    integrator: String,
    /// c dt / h.
    courant: f64,
    /// ν / (c h), the inverse of the cell Péclet number.
    diffusion: f64,
    points: usize,
    /// Name of the closure of a line with inflow at its first point and without diffusion; a periodic line has none.
    closure: Option<String>,
    /// α of the eighth-order filter after each step.
    filter: Option<f64>,
}

impl Request {
    pub(crate) fn answer(self) -> Result<Value, String> {
        let family = family_of(&self.scheme)?;
        let integrator = tableau_of(&self.integrator)?;
        let Self { courant, diffusion, points, .. } = self;
        if !(courant > 0.0 && courant.is_finite() && diffusion >= 0.0 && diffusion.is_finite()) {
            return Err("c dt / h must be more than 0, and the diffusion 0 or more".into());
        }
        let filter = self.filter.map(|alpha| match alpha.abs() < 0.5 {
            true => Ok(compact_filter(8, alpha)),
            false => Err(format!("alpha = {alpha} of the filter; between -1/2 and 1/2")),
        });
        let filter = filter.transpose()?;
        let step = Step { gamma: integrator.stability_polynomial() };
        // λ h / c.
        let unit = match self.closure {
            None => of_waves(family, diffusion, points)?,
            closed => {
                let line = Line::named(self.scheme.clone(), closed, points);
                of_operator(&line.operator()?)
            }
        };
        let values: Vec<Complex<f64>> = unit.iter().map(|unit| unit * courant).collect();
        let largest = values.iter().map(|z| step.factor(*z)).fold(0.0, f64::max);
        let limits = limits(family, integrator)?;
        let w: Vec<f64> = wavenumbers().skip(1).collect();
        let factor = |w: &f64| step.at(-symbol(family, diffusion, *w) * courant);
        let filtered = |w: &f64| filter.map_or(1.0, |filter| filter.symbol(*w));
        let amplitude: Vec<f64> = w.iter().map(|w| factor(w).norm() * filtered(w)).collect();
        // `phase` is the phase change of the wave, relative to the exact one.
        let phase_change = unwrapped(w.iter().map(|w| -factor(w).arg()));
        let phase: Vec<f64> =
            phase_change.zip(&w).map(|(angle, w)| angle / (courant * w)).collect();
        Ok(json!({
            "region": step.region(),
            "real": REAL,
            "imaginary": IMAGINARY,
            "eigenvalues": values.iter().map(|z| [z.re, z.im]).collect::<Vec<_>>(),
            "rightmost": unit.iter().map(|unit| unit.re).fold(f64::NEG_INFINITY, f64::max),
            "largest": largest,
            "stable": largest <= 1.0 + GROWTH_TOLERANCE,
            "imaginary_limit": integrator.imaginary_limit(),
            "real_limit": integrator.negative_real_limit(),
            "bound": 1.0 / (limits.convection + limits.diffusion * diffusion),
            "found": step.largest_courant(&unit),
            "w": w,
            "amplitude": amplitude,
            "phase": phase,
        }))
    }
}

/// Returns angles continued from 0 without jumps of 2π.
fn unwrapped(angles: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    angles.scan(0.0, |last: &mut f64, angle| {
        *last = angle + TAU * ((*last - angle) / TAU).round();
        Some(*last)
    })
}

/// Returns the limits of the time step of `kolmo run scalar-advection` with these parameters.
fn limits(family: &SchemeFamily, integrator: &Tableau) -> Result<Limits, String> {
    let set = [("scheme.derivative", family.name), ("time.integrator", integrator.name)];
    let set = set.map(|(key, name)| format!("{key}=\"{name}\""));
    let input = config::built_in("scalar-advection").map_err(|error| error_message(&error))?;
    let config =
        config::parse(input, "scalar-advection", &set).map_err(|error| error_message(&error))?;
    Ok(Limits::scalar(&config.scheme, config.time.integrator, &config.grid()))
}

/// i k'h + k''h² ν/(c h).
fn symbol(family: &SchemeFamily, diffusion: f64, w: f64) -> Complex<f64> {
    Complex::new(diffusion * family.second.symbol(w), family.first.symbol(w))
}

/// Returns λ h / c of the waves of a periodic line.
fn of_waves(family: &SchemeFamily, diffusion: f64, n: usize) -> Result<Vec<Complex<f64>>, String> {
    if !(4..=256).contains(&n) {
        return Err(format!("{n} points; from 4 to 256"));
    }
    let wave = |j: usize| {
        let w = TAU * j as f64 / n as f64;
        // Waves beyond π are those with negative wavenumbers.
        let (w, sign) = if 2 * j > n { (TAU - w, -1.0) } else { (w, 1.0) };
        let symbol = symbol(family, diffusion, w);
        -Complex::new(symbol.re, sign * symbol.im)
    };
    Ok((0..n).map(wave).collect())
}

/// Returns the eigenvalues of −A⁻¹B on u_t + u_x = 0 with u = 0 at the first point.
fn of_operator(operator: &LineOperator) -> Vec<Complex<f64>> {
    let n = operator.len();
    let mut matrix = DMatrix::zeros(n, n);
    for m in 0..n {
        for (offset, weight) in operator.row(m) {
            matrix[(m, m.wrapping_add_signed(offset))] = weight;
        }
    }
    for mut column in matrix.column_iter_mut() {
        lines::solve(operator.factors(), column.as_mut_slice());
    }
    let inner = -matrix.remove_row(0).remove_column(0);
    inner.complex_eigenvalues().iter().copied().collect()
}

struct Step {
    gamma: Vec<f64>,
}

impl Step {
    /// R(z).
    fn at(&self, z: Complex<f64>) -> Complex<f64> {
        self.gamma.iter().rev().fold(Complex::new(0.0, 0.0), |sum, gamma| sum * z + gamma)
    }

    fn factor(&self, z: Complex<f64>) -> f64 {
        self.at(z).norm()
    }

    /// Returns the largest c dt / h for which the amplification factors do not exceed 1; `unit` is λ h / c. Returns 0 if some exceed 1
    /// at any step.
    fn largest_courant(&self, unit: &[Complex<f64>]) -> f64 {
        let stable =
            |courant: f64| unit.iter().all(|u| self.factor(u * courant) <= 1.0 + GROWTH_TOLERANCE);
        let (mut good, step) = (0.0, 1e-3);
        while good < 100.0 && stable(good + step) {
            good += step;
        }
        let mut bad = good + step;
        for _ in 0..40 {
            let middle = 0.5 * (good + bad);
            *(if stable(middle) { &mut good } else { &mut bad }) = middle;
        }
        good
    }

    /// [y, x₀, x₁, x₀, x₁, ...]: intervals of |R(x + iy)| ≤ 1 on lines of the plane.
    fn region(&self) -> Vec<Vec<f64>> {
        let part = |[low, high]: [f64; 2], i: u32, n: u32| {
            low + (high - low) * f64::from(i) / f64::from(n)
        };
        let line = |i: u32| {
            let y = part(IMAGINARY, i, LINES);
            let excess = |x: f64| self.factor(Complex::new(x, y)) - 1.0;
            let mut line = vec![y];
            let (mut before, mut last) = (REAL[0], excess(REAL[0]));
            if last <= 0.0 {
                line.push(before);
            }
            for j in 1..=STEPS {
                let x = part(REAL, j, STEPS);
                let here = excess(x);
                if (here <= 0.0) != (last <= 0.0) {
                    line.push(before + (x - before) * last / (last - here));
                }
                (before, last) = (x, here);
            }
            if line.len().is_multiple_of(2) {
                line.push(REAL[1]);
            }
            line
        };
        (0..=LINES).map(line).filter(|line| line.len() > 1).collect()
    }
}
