//! The convective terms along one axis, in divergence and split forms.
//!
//! With m = ρ uⱼ the flux along axis j, the terms that leave the equations of mass, momentum and energy are written
//! C_ρ, Cᵢ and C_E. A split form is the mean of ways to write the same derivative that the product rule makes equal; the
//! right mean lets the discrete kinetic energy neither grow nor decay by convection.

use super::Gas;
use super::reference::Reference;
use super::slots::{conserved, fused, read};
use crate::config::{Convection, EnergyForm};
use crate::engine::{Expr, Op, SweepBuilder, Value};
use crate::grid::Axis;

/// The flow as one sweep along `axis` sees it.
pub(super) struct Lines<'a> {
    /// The sweep being written.
    pub(super) s: &'a SweepBuilder,
    /// j.
    pub(super) axis: Axis,
    /// Those with more than one point: nothing varies along the others.
    pub(super) axes: &'a [Axis],
    /// Where the rate of the first conserved variable is among the fields that are written.
    pub(super) rates: usize,
    /// Where everything comes from.
    pub(super) origin: Origin,
    /// What the fields are stored relative to.
    pub(super) reference: Reference,
}

/// Where a sweep finds the flow.
pub(super) enum Origin {
    /// In the fields that it reads; the velocity gradients too, where there are any.
    Fields { gradients: bool },
    /// Among values of its own.
    Formed(Box<Formed>),
}

/// The flow, formed on chip.
pub(super) struct Formed {
    /// By the slots of [`read`]; those that nobody needs are missing.
    pub(super) quantities: [Option<Value>; read::GRADIENT],
    pub(super) gradients: Gradients,
}

/// Velocity gradients beside what is formed on chip.
pub(super) enum Gradients {
    /// All, in fields from [`fused::GRADIENT`] on.
    Stored,
    /// Those that other sweeps left.
    Left {
        /// ∂uⱼ/∂xᵢ for the axes i other than j; none along an axis of one point.
        across: [Option<Value>; 3],
        /// Σ ∂uᵢ/∂xᵢ over these axes; none where there are none.
        rest: Option<Value>,
    },
}

