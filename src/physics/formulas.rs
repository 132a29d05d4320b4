//! Pointwise formulas of the flow: primitive variables, time step, averages, derived quantities.
//!
//! Fields are passed as stored, relative to a [`BaseState`]: where the base state is zero, ρ', ρE', p', T' are ρ, ρE, p, T.

use super::base_state::BaseState;
use super::{Gas, Limits};
use crate::engine::{Formula, Number};
use crate::simd::{array_of, mapped};

/// a·b.
#[inline(always)]
pub(super) fn dot<N: Number>([a, b, c]: [N; 3], [x, y, z]: [N; 3]) -> N {
    a * x + b * y + c * z
}

/// (u, v, w, p', T') from U.
pub(super) struct Primitives {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
}

impl Formula<5, 5> for Primitives {
    fn at<N: Number>(&self, [rho, m0, m1, m2, e]: [N; 5], _: [N; 5], _: [N; 0]) -> [N; 5] {
        let [volume] = SpecificVolume { base: self.base }.at([rho], [rho], []);
        let (u, v, w) = (m0 * volume, m1 * volume, m2 * volume);
        let p = N::of(self.gas.gamma - 1.0) * (e - N::of(0.5) * (u * m0 + v * m1 + w * m2));
        // T = γ Ma² p/ρ, and the same at rest: T' = (γ Ma² p' − T₀ ρ') / ρ.
        let scaled = N::of(self.gas.temperature(1.0, 1.0)) * p;
        let t = match self.base.temperature {
            0.0 => scaled * volume,
            at_rest => (scaled - N::of(at_rest) * rho) * volume,
        };
        [u, v, w, p, t]
    }
}

/// 1/ρ from ρ'.
pub(super) struct SpecificVolume {
    pub(super) base: BaseState,
}

impl Formula<1, 1> for SpecificVolume {
    fn at<N: Number>(&self, [rho]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [N::of(1.0) / full_value(rho, self.base.density)]
    }
}

/// (μ, dμ/dT) from T'.
pub(super) struct ViscosityLaw {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
}

impl Formula<1, 2> for ViscosityLaw {
    fn at<N: Number>(&self, [t]: [N; 1], _: [N; 2], _: [N; 0]) -> [N; 2] {
        let t = full_value(t, self.base.temperature);
        [self.gas.mu(t), self.gas.dmu_dt(t)]
    }
}

/// U + s K for the parameter s.
pub(crate) struct AddScaled;

impl Formula<1, 1, 1> for AddScaled {
    fn at<N: Number>(&self, [rate]: [N; 1], [u]: [N; 1], [scale]: [N; 1]) -> [N; 1] {
        [u + scale * rate]
    }
}

/// (1/dt at the stability limit, −ρ, −p) from U, for a maximum reduction.
pub(super) struct StepRate {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
    pub(super) limits: Limits,
    /// The largest 1/Sc of passive scalars; 0 where there are none.
    pub(super) scalars: f64,
}

/// Speeds that limit the time step at a point.
struct Speeds<N> {
    velocity: [N; 3],
    c: N,
    nu: N,
    rho: N,
    p: N,
}

impl StepRate {
    #[inline(always)]
    fn speeds<N: Number>(&self, state: [N; 5]) -> Speeds<N> {
        let Self { gas, base, .. } = *self;
        let diffusivity = match gas.is_inviscid() {
            true => 0.0,
            false => (4.0_f64 / 3.0).max(gas.gamma / gas.prandtl).max(self.scalars) / gas.reynolds,
        };
        let [u, v, w, p, t] = Primitives { gas, base }.at(state, state, []);
        let [volume] = SpecificVolume { base }.at([state[0]], [state[0]], []);
        let p = full_value(p, base.pressure);
        let c = (N::of(gas.gamma) * p * volume).sqrt();
        let nu = N::of(diffusivity) * gas.mu(full_value(t, base.temperature)) * volume;
        Speeds { velocity: [u, v, w], c, nu, rho: full_value(state[0], base.density), p }
    }
}

