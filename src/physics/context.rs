//! The flow on the lines of one sweep, from which the terms of `rhs.rs` are formed.

use super::base_state::BaseState;
use super::slots::{fused, read};
use super::{Convection, ViscousForm};
use super::{Gas, Viscosity};
use crate::engine::{Expr, Op, SweepBuilder, Value};
use crate::grid::Axis;

/// The flow in the sweep along axis j.
pub(super) struct SweepContext<'a> {
    /// The sweep being written.
    pub(super) s: &'a SweepBuilder,
    /// j.
    pub(super) j: usize,
    /// The axes with more than one point: derivatives along the others vanish.
    pub(super) axes: &'a [Axis],
    pub(super) gas: &'a Gas,
    /// Quantities formed in the sweep, by the slots of [`read`]; the others are read where they are needed.
    pub(super) quantities: [Option<Value>; read::GRADIENT],
    pub(super) gradients: CrossGradients,
    /// The state that the fields are stored relative to.
    pub(super) base: BaseState,
    /// Whether the grid is curvilinear in the x-y plane. Gradients are then stored.
    pub(super) curved: bool,
}

/// Velocity gradients across the lines.
#[derive(Clone, Copy)]
pub(super) enum CrossGradients {
    /// All nine, read from input fields, from [`read::GRADIENT`] on.
    Read,
    /// All nine, read from output fields, from [`fused::GRADIENT`] on.
    Stored,
    /// Gradients that other sweeps stored for this one.
    Loaded {
        /// ∂uⱼ/∂xᵢ for the axes i other than j; `None` along an axis with one point.
        across: [Option<Value>; 3],
        /// Σ ∂uᵢ/∂xᵢ over these axes; `None` if there are none.
        rest: Option<Value>,
    },
}

impl CrossGradients {
    /// No gradients, where no term needs them.
    pub(super) const NONE: Self = Self::Loaded { across: [None; 3], rest: None };
}

/// Rates, and operators along the axis.
impl SweepContext<'_> {
    /// Add to the rate of conserved variable `k`; along ξ or η of a curvilinear grid, `expr` is J times the term.
    pub(super) fn add(&self, k: usize, expr: impl Into<Expr>) {
        let expr = expr.into();
        match self.areas() {
            Some(_) if !expr.is_zero() => {
                let per_volume = self.s.read_plane(read::PER_VOLUME);
                self.s.add(fused::RATE + k, per_volume * self.define(expr));
            }
            _ => self.s.add(fused::RATE + k, expr),
        }
    }

    /// Subtract from the rate of conserved variable `k`.
    pub(super) fn subtract(&self, k: usize, expr: impl Into<Expr>) {
        self.add(k, -expr.into());
    }

    /// Define a value from an expression.
    pub(super) fn define(&self, expr: impl Into<Expr>) -> Value {
        self.s.define(expr)
    }

    /// ∂ⱼ.
    pub(super) fn d(&self, expr: impl Into<Expr>) -> Expr {
        let expr = expr.into();
        if expr.is_zero() { expr } else { self.s.d1(expr).into() }
    }

    /// `value` interpolated to the midpoints.
    pub(super) fn midpoint(&self, value: Value) -> Value {
        self.s.apply(Op::InterpolateToMidpoints, value)
    }

    /// ∂ⱼ of a flux given at the midpoints.
    pub(super) fn d_from_midpoints(&self, flux: impl Into<Expr>) -> Expr {
        self.s.apply(Op::DerivativeToPoints, flux).into()
    }
}

