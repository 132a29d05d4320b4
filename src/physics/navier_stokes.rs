//! The compressible Navier-Stokes equations, composed operator by operator.
//!
//! ```text
//! dU/dt = − ∂Fⱼ/∂xⱼ + ∂Gⱼ/∂xⱼ,   U = (ρ, ρu, ρv, ρw, ρE)
//! ```
//! A right-hand side is: the primitive variables from U; the velocity gradients, where there is viscosity; then one
//! sweep along each axis that adds all terms with a derivative along it. The terms stand in `convection.rs` and
//! `viscosity.rs`.

use std::sync::Arc;

use super::convection::{Lines, Origin, convection, pressure_gradient};
use super::discretisation::Discretisation;
use super::formulas::{
    AddScaled, Averages, EnergyRate, Extrema, Invariants, KineticEnergy, Primitives, StepRate,
    ViscosityLaw, Vorticity, Whole,
};
use super::reference::Reference;
use super::schedule::Schedule;
use super::slots::{conserved, read};
use super::stability::Limits;
use super::system::Stage;
use super::viscosity::viscosity;
use super::{Gas, Viscosity};
use crate::backend::{Backend, Weights};
use crate::cases::{Case, Domain};
use crate::config::{Config, RightHandSide, SchemeConfig};
use crate::engine::{Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::{Axis, Block, Grid};

/// The terms of the right-hand side, together or one kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// Transport of mass and momentum.
    Convection,
    /// The pressure gradient.
    Pressure,
    /// The viscous force.
    Viscous,
}

impl Part {
    /// In the order of the variants.
    const ALL: [Part; 4] = [Part::All, Part::Convection, Part::Pressure, Part::Viscous];
}

/// The equations on one grid, with the fields they need.
pub struct NavierStokes<B: Backend> {
    pub(super) backend: Arc<B>,
    pub(super) grid: Grid,
    /// The points that the fields hold.
    pub(super) block: Block,
    pub(super) gas: Gas,
    pub(super) case: Case,
    pub(super) domain: Domain,
    /// What the fields are stored relative to.
    pub(super) reference: Reference,
    pub(super) formulas: Formulas<B>,
    /// u, v, w, p, T, μ, dμ/dT: slots `read::U` and on. There are no last two where μ is constant.
    pub(super) primitives: Vec<B::Field>,
    /// ∂uᵢ/∂xⱼ at 3 i + j.
    pub(super) gradients: Vec<B::Field>,
    gradient_sweeps: Vec<B::Program>,
    /// For every [`Part`], one sweep an active axis.
    sweeps: [Vec<B::Program>; 4],
    filter_sweeps: Vec<B::Program>,
    /// The fused sweeps of the right-hand side; none where it is composed.
    pub(super) schedule: Option<Schedule<B>>,
    viscous: bool,
}

/// What is computed point by point, ready to run.
pub(super) struct Formulas<B: Backend> {
    primitives: B::Prepared<Primitives>,
    viscosity: B::Prepared<ViscosityLaw>,
    pub(super) add_scaled: B::Prepared<AddScaled>,
    pub(super) step_rate: B::Prepared<StepRate>,
    pub(super) kinetic_energy: B::Prepared<KineticEnergy>,
    pub(super) energy_rate: B::Prepared<EnergyRate>,
    pub(super) averages: B::Prepared<Averages>,
    pub(super) extrema: B::Prepared<Extrema>,
    pub(super) vorticity: B::Prepared<Vorticity>,
    pub(super) invariants: B::Prepared<Invariants>,
    /// ρ, p and T from their deviations.
    pub(super) wholes: [B::Prepared<Whole>; 3],
}

