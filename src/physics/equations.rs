//! The Navier-Stokes equations as a [`System`]: right-hand side, stages, boundary conditions, force, filter and checks.

use smallvec::{SmallVec, smallvec};

use super::collective::{InvalidPoint, diverged};
use super::filter_rate::FilterRate;
use super::forcing::{Averages, Forcing};
use super::formulas::{Primitives, full_value};
use super::navier_stokes::NavierStokes;
use super::slots::{self, conserved, exactly};
use super::stage_sweep::StageSweep;
use super::system::{PendingCheck, Stage, System, TimeLevel, add_scaled, are_finite};
use super::term_group::TermGroup;
use crate::backend::{Backend, Field, Program, Weights};
use crate::cases::FlowPoint;
use crate::engine::Formula;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::io::checkpoint::ForcingState;
use crate::real::Values;

impl System for NavierStokes {
    fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn names(&self) -> Vec<String> {
        let scalars = self.scalar_names.iter().map(|name| format!("rho_{name}"));
        conserved::NAMES.map(String::from).into_iter().chain(scalars).collect()
    }

    fn start_names(&self) -> Vec<String> {
        let flow = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
        flow.into_iter().map(String::from).chain(self.scalar_names.iter().cloned()).collect()
    }

    fn state_of(&self, values: &dyn Fn(usize, &mut [f64])) -> Result<Vec<Field>> {
        let base = System::base_state(self);
        let zeros = Values::zeros(self.backend.precision(), self.block.len());
        let mut start = vec![0.0; base.len()];
        let mut state = vec![zeros; base.len()];
        for at in 0..self.block.len() {
            values(at, &mut start);
            let (&mut [density, u, v, w, pressure], scalars) = flow_and_scalars(&mut start);
            let flow = FlowPoint { density, velocity: [u, v, w], pressure };
            let conserved = conserved_variables(&flow, self.gas.gamma);
            let conserved = conserved.into_iter().chain(scalars.iter().map(|phi| density * phi));
            for ((field, value), at_rest) in state.iter_mut().zip(conserved).zip(&base) {
                field.set(at, value - at_rest);
            }
        }
        // One after another: the values on the host are freed as each field is created.
        state.into_iter().map(|field| self.backend.field(&field)).collect()
    }

    fn capture_initial(&mut self, start: &mut [Field]) -> Result<()> {
        self.open.capture_initial(&*self.backend, start);
        match &mut self.body {
            Some(body) => body.capture_initial(&*self.backend, (&self.grid, &self.block), start),
            None => Ok(()),
        }
    }

    fn base_state(&self) -> Vec<f64> {
        let mut base = self.base.conserved(self.gas.gamma).to_vec();
        base.resize(conserved::COUNT + self.scalar_names.len(), 0.0);
        base
    }

