//! Diagnostics of a flow: the quantities of series, report, statistics and output files.

use super::collective::norms;
use super::drawn::{Drawn, mach_number};
use super::forcing::Strength;
use super::navier_stokes::{NavierStokes, Sweeps};
use super::quantities::on_host;
use super::slots::{self, conserved, exactly};
use super::system::{Diagnostics, System};
use super::term_group::TermGroup;
use super::{Gas, Variable};
use crate::backend::{Field, Weights};
use crate::cases::FlowCase;
use crate::comm::all_or_error;
use crate::error::Result;
use crate::real::Values;
use crate::statistics::{BetweenWalls, Flow, Sample};

impl Diagnostics for NavierStokes {
    fn variables(&self) -> Vec<Variable> {
        let scalars = self.scalar_names.iter().map(|name| Variable::Passive(name.as_str().into()));
        Variable::FLOW_VARIABLES.into_iter().chain(scalars).collect()
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
            // Programs that rows of the series need, but steps may not.
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
        let filter_rate = self.filter_energy_rate(u)?.unwrap_or(filter_rates[0]);
        row.push(rates[0] + filter_rate);
        row.extend(&rates[1..]);
        row.push(filter_rate);
        row.extend(conserved);
        row.extend([max_mach, min_density, min_temperature]);
        row.extend(forcing);
        if let Some(body) = &self.body {
            let gradients = self.gradients.compute(&*self.backend, u, scratch);
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
        let gradients = self.gradients.compute(&*self.backend, u, scratch);
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
        let mut interleaved = Values::zeros(backend.precision(), values.len() * len);
        for (component, one) in values.iter().enumerate() {
            one.iter()
                .enumerate()
                .for_each(|(at, x)| interleaved.set(at * values.len() + component, x));
        }
        Ok(interleaved)
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
        let [magnitude, ..] = self.map_gradients(|it| &it.invariants, u, scratch);
        Ok(backend.values(magnitude)?.into())
    }

    fn sample(&mut self, u: &[Field], scratch: &mut [Field], gradients: bool) -> Result<Sample> {
        let backend = self.backend.clone();
        let flow = self.quantities_of_sample(u, scratch);
        // Collective: all ranks take part, even if copying has failed on one.
        let gradient = gradients.then(|| {
            let fields = self.gradients.compute(&*backend, u, scratch);
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
        flow.filter(|_| self.follows_case)
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
        if let Some(channel) = self.channel.as_ref().filter(|_| forcing.is_pressure_gradient()) {
            let place = (&self.grid, &self.block);
            row.extend(channel.row(&*self.backend, place, u, scratch)?);
        }
        Ok(row)
    }

    /// Loss of ⟨ρu⟩ per unit time without a force.
    pub(super) fn friction(&mut self, u: &[Field], scratch: &mut [Field]) -> Result<[f64; 3]> {
        self.rhs_group(TermGroup::All, u, scratch);
        let Some(forcing) = &self.forcing else { return Ok([0.0; 3]) };
        // Only the averages of the momentum rates are meaningful.
        let rates = forcing.averages(&*self.backend, &self.volume, scratch)?;
        Ok(rates.momentum.map(|rate| -rate))
    }

    /// Volume averages: see [`super::formulas::Averages`].
    pub(super) fn averages(&mut self, u: &[Field], scratch: &mut [Field]) -> Result<[f64; 11]> {
        let gradients = self.gradients.compute(&*self.backend, u, scratch).map(|field| &*field);
        let fields: [_; 14] = exactly(u[..conserved::COUNT].iter().chain(gradients));
        self.volume.of(&*self.backend, &self.formulas.averages, &fields, &[])
    }

    /// Largest local Mach number, smallest density and temperature.
    fn extrema(&self, u: &[Field]) -> Result<[f64; 3]> {
        let [mach_squared, density, temperature] =
            self.backend.reduce(&self.formulas.extrema, &slots::flow(u), &[])?.wait()?;
        Ok([mach_squared.sqrt(), -density, -temperature])
    }
}
