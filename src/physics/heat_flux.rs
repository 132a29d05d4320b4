//! Walls with a given heat flux, including adiabatic walls: corrections of the rates at their points.
//!
//! The heat flux is imposed weakly, by a simultaneous approximation term (Carpenter, Gottlieb and Abarbanel 1994, J. Comput. Phys. 111,
//! 220): the energy at the wall follows its own equation and
//!
//! ```text
//! ∂(ρE)/∂t = R_E + (q − λ ∂T/∂n) / (w₀ h)
//! ```
//!
//! with q into the gas, n outward, h the spacing and w₀ the weight of the end point in the norm of the first derivative. Summed with that
//! norm the heat that enters is q, to the order of the rows at the wall. Mass and internal energy at the wall both follow their equations,
//! and so does the pressure: sound between walls neither grows nor decays. (With the temperature extrapolated from inside, ρ from its
//! equation and p from both, it grows at about c/L with `compact6`.) ∂T/∂n is the one-sided formula of third order
//!
//! ```text
//! h ∂T/∂n = 19/12 T₀ − 2 T₁ + 2/3 T₃ − 1/4 T₄
//! ```
//!
//! close to the first row of the summation-by-parts derivatives. Of the formulas on five points, which have a free parameter, it is one
//! with which the linear equations between such walls, or with one isothermal wall, have no growing mode for any derivative with a norm
//! and either viscous form, and whose largest rate is about that of the inner points: see [`MAX_DECAY_RATE`].
//!
//! The velocity V is imposed after each stage ([`Walls`](super::walls::Walls)), which keeps the internal energy. Its own equation is
//!
//! ```text
//! ∂(ρe)/∂t = R_E − V·R_m + ½ V² R_ρ
//! ```
//!
//! since the force that holds the velocity does work. In 2N storage the accumulated rate of the energy at the wall is that of ρe, and the
//! state is corrected with it after the stage, as at open faces. Other integrators combine rates of the conserved variables:
//!
//! ```text
//! R_m → ρ V' + V R_ρ,   R_E → ∂(ρe)/∂t + ½ V² R_ρ + ρ V·V'
//! ```

use super::base_state::BaseState;
use super::discretisation::Discretisation;
use super::formulas::{Primitives, dot, full_value};
use super::open::{AtFace, CopyRates, RATES_AND_STATE, across, before_stage};
use super::problem::Problem;
use super::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use super::stability::Limits;
use super::walls::{End, INSIDE, local_faces, outward_slope};
use crate::backend::{Backend, Field, Weights};
use crate::boundary::{Heat, Wall};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::Grid;
use crate::simd::{array_of, mapped};

/// The largest decay rate of heat conduction with these walls and the conservative viscous form, times h²/ν, over all first derivatives
/// with a norm: computed as eigenvalues for 17 to 97 points, 4.64 with `compact4`.
pub(super) const MAX_DECAY_RATE: f64 = 4.65;

/// The step limits of the flow of `problem` on `grid` with its walls of given heat flux.
pub(super) fn limits_with_heat_flux_walls(problem: &Problem, grid: &Grid) -> Limits {
    let limits = Limits::flow(&problem.scheme, problem.integrator, grid);
    let mut walls = problem.boundaries.faces().filter_map(|(.., face)| face.wall());
    let has_heat_flux = walls.any(|wall| matches!(wall.heat, Heat::HeatFlux(_)));
    let diffusion = limits.diffusion_at_flux_walls(problem.scheme.viscous, problem.integrator);
    if has_heat_flux { Limits { diffusion, ..limits } } else { limits }
}

/// Number of values that the formula reads and changes at a point of the wall: rates, state, previous sums of rates, |∇ξ|/h, and the
/// direction along a curved wall.
const POINT_VALUES: usize = RATES_AND_STATE + COUNT + 3;

/// The walls with a given heat flux that bound this rank's block.
pub(super) struct HeatFluxWalls(Vec<(Wall, AtFace)>);

