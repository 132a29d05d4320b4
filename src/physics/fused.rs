//! The right-hand side as one sweep per axis, from the conserved variables only.
//!
//! A sweep forms the primitive variables and the velocity gradient along its own axis on chip. With viscosity, it also needs ∂uⱼ/∂xᵢ and Σ
//! ∂uᵢ/∂xᵢ over i ≠ j from the other axes; these share five fields. With a, b, c the axes in order, and (u, v, w) the velocity along them:
//!
//! | pass | reads | writes |
//! |---|---|---|
//! | gradients along b | w_c | u_b, v_b + w_c |
//! | sweep along a | u_b, u_c, v_b + w_c, w_c | v_a, w_a, u_a + w_c, u_a + v_b |
//! | sweep along b | v_a, v_c, u_a + w_c | w_b |
//! | sweep along c | w_a, w_b, u_a + v_b | the state advanced, and its u_c, v_c, w_c for the next stage |
//!
//! With 2N storage this takes 74 words per point and stage, and 15 fields. Before the first stage of a step a separate pass computes u_c,
//! v_c, w_c (7 words). A single group of terms uses the same sweeps without the other terms.
//!
//! If ranks split the lines, nested derivatives need another halo exchange. In that case, passes along all axes first store all nine
//! gradients, and no operator of a sweep depends on another: two exchanges per stage. Curvilinear grids use the same scheme, because each
//! sweep along ξ or η needs the gradients along both, including those of T.

use super::Viscosity;
use super::base_state::BaseState;
use super::context::{CrossGradients, SweepContext};
use super::discretisation::with_parity;
use super::formulas::{Primitives, SpecificVolume, ViscosityLaw};
use super::problem::Problem;
use super::rhs::add_terms;
use super::slots::fused::Gradients;
use super::slots::{conserved, fused, read};
use super::term_group::TermGroup;
use crate::engine::{Sweep, SweepBuilder, Value};
use crate::grid::Axis;
use crate::real::Precision;

/// The swept equations and the axes of the sweeps.
#[derive(Clone)]
pub(super) struct Fused<'a> {
    pub(super) problem: &'a Problem,
    pub(super) axes: Vec<Axis>,
    pub(super) base: BaseState,
    /// The gradients stored by passes and sweeps.
    pub(super) stored: Gradients,
    /// The terms to sum.
    pub(super) group: TermGroup,
    /// Whether the last sweep advances the state: the state is then one of the output fields, otherwise an input field.
    pub(super) advances: bool,
}

impl<'a> Fused<'a> {
    /// All terms of stages that advance the state, along `axes`, for fields in f64; `is_unsplit`: whether lines along an axis are unsplit.
    pub(super) fn new(
        problem: &'a Problem,
        axes: &[Axis],
        is_unsplit: impl Fn(Axis) -> bool,
    ) -> Self {
        let stored = match axes.iter().all(|&axis| is_unsplit(axis)) {
            _ if problem.mapping.is_some() => Gradients::Curvilinear,
            true => Gradients::Shared,
            false => Gradients::Velocity,
        };
        let base = BaseState::of(&problem.gas, Precision::F64);
        Self { problem, axes: axes.to_vec(), base, stored, group: TermGroup::All, advances: true }
    }

    /// Only the rates, from the terms `group`.
    pub(super) fn rates(&self, group: TermGroup) -> Self {
        Self { group, advances: false, ..self.clone() }
    }

    /// One sweep along each axis; see [`Fused::sweep`] for the last.
    pub(super) fn sweeps(&self, chained: bool) -> impl Iterator<Item = (Axis, Sweep)> {
        self.axes.iter().enumerate().map(move |(at, &axis)| (axis, self.sweep(at, chained)))
    }

