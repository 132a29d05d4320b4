//! The right-hand side of the compressible Navier-Stokes equations, term by term.
//!
//! ```text
//! ∂ρ/∂t     = − ∂ⱼ(ρuⱼ)
//! ∂(ρuᵢ)/∂t = − ∂ⱼ(ρuᵢuⱼ) − ∂ᵢp + ∂ⱼτᵢⱼ          τᵢⱼ = μ/Re Sᵢⱼ,  Sᵢⱼ = ∂ⱼuᵢ + ∂ᵢuⱼ − ⅔ δᵢⱼ div u
//! ∂(ρE)/∂t  = − ∂ⱼ((ρE + p)uⱼ) + ∂ⱼ(τᵢⱼuᵢ − qⱼ)  − qⱼ = λ ∂ⱼT,  λ = μ / ((γ − 1) Ma² Pr Re)
//! ```
//! Each axis j has one sweep with all terms that contain ∂ⱼ (`q.d`). `q` is the flow on the lines of that sweep, formed from the conserved
//! variables (`fused.rs`) or read (`composed.rs`). On a curvilinear grid the sweeps along ξ and η use the strong conservation form (Viviand
//! 1974; Vinokur 1974), with J u·∇ξ in place of uⱼ and J ∇ξ·τ in place of τᵢⱼ, and compute J times the rate. A split form is the mean of
//! forms of one derivative that are equal by the product rule; the right mean conserves the discrete kinetic energy.

use super::context::SweepContext;
use super::slots::conserved::{ENERGY, MASS, MOMENTUM};
use super::term_group::TermGroup;
use super::{Convection, EnergyForm, SchemeConfig, ViscousForm};
use crate::engine::{Expr, Value};

/// Add the terms of `group` along the axis of `q` to the rates of (ρ, ρu, ρv, ρw, ρE).
pub(super) fn add_terms(q: &SweepContext, group: TermGroup, scheme: &SchemeConfig) {
    let (form, all) = (scheme.convection, group == TermGroup::All);
    if group.has(TermGroup::Convection) {
        let c_rho = q.define(mass(q, form));
        let c_u = [0, 1, 2].map(|i| q.define(convection(q, form, c_rho, q.u(i), || q.d_u(i))));
        q.subtract(MASS, c_rho);
        (0..3).for_each(|i| q.subtract(MOMENTUM + i, c_u[i]));
        if all {
            q.subtract(ENERGY, energy(q, scheme, c_rho, c_u));
        }
    }
    if group.has(TermGroup::Pressure) {
        (0..3).for_each(|i| q.subtract(MOMENTUM + i, q.pressure_gradient(i, form)));
    }
    if group.is_viscous(q.gas) {
        viscosity(q, scheme.viscous, all);
    }
}

/// C_ρ = ∂ⱼ(ρuⱼ), in the form consistent with that of momentum.
pub(super) fn mass(q: &SweepContext, form: Convection) -> Expr {
    let (rho, u_j) = (q.rho(), q.flux_velocity());
    match form {
        Convection::Divergence | Convection::Feiereisen => q.d(rho * u_j),
        Convection::KennedyGruber => {
            0.5 * (q.d(rho * u_j) + u_j * q.d_rho() + rho * q.d_flux_velocity())
        }
        Convection::Staggered => q.d_from_midpoints(q.rho_midpoint() * q.midpoint(u_j)),
    }
}

/// C_φ = ∂ⱼ(ρφuⱼ) of a transported quantity, momentum (φ = uᵢ) or a passive scalar; `d_phi` is ∂ⱼφ. Feiereisen, Reynolds and Ferziger 1981;
/// Kennedy and Gruber 2008 with equal weights (Pirozzoli 2010), where the three terms with factor φ sum to 2 φ C_ρ; Nagarajan, Lele and
/// Ferziger 2003.
pub(super) fn convection(
    q: &SweepContext,
    form: Convection,
    c_rho: Value,
    phi: Value,
    d_phi: impl Fn() -> Value,
) -> Expr {
    let (rho, u_j) = (q.rho(), q.flux_velocity());
    match form {
        Convection::Divergence => q.d(rho * u_j * phi),
        Convection::Feiereisen => 0.5 * (q.d(rho * u_j * phi) + rho * u_j * d_phi() + phi * c_rho),
        Convection::KennedyGruber => {
            let two = q.d(rho * u_j * phi) + u_j * q.d(rho * phi);
            0.25 * (two + rho * q.d(u_j * phi) + rho * u_j * d_phi()) + 0.5 * (phi * c_rho)
        }
        Convection::Staggered => {
            let [u_j, phi] = [u_j, phi].map(|value| q.midpoint(value));
            q.d_from_midpoints(q.rho_midpoint() * u_j * phi)
        }
    }
}