impl HeatFluxWalls {
    /// # Errors
    /// Compiler errors, or a block with too few points.
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let Discretisation { grid, block, base, .. } = on;
        let mut walls = Vec::new();
        for axis in grid.active_axes() {
            let a = axis.index();
            for (at, face) in local_faces(on, axis)? {
                let Some(wall) = face.wall() else { continue };
                let Heat::HeatFlux(heat_flux) = wall.heat else { continue };
                let end = End::new(block, a, at);
                let part = on.part(end.face(block));
                let curve = grid.plane.as_ref().filter(|_| a < 2);
                let formula = HeatFlux {
                    gas: on.problem.gas,
                    base: *base,
                    heat_flux,
                    weight: grid.end_weights[a][at][0],
                    along: curve.map(|_| 1 - a),
                };
                let reads: Vec<_> = end.fields_inside(INSIDE, RATES_AND_STATE).collect();
                let correct = part.prepare(
                    PointFormula::map(formula),
                    &reads,
                    POINT_VALUES - RATES_AND_STATE,
                )?;
                let save_rates = part.prepare(PointFormula::map(CopyRates), &[], COUNT)?;
                let direction = |index| {
                    curve.map_or([0.0; 2], |plane| plane.direction(grid.in_plane(index), 1 - a))
                };
                let geometry = [
                    part.field(|index| across(grid, a, at, index)[3])?,
                    part.field(|index| direction(index)[0])?,
                    part.field(|index| direction(index)[1])?,
                ];
                let points = AtFace {
                    save_rates: Some(save_rates),
                    saved_rates: (0..COUNT).map(|_| part.field(|_| 0.0)).collect::<Result<_>>()?,
                    geometry: geometry.into(),
                    ..AtFace::new(&part, correct, [], None)?
                };
                walls.push((wall, points));
            }
        }
        Ok(Self(walls))
    }

    /// Copy the accumulated rates, which a stage replaces.
    pub(super) fn save_rates(
        &mut self,
        backend: &dyn Backend,
        rate: &mut [Field],
        weights: Weights,
    ) {
        if weights.beta != 0.0 {
            for (_, points) in &mut self.0 {
                points.save_rates(backend, rate.iter_mut().take(COUNT));
            }
        }
    }

    /// Correct `rate` = R(`u`) at `time`; `u` is not changed.
    pub(super) fn correct(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        time: f64,
    ) {
        self.run(backend, u, rate, |wall| {
            let [x, y, z] = wall.acceleration_at(time);
            [0.0, 0.0, 1.0, x, y, z]
        });
    }

    /// Correct `rate` = β × its previous value + R, and `u`, which the stage has advanced.
    pub(super) fn correct_stage(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        Weights { beta, advance }: Weights,
    ) {
        self.run(backend, u, rate, |_| [beta, advance, 0.0, 0.0, 0.0, 0.0]);
    }

    /// Apply [`HeatFlux`] at every wall with its `parameters`.
    fn run(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        parameters: impl Fn(&Wall) -> [f64; 6],
    ) {
        for (wall, points) in &mut self.0 {
            let fields = rate.iter_mut().take(COUNT).chain(u.iter_mut().take(COUNT));
            points.correct(backend, fields, &parameters(wall));
        }
    }
}

/// Rates and state at a wall of given heat flux. Parameters: β, a, whether the rates are those of the conserved variables (1) or, in 2N
/// storage, of the internal energy (0), and V'.
struct HeatFlux {
    gas: Gas,
    base: BaseState,
    /// q, into the gas.
    heat_flux: f64,
    /// w₀.
    weight: f64,
    /// The axis whose component of V' is along a curved wall.
    along: Option<usize>,
}

impl Formula<{ RATES_AND_STATE * INSIDE }, POINT_VALUES, 6> for HeatFlux {
    fn at<N: Number>(
        &self,
        inside: [N; RATES_AND_STATE * INSIDE],
        mut own: [N; POINT_VALUES],
        [beta, a, conserved, x, y, z]: [N; 6],
    ) -> [N; POINT_VALUES] {
        let Self { gas, base, heat_flux, weight, along } = *self;
        let temperature = |state: [N; COUNT]| Primitives { gas, base }.at(state, state, [])[4];
        let momentum = |state: &[N]| array_of(|i| state[MOMENTUM + i]);
        let state = before_stage(&own, a);
        let t = temperature(state);
        let slope =
            outward_slope(t, |k| temperature(before_stage(&inside[RATES_AND_STATE * k..], a)));
        let [per_spacing, along_x, along_y] = array_of(|k| own[RATES_AND_STATE + COUNT + k]);
        let conductivity = N::of(gas.conductivity()) * gas.mu(full_value(t, base.temperature));
        let heat = per_spacing
            * N::of(1.0 / weight)
            * (N::of(heat_flux) - conductivity * per_spacing * slope);

        let rho = full_value(state[MASS], base.density);
        let velocity: [N; 3] = mapped(momentum(&state), |momentum| momentum / rho);
        let acceleration = match along {
            None => [x, y, z],
            Some(axis) => {
                let along = [x, y][axis];
                [along * along_x, along * along_y, z]
            }
        };
        let rate: [N; COUNT] = array_of(|k| own[k] - beta * own[RATES_AND_STATE + k]);
        let half_square = N::of(0.5) * dot(velocity, velocity);
        let internal =
            rate[ENERGY] + heat - dot(velocity, momentum(&rate)) + half_square * rate[MASS];
        let kinetic = half_square * rate[MASS] + rho * dot(velocity, acceleration);
        own[ENERGY] = own[ENERGY] + (internal - rate[ENERGY]) + conserved * kinetic;
        for i in 0..3 {
            let imposed = rho * acceleration[i] + velocity[i] * rate[MASS];
            let at = MOMENTUM + i;
            own[at] = own[at] + conserved * (imposed - rate[at]);
        }
        // The velocity is imposed later and keeps the internal energy.
        let rho_now = full_value(own[COUNT + MASS], base.density);
        let now: [N; 3] = momentum(&own[COUNT..]);
        let kinetic_change = N::of(0.5) * dot(now, now) / rho_now - half_square * rho;
        own[COUNT + ENERGY] =
            state[ENERGY] + a * own[ENERGY] + (N::of(1.0) - conserved) * kinetic_change;
        own
    }
}
