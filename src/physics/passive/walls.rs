//! Wall conditions of passive scalars: a value, or a diffusive flux.
//!
//! A value is imposed on the state. A flux f into the gas is imposed on the rates, as the [heat flux](crate::physics::heat_flux) is: ρφ at
//! the wall follows its own equation and
//!
//! ```text
//! ∂(ρφ)/∂t = R_φ + (f − μ/(Re Sc) ∂φ/∂n) / (w₀ h)
//! ```
//!
//! The density at the wall follows its equation too, so that a uniform φ stays uniform. Summed with the norm of the first derivative,
//! convection carries no ρφ through the wall, and f enters to third order. (With φ extrapolated from inside ⟨ρφ⟩ drifts, and in a shear flow
//! of Pe = 10⁴ φ grows.)

use super::formulas::Fraction;
use crate::backend::Prepared;
use crate::cases::{AtWall, PassiveScalar};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::physics::base_state::BaseState;
use crate::physics::discretisation::Discretisation;
use crate::physics::formulas::{Primitives, whole};
use crate::physics::open::{BOTH, before_stage};
use crate::physics::problem::Problem;
use crate::physics::slots::conserved::{COUNT, MASS};
use crate::physics::walls::{End, INSIDE, OF_SLOPE, WEIGHTS, faces_here, outward_slope, spacing};
use crate::physics::{Gas, Limits};
use crate::simd::{array_of, mapped};

/// The accumulated rate of ρφ and ρφ itself, followed by those of the flow.
pub(super) const RATES: usize = 2 + BOTH;
/// Of these, those of ρφ and ρ, read at the points inside.
const READ: [usize; 4] = [0, 1, 2 + MASS, 2 + COUNT + MASS];
/// The flow, followed by ρφ.
pub(super) const STATE: usize = COUNT + 1;

/// The wall conditions of a scalar at the ends that bound this rank's block. Where two walls meet, the condition across the later axis
/// applies. The density there does not follow its equation, and φ is extrapolated with the flux: with its own equation it would grow where a
/// moving wall begins.
#[derive(Default)]
pub(super) struct AtWalls {
    /// Values, and fluxes where walls meet, in the order of their application, for [`STATE`].
    pub(super) imposed: Vec<Prepared>,
    /// Fluxes, for [`RATES`].
    pub(super) fluxes: Vec<Prepared>,
}

impl AtWalls {
    /// # Errors
    /// Compiler errors, or a block with too few points.
    pub(super) fn new(
        on: &Discretisation<'_>,
        scalar: &PassiveScalar,
        diffusivity: f64,
    ) -> Result<Self> {
        let (grid, gas, base) = (&on.grid, on.problem.gas, on.base);
        let (mut ends, mut found): (Vec<End>, _) = (Vec::new(), Self::default());
        for axis in grid.active_axes() {
            let a = axis.index();
            for (at, _) in faces_here(on, axis)?.filter(|(_, face)| face.wall().is_some()) {
                let end = End::new(&on.block, a, at);
                let face = end.face(&on.block);
                match scalar.walls[a][at] {
                    AtWall::Value(phi) => {
                        let formula = PointFormula::map(OfValue { base, phi });
                        found.imposed.push(on.part(face).prepare(formula, &[], 0)?);
                    }
                    AtWall::Flux(flux) => {
                        let of = OfFlux { gas, base, flux, diffusivity };
                        let last = grid.points[a] - 1;
                        let x = |i: usize| grid.coordinate(a, if at == 0 { i } else { last - i });
                        let h = grid.spacing[a] * grid.jacobian(a, at * last);
                        let formula = OnRates {
                            of,
                            per_spacing: 1.0 / outward_slope(x(0), |k| x(k + 1)).abs(),
                            per_weight: 1.0 / (grid.end_weights[a][at][0] * h),
                        };
                        let inside = |fields: usize, read: &[usize]| -> Vec<_> {
                            let all = end.fields_inside(INSIDE, fields);
                            all.filter(|(k, _)| read.contains(k)).collect()
                        };
                        let reads = inside(RATES, &READ);
                        let formula = PointFormula::map(formula);
                        found.fluxes.push(on.part(face).prepare(formula, &reads, 0)?);
                        let reads = inside(STATE, &[MASS, COUNT]);
                        for other in ends.iter().filter(|other| other.axis != a) {
                            let formula = OnEdge { of, spacing: spacing(grid, a, at) };
                            let (formula, edge) = (PointFormula::map(formula), other.of(face));
                            found.imposed.push(on.part(edge).prepare(formula, &reads, 0)?);
                        }
                    }
                }
                ends.push(end);
            }
        }
        Ok(found)
    }
}

