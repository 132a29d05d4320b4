//! The Navier-Stokes equations as a [`System`]: stages, checks, and the quantities of series, report and output files.

use smallvec::{SmallVec, smallvec};

use super::collective::{Broken, diverged, norms};
use super::drawn::{Drawn, mach_number};
use super::filter_rate::FilterRate;
use super::forcing::{Averages, Forcing, Strength};
use super::formulas::pressure;
use super::navier_stokes::{NavierStokes, Sweeps};
use super::quantities::on_host;
use super::slots::{self, conserved, exactly};
use super::stage_sweep::StageSweep;
use super::system::{Seen, Stage, System, TimeLevel, add_scaled, are_finite};
use super::term_group::TermGroup;
use super::{Gas, Variable};
use crate::backend::{Backend, Field, Program, Weights};
use crate::cases::{FlowCase, FlowPoint};
use crate::comm::all_or_error;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::io::checkpoint::ForcingState;
use crate::real::Values;
use crate::statistics::{BetweenWalls, Flow, Sample};

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

    fn variables(&self) -> Vec<Variable> {
        let scalars = self.scalar_names.iter().map(|name| Variable::Passive(name.as_str().into()));
        Variable::OF_A_FLOW.into_iter().chain(scalars).collect()
    }

    fn base_state(&self) -> Vec<f64> {
        let mut base = self.base.conserved(self.gas.gamma).to_vec();
        base.resize(conserved::COUNT + self.scalar_names.len(), 0.0);
        base
    }

    fn rhs(&mut self, u: &mut [Field], rate: &mut [Field]) {
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        let (of_flow, of_scalars) = rate.split_at_mut(conserved::COUNT);
        if let Some(passive) = &self.scalars {
            passive.add_terms(&*self.backend, flow, [scalars, of_scalars], Weights::SET, false);
        }
        let weights = self.add_force(flow, of_flow, Weights::SET);
        self.add_terms(TermGroup::All, flow, of_flow, weights);
        self.difference_by_filter(u);
        self.add_filter([u, rate], 0.0);
        self.open.correct(&*self.backend, u, rate, Weights::SET);
        self.heat_flux_walls.correct(&*self.backend, u, rate, Weights::SET);
    }

    fn advance(&mut self, u: &mut [Field], rate: &mut [Field], weights: Weights, stage: Stage) {
        self.open.keep(&*self.backend, rate, weights);
        self.heat_flux_walls.keep(&*self.backend, rate, weights);
        self.difference_by_filter(u);
        let (flow, scalars) = u.split_at_mut(conserved::COUNT);
        let (of_flow, of_scalars) = rate.split_at_mut(conserved::COUNT);
        // Scalars need the flow before the stage.
        if let Some(passive) = &self.scalars {
            passive.add_terms(&*self.backend, flow, [scalars, of_scalars], weights, true);
        }
        let forced = self.add_force(flow, of_flow, weights);
        if let Some(stages) = self.sweeps.stages() {
            let fields = [of_flow, &mut self.gradients.fields, flow];
            stages.run(&*self.backend, fields, forced, stage);
        } else {
            self.add_terms(TermGroup::All, flow, of_flow, forced);
            add_scaled(&*self.backend, &self.formulas.add_scaled, flow, forced.advance, of_flow);
        }
        self.add_filter([u, rate], weights.advance);
        self.open.correct(&*self.backend, u, rate, weights);
        self.heat_flux_walls.correct(&*self.backend, u, rate, weights);
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
        self.sweeps.stages().map_or_else(Vec::new, |stages| stages.each().collect())
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

    fn begin_check(&self, u: &[Field]) -> Result<Seen> {
        let fields: SmallVec<[&Field; 10]> =
            slots::flow(u).into_iter().chain(self.metric.of_curves()).collect();
        let flow = self.backend.reduce(&self.formulas.step_rate, &fields, &[])?;
        let mut seen: Seen = smallvec![flow];
        self.scalars.as_ref().map_or(Ok(()), |it| it.begin_check(&*self.backend, u, &mut seen))?;
        Ok(seen)
    }

    fn finish_check(&self, seen: Seen, u: &[Field], at: TimeLevel) -> Result<f64> {
        let mut seen = seen.into_iter();
        let [flow] = exactly(seen.by_ref().take(1));
        let scalars = are_finite(seen);
        let [rate, negative_density, negative_pressure] = flow.wait()?;
        let is_sound = rate.is_finite() && negative_density < 0.0 && negative_pressure < 0.0;
        if is_sound && scalars? { Ok(rate) } else { Err(self.first_broken_point(u, at)?) }
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

    fn budgets(&self) -> usize {
        1 + self.scalar_names.len()
    }

    fn energies(&self, u: &[Field], to: &mut [f64]) -> Result<()> {
        let fields = &slots::flow(u)[..4];
        [to[0]] = self.volume.of(&*self.backend, &self.formulas.kinetic_energy, fields, &[])?;
        self.scalars
            .as_ref()
            .map_or(Ok(()), |it| it.variances(&*self.backend, &self.volume, u, &mut to[1..]))
    }

    fn diagnostics(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        filter_rates: &[f64],
    ) -> Result<Vec<f64>> {
        if let Sweeps::Fused(schedule) = &self.sweeps {
            // Programs that rows need and steps possibly do not.
            let programs = schedule.programs().chain(&self.gradients.sweeps);
            self.backend.compile(&programs.collect::<Vec<_>>());
        }
        self.update_force(u, scratch, None)?;
        let mut rates = [0.0; 4];
        for (rate, group) in rates.iter_mut().zip(TermGroup::ALL) {
            *rate = self.energy_rate(group, u, scratch)?;
        }
        let forcing = self.forcing_row(u, scratch)?;
        let averages = self.averages(u, scratch)?;
        let [max_mach, min_density, min_temperature] = self.extrema(u)?;
        let [kinetic, enstrophy, total, solenoidal, dilatational, p_div, conserved @ ..] = averages;
        let mut row = vec![kinetic, enstrophy, total, solenoidal, dilatational, p_div];
        let of_filter = self.energy_rate_of_filter(u)?.unwrap_or(filter_rates[0]);
        row.push(rates[0] + of_filter);
        row.extend(&rates[1..]);
        row.push(of_filter);
        row.extend(conserved);
        row.extend([max_mach, min_density, min_temperature]);
        row.extend(forcing);
        if let Some(body) = &self.body {
            let gradients = self.gradients.of(&*self.backend, u, scratch);
            row.extend(body.row(&*self.backend, (&self.grid, &self.block), u, &gradients)?);
        }
        if let Some(passive) = &self.scalars {
            row.extend(passive.diagnostics(
                &*self.backend,
                &self.volume,
                u,
                scratch,
                &filter_rates[1..],
            )?);
        }
        Ok(row)
    }

    fn surface(&mut self, u: &[Field], scratch: &mut [Field]) -> Result<Option<Vec<[f64; 4]>>> {
        let Some(body) = &self.body else { return Ok(None) };
        let gradients = self.gradients.of(&*self.backend, u, scratch);
        body.surface(&*self.backend, (&self.grid, &self.block), u, &gradients).map(Some)
    }

    fn has_exact(&self) -> bool {
        self.exact().is_some()
    }

    fn error(&self, u: &[Field], time: f64) -> Result<Option<[f64; 2]>> {
        let Some(flow) = self.exact() else { return Ok(None) };
        let (shown, base) = (flow.shown(), self.base.conserved(self.gas.gamma));
        let values = self.backend.values(&u[shown])?;
        let active = self.grid.active();
        // With equal spacings all points have equal weight, also those on walls.
        let uniform = self.grid.is_uniform();
        let errors = values.iter().enumerate().map(|(at, value)| {
            let index = self.block.index(at);
            let x = self.grid.coordinates(index);
            let exact = flow.at(&self.gas, &self.domain, active, x, time);
            let weight = if uniform { 1.0 } else { self.grid.weight(index) };
            (value - (exact.mass_and_momentum()[shown] - base[shown]), weight)
        });
        let scale = if uniform { self.grid.per_point() } else { self.grid.per_interval() };
        Ok(Some(norms(self.backend.comm(), scale, errors)))
    }

    fn output(
        &mut self,
        u: &[Field],
        scratch: &mut [Field],
        variable: &Variable,
    ) -> Result<Values<'static>> {
        let (backend, len) = (self.backend.clone(), self.block.len());
        let components = self.components(u, scratch, variable);
        if let [only] = components[..] {
            return Ok(backend.values(only)?.into_owned());
        }
        let values = components.iter().map(|field| backend.values(field));
        let values = values.collect::<Result<Vec<_>>>()?;
        let mut together = Values::zeros(backend.precision(), values.len() * len);
        for (component, one) in values.iter().enumerate() {
            one.iter()
                .enumerate()
                .for_each(|(at, x)| together.set(at * values.len() + component, x));
        }
        Ok(together)
    }

    fn drawn(&self) -> &'static [Drawn] {
        match self.grid.plane {
            None => &[Drawn::Vorticity],
            Some(_) => &[Drawn::Vorticity, Drawn::MachNumber],
        }
    }

    fn picture(&mut self, u: &[Field], scratch: &mut [Field], of: Drawn) -> Result<Vec<f64>> {
        let backend = self.backend.clone();
        if of == Drawn::MachNumber {
            return mach_number(&*backend, (&self.gas, self.base), u);
        }
        let [magnitude, ..] = self.of_gradients(|it| &it.invariants, u, scratch);
        Ok(backend.values(magnitude)?.into())
    }

    fn sample(&mut self, u: &[Field], scratch: &mut [Field], gradients: bool) -> Result<Sample> {
        let backend = self.backend.clone();
        let flow = self.quantities_of_sample(u, scratch);
        // Collective: all ranks take part, even if copying has failed on one.
        let gradient = gradients.then(|| {
            let fields = self.gradients.of(&*backend, u, scratch);
            let fields = fields.iter().map(|field| on_host(&*backend, field, 0.0));
            Ok(Box::new(exactly(fields.collect::<Result<Vec<_>>>()?.into_iter())))
        });
        let walls = self.channel.as_ref().filter(|_| gradients).map(|channel| {
            let [_, conduction, t] = channel.fluxes(&*backend, u, scratch);
            let t = on_host(&*backend, t, self.base.temperature)?;
            let Gas { gamma, mach, reynolds, .. } = self.gas;
            Ok(BetweenWalls {
                axis: channel.axis,
                viscosity: t.into_iter().map(|t| self.gas.mu(t) / reynolds).collect(),
                conduction: on_host(&*backend, conduction, 0.0)?,
                heat_capacity: 1.0 / ((gamma - 1.0) * mach * mach),
                at_rest: [1.0, self.gas.reference_pressure(), 1.0],
            })
        });
        let comm = backend.comm();
        let flow = flow.and_then(|flow| {
            Ok(Flow { gradient: gradient.transpose()?, walls: walls.transpose()?, ..flow })
        });
        let mut flow = all_or_error(comm, flow)?;
        let mut viscosity = [flow.viscosity];
        comm.sum(&mut viscosity);
        flow.viscosity = viscosity[0] * self.grid.per_point() / self.gas.reynolds;
        Ok(Sample::Flow(Box::new(flow)))
    }
}