    fn rhs(&mut self, u: &mut [Field], rate: &mut [Field], time: f64) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        let (flow_rates, scalar_rates) = rate.split_at_mut(conserved::COUNT);
        if let Some(passive) = &self.scalars {
            passive.add_terms(&*self.backend, flow, [scalars, scalar_rates], Weights::SET, false);
        }
        let weights = self.add_force(flow, flow_rates, Weights::SET);
        self.add_terms(TermGroup::All, flow, flow_rates, weights);
        self.update_filter_difference(u);
        self.add_filter([u, rate], 0.0);
        self.open.correct(&*self.backend, u, rate, Weights::SET);
        self.correct_scalars(u, rate, 0.0);
        self.heat_flux_walls.correct(&*self.backend, u, rate, time);
    }

    fn advance(&mut self, u: &mut [Field], rate: &mut [Field], weights: Weights, stage: Stage) {
        self.open.save_rates(&*self.backend, rate, weights);
        self.heat_flux_walls.save_rates(&*self.backend, rate, weights);
        self.update_filter_difference(u);
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        let (flow_rates, scalar_rates) = rate.split_at_mut(conserved::COUNT);
        // Scalars need the flow before the stage.
        if let Some(passive) = &self.scalars {
            passive.add_terms(&*self.backend, flow, [scalars, scalar_rates], weights, true);
        }
        let forced = self.add_force(flow, flow_rates, weights);
        if let Some(stages) = self.sweeps.stages() {
            let fields = [flow_rates, &mut self.gradients.fields, flow];
            stages.run(&*self.backend, fields, forced, stage);
        } else {
            self.add_terms(TermGroup::All, flow, flow_rates, forced);
            add_scaled(&*self.backend, &self.formulas.add_scaled, flow, forced.advance, flow_rates);
        }
        self.add_filter([u, rate], weights.advance);
        self.open.correct(&*self.backend, u, rate, weights);
        // It needs the state before the stage, which is lost where walls of given heat flux correct it.
        self.correct_scalars(u, rate, weights.advance);
        self.heat_flux_walls.correct_stage(&*self.backend, u, rate, weights);
        self.impose(u, stage.end);
    }

    fn impose(&mut self, u: &mut [Field], time: f64) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        self.open.impose_initial(&*self.backend, flow, scalars);
        self.hold(u, time);
    }

    fn hold(&mut self, u: &mut [Field], time: f64) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        self.open.impose(&*self.backend, flow, scalars);
        self.walls.impose(&*self.backend, flow, time);
        if let Some(passive) = &self.scalars {
            passive.impose(&*self.backend, flow, scalars);
        }
    }

    fn begin(&mut self, u: &mut [Field], rate: &mut [Field]) -> bool {
        // The strength of a force depends on the step, which is not known yet.
        let Some(stages) = self.sweeps.stages().filter(|_| self.forcing.is_none()) else {
            return false;
        };
        let [u, rate] = [u, rate].map(|fields| &mut fields[..conserved::COUNT]);
        stages.begin(&*self.backend, [rate, &mut self.gradients.fields, u])
    }

    fn sweeps(&self) -> Vec<(StageSweep, &Program)> {
        self.sweeps.stages().map_or_else(Vec::new, |stages| stages.sweeps().collect())
    }

    fn run_sweep(&mut self, at: usize, u: &mut [Field], rate: &mut [Field]) {
        let Some(stages) = self.sweeps.stages() else { return };
        let [u, rate] = [u, rate].map(|fields| &mut fields[..conserved::COUNT]);
        stages.run_alone(&*self.backend, at, [rate, &mut self.gradients.fields, u]);
    }

    fn is_forced(&self) -> bool {
        self.forcing.is_some()
    }

    fn update_force(&mut self, u: &[Field], scratch: &mut [Field], dt: Option<f64>) -> Result<()> {
        let Some(forcing) = &self.forcing else { return Ok(()) };
        let averages = match forcing.needs_loss() {
            false => {
                let mut averages = forcing.averages(&*self.backend, &self.volume, u)?;
                if forcing.needs_friction() {
                    averages.friction = self.friction(u, scratch)?;
                }
                averages
            }
            true => {
                let [kinetic_energy, _, dissipation, _, _, p_div, density, x, y, z, total_energy] =
                    self.averages(u, scratch)?;
                let (momentum, loss) = ([x, y, z], dissipation - p_div);
                let friction = [0.0; 3];
                Averages { density, momentum, total_energy, kinetic_energy, loss, friction }
            }
        };
        let (backend, volume) = (&*self.backend, &self.volume);
        let forcing = self.forcing.as_mut();
        forcing.map_or(Ok(()), |forcing| forcing.update(backend, volume, u, &averages, dt))
    }

    fn advance_force(&mut self, dt: f64, done: u64) {
        self.forcing.iter_mut().for_each(|forcing| forcing.advance(dt, done));
    }

    fn saved_force(&self) -> Option<ForcingState> {
        self.forcing.as_ref().map(Forcing::saved)
    }

    fn restore_force(&mut self, saved: &ForcingState, last_dt: f64) {
        self.forcing.iter_mut().for_each(|forcing| forcing.restore(saved, last_dt));
    }

    fn begin_check(&self, u: &[Field]) -> Result<PendingCheck> {
        let fields: SmallVec<[&Field; 10]> =
            slots::flow(u).into_iter().chain(self.metric.curvilinear_fields()).collect();
        let flow = self.backend.reduce(&self.formulas.step_rate, &fields, &[])?;
        let mut pending: PendingCheck = smallvec![flow];
        self.scalars
            .as_ref()
            .map_or(Ok(()), |it| it.begin_check(&*self.backend, u, &mut pending))?;
        Ok(pending)
    }

    fn finish_check(&self, pending: PendingCheck, u: &[Field], at: TimeLevel) -> Result<f64> {
        let mut pending = pending.into_iter();
        let [flow] = exactly(pending.by_ref().take(1));
        let scalars = are_finite(pending);
        let [rate, negative_density, negative_pressure] = flow.wait()?;
        let is_valid = rate.is_finite() && negative_density < 0.0 && negative_pressure < 0.0;
        if is_valid && scalars? { Ok(rate) } else { Err(self.first_invalid_point(u, at)?) }
    }

    fn filter(&mut self, u: &mut [Field]) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        if let Some(passive) = &self.scalars {
            passive.filter(&*self.backend, scalars);
        }
        let mut u: [&mut Field; conserved::COUNT] = exactly(flow.iter_mut());
        for sweep in &self.filter_sweeps {
            self.backend.run(sweep, &[], &mut u, Weights::ADD);
        }
    }

    fn set_filter_time(&mut self, time: f64) -> Result<()> {
        self.filter_rate = Some(FilterRate::new(&*self.backend, time, self.block.len())?);
        Ok(())
    }
}

