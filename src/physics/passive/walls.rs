//! Wall conditions of passive scalars: a value, or a diffusive flux.

use super::formulas::Fraction;
use crate::backend::Prepared;
use crate::cases::{AtWall, PassiveScalar};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::physics::Gas;
use crate::physics::base_state::BaseState;
use crate::physics::discretisation::Discretisation;
use crate::physics::formulas::{Primitives, whole};
use crate::physics::slots::conserved;
use crate::physics::walls::{End, INSIDE, OF_SLOPE, WEIGHTS, faces_here, spacing};

/// The flow, followed by ρφ.
pub(super) const FIELDS: usize = conserved::COUNT + 1;
/// (ρ', ρφ) at the points inside.
const READ: usize = 2 * INSIDE;

/// Wall conditions of `scalar` at the ends that bound this rank's block. Where two walls meet, the condition across the later axis applies.
///
/// # Errors
/// Compiler errors, or a block with too few points.
pub(super) fn at_walls(
    on: &Discretisation<'_>,
    scalar: &PassiveScalar,
    diffusivity: f64,
) -> Result<Vec<Prepared>> {
    let (gas, base) = (on.problem.gas, on.base);
    let mut found = Vec::new();
    for axis in on.grid.active_axes() {
        let a = axis.index();
        for (at, _) in faces_here(on, axis)?.filter(|(_, face)| face.wall().is_some()) {
            let end = End::new(&on.block, a, at);
            let spacing = spacing(&on.grid, a, at);
            let (formula, reads) = match scalar.walls[a][at] {
                AtWall::Value(phi) => (PointFormula::map(OfValue { base, phi }), Vec::new()),
                AtWall::Flux(flux) => {
                    let formula = OfFlux { gas, base, diffusivity, flux, spacing };
                    let states = end.fields_inside(FIELDS);
                    let own = states.filter(|(k, _)| [conserved::MASS, FIELDS - 1].contains(k));
                    (PointFormula::map(formula), own.collect())
                }
            };
            found.push(on.part(end.face(&on.block)).prepare(formula, &reads, 0)?);
        }
    }
    Ok(found)
}

/// The state with ρφ from this φ.
#[inline(always)]
fn with<N: Number>(mut state: [N; FIELDS], base: BaseState, phi: N) -> [N; FIELDS] {
    state[conserved::COUNT] = whole(state[conserved::MASS], base.density) * phi;
    state
}

/// A wall with this φ.
struct OfValue {
    base: BaseState,
    phi: f64,
}

impl Formula<0, FIELDS> for OfValue {
    #[inline(always)]
    fn at<N: Number>(&self, _: [N; 0], before: [N; FIELDS], _: [N; 0]) -> [N; FIELDS] {
        with(before, self.base, N::of(self.phi))
    }
}

/// A wall with this diffusive flux, from the points inside.
struct OfFlux {
    gas: Gas,
    base: BaseState,
    /// 1/(Re Sc).
    diffusivity: f64,
    flux: f64,
    spacing: f64,
}

impl Formula<READ, FIELDS> for OfFlux {
    #[inline(always)]
    fn at<N: Number>(&self, inside: [N; READ], before: [N; FIELDS], _: [N; 0]) -> [N; FIELDS] {
        let Self { gas, base, diffusivity, flux, spacing } = *self;
        let mut phi = N::of(0.0);
        for (point, weight) in WEIGHTS.into_iter().enumerate() {
            let [own] = Fraction { base }.at([inside[2 * point], inside[2 * point + 1]], [phi], []);
            phi = phi + N::of(weight) * own;
        }
        if flux != 0.0 {
            let flow = std::array::from_fn(|k| before[k]);
            let [.., t] = Primitives { gas, base }.at(flow, flow, []);
            let mu = gas.mu(whole(t, base.temperature));
            phi = phi - N::of(OF_SLOPE * spacing * flux / diffusivity) / mu;
        }
        with(before, base, phi)
    }
}
