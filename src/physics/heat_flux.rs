//! Walls with a given heat flux, adiabatic ones among them: what they change of the rates at their points.
//!
//! The heat flux is imposed weakly, by a simultaneous approximation term (Carpenter, Gottlieb and Abarbanel 1994, J. Comput. Phys. 111,
//! 220): the energy at the wall follows its own equation and
//!
//! ```text
//! ∂(ρE)/∂t = R_E + (q − λ ∂T/∂n) / (w₀ h)
//! ```
//!
//! with q into the gas, n outward, h the spacing and w₀ the weight of the end point in the norm of the first derivative. Summed with that
//! norm the heat that enters is q. Mass and internal energy at the wall both follow their equations, so the pressure does, and sound
//! between walls neither grows nor decays. (With the temperature extrapolated from inside, ρ from its equation and p from both, it grows
//! at about c/L with `compact6`.) ∂T/∂n is the one-sided formula of third order
//!
//! ```text
//! h ∂T/∂n = 19/12 T₀ − 2 T₁ + 2/3 T₃ − 1/4 T₄
//! ```
//!
//! close to the first row of the summation-by-parts derivatives. Of the formulas on five points, which have a free parameter, it is one
//! with which the linear equations between such walls, or with one isothermal wall, have no growing mode for any derivative with a norm
//! and either viscous form, and whose largest rate is about that of the inner points: see [`LARGEST_RATE`].
//!
//! The velocity is imposed after each stage ([`Walls`](super::walls::Walls)). The force that holds it does work on a moving wall:
//!
//! ```text
//! R_m → V R_ρ,   R_E → R_E − V·R_m + V² R_ρ
//! ```
//!
//! keeps the internal energy to its own equation. As at open faces, the sums of rates and the state are corrected after a stage.

use super::ViscousForm;
use super::base_state::BaseState;
use super::discretisation::Discretisation;
use super::formulas::{Primitives, dot, whole};
use super::open::{AtFace, BOTH, Keep, across};
use super::problem::Problem;
use super::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use super::stability::Limits;
use super::walls::{End, INSIDE, faces_here};
use crate::backend::{Backend, Field, Weights};
use crate::boundary::Heat;
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::Grid;

/// Weights of the values at the wall and at the points inside in h ∂T/∂n, n outward.
const SLOPE: [f64; 1 + INSIDE] = [19.0 / 12.0, -2.0, 0.0, 2.0 / 3.0, -1.0 / 4.0];

/// The largest decay rate of heat conduction with these walls and the conservative viscous form, times h²/ν, over all first derivatives with
/// a norm: computed as eigenvalues for 17 to 97 points, 4.64 with `compact4`.
const LARGEST_RATE: f64 = 4.65;

/// The step limits of the flow of `problem` on `grid` with its walls of given heat flux.
pub(super) fn with_heat_flux_walls(problem: &Problem, grid: &Grid) -> Limits {
    let limits = Limits::flow(&problem.scheme, problem.integrator, grid);
    let mut walls = problem.boundaries.faces().filter_map(|(.., face)| face.wall());
    let has_heat_flux = walls.any(|wall| matches!(wall.heat, Heat::HeatFlux(_)));
    if !has_heat_flux || problem.scheme.viscous != ViscousForm::Conservative {
        return limits;
    }
    let largest = LARGEST_RATE / problem.integrator.negative_real_limit();
    Limits { diffusion: limits.diffusion.max(largest), ..limits }
}

/// What the formula changes and reads at the points of the wall: rates, state, the previous sums of rates, and |∇ξ|/h.
const OWN: usize = BOTH + COUNT + 1;

/// The walls with a given heat flux that bound this rank's block.
pub(super) struct HeatFluxWalls(Vec<AtFace>);