impl Formula<5, 3> for StepRate {
    fn at<N: Number>(&self, state: [N; 5], _: [N; 3], _: [N; 0]) -> [N; 3] {
        let Speeds { velocity, c, nu, rho, p } = self.speeds(state);
        [self.limits.rate(velocity, c, nu), -rho, -p]
    }
}

/// [`StepRate`] on a curvilinear grid. The areas of faces and 1/J follow U.
pub(super) struct CurvilinearStepRate(pub(super) StepRate);

impl Formula<10, 3> for CurvilinearStepRate {
    fn at<N: Number>(&self, fields: [N; 10], _: [N; 3], _: [N; 0]) -> [N; 3] {
        let [rho, m0, m1, m2, e, areas @ .., per_volume] = fields;
        let Speeds { velocity, c, nu, rho, p } = self.0.speeds([rho, m0, m1, m2, e]);
        [
            self.0.limits.rate_on_curves(velocity, c, nu, mapped(areas, |it| it * per_volume)),
            -rho,
            -p,
        ]
    }
}

/// ∂uᵢ/∂xⱼ from the gradients along the lines of a curvilinear grid, the areas of its faces and 1/J.
pub(super) struct ChainRule;

impl Formula<5, 9> for ChainRule {
    fn at<N: Number>(&self, [areas @ .., per_volume]: [N; 5], along: [N; 9], _: [N; 0]) -> [N; 9] {
        array_of(|at| match at % 3 {
            2 => along[at],
            k => {
                let [xi, eta] = [along[at - k], along[at - k + 1]];
                per_volume * (areas[k] * xi + areas[2 + k] * eta)
            }
        })
    }
}

/// ½ ρ u·u from (ρ', ρu, ρv, ρw).
pub(super) struct KineticEnergy {
    pub(super) base: BaseState,
}

impl Formula<4, 1> for KineticEnergy {
    fn at<N: Number>(&self, [rho, m0, m1, m2]: [N; 4], _: [N; 1], _: [N; 0]) -> [N; 1] {
        let rho = full_value(rho, self.base.density);
        [N::of(0.5) * (m0 * m0 + m1 * m1 + m2 * m2) / rho]
    }
}

/// u·d(ρu)/dt − ½ u·u dρ/dt from (ρ', ρu, ρv, ρw) and their rates.
pub(super) struct EnergyRate {
    pub(super) base: BaseState,
}

impl Formula<8, 1> for EnergyRate {
    fn at<N: Number>(&self, fields: [N; 8], _: [N; 1], _: [N; 0]) -> [N; 1] {
        let [rho, m0, m1, m2, d_rho, d_m0, d_m1, d_m2] = fields;
        let [volume] = SpecificVolume { base: self.base }.at([rho], [rho], []);
        let (u, v, w) = (m0 * volume, m1 * volume, m2 * volume);
        [u * d_m0 + v * d_m1 + w * d_m2 - N::of(0.5) * (u * u + v * v + w * w) * d_rho]
    }
}

/// ½ρu·u, ½ρω·ω, τ:∇u, μω·ω/Re, 4/3 μ(div u)²/Re, (p − p₀) div u, ρ, ρu, ρv, ρw, ρE from U and ∂uᵢ/∂xⱼ.
pub(super) struct Averages {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
}

