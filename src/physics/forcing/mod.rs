//! Forces that sustain a flow, and the heat sink that removes the energy they add.
//!
//! The force is a source term. It is added to the rates point by point before the sweeps of every stage, which add to the same rates. Its
//! strength is computed from the state at the beginning of a step and kept constant during the step.

mod driving;
mod processes;
mod sources;
mod waves;

use num_complex::Complex;

pub(crate) use crate::force::longest;
pub use crate::force::{
    Force, ForcingConfig, Held, Linear, PressureGradient, Stochastic, Strength as GradientStrength,
};

use super::discretisation::Discretisation;
use super::slots::{conserved, exactly, flow};
use super::volume::VolumeAverage;
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::io::checkpoint::ForcingState;
use crate::real::Values;
use driving::Driving;
use processes::Processes;
use sources::{FieldSource, LinearSource, Means, UniformSource, Work};
use waves::Waves;

/// u'³ / (ε L) of turbulence sustained by linear forcing in a periodic box of edge L (Rosales and Meneveau 2005, section III).
const INTEGRAL_LENGTH: f64 = 0.19;
/// Number of e-foldings of an energy deviation per l/u' (Bassenne et al. 2016, section II: G = 67).
const GAIN: f64 = 67.0;

/// Volume averages of a state.
pub(super) struct Averages {
    pub(super) density: f64,
    pub(super) momentum: [f64; 3],
    pub(super) total_energy: f64,
    pub(super) kinetic_energy: f64,
    /// ⟨τ:∇u⟩ − ⟨p div u⟩: the loss of kinetic energy of the flow.
    pub(super) loss: f64,
    /// The loss of momentum of the flow.
    pub(super) friction: [f64; 3],
}

/// The force during a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strength {
    /// A of linear forcing, or G of a pressure gradient.
    pub(super) coefficient: f64,
    /// {u} = ⟨ρu⟩/⟨ρ⟩.
    pub(super) velocity: [f64; 3],
    /// ⟨ρ⟩.
    density: f64,
    /// ⟨F·u⟩.
    pub(super) power: f64,
    /// Λ.
    pub(super) sink: f64,
}

/// A force and the fields it needs.
pub(super) struct Forcing {
    config: ForcingConfig,
    /// Formulas that set the rates to the source, and that add it to β times the rates.
    sources: [Prepared; 2],
    means: Prepared,
    /// Present for a random force.
    random: Option<StochasticForce>,
    /// Present for a pressure gradient.
    driving: Option<Driving>,
    /// ⟨ρu·u⟩/2 and ⟨ρE⟩ at the start.
    start: Option<[f64; 2]>,
    pub(super) strength: Strength,
    /// The dt of the last step; 0 before the first.
    last_dt: f64,
    /// The shortest edge of the box along which the flow varies.
    shortest: f64,
    /// Machine epsilon of the fields.
    epsilon: f64,
}

/// A random force: its processes, and its values at the points of the block.
struct StochasticForce {
    processes: Processes,
    waves: Waves,
    fields: [Field; 3],
    /// Coefficients of one component.
    coefficients: Vec<Complex<f64>>,
    /// One component on the host, before it is copied to a field.
    component: Values<'static>,
    /// Whether the fields match the current state of the processes.
    current: bool,
    work: Prepared,
}

impl StochasticForce {
    /// Update the fields from the processes.
    fn refresh(&mut self, backend: &dyn Backend) -> Result<()> {
        if self.current {
            return Ok(());
        }
        let Self { processes, waves, fields, coefficients, component, current, .. } = self;
        for (i, field) in fields.iter_mut().enumerate() {
            coefficients.clear();
            coefficients.extend(processes.force(i));
            waves.sum(&processes.periods, coefficients, component);
            backend.write(field, component)?;
        }
        *current = true;
        Ok(())
    }
}