    /// All terms along axis number `at`. If the last sweep advances the state and is `chained` to a following stage, it also stores the
    /// gradient of the new velocity along its axis.
    pub(super) fn sweep(&self, at: usize, chained: bool) -> Sweep {
        let s = SweepBuilder::new();
        let last = at + 1 == self.axes.len();
        let viscous = self.is_viscous();
        if self.group == TermGroup::Viscous && !viscous {
            return s.build();
        }
        let state = std::array::from_fn(|k| self.state(&s, at, k));
        let gradients = match (viscous, self.stored.are_precomputed()) {
            (true, true) => CrossGradients::Stored,
            (true, false) => self.load_cross_gradients(&s, at),
            (false, _) => CrossGradients::NONE,
        };
        let q = SweepContext {
            s: &s,
            j: self.axes[at].index(),
            axes: &self.axes,
            gas: &self.problem.gas,
            quantities: self.quantities(&s, state),
            gradients,
            base: self.base,
            curved: self.stored == Gradients::Curvilinear,
        };
        add_terms(&q, self.group, &self.problem.scheme);
        if viscous && !last && !self.stored.are_precomputed() {
            self.store_cross_gradients(&q, at);
        }
        if last && self.advances {
            let advanced: [Value; conserved::COUNT] =
                std::array::from_fn(|k| s.advanced(state[k], fused::RATE + k));
            for (k, value) in advanced.into_iter().enumerate() {
                s.store(self.stored.state() + k, value);
            }
            if viscous && chained {
                self.gradients(&s, at, |k| advanced[k]);
            }
        }
        // A pentadiagonal operator leaves the threads of a GPU no registers for operands that are sums.
        match self.problem.scheme.derivative.first.half_band() {
            2 => s.build(),
            _ => s.build().merged(),
        }
    }

    /// Passes for velocity gradients before the sweeps. The first, along the last axis, is skipped if the last sweep of the previous stage
    /// has computed the same.
    pub(super) fn passes(&self) -> Vec<(Axis, Sweep)> {
        let needed = |at: &usize| match self.axes.len() {
            _ if !self.is_viscous() => false,
            _ if self.stored.are_precomputed() => true,
            1 => false,
            _ => *at > 0,
        };
        let pass = |at: usize| {
            let s = SweepBuilder::new();
            self.gradients(&s, at, |k| self.state(&s, at, k));
            (self.axes[at], s.build())
        };
        (0..self.axes.len()).rev().filter(needed).map(pass).collect()
    }

    fn is_viscous(&self) -> bool {
        self.group.is_viscous(&self.problem.gas)
    }

    /// Conserved variable `k` before the sweep along axis number `at`.
    fn state(&self, s: &SweepBuilder, at: usize, k: usize) -> Value {
        let field = if self.advances { s.previous(self.stored.state() + k) } else { s.read(k) };
        with_parity(s, self.axes[at], k, field)
    }

    /// All quantities in the terms, from `state`.
    fn quantities(
        &self,
        s: &SweepBuilder,
        state: [Value; conserved::COUNT],
    ) -> [Option<Value>; read::GRADIENT] {
        let (gas, base) = (self.problem.gas, self.base);
        let [u, v, w, p, t] = s.map(Primitives { gas, base }, state);
        let mut quantities = [None; read::GRADIENT];
        quantities[read::RHO] = Some(state[conserved::MASS]);
        quantities[read::RHO_E] = Some(state[conserved::ENERGY]);
        for (i, velocity) in [u, v, w].into_iter().enumerate() {
            quantities[read::U + i] = Some(velocity);
        }
        quantities[read::P] = Some(p);
        quantities[read::T] = Some(t);
        if gas.viscosity != Viscosity::Constant && self.is_viscous() {
            let [mu, dmu_dt] = s.map(ViscosityLaw { gas, base }, [t]);
            quantities[read::MU] = Some(mu);
            quantities[read::DMU_DT] = Some(dmu_dt);
        }
        quantities
    }

