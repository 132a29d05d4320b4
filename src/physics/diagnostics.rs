//! What the series, the report and the output files say of a flow.

use super::collective::{Broken, lowest, norms};
use super::formulas::pressure;
use super::navier_stokes::{NavierStokes, Part, exactly};
use super::slots::conserved;
use super::system::{Moment, Stage, System, add_scaled};
use crate::backend::{Backend, Weights};
use crate::cases::{FlowCase, FlowPoint};
use crate::comm::agree;
use crate::config::Variable;
use crate::engine::Number;
use crate::error::{Error, Result};
use crate::io::FLOW_COLUMNS;
use crate::real::Real;
use crate::statistics::{Flow, Sample};

impl<B: Backend> System<B> for NavierStokes<B> {
    fn backend(&self) -> &B {
        &self.backend
    }

    fn names(&self) -> &'static [&'static str] {
        &conserved::NAMES
    }

    fn initial(&self) -> Result<Vec<B::Field>> {
        let reference = System::reference(self);
        let mut state = vec![vec![B::Real::ZERO; self.block.len()]; conserved::COUNT];
        for at in 0..self.block.len() {
            let x = self.grid.coordinates(self.block.index(at));
            let point = self.flow().initial(&self.gas, &self.domain, self.grid.active(), x);
            let values = conserved_variables(&point, self.gas.gamma);
            for ((field, value), at_rest) in state.iter_mut().zip(values).zip(&reference) {
                field[at] = B::Real::of(value - at_rest);
            }
        }
        state.into_iter().map(|field| self.backend.field(field)).collect()
    }

    fn reference(&self) -> Vec<f64> {
        self.reference.conserved(self.gas.gamma).to_vec()
    }

    fn rhs(&mut self, u: &mut [B::Field], rate: &mut [B::Field]) {
        let only = Stage { first: true, last: true };
        self.stage(u, rate, Weights::add(0.0, 1.0), only);
    }

    fn advance(
        &mut self,
        u: &mut [B::Field],
        rate: &mut [B::Field],
        weights: Weights,
        stage: Stage,
    ) {
        self.stage(u, rate, weights, stage);
        if self.schedule.is_none() {
            add_scaled(&*self.backend, &self.formulas.add_scaled, u, weights.advance, rate);
        }
    }

    fn inspect(&self, u: &[B::Field], at: Moment) -> Result<f64> {
        let [rate, negative_density, negative_pressure] =
            self.backend.max(&self.formulas.step_rate, exactly(u.iter()), [])?;
        if rate.is_finite() && negative_density < 0.0 && negative_pressure < 0.0 {
            return Ok(rate);
        }
        Err(self.first_broken_point(u, at)?)
    }

    fn filter(&mut self, u: &mut [B::Field]) {
        self.filter_state(u);
    }

    fn energy(&self, u: &[B::Field]) -> Result<f64> {
        let fields = exactly(u.iter().take(4));
        let [sum] = self.backend.sum(&self.formulas.kinetic_energy, fields, [])?;
        Ok(sum * self.grid.per_point())
    }

    fn columns(&self) -> &'static [&'static str] {
        &FLOW_COLUMNS[3..]
    }

    fn diagnostics(
        &mut self,
        u: &[B::Field],
        scratch: &mut [B::Field],
        filter_rate: f64,
    ) -> Result<Vec<f64>> {
        let mut rates = [0.0; 4];
        for (rate, part) in
            rates.iter_mut().zip([Part::All, Part::Convection, Part::Pressure, Part::Viscous])
        {
            *rate = self.energy_rate(part, u, scratch)?;
        }
        self.update_primitives(u);
        self.update_gradients();
        let averages = self.averages(u)?;
        let [max_mach, min_density, min_temperature] = self.extrema(u)?;
        let [kinetic, enstrophy, total, solenoidal, dilatational, p_div, conserved @ ..] = averages;
        let mut row = vec![kinetic, enstrophy, total, solenoidal, dilatational, p_div];
        row.push(rates[0] + filter_rate);
        row.extend(&rates[1..]);
        row.push(filter_rate);
        row.extend(conserved);
        row.extend([max_mach, min_density, min_temperature]);
        Ok(row)
    }

    fn has_exact(&self) -> bool {
        let x = self.grid.coordinates([0; 3]);
        self.flow().exact(&self.gas, &self.domain, self.grid.active(), x, 0.0).is_some()
    }

    fn error(&self, u: &[B::Field], time: f64) -> Result<Option<[f64; 2]>> {
        if !self.has_exact() {
            return Ok(None);
        }
        let density = self.backend.values(&u[conserved::MASS])?;
        let active = self.grid.active();
        let errors = density.iter().enumerate().filter_map(|(at, rho)| {
            let x = self.grid.coordinates(self.block.index(at));
            let exact = self.flow().exact(&self.gas, &self.domain, active, x, time)?;
            Some(rho.f64() - (exact.density - self.reference.density))
        });
        Ok(Some(norms(self.backend.comm(), self.grid.per_point(), errors)))
    }

    fn output(&mut self, u: &[B::Field], variable: Variable) -> Result<Vec<B::Real>> {
        self.update_primitives(u);
        self.update_gradients();
        match variable {
            Variable::Velocity => {}
            Variable::Density => self.make_whole(0, u),
            Variable::Pressure => self.make_whole(1, u),
            Variable::Temperature => self.make_whole(2, u),
            Variable::Vorticity => self.make_vorticity(),
            Variable::Dilatation | Variable::QCriterion => self.make_invariants(),
            Variable::Scalar => unreachable!("refused by the configuration"),
        }
        let values = |slot: usize| self.backend.values(&self.primitives[slot]);
        Ok(match variable {
            Variable::Velocity | Variable::Vorticity => {
                let [x, y, z] = [values(0)?, values(1)?, values(2)?];
                (0..self.block.len()).flat_map(|at| [x[at], y[at], z[at]]).collect()
            }
            Variable::QCriterion => values(1)?.into_owned(),
            Variable::Dilatation => values(2)?.into_owned(),
            _ => values(0)?.into_owned(),
        })
    }

    fn picture(&mut self, u: &[B::Field]) -> Result<(&'static str, Vec<f64>)> {
        self.update_primitives(u);
        self.update_gradients();
        self.make_invariants();
        let magnitude = self.backend.values(&self.primitives[0])?;
        Ok(("vorticity magnitude", magnitude.iter().map(|x| x.f64()).collect()))
    }

    fn sample(&mut self, u: &[B::Field], gradients: bool) -> Result<Sample> {
        self.update_primitives(u);
        if gradients {
            self.update_gradients();
        }
        let comm = self.backend.comm();
        let mut flow = agree(comm, self.fields_of_sample(u, gradients))?;
        let mut viscosity = [flow.viscosity];
        comm.sum(&mut viscosity);
        flow.viscosity = viscosity[0] * self.grid.per_point() / self.gas.reynolds;
        Ok(Sample::Flow(Box::new(flow)))
    }
}