impl HeatFluxWalls {
    /// # Errors
    /// What a compiler says, or where the block has too few points.
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let Discretisation { grid, block, base, .. } = on;
        let mut walls = Vec::new();
        for axis in grid.active_axes() {
            let a = axis.index();
            for (at, face) in faces_here(on, axis)? {
                let Some(Heat::HeatFlux(heat_flux)) = face.wall().map(|wall| wall.heat) else {
                    continue;
                };
                let end = End::new(block, a, at);
                let part = on.part(end.face(block));
                let weight = grid.end_weights[a][at][0];
                let formula = HeatFlux { gas: on.problem.gas, base: *base, heat_flux, weight };
                let reads: Vec<_> = end.fields_inside(BOTH).collect();
                let correct = part.prepare(PointFormula::map(formula), &reads, OWN - BOTH)?;
                let keep = part.prepare(PointFormula::map(Keep), &[], COUNT)?;
                let per_spacing = part.field(|index| across(grid, a, at, index)[3])?;
                walls.push(AtFace {
                    keep: Some(keep),
                    kept: (0..COUNT).map(|_| part.field(|_| 0.0)).collect::<Result<_>>()?,
                    geometry: vec![per_spacing],
                    ..AtFace::new(&part, correct, [], None)?
                });
            }
        }
        Ok(Self(walls))
    }

    /// Keep the sums of rates, which a stage replaces.
    pub(super) fn keep(&mut self, backend: &dyn Backend, rate: &mut [Field], weights: Weights) {
        if weights.beta != 0.0 {
            self.0.iter_mut().for_each(|wall| wall.keep(backend, rate.iter_mut().take(COUNT)));
        }
    }

    /// Correct `rate` = β × what was kept + R, and `u`, which it has advanced.
    pub(super) fn correct(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        Weights { beta, advance }: Weights,
    ) {
        for wall in &mut self.0 {
            let fields = rate.iter_mut().take(COUNT).chain(u.iter_mut().take(COUNT));
            wall.correct(backend, fields, &[beta, advance]);
        }
    }
}

/// The rates and the state of a wall through which this heat flows. Parameters: β, a.
struct HeatFlux {
    gas: Gas,
    base: BaseState,
    /// q, into the gas.
    heat_flux: f64,
    /// w₀.
    weight: f64,
}

impl Formula<{ BOTH * INSIDE }, OWN, 2> for HeatFlux {
    #[inline(always)]
    fn at<N: Number>(
        &self,
        inside: [N; BOTH * INSIDE],
        mut own: [N; OWN],
        [beta, a]: [N; 2],
    ) -> [N; OWN] {
        let Self { gas, base, heat_flux, weight } = *self;
        // The state before the stage, and T' there.
        let before =
            |both: &[N]| -> [N; COUNT] { std::array::from_fn(|k| both[COUNT + k] - a * both[k]) };
        let temperature = |state: [N; COUNT]| Primitives { gas, base }.at(state, state, [])[4];
        let state = before(&own);
        let t = temperature(state);
        let mut slope = N::of(SLOPE[0]) * t;
        for (both, weight) in inside.chunks_exact(BOTH).zip(&SLOPE[1..]) {
            if *weight != 0.0 {
                slope = slope + N::of(*weight) * temperature(before(both));
            }
        }
        let rho = whole(state[MASS], base.density);
        let velocity: [N; 3] = std::array::from_fn(|i| state[MOMENTUM + i] / rho);
        let own_rate: [N; COUNT] = std::array::from_fn(|k| own[k] - beta * own[BOTH + k]);
        let [mass, m_x, m_y, m_z, _] = own_rate;
        let per_spacing = own[OWN - 1];
        let conductivity = N::of(gas.conductivity()) * gas.mu(whole(t, base.temperature));
        let heat = per_spacing
            * N::of(1.0 / weight)
            * (N::of(heat_flux) - conductivity * per_spacing * slope);
        let mut change = [N::of(0.0); COUNT];
        for i in 0..3 {
            change[MOMENTUM + i] = velocity[i] * mass - own_rate[MOMENTUM + i];
        }
        change[ENERGY] = heat - dot(velocity, [m_x, m_y, m_z]) + dot(velocity, velocity) * mass;
        for k in MOMENTUM..COUNT {
            own[k] = own[k] + change[k];
            own[COUNT + k] = own[COUNT + k] + a * change[k];
        }
        own
    }
}
