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
//! convection carries no ρφ through the wall, and f enters to third order. (With φ extrapolated from inside ⟨ρφ⟩ drifts, and in a shear
//! flow of Pe = 10⁴ φ grows.)

use super::formulas::Fraction;
use crate::backend::Prepared;
use crate::cases::{AtWall, PassiveScalar};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::physics::base_state::BaseState;
use crate::physics::discretisation::Discretisation;
use crate::physics::formulas::{Primitives, full_value};
use crate::physics::open::{RATES_AND_STATE, before_stage};
use crate::physics::problem::Problem;
use crate::physics::slots::conserved::{COUNT, MASS};
use crate::physics::walls::{
    End, INSIDE, SLOPE_WEIGHT, WEIGHTS, local_faces, outward_slope, spacing,
};
use crate::physics::{Gas, Limits};
use crate::simd::{array_of, mapped};

/// The accumulated rate of ρφ and ρφ itself, followed by those of the flow.
pub(super) const RATES: usize = 2 + RATES_AND_STATE;
/// Of these, those of ρφ and ρ, read at the points inside.
const READ_SLOTS: [usize; 4] = [0, 1, 2 + MASS, 2 + COUNT + MASS];
/// The flow, followed by ρφ.
pub(super) const STATE: usize = COUNT + 1;

/// The wall conditions of a scalar at the ends that bound this rank's block. Where two walls meet, the condition across the later axis
/// applies. The density there does not follow its equation, and φ is extrapolated with the flux: with its own equation it would grow where
/// a moving wall begins.
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
        let (mut ends, mut walls): (Vec<End>, _) = (Vec::new(), Self::default());
        for axis in grid.active_axes() {
            let a = axis.index();
            for (at, _) in local_faces(on, axis)?.filter(|(_, face)| face.wall().is_some()) {
                let end = End::new(&on.block, a, at);
                let face = end.face(&on.block);
                match scalar.walls[a][at] {
                    AtWall::Value(phi) => {
                        let formula = PointFormula::map(ImposedValue { base, phi });
                        walls.imposed.push(on.part(face).prepare(formula, &[], 0)?);
                    }
                    AtWall::Flux(flux) => {
                        let wall = WallFlux { gas, base, flux, diffusivity };
                        let last = grid.points[a] - 1;
                        let x = |i: usize| grid.coordinate(a, if at == 0 { i } else { last - i });
                        let h = grid.spacing[a] * grid.jacobian(a, at * last);
                        let formula = FluxOnRates {
                            wall,
                            per_spacing: 1.0 / outward_slope(x(0), |k| x(k + 1)).abs(),
                            per_weight: 1.0 / (grid.end_weights[a][at][0] * h),
                        };
                        let inside = |fields: usize, read: &[usize]| -> Vec<_> {
                            let all = end.fields_inside(INSIDE, fields);
                            all.filter(|(k, _)| read.contains(k)).collect()
                        };
                        let reads = inside(RATES, &READ_SLOTS);
                        let formula = PointFormula::map(formula);
                        walls.fluxes.push(on.part(face).prepare(formula, &reads, 0)?);
                        let reads = inside(STATE, &[MASS, COUNT]);
                        for other in ends.iter().filter(|other| other.axis != a) {
                            let formula = FluxOnEdge { wall, spacing: spacing(grid, a, at) };
                            let (formula, edge) =
                                (PointFormula::map(formula), other.restrict(face));
                            walls.imposed.push(on.part(edge).prepare(formula, &reads, 0)?);
                        }
                    }
                }
                ends.push(end);
            }
        }
        Ok(walls)
    }
}

/// The largest 1/Sc of the scalars of `problem` for the step `limits` of its flow; for a scalar with a given flux at a wall, the value that
/// gives its limit there.
pub(in crate::physics) fn largest_diffusivity(problem: &Problem, limits: &Limits) -> f64 {
    let (viscous, integrator) = (problem.scheme.viscous, problem.integrator);
    let at_flux = limits.diffusion_at_flux_walls(viscous, integrator) / limits.diffusion;
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
fn with_scalar<N: Number>(mut state: [N; STATE], base: BaseState, phi: N) -> [N; STATE] {
    state[COUNT] = full_value(state[MASS], base.density) * phi;
    state
}

/// A wall with this φ.
struct ImposedValue {
    base: BaseState,
    phi: f64,
}

impl Formula<0, STATE> for ImposedValue {
    fn at<N: Number>(&self, _: [N; 0], before: [N; STATE], _: [N; 0]) -> [N; STATE] {
        with_scalar(before, self.base, N::of(self.phi))
    }
}

/// A wall with this diffusive flux.
#[derive(Clone, Copy)]
struct WallFlux {
    gas: Gas,
    base: BaseState,
    /// f, into the gas.
    flux: f64,
    /// 1/(Re Sc).
    diffusivity: f64,
}

impl WallFlux {
    /// μ/(Re Sc) in the `flow`.
    #[inline(always)]
    fn diffusivity<N: Number>(&self, flow: [N; COUNT]) -> N {
        let Self { gas, base, diffusivity, .. } = *self;
        let [.., t] = Primitives { gas, base }.at(flow, flow, []);
        N::of(diffusivity) * gas.mu(full_value(t, base.temperature))
    }
}

/// Adds the flux that φ lacks to the accumulated rate of ρφ, and its effect to ρφ. Parameter: a.
struct FluxOnRates {
    wall: WallFlux,
    /// 1/h of the formula for ∂φ/∂n.
    per_spacing: f64,
    /// 1/(w₀ h).
    per_weight: f64,
}

impl Formula<{ READ_SLOTS.len() * INSIDE }, RATES, 1> for FluxOnRates {
    fn at<N: Number>(
        &self,
        inside: [N; READ_SLOTS.len() * INSIDE],
        mut all: [N; RATES],
        [a]: [N; 1],
    ) -> [N; RATES] {
        let Self { wall, per_spacing, per_weight } = self;
        let fraction = Fraction { base: wall.base };
        let at = fraction.before_stage(&mapped(READ_SLOTS, |k| all[k]), a);
        let slope =
            outward_slope(at, |k| fraction.before_stage(&inside[READ_SLOTS.len() * k..], a));
        let diffusivity = wall.diffusivity(before_stage(&all[2..], a));
        let own = diffusivity * N::of(*per_spacing) * slope;
        let correction = N::of(*per_weight) * (N::of(wall.flux) - own);
        all[0] = all[0] + correction;
        all[1] = all[1] + a * correction;
        all
    }
}

/// φ with the flux, from the points inside, where two walls meet.
struct FluxOnEdge {
    wall: WallFlux,
    spacing: f64,
}

impl Formula<{ 2 * INSIDE }, STATE> for FluxOnEdge {
    fn at<N: Number>(&self, inside: [N; 2 * INSIDE], before: [N; STATE], _: [N; 0]) -> [N; STATE] {
        let Self { wall, spacing } = self;
        let mut phi = N::of(0.0);
        for (pair, weight) in inside.chunks_exact(2).zip(WEIGHTS) {
            let [own] = Fraction { base: wall.base }.at([pair[0], pair[1]], [phi], []);
            phi = phi + N::of(weight) * own;
        }
        if wall.flux != 0.0 {
            let flow = array_of(|k| before[k]);
            phi = phi - N::of(SLOPE_WEIGHT * spacing * wall.flux) / wall.diffusivity(flow);
        }
        with_scalar(before, wall.base, phi)
    }
}