impl Forcing {
    /// The force of the problem; `None` if it has none.
    pub(super) fn new(on: &Discretisation<'_>, volume: &VolumeAverage) -> Result<Option<Self>> {
        let Discretisation { problem, backend, grid, block, base, .. } = on;
        let (problem, backend, base) = (*problem, *backend, *base);
        let Some(config) = problem.forcing.clone() else { return Ok(None) };
        let prepare = |formula| backend.prepare(formula);
        let sources = match config.kind {
            Force::Linear(_) => [
                prepare(PointFormula::map(LinearSource::<false> { base }))?,
                prepare(PointFormula::map(LinearSource::<true> { base }))?,
            ],
            Force::Stochastic(_) => [
                prepare(PointFormula::map(FieldSource::<false> { base }))?,
                prepare(PointFormula::map(FieldSource::<true> { base }))?,
            ],
            Force::PressureGradient(_) => [
                prepare(PointFormula::map(UniformSource::<false> { base }))?,
                prepare(PointFormula::map(UniformSource::<true> { base }))?,
            ],
        };
        let (length, active) = (problem.domain.length, grid.active());
        let random = |config| -> Result<StochasticForce> {
            let processes = Processes::new(config, length, active);
            let field = || backend.zeros(block.len());
            Ok(StochasticForce {
                waves: Waves::new(&processes.periods, block, grid.points),
                coefficients: Vec::with_capacity(processes.periods.len()),
                processes,
                fields: [field()?, field()?, field()?],
                component: Values::zeros(backend.precision(), block.len()),
                current: false,
                work: volume.prepare(backend, PointFormula::sum(Work { base }))?,
            })
        };
        let gamma = problem.gas.gamma;
        Ok(Some(Self {
            sources,
            means: volume.prepare(backend, PointFormula::sum(Means { gamma, base }))?,
            random: config.stochastic().map(random).transpose()?,
            driving: config
                .pressure_gradient()
                .map(|config| Driving::new(*config, backend, volume, base))
                .transpose()?,
            config,
            start: None,
            strength: Strength::default(),
            last_dt: 0.0,
            shortest: grid.active_axes().map(|a| length[a.index()]).fold(f64::INFINITY, f64::min),
            epsilon: backend.precision().epsilon(),
        }))
    }

    /// Whether the strength depends on the energy loss of the flow.
    pub(super) fn needs_loss(&self) -> bool {
        matches!(self.config.kind, Force::Linear(Linear::Energy(_)))
    }

    /// Whether the strength depends on a friction that no previous step has provided.
    pub(super) fn needs_friction(&self) -> bool {
        self.driving.as_ref().is_some_and(Driving::needs_friction)
    }

    /// Whether the force is a pressure gradient.
    pub(super) fn is_pressure_gradient(&self) -> bool {
        self.driving.is_some()
    }

    /// Columns of a row that depend on the kind of force: A, or G and the bulk velocity along it.
    pub(super) fn row(&self) -> Vec<f64> {
        let Strength { coefficient, velocity, .. } = self.strength;
        match (&self.random, &self.driving) {
            (Some(_), _) => Vec::new(),
            (_, Some(driving)) => vec![coefficient, velocity[driving.axis()]],
            _ => vec![coefficient],
        }
    }

    /// Averages of `u`, without the losses. Collective.
    pub(super) fn averages(
        &self,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        u: &[Field],
    ) -> Result<Averages> {
        let [density, x, y, z, total_energy, kinetic_energy] =
            volume.of(backend, &self.means, &flow(u), &[])?;
        let (momentum, loss, friction) = ([x, y, z], 0.0, [0.0; 3]);
        Ok(Averages { density, momentum, total_energy, kinetic_energy, loss, friction })
    }

    /// Compute the strength from `u` and its `averages`: for a step of `dt`, or, without one, for the dt of the last step. Collective.
    ///
    /// Rates of change of the means: dK/dt = −loss + P and d⟨ρE⟩/dt = P − Λ, where P is the power of the force. A deviation of K decays in
    /// t_r = l/(G u'), a deviation of ⟨ρE⟩ within one step.
    pub(super) fn update(
        &mut self,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        u: &[Field],
        averages: &Averages,
        dt: Option<f64>,
    ) -> Result<()> {
        let Averages { density, momentum, total_energy, kinetic_energy, .. } = *averages;
        let is_for_output = dt.is_none();
        let dt = dt.unwrap_or(self.last_dt);
        let [_, energy_at_start] = *self.start.get_or_insert([kinetic_energy, total_energy]);
        let velocity = momentum.map(|m| m / density);
        let mean_energy = 0.5 * (0..3).map(|i| momentum[i] * velocity[i]).sum::<f64>();
        let fluctuating = kinetic_energy - mean_energy;
        let coefficient = match &mut self.driving {
            None => self.coefficient(averages, fluctuating, dt),
            Some(driving) => {
                let axis = driving.axis();
                driving.gradient(momentum[axis], averages.friction[axis], [self.last_dt, dt])
            }
        };
        let power = match (&mut self.random, &self.driving) {
            // Without a sink, no step needs the power.
            (_, Some(driving)) if is_for_output || self.config.heat_removal => {
                coefficient * driving.mean_velocity(backend, volume, u)?
            }
            (_, Some(_)) => 0.0,
            (None, None) => 2.0 * coefficient * fluctuating,
            (Some(random), None) => {
                random.refresh(backend)?;
                let fields: [&Field; 7] = exactly(u.iter().take(4).chain(&random.fields));
                let [work] = volume.of(backend, &random.work, &fields, &[])?;
                density * work
            }
        };
        let surplus = if dt > 0.0 { (total_energy - energy_at_start) / dt } else { 0.0 };
        let sink = if self.config.heat_removal { power + surplus } else { 0.0 };
        self.strength = Strength { coefficient, velocity, density, power, sink };
        Ok(())
    }

