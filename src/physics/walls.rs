//! Boundary conditions at the ends of non-periodic lines: no-slip walls and symmetry planes.
//!
//! Operators are closed by one-sided rows there. The velocity of a wall, and its temperature where that is given, are imposed on the
//! state after each stage; the density follows its own equation, and so does the energy of a wall with a given heat flux, which
//! [`heat_flux`](super::heat_flux) imposes on the rates. Where two walls meet, the conditions of the wall normal to the later axis hold,
//! with no flow through either: where a wall across z moves over a curved one, the velocity component along the latter is kept. The
//! velocity may jump on such an edge, which no derivative of the mass flux resolves. The pressure there is therefore the mean of the
//! values extrapolated along both walls with zero gradient, and a temperature that is not given is extrapolated with the heat flux.

use super::base_state::BaseState;
use super::discretisation::{Discretisation, Part};
use super::formulas::{Primitives, dot, full_value};
use super::slots::{conserved, exactly};
use crate::backend::{Backend, Field, Prepared};
use crate::boundary::{Face, Heat, Wall};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::{Error, Result};
use crate::gas::{Gas, Viscosity};
use crate::grid::{Axis, Block, Grid, Plane};
use crate::simd::array_of;

/// Number of points next to a wall, along a line, from which values are extrapolated to the wall.
pub(super) const INSIDE: usize = Wall::POINTS - 1;
/// Weights of these points in the wall value with zero normal derivative, by the one-sided formula of fourth order.
pub(super) const WEIGHTS: [f64; INSIDE] = [48.0 / 25.0, -36.0 / 25.0, 16.0 / 25.0, -3.0 / 25.0];
/// Weight of h times the derivative into the gas.
pub(super) const SLOPE_WEIGHT: f64 = -12.0 / 25.0;

/// Weights of the wall value and of these points in h ∂/∂n, n outward, of third order: see [`heat_flux`](super::heat_flux).
const OUTWARD: [f64; 1 + INSIDE] = [19.0 / 12.0, -2.0, 0.0, 2.0 / 3.0, -1.0 / 4.0];

/// ∂/∂n at a wall of a quantity with the value `at` the wall, for h = 1.
#[inline(always)]
pub(super) fn outward_slope<N: Number>(at: N, inside: impl Fn(usize) -> N) -> N {
    weighted(&OUTWARD, at, inside)
}

/// The sum of the values at an end of lines and at points inside with these weights.
#[inline(always)]
pub(super) fn weighted<N: Number>(weights: &[f64], at: N, inside: impl Fn(usize) -> N) -> N {
    let used = weights[1..].iter().enumerate().filter(|(_, weight)| **weight != 0.0);
    used.fold(N::of(weights[0]) * at, |sum, (k, weight)| sum + N::of(*weight) * inside(k))
}

/// Number of values read at these points.
const INSIDE_VALUES: usize = conserved::COUNT * INSIDE;

/// The walls and symmetry planes that bound this rank's block, and the edges where walls meet.
#[derive(Default)]
pub(super) struct Walls {
    /// Each with its formula and, for a moving curved wall, the formula that aligns its velocity with the wall.
    faces: Vec<(Face, Prepared, Option<CurvedWall>)>,
    edges: Vec<WallEdge>,
}

/// The formulas of an edge where two walls meet, in the order of their application.
struct WallEdge {
    /// Sets the temperature, for a wall with prescribed heat flux.
    heat: Option<(Wall, Prepared)>,
    /// Removes the velocity component normal to a curved wall.
    along: Option<CurvedWall>,
    pressure: Prepared,
}

/// A formula for the state on a curved wall, and the direction of the lines there, which is stored after the state.
struct CurvedWall {
    formula: Prepared,
    direction: [Field; 2],
}

impl CurvedWall {
    /// `formula` on a part of a wall across axis `a`.
    fn new(part: &Part<'_>, plane: &Plane, a: usize, formula: PointFormula) -> Result<Self> {
        let component =
            |k: usize| part.field(|index| plane.direction(part.on.grid.in_plane(index), 1 - a)[k]);
        let direction = [component(0)?, component(1)?];
        Ok(Self { formula: part.prepare(formula, &[], direction.len())?, direction })
    }

    fn apply(&mut self, backend: &dyn Backend, u: &mut [&mut Field; conserved::COUNT]) {
        let all = u.iter_mut().map(|field| &mut **field).chain(&mut self.direction);
        let mut all: [&mut Field; conserved::COUNT + 2] = exactly(all);
        backend.map_part(&self.formula, &mut all, &[]);
    }
}

/// One end of the lines along an axis.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) axis: usize,
    /// The position of the end along the axis of the block.
    at: usize,
    /// The distance in a field to the next point inside.
    step: isize,
}