/// C_E = ∂ⱼ((ρE + p)uⱼ), split with H = c_p T + ½ u·u (Coppola et al. 2019), or with p/(γ − 1) as a whole (Shima, Kuya, Tamaki and Kawai
/// 2021, J. Comput. Phys. 427, 110060), separate pressure work, and ½ ρ u·u transported as by mass and momentum (both as Kuya, Totani and
/// Kawai 2018, J. Comput. Phys. 375, 823, who split ρe into ρ and e).
fn energy(q: &SweepContext, scheme: &SchemeConfig, c_rho: Value, c_u: [Value; 3]) -> Expr {
    let (rho, u_j, p, e) = (q.rho(), q.flux_velocity(), q.p(), 1.0 / (q.gas.gamma - 1.0));
    match (scheme.energy, scheme.convection) {
        (EnergyForm::Divergence, Convection::Staggered) => {
            let (rho, p, u_j) = (q.rho_midpoint(), q.p_midpoint(), q.midpoint(u_j));
            let half_u_u = q.half_square([0, 1, 2].map(|i| q.midpoint(q.u(i))));
            q.d_from_midpoints((e + 1.0) * (p * u_j) + rho * u_j * half_u_u)
        }
        (EnergyForm::Divergence, _) => q.d((q.rho_e() + p) * u_j),
        (EnergyForm::SplitEnthalpy, _) => {
            let (h, h_deviation) = q.total_enthalpy();
            0.5 * (q.d(rho * u_j * h) + rho * u_j * q.d(h_deviation) + h * q.d(rho * u_j))
        }
        (EnergyForm::SplitPressure, _) => {
            let half_u_u = q.half_square([0, 1, 2].map(|i| q.u(i)));
            let work = q.define(u_j * q.d_p() + p * q.d_flux_velocity());
            let u_c = q.u(0) * c_u[0] + q.u(1) * c_u[1] + q.u(2) * c_u[2];
            0.5 * e * q.d(p * u_j) + (0.5 * e + 1.0) * work + u_c - half_u_u * c_rho
        }
    }
}

/// ∂ⱼτᵢⱼ, and ∂ⱼ(τᵢⱼuᵢ − qⱼ) if `energy` is set. Laplacian: μ (∂ⱼⱼuᵢ + ⅓ ∂ᵢ div u) + ∂ⱼμ Sᵢⱼ. Midpoint: ∂ⱼ(μ ∂ⱼ·) via the midpoints, the
/// rest of Sᵢⱼ by first derivatives. Both damp the shortest waves; conservative does not.
fn viscosity(q: &SweepContext, form: ViscousForm, energy: bool) {
    let (k, per_re) = (q.gas.conductivity(), 1.0 / q.gas.reynolds);
    let tau = |i| per_re * (q.mu() * q.strain(i));
    match form {
        ViscousForm::Laplacian => {
            (0..3).for_each(|i| q.add(MOMENTUM + i, per_re * q.diffusion(form, q.u(i))));
            q.add(MOMENTUM + q.j, per_re / 3.0 * (q.mu() * q.d(q.divergence())));
            if let Some(d_mu) = q.d_mu() {
                (0..3).for_each(|i| q.add(MOMENTUM + i, per_re * (d_mu * q.strain(i))));
            }
        }
        ViscousForm::Midpoint => (0..3).for_each(|i| {
            let (normal, rest) = q.strain_parts(i);
            q.add(MOMENTUM + i, normal * per_re * q.diffusion(form, q.u(i)));
            q.add(MOMENTUM + i, per_re * q.d(q.mu() * rest));
        }),
        ViscousForm::Conservative => (0..3).for_each(|i| q.add(MOMENTUM + i, q.d(tau(i)))),
    }
    if energy && form == ViscousForm::Conservative {
        let heat = k * (q.mu() * q.heat());
        q.add(ENERGY, q.d(q.viscous_work() + heat));
    } else if energy {
        q.add(ENERGY, q.d(q.viscous_work()));
        q.add(ENERGY, k * q.diffusion(form, q.t_deviation()));
        if form == ViscousForm::Laplacian {
            q.add(ENERGY, k * q.d_mu_d(q.t_deviation()));
        }
    }
}

/// ∂ⱼ(μ ∂ⱼφ) of a passive scalar, in the form of the viscous terms. Laplacian: μ ∂ⱼⱼφ + ∂ⱼμ ∂ⱼφ.
pub(super) fn diffusion(q: &SweepContext, form: ViscousForm, phi: Value) -> Expr {
    match form {
        ViscousForm::Laplacian => q.diffusion(form, phi) + q.d_mu_d(phi),
        ViscousForm::Midpoint => q.diffusion(form, phi),
        ViscousForm::Conservative => q.d(q.mu() * q.d(phi)),
    }
}