impl Lines<'_> {
    /// Add to the rate of conserved variable `k`.
    pub(super) fn add(&self, k: usize, expr: impl Into<Expr>) {
        self.s.add(self.rates + k, expr);
    }

    fn subtract(&self, k: usize, expr: impl Into<Expr>) {
        self.s.subtract(self.rates + k, expr);
    }

    /// The quantity at `slot` of those before the gradients.
    pub(super) fn quantity(&self, slot: usize) -> Value {
        match &self.origin {
            Origin::Fields { .. } => self.s.read(slot),
            Origin::Formed(formed) => {
                formed.quantities[slot].unwrap_or_else(|| unreachable!("quantity {slot} is formed"))
            }
        }
    }

    pub(super) fn rho(&self) -> Value {
        self.whole(self.reference.density, self.quantity(read::RHO))
    }

    /// ∂ρ; of a deviation it is that of the whole, with less round-off.
    fn d_rho(&self) -> Value {
        self.s.d1(self.quantity(read::RHO))
    }

    pub(super) fn u(&self, i: usize) -> Value {
        self.quantity(read::U + i)
    }

    pub(super) fn p(&self) -> Value {
        self.whole(self.reference.pressure, self.quantity(read::P))
    }

    /// ∂p.
    fn d_p(&self) -> Value {
        self.s.d1(self.quantity(read::P))
    }

    /// T, less its reference: only for what does not change with a constant.
    pub(super) fn t_deviation(&self) -> Value {
        self.quantity(read::T)
    }

    /// A quantity from its deviation.
    fn whole(&self, reference: f64, deviation: Value) -> Value {
        match reference {
            0.0 => deviation,
            _ => self.s.define(deviation + Expr::from(reference)),
        }
    }

    /// ∂uᵢ/∂xⱼ for any i, j, where a field has it and it is not zero.
    fn stored(&self, i: usize, j: usize) -> Option<Value> {
        match &self.origin {
            _ if self.axes.iter().all(|axis| axis.index() != j) => None,
            Origin::Fields { gradients: true } => Some(self.s.read(read::GRADIENT + 3 * i + j)),
            Origin::Formed(formed) if matches!(formed.gradients, Gradients::Stored) => {
                Some(self.s.previous(fused::GRADIENT + 3 * i + j))
            }
            _ => None,
        }
    }

    /// ∂uᵢ along the axis of the sweep.
    pub(super) fn d_u(&self, i: usize) -> Value {
        self.stored(i, self.axis.index()).unwrap_or_else(|| self.s.d1(self.u(i)))
    }

    /// What other sweeps left of the gradients: those across, and the divergence across.
    fn left(&self) -> Option<(&[Option<Value>; 3], Option<Value>)> {
        match &self.origin {
            Origin::Formed(formed) => match &formed.gradients {
                Gradients::Left { across, rest } => Some((across, *rest)),
                Gradients::Stored => None,
            },
            Origin::Fields { .. } => None,
        }
    }

    /// ∂uⱼ/∂xᵢ for another axis i.
    pub(super) fn d_across(&self, i: usize) -> Expr {
        let value = match self.left() {
            Some((across, _)) => across[i],
            None => self.stored(self.axis.index(), i),
        };
        value.map_or_else(Expr::zero, Expr::from)
    }

    /// div u.
    pub(super) fn divergence(&self) -> Value {
        self.s.define(self.d_u(self.axis.index()) + self.divergence_across())
    }

    /// Σ ∂uᵢ/∂xᵢ over the other axes.
    pub(super) fn divergence_across(&self) -> Expr {
        if let Some((_, rest)) = self.left() {
            return rest.map_or_else(Expr::zero, Expr::from);
        }
        let others = (0..3).filter(|i| *i != self.axis.index());
        let stored = others.filter_map(|i| self.stored(i, i));
        stored.fold(Expr::zero(), |sum, value| sum + value)
    }

    fn u_along(&self) -> Value {
        self.u(self.axis.index())
    }

    /// ½ u·u.
    fn specific_kinetic_energy(&self) -> Value {
        let [u, v, w] = [0, 1, 2].map(|i| self.u(i));
        self.s.define(0.5 * (u * u) + 0.5 * (v * v) + 0.5 * (w * w))
    }

    /// `value` at the midpoints.
    fn at_midpoints(&self, value: Value) -> Value {
        self.s.apply(Op::InterpolateToMidpoints, value)
    }

    /// ρ at the midpoints.
    fn rho_at_midpoints(&self) -> Value {
        self.whole(self.reference.density, self.at_midpoints(self.quantity(read::RHO)))
    }

    /// p at the midpoints.
    fn p_at_midpoints(&self) -> Value {
        self.whole(self.reference.pressure, self.at_midpoints(self.quantity(read::P)))
    }

    /// ∂ of a flux that is known at the midpoints.
    fn d_midpoints(&self, flux: impl Into<Expr>) -> Value {
        self.s.apply(Op::DerivativeToPoints, flux)
    }
}

/// − C_ρ and − Cᵢ, and − C_E where `energy` is given, added to the rates of mass, momentum and energy.
pub(super) fn convection(q: &Lines, form: Convection, energy: Option<EnergyForm>, gas: &Gas) {
    let c_rho = q.s.define(mass(q, form));
    let c_u = [0, 1, 2].map(|i| q.s.define(momentum(q, form, c_rho, i)));
    q.subtract(conserved::MASS, c_rho);
    for i in 0..3 {
        q.subtract(conserved::MOMENTUM + i, c_u[i]);
    }
    if let Some(energy_form) = energy {
        q.subtract(conserved::ENERGY, energy_terms(q, form, energy_form, gas, c_rho, c_u));
    }
}

/// C_ρ: the continuity equation that goes with each form of the momentum equation.
fn mass(q: &Lines, form: Convection) -> Expr {
    let (s, rho, u_j) = (q.s, q.rho(), q.u_along());
    match form {
        Convection::Divergence | Convection::Feiereisen => s.d1(rho * u_j).into(),
        Convection::KennedyGruber => {
            0.5 * (s.d1(rho * u_j) + u_j * q.d_rho() + rho * q.d_u(q.axis.index()))
        }
        Convection::Staggered => q.d_midpoints(q.rho_at_midpoints() * q.at_midpoints(u_j)).into(),
    }
}

