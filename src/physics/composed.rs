//! The right-hand side composed operator by operator: the primitive variables from U; the velocity gradients, if there is viscosity; then
//! one sweep along each axis that adds all terms with a derivative along it.

use std::sync::Arc;

use super::base_state::BaseState;
use super::context::{CrossGradients, SweepContext};
use super::discretisation::Discretisation;
use super::formulas::{Primitives, ViscosityLaw};
use super::metric::Metric;
use super::problem::Problem;
use super::rhs::add_terms;
use super::slots::{conserved, exactly, flow, read};
use super::term_group::TermGroup;
use crate::backend::{Backend, Field, Prepared, Program, Weights};
use crate::engine::{PointFormula, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Precision;

/// Programs, and the intermediate fields.
pub(super) struct Composed {
    to_primitives: Prepared,
    viscosity: Prepared,
    /// u, v, w, p, T, μ, dμ/dT: slots `read::U` and following. The last two are absent if μ is constant.
    primitives: Vec<Field>,
    /// Empty without viscosity.
    gradients: Vec<Program>,
    /// For every [`TermGroup`], one sweep per active axis.
    sweeps: [Vec<Program>; 4],
    metric: Arc<Metric>,
}

impl Composed {
    /// With `primitives` fields for the primitive variables.
    pub(super) fn new(on: &Discretisation<'_>, primitives: usize) -> Result<Self> {
        let Discretisation { problem, backend, base, .. } = *on;
        let (gas, len) = (problem.gas, on.block.len());
        let axes: Vec<Axis> = on.grid.active_axes().collect();
        let sweeps = |group| on.programs(|axis| rhs_sweep(axis, group, problem, &axes, base));
        let [all, convection, pressure, viscous] = TermGroup::ALL.map(sweeps);
        Ok(Self {
            to_primitives: backend.prepare(PointFormula::map(Primitives { gas, base }))?,
            viscosity: backend.prepare(PointFormula::map(ViscosityLaw { gas, base }))?,
            primitives: (0..primitives).map(|_| backend.zeros(len)).collect::<Result<_>>()?,
            gradients: match gas.is_inviscid() {
                true => Vec::new(),
                false => on.programs(gradient_sweep)?,
            },
            sweeps: [all?, convection?, pressure?, viscous?],
            metric: on.metric.clone(),
        })
    }

    /// `rate` = β × `rate` + the terms `group` of dU/dt, in the fields that these terms affect; `gradients` then holds ∂uᵢ/∂xⱼ.
    pub(super) fn add_terms(
        &mut self,
        backend: &dyn Backend,
        group: TermGroup,
        u: &[Field],
        [rate, gradients]: [&mut [Field]; 2],
        weights: Weights,
    ) {
        self.update_primitives(backend, u);
        let velocity = [&self.primitives[0], &self.primitives[1], &self.primitives[2]];
        let mut to: [&mut Field; 9] = exactly(gradients.iter_mut());
        let velocity = self.metric.append_to(&velocity);
        backend.run_all(&mut self.gradients.iter(), &velocity, &mut to, Weights::SET);
        let fields: [&Field; read::COUNT] = std::array::from_fn(|slot| match slot {
            read::RHO => &u[conserved::MASS],
            read::RHO_E => &u[conserved::ENERGY],
            read::GRADIENT.. => &gradients[slot - read::GRADIENT],
            // μ is not read where it is constant: any field can fill the slot.
            _ => self.primitives.get(slot - read::U).unwrap_or(&self.primitives[0]),
        });
        let fields = self.metric.append_to(&fields);
        let mut rate: [&mut Field; conserved::COUNT] = exactly(rate.iter_mut());
        backend.run_all(&mut self.sweeps[group as usize].iter(), &fields, &mut rate, weights);
    }

    /// (u, v, w, p, T), and μ and dμ/dT if they vary, from U.
    fn update_primitives(&mut self, backend: &dyn Backend, u: &[Field]) {
        let (first, rest) = self.primitives.split_at_mut(5);
        let mut to: [&mut Field; 5] = exactly(first.iter_mut());
        backend.map(&self.to_primitives, &flow(u), &mut to, &[]);
        if let [mu, dmu_dt] = rest {
            backend.map(&self.viscosity, &[&first[4]], &mut [mu, dmu_dt], &[]);
        }
    }
}

/// All terms of `group` with a derivative along `axis`, one of `axes`.
fn rhs_sweep(
    axis: Axis,
    group: TermGroup,
    problem: &Problem,
    axes: &[Axis],
    base: BaseState,
) -> Sweep {
    let (s, gas) = (SweepBuilder::new(), &problem.gas);
    let gradients = if gas.is_inviscid() { CrossGradients::NONE } else { CrossGradients::Read };
    let (j, quantities, curved) = (axis.index(), [None; read::GRADIENT], false);
    let q = SweepContext { s: &s, j, axes, gas, quantities, gradients, base, curved };
    add_terms(&q, group, &problem.scheme);
    s.build()
}

/// ∂u/∂x, ∂v/∂x, ∂w/∂x along `axis` = x, and so on.
fn gradient_sweep(axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    for i in 0..3 {
        let velocity = if i == axis.index() { s.odd(s.read(i)) } else { s.read(i) };
        s.store(3 * i + axis.index(), s.d1(velocity));
    }
    s.build()
}

/// The sweeps along `axes` in the order of execution; sweeps of one list run together.
pub(super) fn sweeps(problem: &Problem, axes: &[Axis]) -> Vec<Vec<(Axis, Sweep)>> {
    let base = BaseState::of(&problem.gas, Precision::F64);
    let gradients = || axes.iter().map(|&axis| (axis, gradient_sweep(axis))).collect();
    let rhs = |axis| rhs_sweep(axis, TermGroup::All, problem, axes, base);
    let rhs = axes.iter().map(|&axis| (axis, rhs(axis))).collect();
    if problem.gas.is_inviscid() { vec![rhs] } else { vec![gradients(), rhs] }
}