impl Formula<14, 11> for Averages {
    fn at<N: Number>(&self, fields: [N; 14], _: [N; 11], _: [N; 0]) -> [N; 11] {
        let [rho, m0, m1, m2, e, g @ ..] = fields;
        let Self { gas, base } = *self;
        let state = [rho, m0, m1, m2, e];
        let [u, v, w, p, t] = Primitives { gas, base }.at(state, state, []);
        let [rho_0, .., e_0] = base.conserved(gas.gamma);
        let (rho, e) = (full_value(rho, rho_0), full_value(e, e_0));
        let viscosity = gas.mu(full_value(t, base.temperature)) * N::of(1.0 / gas.reynolds);
        let omega = curl(&g);
        let omega_squared = omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2];
        let div = dilatation(&g);
        let mut strain = N::of(-2.0 / 3.0) * div * div;
        for i in 0..3 {
            for j in 0..3 {
                strain = strain + (g[3 * i + j] + g[3 * j + i]) * g[3 * i + j];
            }
        }
        [
            N::of(0.5) * (m0 * u + m1 * v + m2 * w),
            N::of(0.5) * rho * omega_squared,
            viscosity * strain,
            viscosity * omega_squared,
            N::of(4.0 / 3.0) * viscosity * div * div,
            // ⟨p₀ div u⟩ is zero in a closed box, where its round-off would hide the rest.
            full_value(p, base.pressure - gas.reference_pressure()) * div,
            rho,
            m0,
            m1,
            m2,
            e,
        ]
    }
}

/// (square of the local Mach number, −ρ, −T) from U, for a maximum reduction.
pub(super) struct Extrema {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
}

impl Formula<5, 3> for Extrema {
    fn at<N: Number>(&self, state: [N; 5], _: [N; 3], _: [N; 0]) -> [N; 3] {
        let Self { gas, base } = *self;
        let [u, v, w, p, t] = Primitives { gas, base }.at(state, state, []);
        let rho = full_value(state[0], base.density);
        let p = full_value(p, base.pressure);
        let mach_squared = (u * u + v * v + w * w) * rho / (N::of(gas.gamma) * p);
        [mach_squared, -rho, -full_value(t, base.temperature)]
    }
}

/// The full value of a quantity from its deviation.
pub(super) struct FullValue(pub(super) f64);

impl Formula<1, 1> for FullValue {
    fn at<N: Number>(&self, [deviation]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [full_value(deviation, self.0)]
    }
}

/// ω = curl u from ∂uᵢ/∂xⱼ, written over ∂u/∂xⱼ.
pub(super) struct Vorticity;

impl Formula<6, 3> for Vorticity {
    fn at<N: Number>(&self, grad_v_w: [N; 6], grad_u: [N; 3], _: [N; 0]) -> [N; 3] {
        curl(&gradient(grad_u, grad_v_w))
    }
}

/// |ω|, Q and div u from ∂uᵢ/∂xⱼ, written over ∂u/∂xⱼ, with Q = −½ ∂ᵢuⱼ ∂ⱼuᵢ (Hunt, Wray and Moin 1988; for any div u, without the term in
/// div u).
pub(super) struct Invariants;

impl Formula<6, 3> for Invariants {
    fn at<N: Number>(&self, grad_v_w: [N; 6], grad_u: [N; 3], _: [N; 0]) -> [N; 3] {
        let g = gradient(grad_u, grad_v_w);
        let [x, y, z] = curl(&g);
        let diagonal = g[0] * g[0] + g[4] * g[4] + g[8] * g[8];
        let cross = g[1] * g[3] + g[2] * g[6] + g[5] * g[7];
        [(x * x + y * y + z * z).sqrt(), N::of(-0.5) * diagonal - cross, dilatation(&g)]
    }
}

/// The full value of a quantity: its deviation plus its base value.
#[inline(always)]
pub(super) fn full_value<N: Number>(deviation: N, base: f64) -> N {
    if base == 0.0 { deviation } else { deviation + N::of(base) }
}

/// ∂uᵢ/∂xⱼ at 3 i + j.
#[inline(always)]
fn gradient<N: Number>(grad_u: [N; 3], grad_v_w: [N; 6]) -> [N; 9] {
    array_of(|at| if at < 3 { grad_u[at] } else { grad_v_w[at - 3] })
}

#[inline(always)]
fn curl<N: Number>(g: &[N; 9]) -> [N; 3] {
    [g[7] - g[5], g[2] - g[6], g[3] - g[1]]
}

#[inline(always)]
fn dilatation<N: Number>(g: &[N; 9]) -> N {
    g[0] + g[4] + g[8]
}
