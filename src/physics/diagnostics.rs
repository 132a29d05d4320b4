//! What the series, the report and the output files say of a flow.

use super::navier_stokes::{NavierStokes, Part, exactly};
use super::slots::conserved;
use super::system::{Moment, System};
use crate::backend::cpu::{Cpu, Field};
use crate::cases::{FlowCase, FlowPoint};
use crate::config::Variable;
use crate::error::{Error, Result};
use crate::io::FLOW_COLUMNS;
use crate::real::Real;

impl<T: Real> System<T> for NavierStokes<T> {
    fn backend(&self) -> &Cpu<T> {
        &self.cpu
    }

    fn fields(&self) -> usize {
        conserved::COUNT
    }

    fn initial(&self) -> Vec<Field<T>> {
        let mut state = vec![Field::zeros(self.grid.len()); conserved::COUNT];
        for at in 0..self.grid.len() {
            let x = self.grid.coordinates(self.grid.index(at));
            let point = self.flow().initial(&self.gas, &self.domain, self.grid.active(), x);
            for (field, value) in state.iter_mut().zip(conserved_variables(&point, self.gas.gamma))
            {
                field[at] = T::of(value);
            }
        }
        state
    }

    fn rhs(&mut self, u: &[Field<T>], rate: &mut [Field<T>], beta: f64, scale: f64) {
        self.rhs_part(Part::All, u, rate, beta, scale);
    }

    fn inspect(&self, u: &[Field<T>], at: Moment) -> Result<f64> {
        let (gas, limits) = (self.gas, self.limits);
        let squares = limits.sum_of_squares();
        let diffusivity = match gas.is_inviscid() {
            true => 0.0,
            false => (4.0_f64 / 3.0).max(gas.gamma / gas.prandtl) / gas.reynolds,
        };
        let fields: [&[T]; 5] = exactly(u.iter().map(|field| &**field));
        let [rate, negative_density, negative_pressure] = self.cpu.max(fields, |u, i| {
            let [rho, m0, m1, m2, e] = u.map(|field| field[i].f64());
            let velocity = [m0 / rho, m1 / rho, m2 / rho];
            let p = pressure(&gas, [rho, m0, m1, m2, e]);
            let c = (gas.gamma * p / rho).sqrt();
            let nu = diffusivity * gas.mu(gas.temperature(rho, p)) / rho;
            [limits.rate(velocity, c, nu, squares), -rho, -p]
        });
        if rate.is_finite() && negative_density < 0.0 && negative_pressure < 0.0 {
            return Ok(rate);
        }
        Err(self.first_broken_point(u, at))
    }

    fn filter(&mut self, u: &mut [Field<T>]) {
        self.filter_state(u);
    }

    fn energy(&self, u: &[Field<T>]) -> f64 {
        let fields: [&[T]; 4] = exactly(u.iter().take(4).map(|field| &**field));
        let [sum] = self.cpu.sum(fields, |u, i| {
            let [rho, m0, m1, m2] = u.map(|field| field[i].f64());
            [0.5 * (m0 * m0 + m1 * m1 + m2 * m2) / rho]
        });
        sum * self.grid.per_point()
    }