/// Quantities to look at take the place of the primitive variables, which every right-hand side makes anew.
impl<B: Backend> NavierStokes<B> {
    /// ρ, p or T.
    fn make_whole(&mut self, which: usize, u: &[B::Field]) {
        let (to, rest) = self.primitives.split_at_mut(1);
        let from = [&u[conserved::MASS], &rest[2], &rest[3]][which];
        let formula = &self.formulas.wholes[which];
        self.backend.map(formula, [from], exactly(to.iter_mut()), []);
    }

    /// ω.
    fn make_vorticity(&mut self) {
        let (from, to) = (&self.gradients, &mut self.primitives);
        let to = exactly(to.iter_mut().take(3));
        self.backend.map(&self.formulas.vorticity, exactly(from.iter()), to, []);
    }

    /// |ω|, Q, div u.
    fn make_invariants(&mut self) {
        let (from, to) = (&self.gradients, &mut self.primitives);
        let to = exactly(to.iter_mut().take(3));
        self.backend.map(&self.formulas.invariants, exactly(from.iter()), to, []);
    }

    /// What is at the points of this rank's block, and Σ μ there in the place of the viscosity.
    fn fields_of_sample(&self, u: &[B::Field], gradients: bool) -> Result<Flow> {
        let host = |field: &B::Field, at_rest: f64| {
            let values = self.backend.values(field)?;
            Ok::<_, Error>(values.iter().map(|value| value.f64() + at_rest).collect::<Vec<f64>>())
        };
        let [u_x, u_y, u_z, p, t] = exactly(self.primitives.iter().take(5));
        let gradient = |_| {
            let fields = self.gradients.iter().map(|field| host(field, 0.0));
            Ok(Box::new(exactly(fields.collect::<Result<Vec<_>>>()?.into_iter())))
        };
        Ok(Flow {
            density: host(&u[conserved::MASS], self.reference.density)?,
            velocity: [host(u_x, 0.0)?, host(u_y, 0.0)?, host(u_z, 0.0)?],
            pressure: host(p, self.reference.pressure)?,
            temperature: host(t, self.reference.temperature)?,
            gradient: gradients.then_some(()).map(gradient).transpose()?,
            viscosity: match self.primitives.get(5) {
                Some(mu) => host(mu, 0.0)?.iter().sum(),
                None => self.block.len() as f64,
            },
        })
    }