impl End {
    /// End number `end` of the lines of `block` along `axis`.
    pub(super) fn new(block: &Block, axis: usize, end: usize) -> Self {
        let stride: usize = block.points[..axis].iter().product();
        let (at, inward) = if end == 0 { (0, 1) } else { (block.points[axis] - 1, -1) };
        Self { axis, at, step: inward * stride.cast_signed() }
    }

    /// The points of `part` on this end.
    pub(super) fn restrict(&self, part: Block) -> Block {
        let Block { mut start, mut points } = part;
        (start[self.axis], points[self.axis]) = (self.at, 1);
        Block { start, points }
    }

    /// The points of `block` on this end.
    pub(super) fn face(&self, block: &Block) -> Block {
        self.restrict(Block::whole(block.points))
    }

    /// The first `fields` fields at the first `points` points inside: (field, distance in a field).
    pub(super) fn fields_inside(
        &self,
        points: usize,
        fields: usize,
    ) -> impl Iterator<Item = (usize, isize)> + use<> {
        let step = self.step;
        let state = move |point: usize| (0..fields).map(move |k| (k, step * point.cast_signed()));
        (1..=points).flat_map(state)
    }
}

impl Walls {
    /// # Errors
    /// Compiler errors, or a block with too few points.
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let Discretisation { grid, block, base, .. } = on;
        let (gas, base) = (on.problem.gas, *base);
        let (mut ends, mut walls): (Vec<End>, _) = (Vec::new(), Self::default());
        for axis in grid.active_axes() {
            let a = axis.index();
            for (end, face) in local_faces(on, axis)? {
                if face.open().is_some() {
                    continue;
                }
                let spacing = spacing(grid, a, end);
                let end = End::new(block, a, end);
                let part = on.part(end.face(block));
                let formula = match face.wall().map(|wall| wall.heat) {
                    None => PointFormula::map(ZeroNormalMomentum { across: a }),
                    Some(Heat::Temperature(temperature)) => {
                        PointFormula::map(Isothermal { gas, base, temperature })
                    }
                    Some(Heat::HeatFlux(_)) => PointFormula::map(ImposedVelocity { base }),
                };
                let prepared = part.prepare(formula, &[], 0)?;
                let turn = match (&grid.plane, face.wall()) {
                    (Some(plane), Some(wall)) if a < 2 && wall.velocity[1 - a] != 0.0 => {
                        let formula = PointFormula::map(TangentialMomentum { along: 1 - a });
                        Some(CurvedWall::new(&part, plane, a, formula)?)
                    }
                    _ => None,
                };
                walls.faces.push((face, prepared, turn));
                let Some(wall) = face.wall() else { continue };
                for other in ends.iter().filter(|other| other.axis != a) {
                    let both = [end, *other];
                    let reads =
                        both.iter().flat_map(|it| it.fields_inside(INSIDE, conserved::COUNT));
                    let reads: Vec<_> = reads.collect();
                    let edge = on.part(other.restrict(end.face(block)));
                    let heat = match wall.heat {
                        Heat::Temperature(_) => None,
                        Heat::HeatFlux(heat_flux) => {
                            let formula = HeatFluxEdge { gas, base, heat_flux, spacing };
                            let reads: Vec<_> =
                                end.fields_inside(INSIDE, conserved::COUNT).collect();
                            Some((wall, edge.prepare(PointFormula::map(formula), &reads, 0)?))
                        }
                    };
                    // Axes are traversed in order: `other` is not z.
                    let (along, across) = match &grid.plane {
                        Some(plane) if axis == Axis::Z => {
                            let formula = PointFormula::map(AlongLines { base });
                            (Some(CurvedWall::new(&edge, plane, other.axis, formula)?), [a, a])
                        }
                        _ => (None, [a, other.axis]),
                    };
                    let formula = PointFormula::map(Edge { gas, base, across });
                    let pressure = edge.prepare(formula, &reads, 0)?;
                    walls.edges.push(WallEdge { heat, along, pressure });
                }
                ends.push(end);
            }
        }
        Ok(walls)
    }

    /// Impose the wall conditions at `time` on `u`.
    pub(super) fn impose(&mut self, backend: &dyn Backend, u: &mut [Field], time: f64) {
        if self.faces.is_empty() {
            return;
        }
        let mut u: [&mut Field; conserved::COUNT] = exactly(u.iter_mut().take(conserved::COUNT));
        for (face, prepared, turn) in &mut self.faces {
            match face {
                Face::Wall(wall) => backend.map_part(prepared, &mut u, &wall.velocity_at(time)),
                _ => backend.map_part(prepared, &mut u, &[]),
            }
            if let Some(turn) = turn {
                turn.apply(backend, &mut u);
            }
        }
        for WallEdge { heat, along, pressure } in &mut self.edges {
            if let Some((wall, temperature)) = heat {
                backend.map_part(temperature, &mut u, &wall.velocity_at(time));
            }
            if let Some(along) = along {
                along.apply(backend, &mut u);
            }
            backend.map_part(pressure, &mut u, &[]);
        }
    }
}