    fn columns(&self) -> &'static [&'static str] {
        &FLOW_COLUMNS[3..]
    }

    fn diagnostics(
        &mut self,
        u: &[Field<T>],
        scratch: &mut [Field<T>],
        filter_rate: f64,
    ) -> Vec<f64> {
        let rates = [Part::All, Part::Convection, Part::Pressure, Part::Viscous]
            .map(|part| self.energy_rate(part, u, scratch));
        self.update_primitives(u);
        self.update_gradients();
        let averages = self.averages(u);
        let [max_mach, min_density, min_temperature] = self.extrema(u);
        let [kinetic, enstrophy, total, solenoidal, dilatational, p_div, conserved @ ..] = averages;
        let mut row = vec![kinetic, enstrophy, total, solenoidal, dilatational, p_div];
        row.push(rates[0] + filter_rate);
        row.extend(&rates[1..]);
        row.push(filter_rate);
        row.extend(conserved);
        row.extend([max_mach, min_density, min_temperature]);
        row
    }

    fn error(&self, u: &[Field<T>], time: f64) -> Option<[f64; 2]> {
        let exact = |at: usize| {
            let x = self.grid.coordinates(self.grid.index(at));
            self.flow().exact(&self.gas, &self.domain, self.grid.active(), x, time)
        };
        exact(0)?;
        let (mut square, mut largest) = (0.0, 0.0_f64);
        for (at, rho) in u[conserved::MASS].iter().enumerate() {
            let error = rho.f64() - exact(at)?.density;
            square += error * error;
            largest = largest.max(error.abs());
        }
        Some([(square * self.grid.per_point()).sqrt(), largest])
    }

    fn output(&mut self, u: &[Field<T>], variable: Variable) -> Vec<T> {
        self.update_primitives(u);
        self.update_gradients();
        let g = |i: usize, j: usize, at: usize| self.gradients[3 * i + j][at];
        let [velocity @ .., _, _] = [0, 1, 2, 3, 4].map(|slot| &self.primitives[slot]);
        let points = 0..self.grid.len();
        match variable {
            Variable::Velocity => points.flat_map(|at| velocity.map(|u| u[at])).collect(),
            Variable::Density => u[conserved::MASS].to_vec(),
            Variable::Pressure => self.primitives[3].to_vec(),
            Variable::Temperature => self.primitives[4].to_vec(),
            Variable::Vorticity => points.flat_map(|at| curl(|i, j| g(i, j, at))).collect(),
            Variable::Dilatation => {
                points.map(|at| g(0, 0, at) + g(1, 1, at) + g(2, 2, at)).collect()
            }
            Variable::QCriterion => points.map(|at| q_criterion(|i, j| g(i, j, at))).collect(),
            Variable::Scalar => unreachable!("refused by the configuration"),
        }
    }

    fn picture(&mut self, u: &[Field<T>]) -> (&'static str, Vec<f64>) {
        self.update_primitives(u);
        self.update_gradients();
        let magnitude = |at: usize| {
            let w = curl(|i, j| self.gradients[3 * i + j][at].f64());
            (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]).sqrt()
        };
        ("vorticity magnitude", (0..self.grid.len()).map(magnitude).collect())
    }
}

impl<T: Real> NavierStokes<T> {
    fn flow(&self) -> &dyn FlowCase {
        self.case.flow().unwrap_or_else(|| unreachable!("a scalar case has a system of its own"))
    }

    /// What the terms `part` do to the kinetic energy: ⟨u·d(ρu)/dt − ½ u·u dρ/dt⟩.
    pub fn energy_rate(&mut self, part: Part, u: &[Field<T>], scratch: &mut [Field<T>]) -> f64 {
        self.rhs_part(part, u, scratch, 0.0, 1.0);
        let velocity = &self.primitives;
        let fields: [&[T]; 7] =
            exactly(velocity.iter().take(3).chain(scratch.iter().take(4)).map(|field| &**field));
        let [sum] = self.cpu.sum(fields, |fields, i| {
            let [u, v, w, rho, m0, m1, m2] = fields.map(|field| field[i].f64());
            [u * m0 + v * m1 + w * m2 - 0.5 * (u * u + v * v + w * w) * rho]
        });
        sum * self.grid.per_point()
    }