/// Cᵢ: transport of momentum.
fn momentum(q: &Lines, form: Convection, c_rho: Value, i: usize) -> Expr {
    let (s, rho, u_j, u_i) = (q.s, q.rho(), q.u_along(), q.u(i));
    match form {
        Convection::Divergence => s.d1(rho * u_j * u_i).into(),
        // Feiereisen, Reynolds and Ferziger 1981; Blaisdell et al. 1996.
        Convection::Feiereisen => {
            0.5 * (s.d1(rho * u_j * u_i) + rho * u_j * q.d_u(i) + u_i * c_rho)
        }
        // Kennedy and Gruber 2008 with equal weights (Pirozzoli 2010); the three terms with uᵢ in front are 2 uᵢ C_ρ.
        Convection::KennedyGruber => {
            0.25 * (s.d1(rho * u_j * u_i)
                + u_j * s.d1(rho * u_i)
                + rho * s.d1(u_j * u_i)
                + rho * u_j * q.d_u(i))
                + 0.5 * (u_i * c_rho)
        }
        // Nagarajan, Lele and Ferziger 2003; Song et al. 2022.
        Convection::Staggered => {
            let [u_j, u_i] = [u_j, u_i].map(|value| q.at_midpoints(value));
            q.d_midpoints(q.rho_at_midpoints() * u_j * u_i).into()
        }
    }
}

/// C_E: transport of total energy and work of the pressure.
fn energy_terms(
    q: &Lines,
    form: Convection,
    energy: EnergyForm,
    gas: &Gas,
    c_rho: Value,
    c_u: [Value; 3],
) -> Expr {
    let (s, rho, u_j, p) = (q.s, q.rho(), q.u_along(), q.p());
    let internal = 1.0 / (gas.gamma - 1.0);
    match energy {
        EnergyForm::Divergence if form == Convection::Staggered => {
            let (rho, p) = (q.rho_at_midpoints(), q.p_at_midpoints());
            let u_j = q.at_midpoints(u_j);
            let [u, v, w] = [0, 1, 2].map(|i| q.at_midpoints(q.u(i)));
            let kinetic = s.define(0.5 * (u * u) + 0.5 * (v * v) + 0.5 * (w * w));
            q.d_midpoints((internal + 1.0) * (p * u_j) + rho * u_j * kinetic).into()
        }
        EnergyForm::Divergence => {
            let rho_e = q.whole(internal * q.reference.pressure, q.quantity(read::RHO_E));
            s.d1((rho_e + p) * u_j).into()
        }
        // Quadratic split with the total enthalpy H = c_p T + ½ u·u (Coppola et al. 2019).
        EnergyForm::SplitEnthalpy => {
            let c_p = internal / (gas.mach * gas.mach);
            let deviation = s.define(c_p * q.t_deviation() + q.specific_kinetic_energy());
            let h = q.whole(c_p * q.reference.temperature, deviation);
            0.5 * (s.d1(rho * u_j * h) + rho * u_j * s.d1(deviation) + h * s.d1(rho * u_j))
        }
        // Internal energy p/(γ − 1) and pressure work split, kinetic energy as momentum and mass transport it
        // (Kuya, Totani and Kawai 2018; Coppola et al. 2019).
        EnergyForm::SplitPressure => {
            let half_u_u = q.specific_kinetic_energy();
            let work = s.define(u_j * q.d_p() + p * q.d_u(q.axis.index()));
            let kinetic = q.u(0) * c_u[0] + q.u(1) * c_u[1] + q.u(2) * c_u[2] - half_u_u * c_rho;
            0.5 * internal * s.d1(p * u_j) + (0.5 * internal + 1.0) * work + kinetic
        }
    }
}

/// − ∂p/∂xⱼ added to the rate of momentum.
pub(super) fn pressure_gradient(q: &Lines, form: Convection) {
    let gradient = match form {
        Convection::Staggered => q.d_midpoints(q.at_midpoints(q.quantity(read::P))),
        _ => q.d_p(),
    };
    q.subtract(conserved::MOMENTUM + q.axis.index(), gradient);
}