impl<B: Backend> NavierStokes<B> {
    /// The equations of `config` on `backend`.
    ///
    /// # Errors
    /// Where there is no memory left for the fields, or a compiler refuses.
    pub fn new(config: &Config, backend: Arc<B>) -> Result<Self> {
        let discretisation = Discretisation::new(config);
        let grid = discretisation.grid;
        let block = backend.block(grid.points);
        let (scheme, gas) = (&config.scheme, config.gas);
        let reference = Reference::of::<B::Real>(&gas);
        let variable_mu = gas.viscosity != Viscosity::Constant;
        let fields = |count: usize| {
            (0..count).map(|_| backend.zeros(block.len())).collect::<Result<Vec<_>>>()
        };
        let rhs = |part| {
            discretisation
                .programs(&*backend, |axis| rhs_sweep(axis, part, scheme, &gas, reference))
        };
        let schedule = (config.compute.right_hand_side == RightHandSide::Fused)
            .then(|| Schedule::new(&*backend, &discretisation, config, reference));
        let [all, convection, pressure, viscous] = Part::ALL.map(rhs);
        let whole = |of| backend.mapping(Whole(of));
        Ok(Self {
            formulas: Formulas {
                primitives: backend.mapping(Primitives { gas, reference })?,
                viscosity: backend.mapping(ViscosityLaw { gas, reference })?,
                add_scaled: backend.mapping(AddScaled)?,
                step_rate: backend.maximising(StepRate {
                    gas,
                    reference,
                    limits: Limits::flow(scheme, config.time.integrator, &grid),
                })?,
                kinetic_energy: backend.summing(KineticEnergy { reference })?,
                energy_rate: backend.summing(EnergyRate)?,
                averages: backend.summing(Averages { gas, reference, variable_mu })?,
                extrema: backend.maximising(Extrema { gas, reference })?,
                vorticity: backend.mapping(Vorticity)?,
                invariants: backend.mapping(Invariants)?,
                wholes: [
                    whole(reference.density)?,
                    whole(reference.pressure)?,
                    whole(reference.temperature)?,
                ],
            },
            primitives: fields(if variable_mu { 7 } else { 5 })?,
            gradients: fields(9)?,
            gradient_sweeps: discretisation.programs(&*backend, gradient_sweep)?,
            sweeps: [all?, convection?, pressure?, viscous?],
            filter_sweeps: discretisation.filter_programs(&*backend, conserved::COUNT)?,
            schedule: schedule.transpose()?,
            backend,
            grid,
            block,
            gas,
            reference,
            case: config.case.clone(),
            domain: config.grid.domain,
            viscous: !gas.is_inviscid(),
        })
    }

    /// `rate` = the terms `part` of dU/dt.
    pub fn rhs_part(&mut self, part: Part, u: &[B::Field], rate: &mut [B::Field]) {
        // Some terms leave some fields alone.
        rate.iter_mut().for_each(|field| self.backend.clear(field));
        self.add_terms(part, u, rate, Weights::add(1.0, 1.0));
    }

    /// `rate` = β × `rate` + scale × dU/dt, and where sweeps are fused and advance it, `u` += advance × `rate`.
    pub(super) fn stage(
        &mut self,
        u: &mut [B::Field],
        rate: &mut [B::Field],
        weights: Weights,
        stage: Stage,
    ) {
        match &self.schedule {
            Some(schedule) => {
                let fields = [u, rate, &mut self.gradients];
                schedule.run(&*self.backend, fields, weights, stage);
            }
            None => self.add_terms(Part::All, u, rate, weights),
        }
    }

    /// `rate` = β × `rate` + scale × the terms `part` of dU/dt, in the fields that these terms have a part in.
    fn add_terms(&mut self, part: Part, u: &[B::Field], rate: &mut [B::Field], weights: Weights) {
        self.update_primitives(u);
        if self.viscous {
            self.update_gradients();
        }
        let fields = self.read_fields(u);
        let mut rate: [&mut B::Field; conserved::COUNT] = exactly(rate.iter_mut());
        let sweeps = self.sweeps[part as usize].iter();
        self.backend.run_all(sweeps, &fields, &mut rate, weights);
    }

