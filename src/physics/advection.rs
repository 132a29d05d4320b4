//! Linear advection and diffusion of a scalar: ∂φ/∂t + cⱼ ∂ⱼφ = ν ∂ⱼⱼφ.

use std::sync::Arc;

use super::discretisation::Discretisation;
use super::stability::Limits;
use super::system::{Moment, System};
use crate::backend::Backend;
use crate::cases::{Domain, ScalarAdvection};
use crate::config::{Config, Variable};
use crate::engine::{Formula, Number, Sweep, SweepBuilder};
use crate::error::{Error, Result};
use crate::grid::{Axis, Grid};
use crate::io::series::SCALAR_COLUMNS;
use crate::real::Real;

/// The scalar equation on one grid.
pub struct Advection<B: Backend> {
    backend: Arc<B>,
    grid: Grid,
    case: ScalarAdvection,
    domain: Domain,
    limits: Limits,
    sweeps: Vec<B::Program>,
    filter_sweeps: Vec<B::Program>,
    moments: B::Prepared<Moments>,
    extrema: B::Prepared<Extrema>,
}

/// (φ − φ₀, (φ − φ₀)²) for the parameter φ₀.
struct Moments;

impl Formula<1, 2, 1> for Moments {
    #[inline(always)]
    fn at<N: Number>(&self, [phi]: [N; 1], _: [N; 2], [middle]: [N; 1]) -> [N; 2] {
        let deviation = phi - middle;
        [deviation, deviation * deviation]
    }
}

/// (φ, −φ), to be maximised.
struct Extrema;

impl Formula<1, 2> for Extrema {
    #[inline(always)]
    fn at<N: Number>(&self, [phi]: [N; 1], _: [N; 2], _: [N; 0]) -> [N; 2] {
        [phi, -phi]
    }
}

impl<B: Backend> Advection<B> {
    /// The equation of `config` on `backend`.
    ///
    /// # Errors
    /// Where a compiler refuses.
    pub fn new(config: &Config, case: ScalarAdvection, backend: Arc<B>) -> Result<Self> {
        let discretisation = Discretisation::new(config);
        let grid = discretisation.grid;
        Ok(Self {
            limits: Limits::scalar(&config.scheme, config.time.integrator, &grid),
            sweeps: discretisation.programs(&*backend, |axis| rhs_sweep(axis, &case))?,
            filter_sweeps: discretisation.filter_programs(&*backend, 1)?,
            moments: backend.summing(Moments)?,
            extrema: backend.maximising(Extrema)?,
            backend,
            grid,
            domain: config.grid.domain,
            case,
        })
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

impl<B: Backend> System<B> for Advection<B> {
    fn backend(&self) -> &B {
        &self.backend
    }

    fn fields(&self) -> usize {
        1
    }

    fn initial(&self) -> Result<Vec<B::Field>> {
        let phi = |at| {
            let x = self.grid.coordinates(self.grid.index(at));
            B::Real::of(self.case.initial(&self.domain, self.grid.active(), x))
        };
        Ok(vec![self.backend.field((0..self.grid.len()).map(phi).collect())?])
    }

    fn reference(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn rhs(&mut self, u: &[B::Field], rate: &mut [B::Field], beta: f64, scale: f64) {
        self.backend.run_all(&self.sweeps, &[&u[0]], &mut [&mut rate[0]], beta, scale);
    }

    fn inspect(&self, u: &[B::Field], at: Moment) -> Result<f64> {
        let extrema = self.backend.max(&self.extrema, [&u[0]], [])?;
        if extrema.iter().all(|phi| phi.is_finite()) {
            return Ok(self.limits.rate(self.case.velocity, 0.0, self.case.diffusivity));
        }
        let values = self.backend.values(&u[0])?;
        let broken = values.iter().position(|phi| !phi.f64().is_finite()).unwrap_or(0);
        Err(Error::Diverged {
            step: at.step,
            time: at.time,
            field: "scalar",
            value: values[broken].f64(),
            index: self.grid.index(broken),
        })
    }

    fn filter(&mut self, u: &mut [B::Field]) {
        for sweep in &self.filter_sweeps {
            self.backend.run(sweep, &[], &mut [&mut u[0]], 1.0, 1.0);
        }
    }

    fn energy(&self, u: &[B::Field]) -> Result<f64> {
        let [_, sum] = self.backend.sum(&self.moments, [&u[0]], [0.0])?;
        Ok(sum * self.grid.per_point())
    }

    fn columns(&self) -> &'static [&'static str] {
        &SCALAR_COLUMNS[3..]
    }

    fn diagnostics(&mut self, u: &[B::Field], _: &mut [B::Field], _: f64) -> Result<Vec<f64>> {
        let per_point = self.grid.per_point();
        let [sum, _] = self.backend.sum(&self.moments, [&u[0]], [0.0])?;
        let mean = sum * per_point;
        let [_, spread] = self.backend.sum(&self.moments, [&u[0]], [mean])?;
        let [largest, smallest] = self.backend.max(&self.extrema, [&u[0]], [])?;
        Ok(vec![mean, spread * per_point, -smallest, largest])
    }

    fn has_exact(&self) -> bool {
        let x = self.grid.coordinates([0; 3]);
        self.case.exact(&self.domain, self.grid.active(), x, 0.0).is_some()
    }

    fn error(&self, u: &[B::Field], time: f64) -> Result<Option<[f64; 2]>> {
        if !self.has_exact() {
            return Ok(None);
        }
        let (mut square, mut largest) = (0.0, 0.0_f64);
        for (at, phi) in self.backend.values(&u[0])?.iter().enumerate() {
            let x = self.grid.coordinates(self.grid.index(at));
            let Some(exact) = self.case.exact(&self.domain, self.grid.active(), x, time) else {
                return Ok(None);
            };
            let error = phi.f64() - exact;
            square += error * error;
            largest = largest.max(error.abs());
        }
        Ok(Some([(square * self.grid.per_point()).sqrt(), largest]))
    }

    fn output(&mut self, u: &[B::Field], _: Variable) -> Result<Vec<B::Real>> {
        Ok(self.backend.values(&u[0])?.into_owned())
    }

    fn picture(&mut self, u: &[B::Field]) -> Result<(&'static str, Vec<f64>)> {
        let values = self.backend.values(&u[0])?;
        Ok(("scalar", values.iter().map(|phi| phi.f64()).collect()))
    }
}