    /// Volume averages: ½ρu·u, ½ρω·ω, τ:∇u, μω·ω/Re, 4/3 μ(div u)²/Re, p div u, ρ, ρu, ρv, ρw, ρE.
    fn averages(&self, u: &[Field<T>]) -> [f64; 11] {
        let per_re = 1.0 / self.gas.reynolds;
        let mu = self.primitives.get(5);
        let velocity_and_pressure = self.primitives.iter().take(4);
        let fields: [&[T]; 18] = exactly(
            u.iter().chain(velocity_and_pressure).chain(&self.gradients).map(|field| &**field),
        );
        let [rho, m0, m1, m2, e, u, v, w, p, gradients @ ..] = fields;
        // μ where it varies, and any field (unused) where it does not.
        let viscosity: &[T] = mu.map_or(rho, |mu| mu);
        let [g00, g01, g02, g10, g11, g12, g20, g21, g22] = gradients;
        let read = [
            rho, m0, m1, m2, e, u, v, w, p, viscosity, g00, g01, g02, g10, g11, g12, g20, g21, g22,
        ];
        let sums = self.cpu.sum(read, |fields, at| {
            let [rho, m0, m1, m2, e, u, v, w, p, viscosity, g @ ..] = fields.map(|f| f[at].f64());
            let viscosity = if mu.is_some() { viscosity } else { 1.0 } * per_re;
            let g = |i: usize, j: usize| g[3 * i + j];
            let omega = curl(g);
            let omega_squared = omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2];
            let div = g(0, 0) + g(1, 1) + g(2, 2);
            let mut strain = -2.0 / 3.0 * div * div;
            for i in 0..3 {
                for j in 0..3 {
                    strain += (g(i, j) + g(j, i)) * g(i, j);
                }
            }
            [
                0.5 * (m0 * u + m1 * v + m2 * w),
                0.5 * rho * omega_squared,
                viscosity * strain,
                viscosity * omega_squared,
                4.0 / 3.0 * viscosity * div * div,
                p * div,
                rho,
                m0,
                m1,
                m2,
                e,
            ]
        });
        sums.map(|sum| sum * self.grid.per_point())
    }

    /// Largest local Mach number, smallest density and temperature.
    fn extrema(&self, u: &[Field<T>]) -> [f64; 3] {
        let gamma = self.gas.gamma;
        let fields: [&[T]; 6] =
            exactly(u.iter().take(1).chain(self.primitives.iter().take(5)).map(|f| &**f));
        let [mach_squared, density, temperature] = self.cpu.max(fields, |fields, i| {
            let [rho, u, v, w, p, t] = fields.map(|field| field[i].f64());
            [(u * u + v * v + w * w) * rho / (gamma * p), -rho, -t]
        });
        [mach_squared.sqrt(), -density, -temperature]
    }

    fn first_broken_point(&self, u: &[Field<T>], at: Moment) -> Error {
        let diverged = |field, value, point| Error::Diverged {
            step: at.step,
            time: at.time,
            field,
            value,
            index: self.grid.index(point),
        };
        for point in 0..self.grid.len() {
            let state: [f64; 5] = exactly(u.iter().map(|field| field[point].f64()));
            let [rho, m0, m1, m2, _] = state;
            let p = pressure(&self.gas, state);
            if !(rho.is_finite() && rho > 0.0) {
                return diverged("density", rho, point);
            }
            if let Some(m) = [m0, m1, m2].into_iter().find(|m| !m.is_finite()) {
                return diverged("momentum", m, point);
            }
            if !(p.is_finite() && p > 0.0) {
                return diverged("pressure", p, point);
            }
        }
        diverged("time step", f64::INFINITY, 0)
    }
}

/// p = (γ − 1) (ρE − ½ ρ u·u).
#[inline(always)]
fn pressure(gas: &crate::physics::Gas, [rho, m0, m1, m2, e]: [f64; 5]) -> f64 {
    (gas.gamma - 1.0) * (e - 0.5 * (m0 * m0 + m1 * m1 + m2 * m2) / rho)
}

/// (ρ, ρu, ρv, ρw, ρE).
fn conserved_variables(point: &FlowPoint, gamma: f64) -> [f64; 5] {
    let [u, v, w] = point.velocity;
    let rho = point.density;
    let e = point.pressure / (gamma - 1.0) + 0.5 * rho * (u * u + v * v + w * w);
    [rho, rho * u, rho * v, rho * w, e]
}

/// ω from ∂uᵢ/∂xⱼ.
#[inline(always)]
fn curl<X: Copy + std::ops::Sub<Output = X>>(g: impl Fn(usize, usize) -> X) -> [X; 3] {
    [g(2, 1) - g(1, 2), g(0, 2) - g(2, 0), g(1, 0) - g(0, 1)]
}

/// Q = −½ ∂ᵢuⱼ ∂ⱼuᵢ (Hunt, Wray and Moin 1988, for any div u the part without it).
fn q_criterion<T: Real>(g: impl Fn(usize, usize) -> T) -> T {
    let diagonal = g(0, 0) * g(0, 0) + g(1, 1) * g(1, 1) + g(2, 2) * g(2, 2);
    let cross = g(0, 1) * g(1, 0) + g(0, 2) * g(2, 0) + g(1, 2) * g(2, 1);
    T::of(-0.5) * diagonal - cross
}