/// h of the one-sided formula at end number `at` of axis `a`, such that the formula gives dx/dx = 1, also on stretched lines.
pub(super) fn spacing(grid: &Grid, a: usize, at: usize) -> f64 {
    let last = grid.points[a] - 1;
    let x = |i: usize| grid.coordinate(a, if at == 0 { i } else { last - i });
    let off = (1..).zip(WEIGHTS).fold(x(0), |off, (i, weight)| off - weight * x(i));
    (off / SLOPE_WEIGHT).abs()
}

/// The boundary conditions at the ends of `axis` that bound this block, with the number of the end.
pub(super) fn local_faces(
    on: &Discretisation<'_>,
    axis: Axis,
) -> Result<impl Iterator<Item = (usize, Face)> + use<>> {
    let Discretisation { problem, grid, block, .. } = on;
    let a = axis.index();
    let (first, n) = (block.start[a], block.points[a]);
    let here = [first == 0, first + n == grid.points[a]];
    let faces = problem.boundaries.0[a];
    let too_few = |message| Error::refused(message, "use fewer ranks along this axis");
    problem.boundaries.check_block(axis, n).map_err(too_few)?;
    Ok(faces.into_iter().flatten().enumerate().filter(move |(end, _)| here[*end]))
}

/// (ρ', ρu, ρv, ρw, ρE') from the density ρ', the temperature T' and the velocity.
#[inline(always)]
fn wall_state<N: Number>(gas: &Gas, base: BaseState, rho: N, t: N, velocity: [N; 3]) -> [N; 5] {
    let [u, v, w] = velocity;
    let density = full_value(rho, base.density);
    let squares = u * u + v * v + w * w;
    // γ Ma² p' = ρ' T + ρ₀ T' avoids a difference of large numbers.
    let scaled = match base.density {
        0.0 => rho * full_value(t, base.temperature),
        at_rest => rho * full_value(t, base.temperature) + N::of(at_rest) * t,
    };
    let internal = N::of(1.0 / ((gas.gamma - 1.0) * gas.gamma * gas.mach * gas.mach));
    let energy = internal * scaled + N::of(0.5) * density * squares;
    [rho, density * u, density * v, density * w, energy]
}

/// The wall value of a primitive variable, extrapolated from the points inside. The weights add up to 1, so that deviations from any
/// base state can be used.
#[inline(always)]
fn extrapolate<N: Number>(gas: Gas, base: BaseState, inside: &[N], variable: usize) -> N {
    let mut sum = N::of(0.0);
    for (point, weight) in WEIGHTS.into_iter().enumerate() {
        let state = array_of(|k| inside[conserved::COUNT * point + k]);
        sum = sum + N::of(weight) * Primitives { gas, base }.at(state, state, [])[variable];
    }
    sum
}

/// Slots of p' and T' in [`Primitives`].
const PRESSURE: usize = 3;
const TEMPERATURE: usize = 4;

/// The state without momentum normal to a symmetry plane, where operators leave only round-off.
struct ZeroNormalMomentum {
    across: usize,
}

impl Formula<0, 5> for ZeroNormalMomentum {
    fn at<N: Number>(&self, _: [N; 0], mut state: [N; 5], _: [N; 0]) -> [N; 5] {
        state[conserved::MOMENTUM + self.across] = N::of(0.0);
        state
    }
}

/// The state at a wall with prescribed temperature. Parameters: the wall velocity.
struct Isothermal {
    gas: Gas,
    base: BaseState,
    temperature: f64,
}

impl Formula<0, 5, 3> for Isothermal {
    fn at<N: Number>(&self, _: [N; 0], before: [N; 5], velocity: [N; 3]) -> [N; 5] {
        let t = N::of(self.temperature - self.base.temperature);
        wall_state(&self.gas, self.base, before[0], t, velocity)
    }
}

/// The state at a wall with prescribed heat flux; its internal energy is unchanged. Parameters: the wall velocity.
struct ImposedVelocity {
    base: BaseState,
}