impl NavierStokes {
    /// The flow of the case if it is the exact solution; `None` with a force or boundaries that the case does not have.
    fn exact(&self) -> Option<&dyn FlowCase> {
        let flow = self.case.flow().filter(|flow| flow.is_exact(&self.gas));
        flow.filter(|_| self.is_of_case)
    }

    /// Contribution of the terms `group` to the rate of kinetic energy: ⟨u·d(ρu)/dt − ½ u·u dρ/dt⟩. `All` includes the force.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn energy_rate(
        &mut self,
        group: TermGroup,
        u: &[Field],
        scratch: &mut [Field],
    ) -> Result<f64> {
        self.rhs_group(group, u, scratch);
        if group == TermGroup::All {
            self.add_force(u, &mut scratch[..conserved::COUNT], Weights::ADD);
        }
        self.energy_rate_of(u, scratch)
    }

    /// Rate of kinetic energy due to the rates of U in `rate`.
    pub(super) fn energy_rate_of(&self, u: &[Field], rate: &[Field]) -> Result<f64> {
        let fields: [_; 8] = exactly(u.iter().take(4).chain(rate.iter().take(4)));
        let [rate] = self.volume.of(&*self.backend, &self.formulas.energy_rate, &fields, &[])?;
        Ok(rate)
    }

    /// The values of [`FORCING_COLUMNS`](super::FORCING_COLUMNS), as far as the run has these columns.
    fn forcing_row(&self, u: &[Field], scratch: &mut [Field]) -> Result<Vec<f64>> {
        let Some(forcing) = &self.forcing else { return Ok(Vec::new()) };
        forcing.add(&*self.backend, u, &mut scratch[..conserved::COUNT], 0.0);
        let rate = self.energy_rate_of(u, scratch)?;
        let Strength { power, sink, .. } = forcing.strength;
        let mut row = [vec![rate, power, sink], forcing.row()].concat();
        if let Some(channel) = self.channel.as_ref().filter(|_| forcing.drives()) {
            let place = (&self.grid, &self.block);
            row.extend(channel.row(&*self.backend, place, u, scratch)?);
        }
        Ok(row)
    }

    /// Loss of ⟨ρu⟩ per unit time without a force.
    fn friction(&mut self, u: &[Field], scratch: &mut [Field]) -> Result<[f64; 3]> {
        self.rhs_group(TermGroup::All, u, scratch);
        let Some(forcing) = &self.forcing else { return Ok([0.0; 3]) };
        // Only the averages of the momentum rates are meaningful.
        let rates = forcing.averages(&*self.backend, &self.volume, scratch)?;
        Ok(rates.momentum.map(|rate| -rate))
    }

    /// Volume averages: see [`super::formulas::Averages`].
    fn averages(&mut self, u: &[Field], scratch: &mut [Field]) -> Result<[f64; 11]> {
        let gradients = self.gradients.of(&*self.backend, u, scratch).map(|field| &*field);
        let fields: [_; 14] = exactly(u[..conserved::COUNT].iter().chain(gradients));
        self.volume.of(&*self.backend, &self.formulas.averages, &fields, &[])
    }

    /// Largest local Mach number, smallest density and temperature.
    fn extrema(&self, u: &[Field]) -> Result<[f64; 3]> {
        let [mach_squared, density, temperature] =
            self.backend.reduce(&self.formulas.extrema, &slots::flow(u), &[])?.wait()?;
        Ok([mach_squared.sqrt(), -density, -temperature])
    }

    fn first_broken_point(&self, u: &[Field], at: TimeLevel) -> Result<Error> {
        let base = self.base.conserved(self.gas.gamma);
        let names = &self.scalar_names;
        let fields =
            u.iter().map(|field| self.backend.values(field)).collect::<Result<Vec<_>>>()?;
        let broken = |point: usize| {
            let state: [f64; 5] = std::array::from_fn(|k| fields[k].at(point) + base[k]);
            let [rho, m0, m1, m2, _] = state;
            let p = pressure(&self.gas, state);
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
            Some(Broken { field: field.into(), value, index: self.block.index(point) })
        };
        let found = (0..self.block.len()).find_map(broken);
        Ok(diverged(self.backend.comm(), found, "time step", at))
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
