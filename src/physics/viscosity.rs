//! The viscous and conductive terms along one axis.
//!
//! τᵢⱼ = μ/Re Sᵢⱼ, Sᵢⱼ = ∂ⱼuᵢ + ∂ᵢuⱼ − ⅔ δᵢⱼ div u (Stokes' hypothesis), and the heat that flows in, −qⱼ = k ∂ⱼT with
//! k = μ / ((γ − 1) Ma² Pr Re).

use super::convection::Lines;
use super::slots::{conserved, read};
use super::{Gas, Viscosity};
use crate::config::ViscousForm;
use crate::engine::{Expr, Op, Value};

/// + ∂ⱼτᵢⱼ added to the rate of momentum, and + ∂ⱼ(τᵢⱼ uᵢ − qⱼ) to the rate of energy where `energy` is true.
pub(super) fn viscosity(q: &Lines, form: ViscousForm, gas: &Gas, energy: bool) {
    match form {
        ViscousForm::Laplacian => laplacian(q, gas, energy),
        ViscousForm::Midpoint => midpoint(q, gas, energy),
        ViscousForm::Conservative => conservative(q, gas, energy),
    }
}

impl Lines<'_> {
    /// μ; 1 where it is constant.
    fn mu(&self, gas: &Gas) -> Expr {
        match gas.viscosity {
            Viscosity::Constant => 1.0.into(),
            _ => self.quantity(read::MU).into(),
        }
    }

    /// Sᵢⱼ with j the axis of the sweep.
    fn strain(&self, i: usize) -> Value {
        if i == self.axis.index() {
            self.s.define(2.0 * self.d_u(i) - (2.0 / 3.0) * self.divergence())
        } else {
            self.s.define(self.d_u(i) + self.d_across(i))
        }
    }

    /// Σᵢ τᵢⱼ uᵢ.
    fn work(&self, gas: &Gas) -> Expr {
        let power = |i: usize| self.u(i) * self.strain(i);
        let work = self.s.define(power(0) + power(1) + power(2));
        (1.0 / gas.reynolds) * (self.mu(gas) * work)
    }
}

/// k/μ.
fn conductivity(gas: &Gas) -> f64 {
    1.0 / ((gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl * gas.reynolds)
}

/// μ (∂ⱼⱼuᵢ + ⅓ ∂ᵢ div u) + ∂ⱼμ Sᵢⱼ with compact second derivatives, which damp the shortest waves. The work stays
/// ∂ⱼ(τᵢⱼ uᵢ).
fn laplacian(q: &Lines, gas: &Gas, energy: bool) {
    let (s, j) = (q.s, q.axis.index());
    let per_re = 1.0 / gas.reynolds;
    let mu = || q.mu(gas);
    for i in 0..3 {
        q.add(conserved::MOMENTUM + i, per_re * (mu() * s.d2(q.u(i))));
    }
    q.add(conserved::MOMENTUM + j, per_re / 3.0 * (mu() * s.d1(q.divergence())));
    let variable = gas.viscosity != Viscosity::Constant;
    if variable {
        let d_mu = s.define(q.quantity(read::DMU_DT) * s.d1(q.t_deviation()));
        for i in 0..3 {
            q.add(conserved::MOMENTUM + i, per_re * (d_mu * q.strain(i)));
        }
    }
    if energy {
        let k = conductivity(gas);
        q.add(conserved::ENERGY, s.d1(q.work(gas)));
        q.add(conserved::ENERGY, k * (mu() * s.d2(q.t_deviation())));
        if variable {
            let d_t = s.d1(q.t_deviation());
            q.add(conserved::ENERGY, k * (q.quantity(read::DMU_DT) * d_t * d_t));
        }
    }
}

/// ∂ⱼ of τᵢⱼ and of the heat flux, all with first derivatives.
fn conservative(q: &Lines, gas: &Gas, energy: bool) {
    let s = q.s;
    for i in 0..3 {
        let tau = (1.0 / gas.reynolds) * (q.mu(gas) * q.strain(i));
        q.add(conserved::MOMENTUM + i, s.d1(tau));
    }
    if energy {
        let heat = conductivity(gas) * (q.mu(gas) * s.d1(q.t_deviation()));
        q.add(conserved::ENERGY, s.d1(q.work(gas) + heat));
    }
}

/// Derivatives along the axis are taken at the midpoints, multiplied by μ there, and differentiated back: conservative
/// for any μ, and it damps the shortest waves. What remains of τᵢⱼ goes by first derivatives.
fn midpoint(q: &Lines, gas: &Gas, energy: bool) {
    let (s, j) = (q.s, q.axis.index());
    let per_re = 1.0 / gas.reynolds;
    let mu_between: Expr = match gas.viscosity {
        Viscosity::Constant => 1.0.into(),
        _ => s.apply(Op::InterpolateToMidpoints, q.quantity(read::MU)).into(),
    };
    let diffusion = |value: Value| {
        let slope = s.apply(Op::DerivativeToMidpoints, value);
        s.apply(Op::DerivativeToPoints, mu_between.clone() * slope)
    };
    for i in 0..3 {
        let normal = if i == j { 4.0 / 3.0 } else { 1.0 };
        let rest = if i == j { (-2.0 / 3.0) * q.divergence_across() } else { q.d_across(i) };
        q.add(conserved::MOMENTUM + i, normal * per_re * diffusion(q.u(i)));
        if !rest.is_zero() {
            q.add(conserved::MOMENTUM + i, per_re * s.d1(q.mu(gas) * rest));
        }
    }
    if energy {
        q.add(conserved::ENERGY, s.d1(q.work(gas)));
        q.add(conserved::ENERGY, conductivity(gas) * diffusion(q.t_deviation()));
    }
}
