//! Linear advection and diffusion of a scalar: ∂φ/∂t + cⱼ ∂ⱼφ = ν ∂ⱼⱼφ.

use std::sync::Arc;

use smallvec::smallvec;

use super::Variable;
use super::collective::{InvalidPoint, diverged, norms};
use super::discretisation::Discretisation;
use super::drawn::Drawn;
use super::formulas::AddScaled;
use super::problem::Problem;
use super::stability::Limits;
use super::system::{Diagnostics, PendingCheck, Stage, System, TimeLevel, add_scaled, are_finite};
use super::volume::field_of;
use crate::backend::RightHandSide;
use crate::backend::{Backend, Field, Prepared, Program, Weights};
use crate::cases::{Domain, ScalarAdvection};
use crate::comm::all_or_error;
use crate::engine::{Formula, Number, PointFormula, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::{Axis, Block, Grid};
use crate::real::Values;
use crate::statistics::Sample;

/// The scalar equation on one grid.
pub struct Advection {
    backend: Arc<dyn Backend>,
    grid: Grid,
    /// The points held by the fields.
    block: Block,
    case: ScalarAdvection,
    domain: Domain,
    limits: Limits,
    sweeps: Vec<Program>,
    /// The last sweep in the variant that advances φ; `None` if the right-hand side is composed.
    advancing: Option<Program>,
    add_scaled: Prepared,
    filter_sweeps: Vec<Program>,
    moments: Prepared,
    extrema: Prepared,
}

/// Slots of φ and its rate in the sweeps.
const PHI: usize = 0;
const RATE: usize = 1;

/// (φ − φ₀, (φ − φ₀)²) for the parameter φ₀.
struct Moments;

impl Formula<1, 2, 1> for Moments {
    fn at<N: Number>(&self, [phi]: [N; 1], _: [N; 2], [phi_0]: [N; 1]) -> [N; 2] {
        let deviation = phi - phi_0;
        [deviation, deviation * deviation]
    }
}

/// (φ, −φ), to be maximised.
struct Extrema;

impl Formula<1, 2> for Extrema {
    fn at<N: Number>(&self, [phi]: [N; 1], _: [N; 2], _: [N; 0]) -> [N; 2] {
        [phi, -phi]
    }
}

impl Advection {
    /// The equation of `problem` on `backend`.
    ///
    /// # Errors
    /// Compiler errors.
    pub fn new(
        problem: &Problem,
        case: ScalarAdvection,
        backend: Arc<dyn Backend>,
    ) -> Result<Self> {
        let on = Discretisation::new(problem, &*backend)?;
        let fused = problem.right_hand_side == RightHandSide::Fused;
        let last = on.grid.active_axes().last();
        let advancing = |axis| on.program(axis, &rhs_sweep(axis, &case, true));
        Ok(Self {
            limits: Limits::scalar(&problem.scheme, problem.integrator, &on.grid),
            sweeps: on.programs(|axis| rhs_sweep(axis, &case, false))?,
            advancing: last.filter(|_| fused).map(advancing).transpose()?,
            add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
            filter_sweeps: on.filter_programs(1)?,
            moments: backend.prepare(PointFormula::sum(Moments))?,
            extrema: backend.prepare(PointFormula::max(Extrema))?,
            block: on.block,
            grid: on.grid,
            backend,
            domain: problem.domain,
            case,
        })
    }
}

/// Adds − c ∂φ + ν ∂²φ along `axis` to the rate; advances φ by the rate if `advances`.
pub(super) fn rhs_sweep(axis: Axis, case: &ScalarAdvection, advances: bool) -> Sweep {
    let s = SweepBuilder::new();
    let phi = s.previous(PHI);
    s.subtract(RATE, case.velocity[axis.index()] * s.d1(phi));
    if case.diffusivity != 0.0 {
        s.add(RATE, case.diffusivity * s.d2(phi));
    }
    if advances {
        s.store(PHI, s.advanced(phi, RATE));
    }
    s.build()
}

impl System for Advection {
    fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn names(&self) -> Vec<String> {
        vec!["scalar".into()]
    }

    fn start_names(&self) -> Vec<String> {
        self.names()
    }

    fn state_of(&self, values: &dyn Fn(usize, &mut [f64])) -> Result<Vec<Field>> {
        let phi = |at: usize| {
            let mut value = [0.0];
            values(at, &mut value);
            value[0]
        };
        Ok(vec![field_of(&*self.backend, self.block.len(), phi)?])
    }

    fn base_state(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn rhs(&mut self, u: &mut [Field], rate: &mut [Field], _: f64) {
        let fields = &mut [&mut u[0], &mut rate[0]];
        self.backend.run_all(&mut self.sweeps.iter(), &[], fields, Weights::SET);
    }

    fn advance(&mut self, u: &mut [Field], rate: &mut [Field], weights: Weights, _: Stage) {
        let fields = &mut [&mut u[0], &mut rate[0]];
        if let Some(advancing) = &self.advancing {
            let others = self.sweeps.iter().take(self.sweeps.len() - 1);
            self.backend.run_all(&mut others.chain([advancing]), &[], fields, weights);
        } else {
            self.backend.run_all(&mut self.sweeps.iter(), &[], fields, weights);
            add_scaled(&*self.backend, &self.add_scaled, u, weights.advance, rate);
        }
    }

    fn begin_check(&self, u: &[Field]) -> Result<PendingCheck> {
        Ok(smallvec![self.backend.reduce(&self.extrema, &[&u[0]], &[])?])
    }

    fn finish_check(&self, pending: PendingCheck, u: &[Field], at: TimeLevel) -> Result<f64> {
        if are_finite(pending)? {
            return Ok(self.limits.rate(self.case.velocity, 0.0, self.case.diffusivity));
        }
        let values = self.backend.values(&u[0])?;
        let invalid = |(point, value): (usize, f64)| {
            let index = self.block.index(point);
            (!value.is_finite()).then(|| InvalidPoint { field: "scalar".into(), value, index })
        };
        let first_invalid = values.iter().enumerate().find_map(invalid);
        Err(diverged(self.backend.comm(), first_invalid, "scalar", at))
    }

    fn filter(&mut self, u: &mut [Field]) {
        for sweep in &self.filter_sweeps {
            self.backend.run(sweep, &[], &mut [&mut u[0]], Weights::ADD);
        }
    }
}

impl Diagnostics for Advection {
    fn variables(&self) -> Vec<Variable> {
        vec![Variable::Scalar]
    }

    fn budgets(&self) -> usize {
        1
    }

    fn energies(&self, u: &[Field], to: &mut [f64]) -> Result<()> {
        let [_, sum] = self.backend.reduce(&self.moments, &[&u[0]], &[0.0])?.wait()?;
        to[0] = sum * self.grid.per_point();
        Ok(())
    }

    fn diagnostics(&mut self, u: &[Field], _: &mut [Field], _: &[f64]) -> Result<Vec<f64>> {
        let per_point = self.grid.per_point();
        let [sum, _] = self.backend.reduce(&self.moments, &[&u[0]], &[0.0])?.wait()?;
        let mean = sum * per_point;
        let [_, squares] = self.backend.reduce(&self.moments, &[&u[0]], &[mean])?.wait()?;
        let [max, negative_min] = self.backend.reduce(&self.extrema, &[&u[0]], &[])?.wait()?;
        Ok(vec![mean, squares * per_point, -negative_min, max])
    }

    fn has_exact(&self) -> bool {
        let x = self.grid.coordinates([0; 3]);
        self.case.exact(&self.domain, self.grid.active(), x, 0.0).is_some()
    }

    fn error(&self, u: &[Field], time: f64) -> Result<Option<[f64; 2]>> {
        if !self.has_exact() {
            return Ok(None);
        }
        let values = self.backend.values(&u[0])?;
        let errors = values.iter().enumerate().filter_map(|(at, phi)| {
            let x = self.grid.coordinates(self.block.index(at));
            let exact = self.case.exact(&self.domain, self.grid.active(), x, time)?;
            Some((phi - exact, 1.0))
        });
        Ok(Some(norms(self.backend.comm(), self.grid.per_point(), errors)))
    }

    fn output(&mut self, u: &[Field], _: &mut [Field], _: &Variable) -> Result<Values<'static>> {
        Ok(self.backend.values(&u[0])?.into_owned())
    }

    fn drawn(&self) -> &'static [Drawn] {
        &[Drawn::Scalar]
    }

    fn picture(&mut self, u: &[Field], _: &mut [Field], _: Drawn) -> Result<Vec<f64>> {
        Ok(self.backend.values(&u[0])?.into())
    }

    fn sample(&mut self, u: &[Field], _: &mut [Field], _: bool) -> Result<Sample> {
        let values = all_or_error(self.backend.comm(), self.backend.values(&u[0]))?;
        Ok(Sample::Scalar(values.into()))
    }
}