    /// ∂uⱼ/∂xᵢ for the other axes i, and Σ ∂uᵢ/∂xᵢ over them, as stored by earlier passes for sweep `at`.
    fn load_cross_gradients(&self, s: &SweepBuilder, at: usize) -> CrossGradients {
        // The other axes with the slots of ∂uⱼ/∂xᵢ, and the slot of the sum.
        let (others, rest) = match (&self.axes[..], at) {
            (&[_], _) => (vec![], None),
            (&[a, c], _) => {
                (vec![([c, a][at], fused::FIRST_AND_LAST)], Some(fused::DIVERGENCE_LAST))
            }
            (&[_, b, c], 0) => (
                vec![(b, fused::FIRST_AND_MIDDLE), (c, fused::FIRST_AND_LAST)],
                Some(fused::DIVERGENCE_MIDDLE),
            ),
            (&[a, _, c], 1) => (
                vec![(a, fused::FIRST_AND_MIDDLE), (c, fused::MIDDLE_AND_LAST)],
                Some(fused::DIVERGENCE_MIDDLE),
            ),
            (&[a, b, _], _) => (
                vec![(a, fused::FIRST_AND_LAST), (b, fused::MIDDLE_AND_LAST)],
                Some(fused::DIVERGENCE_LAST),
            ),
            _ => unreachable!("one to three axes"),
        };
        let mut across = [None; 3];
        for (axis, slot) in others {
            across[axis.index()] = Some(s.odd(s.previous(slot)));
        }
        let rest = rest.map(|slot| s.previous(slot));
        CrossGradients::Loaded { across, rest }
    }

    /// Store the gradients that sweep `at` computes for the following sweeps.
    fn store_cross_gradients(&self, q: &SweepContext, at: usize) {
        let s = q.s;
        let d_u = |axis: Axis| q.d_u(axis.index());
        match (&self.axes[..], at) {
            (&[a, c], 0) => {
                s.store(fused::FIRST_AND_LAST, d_u(c));
                s.store(fused::DIVERGENCE_LAST, d_u(a));
            }
            (&[a, b, c], 0) => {
                let [v_b_and_w_c, w_c] =
                    [fused::DIVERGENCE_MIDDLE, fused::DIVERGENCE_LAST].map(|f| s.previous(f));
                s.store(fused::FIRST_AND_MIDDLE, d_u(b));
                s.store(fused::FIRST_AND_LAST, d_u(c));
                s.store(fused::DIVERGENCE_MIDDLE, d_u(a) + w_c);
                s.store(fused::DIVERGENCE_LAST, d_u(a) + v_b_and_w_c - w_c);
            }
            (&[_, _, c], 1) => s.store(fused::MIDDLE_AND_LAST, d_u(c)),
            _ => {}
        }
    }

    /// Store the velocity gradients of `state` along axis `at`: all of them, or those that the sweeps need along the last or the middle
    /// axis.
    fn gradients(&self, s: &SweepBuilder, at: usize, state: impl Fn(usize) -> Value) {
        let slope = |i: Axis| velocity_derivative(s, self.base, &state, i);
        if self.stored.are_precomputed() {
            let j = self.axes[at].index();
            for i in Axis::ALL {
                s.store(fused::GRADIENT + 3 * i.index() + j, slope(i));
            }
            if self.stored == Gradients::Curvilinear && j < 2 {
                let all = std::array::from_fn(&state);
                let [.., t] = s.map(Primitives { gas: self.problem.gas, base: self.base }, all);
                s.store(fused::TEMPERATURE_GRADIENT + j, s.d1(t));
            }
            return;
        }
        match (&self.axes[..], at) {
            (&[a, b, _], 1) => {
                s.store(fused::FIRST_AND_MIDDLE, slope(a));
                s.store(fused::DIVERGENCE_MIDDLE, slope(b) + s.previous(fused::DIVERGENCE_LAST));
            }
            (&[a, b, c], _) => {
                s.store(fused::FIRST_AND_LAST, slope(a));
                s.store(fused::MIDDLE_AND_LAST, slope(b));
                s.store(fused::DIVERGENCE_LAST, slope(c));
            }
            (&[a, c], _) => {
                s.store(fused::FIRST_AND_LAST, slope(a));
                s.store(fused::DIVERGENCE_LAST, slope(c));
            }
            _ => {}
        }
    }
}

/// The derivative along the lines of the velocity along axis `i`, from the conserved variables.
pub(super) fn velocity_derivative(
    s: &SweepBuilder,
    base: BaseState,
    state: impl Fn(usize) -> Value,
    i: Axis,
) -> Value {
    let [volume] = s.map(SpecificVolume { base }, [state(conserved::MASS)]);
    let velocity = s.define(volume * state(conserved::MOMENTUM + i.index()));
    s.d1(velocity)
}