impl Formula<0, 5, 3> for ImposedVelocity {
    fn at<N: Number>(&self, _: [N; 0], mut state: [N; 5], velocity: [N; 3]) -> [N; 5] {
        let rho = full_value(state[conserved::MASS], self.base.density);
        let before: [N; 3] = array_of(|i| state[conserved::MOMENTUM + i]);
        let change = rho * dot(velocity, velocity) - dot(before, before) / rho;
        state[conserved::ENERGY] = state[conserved::ENERGY] + N::of(0.5) * change;
        for (i, component) in velocity.into_iter().enumerate() {
            state[conserved::MOMENTUM + i] = rho * component;
        }
        state
    }
}

/// The state at a curved wall with its tangential momentum, given as the momentum component of axis `along`, in the direction of the
/// lines, which is stored after the state.
struct TangentialMomentum {
    along: usize,
}

impl Formula<0, 7> for TangentialMomentum {
    fn at<N: Number>(&self, _: [N; 0], mut all: [N; 7], _: [N; 0]) -> [N; 7] {
        let momentum = all[conserved::MOMENTUM + self.along];
        for k in 0..2 {
            all[conserved::MOMENTUM + k] = momentum * all[conserved::COUNT + k];
        }
        all
    }
}

/// The state on the edge of a curved wall without the velocity component normal to that wall, at the same temperature. The direction of the
/// lines along the wall is stored after the state.
struct AlongLines {
    base: BaseState,
}

impl Formula<0, 7> for AlongLines {
    fn at<N: Number>(&self, _: [N; 0], mut all: [N; 7], _: [N; 0]) -> [N; 7] {
        let [rho, m_x, m_y, _, _, x, y] = all;
        let (along, through) = (m_x * x + m_y * y, m_y * x - m_x * y);
        all[conserved::MOMENTUM] = along * x;
        all[conserved::MOMENTUM + 1] = along * y;
        let lost = N::of(0.5) * through * through / full_value(rho, self.base.density);
        all[conserved::ENERGY] = all[conserved::ENERGY] - lost;
        all
    }
}

/// Number of Newton steps; starting from the temperature of the previous stage they converge to round-off.
const NEWTON_STEPS: u32 = 3;

/// The state on an edge of a wall with prescribed heat flux, with the temperature extrapolated from the points inside. Parameters: the
/// wall velocity.
struct HeatFluxEdge {
    gas: Gas,
    base: BaseState,
    heat_flux: f64,
    spacing: f64,
}

impl Formula<INSIDE_VALUES, 5, 3> for HeatFluxEdge {
    fn at<N: Number>(
        &self,
        inside: [N; INSIDE_VALUES],
        before: [N; 5],
        velocity: [N; 3],
    ) -> [N; 5] {
        let Self { gas, base, heat_flux, spacing } = *self;
        let mut t = extrapolate(gas, base, &inside, TEMPERATURE);
        if heat_flux != 0.0 {
            // T = T(no flux) − B/μ(T) by Newton's method: μ of the previous temperature would lag by one stage.
            let no_flux = t;
            let b = N::of(SLOPE_WEIGHT * spacing * heat_flux / gas.conductivity());
            let steps = if gas.viscosity == Viscosity::Constant { 1 } else { NEWTON_STEPS };
            [.., t] = Primitives { gas, base }.at(before, before, []);
            for _ in 0..steps {
                let temperature = full_value(t, base.temperature);
                let mu = gas.mu(temperature);
                let slope = b * gas.dmu_dt(temperature) / (mu * mu);
                t = (no_flux - b / mu - slope * t) / (N::of(1.0) - slope);
            }
        }
        wall_state(&gas, base, before[0], t, velocity)
    }
}

/// The state where walls across two axes meet: pressure from the points along both axes, zero velocity along the axes `across`;
/// temperature and the other velocity components are unchanged.
struct Edge {
    gas: Gas,
    base: BaseState,
    across: [usize; 2],
}

impl Formula<{ 2 * INSIDE_VALUES }, 5> for Edge {
    fn at<N: Number>(&self, along: [N; 2 * INSIDE_VALUES], before: [N; 5], _: [N; 0]) -> [N; 5] {
        let Self { gas, base, across } = *self;
        let [u, v, w, _, t] = Primitives { gas, base }.at(before, before, []);
        let mut velocity = [u, v, w];
        across.into_iter().for_each(|axis| velocity[axis] = N::of(0.0));
        let (one, other) = along.split_at(INSIDE_VALUES);
        let p = N::of(0.5)
            * (extrapolate(gas, base, one, PRESSURE) + extrapolate(gas, base, other, PRESSURE));
        // ρ' = (γ Ma² p' − ρ₀ T') / T.
        let scaled = N::of(gas.temperature(1.0, 1.0)) * p;
        let rho = match base.density {
            0.0 => scaled / full_value(t, base.temperature),
            at_rest => (scaled - N::of(at_rest) * t) / full_value(t, base.temperature),
        };
        wall_state(&gas, base, rho, t, velocity)
    }
}