    /// (u, v, w, p, T), and μ and dμ/dT where they vary, from U.
    pub(super) fn update_primitives(&mut self, u: &[B::Field]) {
        let (backend, formulas) = (&self.backend, &self.formulas);
        let (first, rest) = self.primitives.split_at_mut(5);
        let to = exactly(first.iter_mut());
        backend.map(&formulas.primitives, exactly(u.iter()), to, []);
        if let [mu, dmu_dt] = rest {
            backend.map(&formulas.viscosity, [&first[4]], [mu, dmu_dt], []);
        }
    }

    /// ∂uᵢ/∂xⱼ from the velocity.
    pub(super) fn update_gradients(&mut self) {
        let velocity = [&self.primitives[0], &self.primitives[1], &self.primitives[2]];
        let mut gradients: [&mut B::Field; 9] = exactly(self.gradients.iter_mut());
        let sweeps = self.gradient_sweeps.iter();
        self.backend.run_all(sweeps, &velocity, &mut gradients, Weights::add(0.0, 1.0));
    }

    pub(super) fn filter_state(&self, u: &mut [B::Field]) {
        let mut u: [&mut B::Field; conserved::COUNT] = exactly(u.iter_mut());
        for sweep in &self.filter_sweeps {
            self.backend.run(sweep, &[], &mut u, Weights::add(1.0, 1.0));
        }
    }

    fn read_fields<'a>(&'a self, u: &'a [B::Field]) -> [&'a B::Field; read::COUNT] {
        std::array::from_fn(|slot| match slot {
            read::RHO => &u[conserved::MASS],
            read::RHO_E => &u[conserved::ENERGY],
            read::GRADIENT.. => &self.gradients[slot - read::GRADIENT],
            // Nobody reads μ where it is constant: any field stands for it.
            _ => self.primitives.get(slot - read::U).unwrap_or(&self.primitives[0]),
        })
    }
}

/// All terms of `part` with a derivative along `axis`.
fn rhs_sweep(
    axis: Axis,
    part: Part,
    scheme: &SchemeConfig,
    gas: &Gas,
    reference: Reference,
) -> Sweep {
    let s = SweepBuilder::new();
    let viscous = !gas.is_inviscid();
    let origin = Origin::Fields { gradients: viscous };
    let q = Lines { s: &s, axis, rates: 0, origin, reference };
    let all = part == Part::All;
    if all || part == Part::Convection {
        convection(&q, scheme.convection, all.then_some(scheme.energy), gas);
    }
    if all || part == Part::Pressure {
        pressure_gradient(&q, scheme.convection);
    }
    if viscous && (all || part == Part::Viscous) {
        viscosity(&q, scheme.viscous, gas, all);
    }
    s.build()
}

/// ∂u/∂x, ∂v/∂x, ∂w/∂x along `axis` = x, and so on.
fn gradient_sweep(axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    for i in 0..3 {
        s.store(3 * i + axis.index(), s.d1(s.read(i)));
    }
    s.build()
}

/// The sweeps of a composed right-hand side along `axes`, in the order in which they run, those of one list together.
pub(super) fn sweeps(config: &Config, axes: &[Axis]) -> Vec<Vec<(Axis, Sweep)>> {
    let (scheme, gas) = (&config.scheme, &config.gas);
    let reference = Reference::of::<f64>(gas);
    let gradients = || axes.iter().map(|&axis| (axis, gradient_sweep(axis))).collect();
    let rhs = |axis| rhs_sweep(axis, Part::All, scheme, gas, reference);
    let rhs = axes.iter().map(|&axis| (axis, rhs(axis))).collect();
    if gas.is_inviscid() { vec![rhs] } else { vec![gradients(), rhs] }
}

/// The items of an iterator of known length.
pub(super) fn exactly<I, const N: usize>(mut items: impl Iterator<Item = I>) -> [I; N] {
    std::array::from_fn(|at| {
        items.next().unwrap_or_else(|| unreachable!("{N} items expected, found {at}"))
    })
}