/// The largest 1/Sc of the scalars of `problem` for the step `limits` of its flow; that of a scalar with a given flux at a wall counts as its
/// limit there demands.
pub(in crate::physics) fn largest_diffusivity(problem: &Problem, limits: &Limits) -> f64 {
    let (viscous, integrator) = (problem.scheme.viscous, problem.integrator);
    let at_flux = limits.diffusion_at_fluxes(viscous, integrator) / limits.diffusion;
    let of = |scalar: &PassiveScalar| {
        let has_flux = problem.boundaries.faces().any(|(axis, at, face)| {
            let condition = scalar.walls[axis.index()][at];
            face.wall().is_some() && matches!(condition, AtWall::Flux(_))
        });
        if has_flux { at_flux / scalar.schmidt } else { 1.0 / scalar.schmidt }
    };
    problem.scalars.iter().map(of).fold(0.0, f64::max)
}

/// The state with ρφ from this φ.
#[inline(always)]
fn with<N: Number>(mut state: [N; STATE], base: BaseState, phi: N) -> [N; STATE] {
    state[COUNT] = whole(state[MASS], base.density) * phi;
    state
}

/// A wall with this φ.
struct OfValue {
    base: BaseState,
    phi: f64,
}

impl Formula<0, STATE> for OfValue {
    fn at<N: Number>(&self, _: [N; 0], before: [N; STATE], _: [N; 0]) -> [N; STATE] {
        with(before, self.base, N::of(self.phi))
    }
}

/// A wall with this diffusive flux.
#[derive(Clone, Copy)]
struct OfFlux {
    gas: Gas,
    base: BaseState,
    /// f, into the gas.
    flux: f64,
    /// 1/(Re Sc).
    diffusivity: f64,
}

impl OfFlux {
    /// μ/(Re Sc) in the `flow`.
    #[inline(always)]
    fn diffusivity<N: Number>(&self, flow: [N; COUNT]) -> N {
        let Self { gas, base, diffusivity, .. } = *self;
        let [.., t] = Primitives { gas, base }.at(flow, flow, []);
        N::of(diffusivity) * gas.mu(whole(t, base.temperature))
    }
}

/// Adds the flux that φ lacks to the accumulated rate of ρφ, and its effect to ρφ. Parameter: a.
struct OnRates {
    of: OfFlux,
    /// 1/h of the formula for ∂φ/∂n.
    per_spacing: f64,
    /// 1/(w₀ h).
    per_weight: f64,
}

impl Formula<{ READ.len() * INSIDE }, RATES, 1> for OnRates {
    fn at<N: Number>(
        &self,
        inside: [N; READ.len() * INSIDE],
        mut all: [N; RATES],
        [a]: [N; 1],
    ) -> [N; RATES] {
        let Self { of, per_spacing, per_weight } = self;
        let fraction = Fraction { base: of.base };
        let at = fraction.before_stage(&mapped(READ, |k| all[k]), a);
        let slope = outward_slope(at, |k| fraction.before_stage(&inside[READ.len() * k..], a));
        let diffusivity = of.diffusivity(before_stage(&all[2..], a));
        let own = diffusivity * N::of(*per_spacing) * slope;
        let more = N::of(*per_weight) * (N::of(of.flux) - own);
        all[0] = all[0] + more;
        all[1] = all[1] + a * more;
        all
    }
}

/// φ with the flux, from the points inside, where two walls meet.
struct OnEdge {
    of: OfFlux,
    spacing: f64,
}

impl Formula<{ 2 * INSIDE }, STATE> for OnEdge {
    fn at<N: Number>(&self, inside: [N; 2 * INSIDE], before: [N; STATE], _: [N; 0]) -> [N; STATE] {
        let Self { of, spacing } = self;
        let mut phi = N::of(0.0);
        for (pair, weight) in inside.chunks_exact(2).zip(WEIGHTS) {
            let [own] = Fraction { base: of.base }.at([pair[0], pair[1]], [phi], []);
            phi = phi + N::of(weight) * own;
        }
        if of.flux != 0.0 {
            let flow = array_of(|k| before[k]);
            phi = phi - N::of(OF_SLOPE * spacing * of.flux) / of.diffusivity(flow);
        }
        with(before, of.base, phi)
    }
}
