//! Pointwise formulas of a passive scalar, from fields as they are stored.

use crate::engine::{Formula, Number};
use crate::physics::Gas;
use crate::physics::base_state::BaseState;
use crate::physics::formulas::{Primitives, SpecificVolume, full_value};
use crate::simd::mapped;

/// φ from (ρ', ρφ).
pub(super) struct Fraction {
    pub(super) base: BaseState,
}

impl Formula<2, 1> for Fraction {
    fn at<N: Number>(&self, [rho, state]: [N; 2], _: [N; 1], _: [N; 0]) -> [N; 1] {
        let [volume] = SpecificVolume { base: self.base }.at([rho], [rho], []);
        [volume * state]
    }
}

impl Fraction {
    /// φ before a stage of weight `a`, from the accumulated rate of ρφ and ρφ, and those of ρ'.
    #[inline(always)]
    pub(super) fn before_stage<N: Number>(&self, fields: &[N], a: N) -> N {
        let [rho, state] = mapped([3, 1], |k: usize| fields[k] - a * fields[k - 1]);
        let [phi] = self.at([rho, state], [state], []);
        phi
    }
}

/// (ρ, ρφ, ρφ²) from (ρ', ρφ).
pub(super) struct Moments {
    pub(super) base: BaseState,
}

impl Formula<2, 3> for Moments {
    fn at<N: Number>(&self, [rho, state]: [N; 2], _: [N; 3], _: [N; 0]) -> [N; 3] {
        let [phi] = Fraction { base: self.base }.at([rho, state], [rho], []);
        [full_value(rho, self.base.density), state, state * phi]
    }
}

/// (φ, −φ) from (ρ', ρφ), to be maximised.
pub(super) struct Extrema {
    pub(super) base: BaseState,
}

impl Formula<2, 2> for Extrema {
    fn at<N: Number>(&self, [rho, state]: [N; 2], _: [N; 2], _: [N; 0]) -> [N; 2] {
        let [phi] = Fraction { base: self.base }.at([rho, state], [rho], []);
        [phi, -phi]
    }
}

/// ρφ''², 2 μ/(Re Sc) ∂ⱼφ ∂ⱼφ, and the contributions of convection and diffusion to the rate of ρφ''², from U, ρφ, the separate terms and
/// ∂ⱼφ, with the parameters (mean of φ; 1/(Re Sc)). With φ'' = φ − m, d(ρφ''²) = 2φ'' d(ρφ) − (φ² − m²) dρ at constant m.
pub(super) struct Terms {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
}

impl Formula<12, 4, 2> for Terms {
    fn at<N: Number>(&self, fields: [N; 12], _: [N; 4], [mean, scale]: [N; 2]) -> [N; 4] {
        let [rho, m0, m1, m2, e, state, convection, diffusion, d_rho, x, y, z] = fields;
        let Self { gas, base } = *self;
        let flow = [rho, m0, m1, m2, e];
        let [.., t] = Primitives { gas, base }.at(flow, flow, []);
        let [phi] = Fraction { base }.at([rho, state], [rho], []);
        let deviation = phi - mean;
        let two = N::of(2.0);
        let diffusivity = scale * gas.mu(full_value(t, base.temperature));
        [
            full_value(rho, base.density) * deviation * deviation,
            two * diffusivity * (x * x + y * y + z * z),
            deviation * (two * convection - (phi + mean) * d_rho),
            two * deviation * diffusion,
        ]
    }
}