/// The flow. The derivative of a deviation from the base state has less round-off than that of the full value.
impl SweepContext<'_> {
    /// The quantity at a `slot` in front of the gradients.
    fn quantity(&self, slot: usize) -> Value {
        self.quantities[slot].unwrap_or_else(|| {
            let are_read = self.quantities.iter().all(Option::is_none);
            assert!(are_read, "quantity {slot} is formed");
            match self.s.read(slot) {
                across if slot == read::U + self.j => self.s.odd(across),
                field => field,
            }
        })
    }

    /// A quantity from its base value and its deviation.
    fn full_value(&self, base: f64, deviation: Value) -> Value {
        match base {
            0.0 => deviation,
            _ => self.define(deviation + Expr::from(base)),
        }
    }

    pub(super) fn rho(&self) -> Value {
        self.full_value(self.base.density, self.quantity(read::RHO))
    }

    pub(super) fn rho_midpoint(&self) -> Value {
        self.full_value(self.base.density, self.midpoint(self.quantity(read::RHO)))
    }

    pub(super) fn d_rho(&self) -> Expr {
        self.d(self.quantity(read::RHO))
    }

    pub(super) fn u(&self, i: usize) -> Value {
        self.quantity(read::U + i)
    }

    /// ½ u·u of a velocity.
    pub(super) fn half_square(&self, [u, v, w]: [Value; 3]) -> Value {
        self.define(0.5 * (u * u) + 0.5 * (v * v) + 0.5 * (w * w))
    }

    pub(super) fn p(&self) -> Value {
        self.full_value(self.base.pressure, self.quantity(read::P))
    }

    pub(super) fn p_midpoint(&self) -> Value {
        self.full_value(self.base.pressure, self.midpoint(self.quantity(read::P)))
    }

    pub(super) fn d_p(&self) -> Expr {
        self.d(self.quantity(read::P))
    }

    /// The part of ∂p/∂xᵢ along the lines, via the midpoints if the convective fluxes are staggered.
    pub(super) fn pressure_gradient(&self, i: usize, form: Convection) -> Expr {
        match (self.areas(), form) {
            (Some(areas), _) if i < 2 => self.d(areas[i] * self.quantity(read::P)),
            (None, _) if i != self.j => Expr::zero(),
            (None, Convection::Staggered) => {
                self.d_from_midpoints(self.midpoint(self.quantity(read::P)))
            }
            (None, _) => self.d_p(),
            (Some(_), _) => Expr::zero(),
        }
    }

    pub(super) fn rho_e(&self) -> Value {
        let base = 1.0 / (self.gas.gamma - 1.0) * self.base.pressure;
        self.full_value(base, self.quantity(read::RHO_E))
    }

    /// H = c_p T + ½ u·u, and its deviation from its base value.
    pub(super) fn total_enthalpy(&self) -> (Value, Value) {
        let Gas { gamma, mach, .. } = *self.gas;
        let c_p = 1.0 / (gamma - 1.0) / (mach * mach);
        let half_u_u = || self.half_square([0, 1, 2].map(|i| self.u(i)));
        let deviation = self.define(c_p * self.t_deviation() + half_u_u());
        (self.full_value(c_p * self.base.temperature, deviation), deviation)
    }

    /// The deviation of T from its base value: only for expressions that are invariant to a constant.
    pub(super) fn t_deviation(&self) -> Value {
        self.quantity(read::T)
    }
}

/// Curvilinear grids: fluxes through the faces across lines along ξ or η, whose areas are J ∇ξ or J ∇η.
impl SweepContext<'_> {
    /// The areas of the faces across these lines; `None` on straight lines.
    fn areas(&self) -> Option<[Value; 2]> {
        (self.curved && self.j < 2).then(|| read::AREAS[self.j].map(|slot| self.s.read_plane(slot)))
    }

    /// uⱼ; along ξ or η of a curvilinear grid J u·∇ξ.
    pub(super) fn flux_velocity(&self) -> Value {
        match self.areas() {
            None => self.u(self.j),
            Some([x, y]) => self.define(x * self.u(0) + y * self.u(1)),
        }
    }

    /// ∂ⱼ of the flux velocity.
    pub(super) fn d_flux_velocity(&self) -> Value {
        match self.areas() {
            None => self.d_u(self.j),
            Some(_) => self.s.d1(self.flux_velocity()),
        }
    }

    /// ∂uᵢ/∂xₖ by the chain rule, from the gradients along the lines.
    fn d_cartesian(&self, i: usize, k: usize) -> Expr {
        let along = |j: usize| self.stored(i, j);
        match k {
            2 => along(2).map_or_else(Expr::zero, Expr::from),
            _ => self.in_plane(k, [along(0), along(1)]),
        }
    }

    /// ∂/∂xₖ in the plane, from the derivatives along ξ and η.
    fn in_plane(&self, k: usize, along: [Option<Value>; 2]) -> Expr {
        let part = |j: usize| {
            let area = self.s.read_plane(read::AREAS[j][k]);
            along[j].map_or_else(Expr::zero, |slope| area * slope)
        };
        let sum = part(0) + part(1);
        if sum.is_zero() { sum } else { self.s.read_plane(read::PER_VOLUME) * self.define(sum) }
    }

    /// Sᵢₖ.
    fn strain_cartesian(&self, i: usize, k: usize) -> Value {
        let d = |i, k| self.d_cartesian(i, k);
        if i != k {
            return self.define(d(i, k) + d(k, i));
        }
        let divergence = self.define(d(0, 0) + d(1, 1) + d(2, 2));
        self.define(2.0 * d(i, i) - (2.0 / 3.0) * divergence)
    }

    /// ∂ⱼT; along ξ or η of a curvilinear grid J ∇T·∇ξ.
    pub(super) fn heat(&self) -> Expr {
        let Some(areas) = self.areas() else { return self.d(self.t_deviation()) };
        let along = [0, 1].map(|j| {
            let active = self.axes.iter().any(|axis| axis.index() == j);
            active.then(|| self.s.previous(fused::TEMPERATURE_GRADIENT + j))
        });
        let d = |k: usize| self.define(self.in_plane(k, along));
        areas[0] * d(0) + areas[1] * d(1)
    }
}

