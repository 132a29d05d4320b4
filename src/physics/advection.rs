//! Linear advection and diffusion of a scalar: ∂φ/∂t + cⱼ ∂ⱼφ = ν ∂ⱼⱼφ.

use std::sync::Arc;

use super::discretisation::Discretisation;
use super::stability::Limits;
use super::system::{Moment, System};
use crate::backend::cpu::{Cpu, Field, Program};
use crate::cases::ScalarAdvection;
use crate::config::{Config, Variable};
use crate::engine::{Sweep, SweepBuilder};
use crate::error::{Error, Result};
use crate::grid::{Axis, Grid};
use crate::io::series::SCALAR_COLUMNS;
use crate::real::Real;

/// The scalar equation on one grid.
pub struct Advection<T> {
    cpu: Arc<Cpu<T>>,
    grid: Grid,
    case: ScalarAdvection,
    domain: crate::cases::Domain,
    limits: Limits,
    sweeps: Vec<Program<T>>,
    filter_sweeps: Vec<Program<T>>,
}

impl<T: Real> Advection<T> {
    /// The equation of `config` on `cpu`.
    pub fn new(config: &Config, case: ScalarAdvection, cpu: Arc<Cpu<T>>) -> Self {
        let discretisation = Discretisation::new(config);
        let grid = discretisation.grid;
        Self {
            limits: Limits::scalar(&config.scheme, config.time.integrator, &grid),
            sweeps: discretisation.programs(|axis| rhs_sweep(axis, &case)),
            filter_sweeps: discretisation.filter_programs(1),
            cpu,
            grid,
            domain: config.grid.domain,
            case,
        }
    }
}

/// − c ∂φ + ν ∂²φ along `axis`.
fn rhs_sweep(axis: Axis, case: &ScalarAdvection) -> Sweep {
    let s = SweepBuilder::new();
    let phi = s.read(0);
    s.subtract(0, case.velocity[axis.index()] * s.d1(phi));
    if case.diffusivity != 0.0 {
        s.add(0, case.diffusivity * s.d2(phi));
    }
    s.build()
}

impl<T: Real> System<T> for Advection<T> {
    fn backend(&self) -> &Cpu<T> {
        &self.cpu
    }

    fn fields(&self) -> usize {
        1
    }

    fn initial(&self) -> Vec<Field<T>> {
        let mut phi = Field::zeros(self.grid.len());
        for at in 0..self.grid.len() {
            let x = self.grid.coordinates(self.grid.index(at));
            phi[at] = T::of(self.case.initial(&self.domain, self.grid.active(), x));
        }
        vec![phi]
    }

    fn rhs(&mut self, u: &[Field<T>], rate: &mut [Field<T>], beta: f64, scale: f64) {
        for (at, sweep) in self.sweeps.iter().enumerate() {
            let beta = if at == 0 { beta } else { 1.0 };
            self.cpu.run(sweep, self.grid.points, &[&u[0]], &mut [&mut rate[0]], beta, scale);
        }
    }

    fn inspect(&self, u: &[Field<T>], at: Moment) -> Result<f64> {
        let [largest] = self.cpu.max([&*u[0]], |[phi], i| [phi[i].f64().abs()]);
        if largest.is_finite() {
            let squares = self.limits.sum_of_squares();
            return Ok(self.limits.rate(self.case.velocity, 0.0, self.case.diffusivity, squares));
        }
        let broken = u[0].iter().position(|phi| !phi.f64().is_finite()).unwrap_or(0);
        Err(Error::Diverged {
            step: at.step,
            time: at.time,
            field: "scalar",
            value: u[0][broken].f64(),
            index: self.grid.index(broken),
        })
    }

    fn filter(&mut self, u: &mut [Field<T>]) {
        for sweep in &self.filter_sweeps {
            self.cpu.run(sweep, self.grid.points, &[], &mut [&mut u[0]], 1.0, 1.0);
        }
    }

    fn energy(&self, u: &[Field<T>]) -> f64 {
        let [sum] = self.cpu.sum([&*u[0]], |[phi], i| [phi[i].f64().powi(2)]);
        sum * self.grid.per_point()
    }

    fn columns(&self) -> &'static [&'static str] {
        &SCALAR_COLUMNS[3..]
    }

    fn diagnostics(&mut self, u: &[Field<T>], _: &mut [Field<T>], _: f64) -> Vec<f64> {
        let [sum] = self.cpu.sum([&*u[0]], |[phi], i| [phi[i].f64()]);
        let mean = sum * self.grid.per_point();
        let [spread] = self.cpu.sum([&*u[0]], |[phi], i| [(phi[i].f64() - mean).powi(2)]);
        let [largest, smallest] = self.cpu.max([&*u[0]], |[phi], i| [phi[i].f64(), -phi[i].f64()]);
        vec![mean, spread * self.grid.per_point(), -smallest, largest]
    }

    fn error(&self, u: &[Field<T>], time: f64) -> Option<[f64; 2]> {
        let exact = |at: usize| {
            let x = self.grid.coordinates(self.grid.index(at));
            self.case.exact(&self.domain, self.grid.active(), x, time)
        };
        exact(0)?;
        let (mut square, mut largest) = (0.0, 0.0_f64);
        for (at, phi) in u[0].iter().enumerate() {
            let error = phi.f64() - exact(at)?;
            square += error * error;
            largest = largest.max(error.abs());
        }
        Some([(square * self.grid.per_point()).sqrt(), largest])
    }

    fn output(&mut self, u: &[Field<T>], _: Variable) -> Vec<T> {
        u[0].to_vec()
    }

    fn picture(&mut self, u: &[Field<T>]) -> (&'static str, Vec<f64>) {
        ("scalar", u[0].iter().map(|phi| phi.f64()).collect())
    }
}