    fn flow(&self) -> &dyn FlowCase {
        self.case.flow().unwrap_or_else(|| unreachable!("a scalar case has a system of its own"))
    }

    /// What the terms `part` do to the kinetic energy: ⟨u·d(ρu)/dt − ½ u·u dρ/dt⟩.
    ///
    /// # Errors
    /// What the device says.
    pub fn energy_rate(
        &mut self,
        part: Part,
        u: &[B::Field],
        scratch: &mut [B::Field],
    ) -> Result<f64> {
        self.rhs_part(part, u, scratch);
        let velocity = self.primitives.iter().take(3);
        let fields = exactly(velocity.chain(scratch.iter().take(4)));
        let [sum] = self.backend.sum(&self.formulas.energy_rate, fields, [])?;
        Ok(sum * self.grid.per_point())
    }

    /// Volume averages: see [`super::formulas::Averages`].
    fn averages(&self, u: &[B::Field]) -> Result<[f64; 11]> {
        let velocity_and_pressure = self.primitives.iter().take(4);
        // μ where it varies, and any field (unused) where it does not.
        let mu = self.primitives.get(5).unwrap_or(&u[conserved::MASS]);
        let fields = u.iter().chain(velocity_and_pressure).chain([mu]).chain(&self.gradients);
        let sums = self.backend.sum(&self.formulas.averages, exactly(fields), [])?;
        Ok(sums.map(|sum| sum * self.grid.per_point()))
    }

    /// Largest local Mach number, smallest density and temperature.
    fn extrema(&self, u: &[B::Field]) -> Result<[f64; 3]> {
        let fields = exactly(u.iter().take(1).chain(self.primitives.iter().take(5)));
        let [mach_squared, density, temperature] =
            self.backend.max(&self.formulas.extrema, fields, [])?;
        Ok([mach_squared.sqrt(), -density, -temperature])
    }

    fn first_broken_point(&self, u: &[B::Field], at: Moment) -> Result<Error> {
        let reference = self.reference.conserved(self.gas.gamma);
        let fields =
            u.iter().map(|field| self.backend.values(field)).collect::<Result<Vec<_>>>()?;
        let broken = |point: usize| {
            let state: [f64; 5] = std::array::from_fn(|k| fields[k][point].f64() + reference[k]);
            let [rho, m0, m1, m2, _] = state;
            let p = pressure(&self.gas, state);
            let (field, value) = if !(rho.is_finite() && rho > 0.0) {
                ("density", rho)
            } else if let Some(m) = [m0, m1, m2].into_iter().find(|m| !m.is_finite()) {
                ("momentum", m)
            } else if !(p.is_finite() && p > 0.0) {
                ("pressure", p)
            } else {
                return None;
            };
            Some(Broken { field, value, index: self.block.index(point) })
        };
        let found = (0..self.block.len()).find_map(broken);
        let unknown = Broken { field: "time step", value: f64::INFINITY, index: [0; 3] };
        let Broken { field, value, index } = lowest(self.backend.comm(), found).unwrap_or(unknown);
        Ok(Error::Diverged { step: at.step, time: at.time, field, value, index })
    }
}

/// (ρ, ρu, ρv, ρw, ρE).
fn conserved_variables(point: &FlowPoint, gamma: f64) -> [f64; 5] {
    let [u, v, w] = point.velocity;
    let rho = point.density;
    let e = point.pressure / (gamma - 1.0) + 0.5 * rho * (u * u + v * v + w * w);
    [rho, rho * u, rho * v, rho * w, e]
}