/// Velocity gradients.
impl SweepContext<'_> {
    /// ∂uᵢ/∂xⱼ for any i, j, if a field holds it and it is not zero.
    fn stored(&self, i: usize, j: usize) -> Option<Value> {
        let gradient = match self.gradients {
            _ if self.axes.iter().all(|axis| axis.index() != j) => None,
            CrossGradients::Read => Some(self.s.read(read::GRADIENT + 3 * i + j)),
            CrossGradients::Stored => Some(self.s.previous(fused::GRADIENT + 3 * i + j)),
            CrossGradients::Loaded { .. } => None,
        };
        match (i == self.j) != (j == self.j) {
            true => gradient.map(|it| self.s.odd(it)),
            false => gradient,
        }
    }

    /// ∂ⱼuᵢ.
    pub(super) fn d_u(&self, i: usize) -> Value {
        self.stored(i, self.j).unwrap_or_else(|| self.s.d1(self.u(i)))
    }

    /// ∂ᵢuⱼ for another axis i.
    fn d_across(&self, i: usize) -> Expr {
        let value = match self.gradients {
            CrossGradients::Loaded { across, .. } => across[i],
            _ => self.stored(self.j, i),
        };
        value.map_or_else(Expr::zero, Expr::from)
    }

    /// div u.
    pub(super) fn divergence(&self) -> Value {
        self.define(self.d_u(self.j) + self.divergence_across())
    }

    /// Σ ∂ᵢuᵢ over the other axes.
    fn divergence_across(&self) -> Expr {
        if let CrossGradients::Loaded { rest, .. } = self.gradients {
            return rest.map_or_else(Expr::zero, Expr::from);
        }
        let others = (0..3).filter(|i| *i != self.j);
        let stored = others.filter_map(|i| self.stored(i, i));
        stored.fold(Expr::zero(), |sum, value| sum + value)
    }

    /// Sᵢⱼ; along ξ or η of a curvilinear grid J Sᵢₖ ∂ξ/∂xₖ.
    pub(super) fn strain(&self, i: usize) -> Value {
        if let Some([x, y]) = self.areas() {
            let [s_x, s_y] = [0, 1].map(|k| self.strain_cartesian(i, k));
            self.define(x * s_x + y * s_y)
        } else if self.curved {
            self.strain_cartesian(i, 2)
        } else if i == self.j {
            self.define(2.0 * self.d_u(i) - (2.0 / 3.0) * self.divergence())
        } else {
            self.define(self.d_u(i) + self.d_across(i))
        }
    }

    /// Sᵢⱼ = a ∂ⱼuᵢ + b: (a, b).
    pub(super) fn strain_parts(&self, i: usize) -> (f64, Expr) {
        match i == self.j {
            true => (4.0 / 3.0, (-2.0 / 3.0) * self.divergence_across()),
            false => (1.0, self.d_across(i)),
        }
    }
}

/// Viscosity and conduction.
impl SweepContext<'_> {
    fn is_variable(&self) -> bool {
        self.gas.viscosity != Viscosity::Constant
    }

    /// μ; 1 where it is constant.
    pub(super) fn mu(&self) -> Expr {
        if self.is_variable() { self.quantity(read::MU).into() } else { 1.0.into() }
    }

    /// ∂ⱼμ; `None` where it is constant.
    pub(super) fn d_mu(&self) -> Option<Value> {
        let d_mu = || self.quantity(read::DMU_DT) * self.s.d1(self.t_deviation());
        self.is_variable().then(|| self.define(d_mu()))
    }

    /// ∂ⱼμ ∂ⱼ of a value.
    pub(super) fn d_mu_d(&self, value: Value) -> Expr {
        if !self.is_variable() {
            return Expr::zero();
        }
        let d_t = self.s.d1(self.t_deviation());
        self.quantity(read::DMU_DT) * d_t * self.s.d1(value)
    }

    /// μ ∂ⱼⱼ; or ∂ⱼ(μ ∂ⱼ·): the derivative at the midpoints, times μ there, differentiated back.
    pub(super) fn diffusion(&self, form: ViscousForm, value: Value) -> Expr {
        if form == ViscousForm::Laplacian {
            return self.mu() * self.s.d2(value);
        }
        let mu: Expr = match self.is_variable() {
            true => self.midpoint(self.quantity(read::MU)).into(),
            false => 1.0.into(),
        };
        self.d_from_midpoints(mu * self.s.apply(Op::DerivativeToMidpoints, value))
    }

    /// Σᵢ τᵢⱼ uᵢ.
    pub(super) fn viscous_work(&self) -> Expr {
        let power = |i: usize| self.u(i) * self.strain(i);
        let work = self.define(power(0) + power(1) + power(2));
        (1.0 / self.gas.reynolds) * (self.mu() * work)
    }
}
