//! The sweeps of a passive scalar.

use crate::cases::PassiveScalar;
use crate::engine::{Expr, Sweep, SweepBuilder, Value};
use crate::grid::Axis;
use crate::physics::base_state::BaseState;
use crate::physics::context::{CrossGradients, SweepContext};
use crate::physics::formulas::{Primitives, SpecificVolume, ViscosityLaw};
use crate::physics::problem::Problem;
use crate::physics::rhs::{convection, diffusion, mass};
use crate::physics::slots::{conserved, read};
use crate::physics::{Gas, SchemeConfig, Viscosity};

/// A scalar carried by a flow.
#[derive(Clone, Copy)]
pub(in crate::physics) struct ScalarEquation<'a> {
    pub(super) scalar: &'a PassiveScalar,
    scheme: &'a SchemeConfig,
    gas: &'a Gas,
    base: BaseState,
}

/// Fields written by the sweeps of a right-hand side: the rate of ρφ, and ρφ, which is also read.
const RATE: usize = 0;
const STATE: usize = 1;

/// Slots of the separate terms; ρφ is read after the flow.
pub(super) mod term_slots {
    /// Contribution of convection and of diffusion to the rate of ρφ.
    pub(super) const CONVECTION: usize = 0;
    pub(super) const DIFFUSION: usize = 1;
    /// dρ/dt.
    pub(super) const MASS: usize = 2;
    /// ∂φ/∂x; those along y and z follow.
    pub(super) const GRADIENT: usize = 3;
    /// Number of these fields.
    pub(in crate::physics::passive) const COUNT: usize = GRADIENT + 3;
}

impl<'a> ScalarEquation<'a> {
    /// The passive scalars of `problem`.
    pub(in crate::physics) fn all(
        problem: &'a Problem,
        base: BaseState,
    ) -> impl Iterator<Item = Self> {
        let (scheme, gas) = (&problem.scheme, &problem.gas);
        problem.scalars.iter().map(move |scalar| Self { scalar, scheme, gas, base })
    }

    /// 1/(Re Sc).
    pub(super) fn diffusivity(&self) -> f64 {
        1.0 / (self.gas.reynolds * self.scalar.schmidt)
    }

    /// All terms with a derivative along `axis`, from U; ρφ advanced by its rate where `advances`.
    pub(in crate::physics) fn sweep(&self, axis: Axis, advances: bool) -> Sweep {
        let s = SweepBuilder::new();
        let state = s.previous(STATE);
        let (q, phi) = self.line_context(&s, axis, state);
        let [_, c_phi] = self.convected(&q, phi);
        s.subtract(RATE, c_phi);
        if let Some(diffused) = self.diffused(&q, phi) {
            s.add(RATE, diffused);
        }
        if advances {
            s.store(STATE, s.advanced(state, RATE));
        }
        s.build()
    }

    /// The separate terms, with dρ/dt and the gradient of φ.
    pub(in crate::physics) fn terms(&self, axis: Axis) -> Sweep {
        let s = SweepBuilder::new();
        let (q, phi) = self.line_context(&s, axis, s.read(conserved::COUNT));
        let [c_rho, c_phi] = self.convected(&q, phi);
        s.subtract(term_slots::CONVECTION, c_phi);
        s.subtract(term_slots::MASS, c_rho);
        if let Some(diffused) = self.diffused(&q, phi) {
            s.add(term_slots::DIFFUSION, diffused);
        }
        s.store(term_slots::GRADIENT + axis.index(), s.d1(phi));
        s.build()
    }

    /// C_ρ and C_φ.
    fn convected(&self, q: &SweepContext, phi: Value) -> [Value; 2] {
        let form = self.scheme.convection;
        let c_rho = q.define(mass(q, form));
        [c_rho, q.define(convection(q, form, c_rho, phi, || q.s.d1(phi)))]
    }

    /// ∂ⱼ(μ/(Re Sc) ∂ⱼφ); `None` without viscosity.
    fn diffused(&self, q: &SweepContext, phi: Value) -> Option<Expr> {
        let diffused = || self.diffusivity() * diffusion(q, self.scheme.viscous, phi);
        (!self.gas.is_inviscid()).then(diffused)
    }

    /// The flow quantities that a scalar needs on the lines along `axis`, and φ from ρφ.
    fn line_context<'s>(
        &'s self,
        s: &'s SweepBuilder,
        axis: Axis,
        state: Value,
    ) -> (SweepContext<'s>, Value) {
        let (gas, base, j) = (*self.gas, self.base, axis.index());
        let mut quantities = [None; read::GRADIENT];
        let rho = s.read(conserved::MASS);
        quantities[read::RHO] = Some(rho);
        let [volume] = s.map(SpecificVolume { base }, [rho]);
        let u_j = s.define(volume * s.odd(s.read(conserved::MOMENTUM + j)));
        quantities[read::U + j] = Some(u_j);
        if gas.viscosity != Viscosity::Constant && !gas.is_inviscid() {
            let flow = std::array::from_fn(|k| s.read(k));
            let [.., t] = s.map(Primitives { gas, base }, flow);
            let [mu, dmu_dt] = s.map(ViscosityLaw { gas, base }, [t]);
            quantities[read::T] = Some(t);
            quantities[read::MU] = Some(mu);
            quantities[read::DMU_DT] = Some(dmu_dt);
        }
        let (gradients, curved) = (CrossGradients::NONE, false);
        let q =
            SweepContext { s, j, axes: &[], gas: self.gas, quantities, gradients, base, curved };
        (q, s.define(volume * state))
    }
}