impl NavierStokes {
    /// Correct the rates of scalars at walls, and `u`, which a stage of weight `advance` has advanced.
    fn correct_scalars(&self, u: &mut [Field], rate: &mut [Field], advance: f64) {
        if let Some(passive) = &self.scalars {
            passive.correct(&*self.backend, u, rate, advance);
        }
    }

    fn first_invalid_point(&self, u: &[Field], at: TimeLevel) -> Result<Error> {
        let primitives = Primitives { gas: self.gas, base: self.base };
        let names = &self.scalar_names;
        let fields =
            u.iter().map(|field| self.backend.values(field)).collect::<Result<Vec<_>>>()?;
        let invalid = |point: usize| {
            let state: [f64; 5] = std::array::from_fn(|k| fields[k].at(point));
            let [rho, m0, m1, m2, _] = state;
            let rho = full_value(rho, self.base.density);
            let [_, _, _, p, _] = primitives.at(state, state, []);
            let p = full_value(p, self.base.pressure);
            let scalars = names.iter().zip(&fields[conserved::COUNT..]);
            let mut scalars = scalars.map(|(name, field)| (&**name, field.at(point) / rho));
            let (field, value) = if !(rho.is_finite() && rho > 0.0) {
                ("density", rho)
            } else if let Some(m) = [m0, m1, m2].into_iter().find(|m| !m.is_finite()) {
                ("momentum", m)
            } else if !(p.is_finite() && p > 0.0) {
                ("pressure", p)
            } else {
                scalars.find(|(_, phi)| !phi.is_finite())?
            };
            Some(InvalidPoint { field: field.into(), value, index: self.block.index(point) })
        };
        let first_invalid = (0..self.block.len()).find_map(invalid);
        Ok(diverged(self.backend.comm(), first_invalid, "time step", at))
    }
}

/// Split a state into flow quantities and scalars.
fn flow_and_scalars(start: &mut [f64]) -> (&mut [f64; 5], &mut [f64]) {
    start.split_first_chunk_mut().unwrap_or_else(|| unreachable!("a flow has five quantities"))
}

/// (ρ, ρu, ρv, ρw, ρE).
fn conserved_variables(point: &FlowPoint, gamma: f64) -> [f64; 5] {
    let [u, v, w] = point.velocity;
    let rho = point.density;
    let e = point.pressure / (gamma - 1.0) + 0.5 * rho * (u * u + v * v + w * w);
    [rho, rho * u, rho * v, rho * w, e]
}