    /// A: as given, or such that dK/dt = (K₀ − K)/t_r (Petersen and Livescu 2010; Carroll and Blanquart 2013; Bassenne et al. 2016): A =
    /// (⟨τ:∇u⟩ − ⟨p div u⟩ + (K₀ − K)/t_r) / 2K', K' the energy of the fluctuations. The last term is limited to a growth by e in t_r. A =
    /// 0 where the fluctuations are zero or only round-off.
    fn coefficient(&self, averages: &Averages, fluctuating: f64, dt: f64) -> f64 {
        let target = match self.config.kind {
            Force::Stochastic(_) | Force::PressureGradient(_) => return 0.0,
            Force::Linear(Linear::Coefficient(a)) => return a,
            Force::Linear(Linear::Energy(Held::At(energy))) => energy,
            Force::Linear(Linear::Energy(Held::Constant)) => {
                self.start.map_or(averages.kinetic_energy, |[energy, _]| energy)
            }
        };
        if fluctuating <= self.epsilon * target {
            return 0.0;
        }
        let speed = (2.0 * target / 3.0).sqrt();
        let relaxation = (INTEGRAL_LENGTH * self.shortest / (GAIN * speed)).max(dt);
        let deficit = (target - averages.kinetic_energy).min(fluctuating);
        (averages.loss + deficit / relaxation) / (2.0 * fluctuating)
    }

    /// `rate` = β × `rate` + the force on `u`. With β = 0 the old content of `rate` is not read.
    pub(super) fn add(&self, backend: &dyn Backend, u: &[Field], rate: &mut [Field], beta: f64) {
        let Strength { coefficient, velocity: [x, y, z], density, sink, .. } = self.strength;
        let mut rate: [&mut Field; conserved::COUNT] = exactly(rate.iter_mut());
        let source = &self.sources[usize::from(beta != 0.0)];
        let state = flow(u);
        if let Some(random) = &self.random {
            let fields: [&Field; 8] = exactly(state.into_iter().chain(&random.fields));
            backend.map(source, &fields, &mut rate, &[beta, density, sink]);
            return;
        }
        if let Some(driving) = &self.driving {
            let [x, y, z] = [0, 1, 2].map(|a| if a == driving.axis() { coefficient } else { 0.0 });
            backend.map(source, &state, &mut rate, &[beta, x, y, z, sink]);
        } else {
            backend.map(source, &state, &mut rate, &[beta, coefficient, x, y, z, sink]);
        }
    }

    /// Finish a step of `dt` that ended at step number `done`.
    pub(super) fn advance(&mut self, dt: f64, done: u64) {
        self.last_dt = dt;
        self.driving.iter_mut().for_each(Driving::advance);
        if let Some(random) = &mut self.random {
            random.processes.advance(dt, done);
            random.current = false;
        }
    }

    /// State for a restart.
    pub(super) fn saved(&self) -> ForcingState {
        ForcingState {
            energies_at_start: self.start,
            mass_flux: self.driving.as_ref().and_then(Driving::saved),
            processes: self.random.as_ref().map(|it| it.processes.saved()).unwrap_or_default(),
        }
    }

    /// Restore the state saved after a step of `last_dt`. Random processes saved by another force are ignored.
    pub(super) fn restore(&mut self, saved: &ForcingState, last_dt: f64) {
        self.start = saved.energies_at_start;
        self.last_dt = last_dt;
        self.driving.iter_mut().for_each(|driving| driving.restore(saved.mass_flux));
        if let Some(random) = &mut self.random {
            random.processes.restore(&saved.processes);
            random.current = false;
        }
    }
}
