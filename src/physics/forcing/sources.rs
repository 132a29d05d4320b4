//! Source terms of a force at a point, and the averages they need.
//!
//! ```text
//! ∂(ρuᵢ)/∂t = … + Fᵢ      ∂(ρE)/∂t = … + F·u − Λ
//! ```

use crate::engine::{Formula, Number};
use crate::physics::base_state::BaseState;
use crate::physics::formulas::full_value;
use crate::simd::{array_of, mapped};

/// β × the rates + F = A ρ (u − {u}), with parameters β, A, {u}, Λ. The rates are read only where `ADDS`.
pub(super) struct LinearSource<const ADDS: bool> {
    pub(super) base: BaseState,
}

impl<const ADDS: bool> Formula<5, 5, 6> for LinearSource<ADDS> {
    fn at<N: Number>(&self, state: [N; 5], rates: [N; 5], parameters: [N; 6]) -> [N; 5] {
        let [beta, a, mean @ .., sink] = parameters;
        let [rho, m0, m1, m2, _] = state;
        let rho = full_value(rho, self.base.density);
        let m = [m0, m1, m2];
        let force = array_of::<_, 3>(|i| a * (m[i] - rho * mean[i]));
        add_source::<ADDS, N>(rates, beta, (rho, m), force, sink)
    }
}

/// As [`LinearSource`], for F = ⟨ρ⟩ f from U and f, with parameters β, ⟨ρ⟩, Λ.
pub(super) struct FieldSource<const ADDS: bool> {
    pub(super) base: BaseState,
}

impl<const ADDS: bool> Formula<8, 5, 3> for FieldSource<ADDS> {
    fn at<N: Number>(&self, fields: [N; 8], rates: [N; 5], parameters: [N; 3]) -> [N; 5] {
        let [beta, density, sink] = parameters;
        let [rho, m0, m1, m2, _, f @ ..] = fields;
        let rho = full_value(rho, self.base.density);
        add_source::<ADDS, N>(rates, beta, (rho, [m0, m1, m2]), mapped(f, |f| density * f), sink)
    }
}

/// As [`LinearSource`], for a uniform F, with parameters β, F, Λ.
pub(super) struct UniformSource<const ADDS: bool> {
    pub(super) base: BaseState,
}

impl<const ADDS: bool> Formula<5, 5, 5> for UniformSource<ADDS> {
    fn at<N: Number>(&self, state: [N; 5], rates: [N; 5], parameters: [N; 5]) -> [N; 5] {
        let [beta, force @ .., sink] = parameters;
        let [rho, m0, m1, m2, _] = state;
        let rho = full_value(rho, self.base.density);
        add_source::<ADDS, N>(rates, beta, (rho, [m0, m1, m2]), force, sink)
    }
}

#[inline(always)]
fn add_source<const ADDS: bool, N: Number>(
    rates: [N; 5],
    beta: N,
    (rho, m): (N, [N; 3]),
    force: [N; 3],
    sink: N,
) -> [N; 5] {
    let power = (force[0] * m[0] + force[1] * m[1] + force[2] * m[2]) / rho;
    let source = [N::of(0.0), force[0], force[1], force[2], power - sink];
    array_of(|k| if ADDS { beta * rates[k] + source[k] } else { source[k] })
}

/// ρ, ρu, ρv, ρw, ρE, ½ρu·u from U.
pub(super) struct Means {
    pub(super) gamma: f64,
    pub(super) base: BaseState,
}

impl Formula<5, 6> for Means {
    fn at<N: Number>(&self, [rho, m0, m1, m2, e]: [N; 5], _: [N; 6], _: [N; 0]) -> [N; 6] {
        let [rho_0, .., e_0] = self.base.conserved(self.gamma);
        let (rho, e) = (full_value(rho, rho_0), full_value(e, e_0));
        [rho, m0, m1, m2, e, N::of(0.5) * (m0 * m0 + m1 * m1 + m2 * m2) / rho]
    }
}

/// f·u from (ρ, ρu, ρv, ρw) and f.
pub(super) struct Work {
    pub(super) base: BaseState,
}

impl Formula<7, 1> for Work {
    fn at<N: Number>(&self, fields: [N; 7], _: [N; 1], _: [N; 0]) -> [N; 1] {
        let [rho, m0, m1, m2, f0, f1, f2] = fields;
        [(f0 * m0 + f1 * m1 + f2 * m2) / full_value(rho, self.base.density)]
    }
}

/// u, v, w from (ρ, ρu, ρv, ρw).
pub(super) struct Velocity {
    pub(super) base: BaseState,
}

impl Formula<4, 3> for Velocity {
    fn at<N: Number>(&self, [rho, m0, m1, m2]: [N; 4], _: [N; 3], _: [N; 0]) -> [N; 3] {
        let rho = full_value(rho, self.base.density);
        [m0 / rho, m1 / rho, m2 / rho]
    }
}
