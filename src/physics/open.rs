//! Open faces: what leaves the box goes without reflection, what comes in is chosen.
//!
//! At the points of a face the rates are written as those of the characteristic variables along the outward normal n (Thompson 1987;
//! Poinsot and Lele 1992), with u_n the velocity along it:
//!
//! ```text
//! wave      speed    rate                      amplitude L
//! incoming  u_n − c  ∂p/∂t − ρc ∂u_n/∂t        (u_n − c) (∂p/∂n − ρc ∂u_n/∂n)
//! entropy   u_n      ∂ρ/∂t − ∂p/∂t / c²        u_n (∂ρ/∂n − ∂p/∂n / c²)
//! vorticity u_n      ∂u_t/∂t                   u_n ∂u_t/∂n
//! outgoing  u_n + c  ∂p/∂t + ρc ∂u_n/∂t        (u_n + c) (∂p/∂n + ρc ∂u_n/∂n)
//! ```
//!
//! rate + L is what the transverse and the viscous terms make of a wave. In L stands what ∂/∂n is off that of the flow beyond, where it
//! has any: the start of a boundary layer grows along it, and is to stay. The rate of a wave of negative speed is replaced; all parts
//! vanish with the speed, so that nothing switches where the flow turns round or passes the speed of sound:
//!
//! * Outflow and far field, sound: rate = κ (rate + L) − σ/L |u_n − c| (1 + M) δ, M = u_n/c or 0. δ = p − p∞ at an outflow,
//!   which then relaxes at the rate σ (1 − M²) c/L (Rudy and Strikwerda 1980), and p − p∞ − ρc (u_n − u_n∞) in the far field. For
//!   what a stream carries out with U, ∂/∂t = −U ∂/∂n, and κ = U/(U + c − u_n) makes of rate + L the rate itself: nothing comes back. To
//!   first order in the disturbance that is its Mach number (Yoo and Im 2007; Lodato et al. 2008). U is that of the flow beyond this face
//!   or the opposite one; where none is known, u_n, with κ = M.
//! * There, other waves: rate = (rate + L) − σ/L |speed| δ, with δ = 0 at an outflow: nothing comes back of what left.
//! * Inflow (Yoo et al. 2005; Yoo and Im 2007): the rates are relaxations of u_n, T and u_t towards what comes in.
//! * Where the gas comes in faster than sound, the state is given.
//!
//! On a curvilinear grid n is ∇η/|∇η| or its opposite and ∂/∂n stands for |∇η| ∂/∂η: that is the part of the flux through the face (Kim
//! and Lee 2000).
//!
//! What is changed are the sums of rates and the state after a stage: the state before it is U − a K, so that sweeps know nothing of
//! it. Where faces meet, each changes what those before it left; that across the later axis holds. Walls come after them.

use super::base_state::BaseState;
use super::formulas::{Primitives, whole};
use super::problem::Problem;
use super::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use super::slots::exactly;
use super::walls::{End, INSIDE, OF_SLOPE, WEIGHTS, faces_here};
use crate::backend::{Backend, Field, Prepared, Weights};
use crate::boundary::{Beyond, Known, Open, Stream};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::{Block, Grid};
use crate::real::Values;

/// Rates and state.
const BOTH: usize = 2 * COUNT;
/// What is read at the points inside.
const READ: usize = BOTH * INSIDE;
/// The outward normal, and one over the spacing across the face.
const GEOMETRY: usize = 4;
/// With the rates that were kept, the flow beyond, and the geometry of the face.
const ALL: usize = 2 * BOTH + COUNT + GEOMETRY;

/// The open faces that bound this rank's block, and their sponges.
#[derive(Default)]
pub(super) struct OpenFaces {
    /// With σ.
    sponges: Vec<(Prepared, Field, Target)>,
    faces: Vec<OpenFace>,
    /// Where the gas comes in faster than sound.
    given: Vec<(Prepared, Target)>,
}

/// One of them.
struct OpenFace {
    keep: Prepared,
    correct: Prepared,
    /// The sums of rates before a stage, on the face.
    kept: Vec<Field>,
    target: Target,
    geometry: Vec<Field>,
}

/// The flow beyond a face, at the points of a part of the block: (ρ', ρu, ρv, ρw, ρE') and, on the face, the outward derivatives of
/// ρ', u, v, w and p'.
struct Target {
    fields: Vec<Field>,
    /// What takes it from the state at the start, where it is that.
    of_start: Option<Prepared>,
}

impl Target {
    /// That of what is `known`, in so many fields at so many points; where nothing is, and until the start is known, of the gas at rest.
    fn new(
        known: Option<Known>,
        (gas, base): (&Gas, BaseState),
        backend: &dyn Backend,
        [fields, len]: [usize; 2],
        of_start: impl FnOnce() -> Result<Prepared>,
    ) -> Result<Self> {
        let stream = known.and_then(Known::stream).unwrap_or(Stream::at_rest(gas));
        let field = |value: f64| {
            let mut values = Values::zeros(backend.precision(), len);
            (0..len).for_each(|at| values.set(at, value));
            backend.field(&values)
        };
        let values = stream.conserved(gas, base).into_iter().chain(std::iter::repeat(0.0));
        let fields = values.take(fields).map(field).collect::<Result<_>>()?;
        let is_start = known == Some(Known::Start);
        Ok(Self { fields, of_start: is_start.then(of_start).transpose()? })
    }

    fn know_start(&mut self, backend: &dyn Backend, start: &mut [Field], geometry: &mut [Field]) {
        if let Some(formula) = &self.of_start {
            let all = start.iter_mut().take(COUNT).chain(&mut self.fields).chain(geometry);
            backend.map_part(formula, &mut all.collect::<Vec<_>>(), &[]);
        }
    }
}

impl OpenFaces {
    /// Those of `problem`.
    ///
    /// # Errors
    /// What a compiler says, or where the block has too few points.
    pub(super) fn new(
        problem: &Problem,
        backend: &dyn Backend,
        grid: &Grid,
        base: BaseState,
    ) -> Result<Self> {
        let (gas, block) = (problem.gas, backend.block(grid.points));
        let all = Block { start: [0; 3], points: block.points };
        let mut found = Self::default();
        for axis in grid.active_axes() {
            let a = axis.index();
            for (at, face) in problem.boundaries.0[a].into_iter().flatten().enumerate() {
                if let Some(open) = face.open()
                    && let Some(sponge) = open.sponge
                {
                    let away = |index: [usize; 3]| {
                        let mut on_face = index;
                        on_face[a] = at * (grid.points[a] - 1);
                        let [x, of_face] = [index, on_face].map(|index| grid.coordinates(index));
                        let squares = (0..3).map(|k| (x[k] - of_face[k]).powi(2));
                        squares.sum::<f64>().sqrt()
                    };
                    let near = |i: &usize| {
                        let mut plane = block;
                        (plane.start[a], plane.points[a]) = (block.start[a] + i, 1);
                        (0..plane.len()).any(|item| away(plane.index(item)) < sponge.width)
                    };
                    let inside: Vec<usize> = (0..block.points[a]).filter(near).collect();
                    let Some(first) = inside.first() else { continue };
                    let mut part = all;
                    (part.start[a], part.points[a]) = (*first, inside.len());
                    let mut strength = Values::zeros(backend.precision(), part.len());
                    for item in 0..part.len() {
                        let local = part.index(item);
                        let index = [0, 1, 2].map(|axis| block.start[axis] + local[axis]);
                        let depth = (1.0 - away(index) / sponge.width).max(0.0);
                        strength.set(item, sponge.strength * depth.powi(3));
                    }
                    let prepare =
                        |formula, own| backend.prepare_part(formula, block.points, part, &[], own);
                    let (known, of_gas, size) = (open.known(), (&gas, base), [COUNT, part.len()]);
                    let target = Target::new(known, of_gas, backend, size, || {
                        prepare(PointFormula::map(Keep), COUNT)
                    })?;
                    let formula = prepare(PointFormula::map(Damping), 1 + COUNT)?;
                    found.sponges.push((formula, backend.field(&strength)?, target));
                }
            }
            for (at, face) in faces_here(problem, &block, grid, axis)? {
                let Some(open) = face.open() else { continue };
                let end = End::new(&block, a, at);
                let part = end.of(all);
                let prepare = |formula, reads: &[_], own| {
                    backend.prepare_part(formula, block.points, part, reads, own)
                };
                let known = known(problem, a, at);
                let waves = Waves {
                    gas,
                    base,
                    open,
                    length: length(grid, a, problem.domain.length[a]),
                    is_known: known.is_some(),
                };
                let mut geometry =
                    [(); GEOMETRY].map(|()| Values::zeros(backend.precision(), part.len()));
                for item in 0..part.len() {
                    let local = part.index(item);
                    let index = [0, 1, 2].map(|axis| block.start[axis] + local[axis]);
                    let values = across(grid, a, at, index);
                    geometry.iter_mut().zip(values).for_each(|(to, value)| to.set(item, value));
                }
                let geometry = geometry.iter().map(|values| backend.field(values));
                let target = Target::new(known, (&gas, base), backend, [BOTH, part.len()], || {
                    let reads: Vec<_> = end.fields_inside(COUNT).collect();
                    prepare(PointFormula::map(OfStart(waves)), &reads, BOTH + GEOMETRY)
                })?;
                if let Beyond::Inflow(Known::Stream(stream)) = open.beyond
                    && stream.is_supersonic(&gas, a)
                {
                    found.given.push((prepare(PointFormula::map(Given), &[], BOTH)?, target));
                    continue;
                }
                let reads: Vec<_> = end.fields_inside(BOTH).collect();
                let zeros = Values::zeros(backend.precision(), part.len());
                let kept = (0..COUNT).map(|_| backend.field(&zeros)).collect::<Result<_>>()?;
                found.faces.push(OpenFace {
                    keep: prepare(PointFormula::map(Keep), &[], COUNT)?,
                    correct: prepare(PointFormula::map(waves), &reads, ALL - BOTH)?,
                    kept,
                    target,
                    geometry: geometry.collect::<Result<_>>()?,
                });
            }
        }
        Ok(found)
    }

    /// Take what is known of the flow beyond them from the state at the start.
    pub(super) fn know_start(&mut self, backend: &dyn Backend, start: &mut [Field]) {
        for (.., target) in &mut self.sponges {
            target.know_start(backend, start, &mut []);
        }
        for OpenFace { target, geometry, .. } in &mut self.faces {
            target.know_start(backend, start, geometry);
        }
    }

    /// Keep the sums of rates on the faces, of which a stage makes others.
    pub(super) fn keep(&mut self, backend: &dyn Backend, rate: &mut [Field], weights: Weights) {
        if weights.beta == 0.0 {
            return;
        }
        for face in &mut self.faces {
            let mut fields: [&mut Field; BOTH] = exactly(rate.iter_mut().chain(&mut face.kept));
            backend.map_part(&face.keep, &mut fields, &[]);
        }
    }

    /// Make `rate` = β × what was kept + R what it should be, and `u`, which it has advanced, with it.
    pub(super) fn correct(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        Weights { beta, advance }: Weights,
    ) {
        for (sponge, strength, target) in &mut self.sponges {
            let all = rate.iter_mut().chain(&mut *u).chain([strength]).chain(&mut target.fields);
            let mut fields: [&mut Field; BOTH + 1 + COUNT] = exactly(all);
            backend.map_part(sponge, &mut fields, &[advance]);
        }
        for face in &mut self.faces {
            let own = face.kept.iter_mut().chain(&mut face.target.fields).chain(&mut face.geometry);
            let mut fields: [&mut Field; ALL] = exactly(rate.iter_mut().chain(&mut *u).chain(own));
            backend.map_part(&face.correct, &mut fields, &[beta, advance]);
        }
        for (given, target) in &mut self.given {
            let all = rate.iter_mut().chain(&mut *u).chain(&mut target.fields);
            let mut fields: [&mut Field; 2 * BOTH] = exactly(all);
            backend.map_part(given, &mut fields, &[]);
        }
    }
}

/// The flow that is known beyond end `at` of axis `a`, or else beyond the other.
fn known(problem: &Problem, a: usize, at: usize) -> Option<Known> {
    let faces = problem.boundaries.0[a]?;
    let known = |end: usize| faces[end].open().and_then(|open| open.known());
    known(at).or_else(|| known(1 - at))
}

/// The outward normal at a point of end `at` of axis `a`, and one over the spacing along it.
fn across(grid: &Grid, a: usize, at: usize, index: [usize; 3]) -> [f64; GEOMETRY] {
    let outward = if at == 0 { -1.0 } else { 1.0 };
    let (mut normal, mut slope) = ([0.0; 3], 1.0 / grid.jacobian(a, index[a]));
    match grid.plane.as_ref().filter(|_| a < 2) {
        None => normal[a] = outward,
        Some(plane) => {
            let at = grid.in_plane(index);
            let [x, y] = [0, 1].map(|k| plane.areas(at)[2 * a + k] / plane.jacobian[at]);
            slope = x.hypot(y);
            normal = [outward * x / slope, outward * y / slope, 0.0];
        }
    }
    let [x, y, z] = normal;
    [x, y, z, slope / grid.spacing[a]]
}

/// The distance from one end of axis `a` to the other; along curves that of the ends of the first.
fn length(grid: &Grid, a: usize, straight: f64) -> f64 {
    let Some(plane) = grid.plane.as_ref().filter(|_| a < 2) else { return straight };
    let mut last = [0; 3];
    last[a] = grid.points[a] - 1;
    let at = grid.in_plane(last);
    let [x, y] = plane.coordinates.each_ref().map(|it| it[at] - it[0]);
    x.hypot(y)
}

impl Stream {
    /// (ρ', ρu, ρv, ρw, ρE').
    fn conserved(&self, gas: &Gas, base: BaseState) -> [f64; COUNT] {
        let rho = self.density(gas);
        let [u, v, w] = self.velocity.map(|component| rho * component);
        let kinetic = 0.5 * rho * self.velocity.iter().map(|u| u * u).sum::<f64>();
        let inner = (self.pressure - base.pressure) / (gas.gamma - 1.0);
        [rho - base.density, u, v, w, inner + kinetic]
    }

    fn density(&self, gas: &Gas) -> f64 {
        gas.temperature(1.0, self.pressure) / self.temperature
    }
}

/// A copy of the rates.
struct Keep;

impl Formula<0, BOTH> for Keep {
    #[inline(always)]
    fn at<N: Number>(&self, _: [N; 0], before: [N; BOTH], _: [N; 0]) -> [N; BOTH] {
        std::array::from_fn(|at| before[at % COUNT])
    }
}

/// The given state, which does not change.
struct Given;

impl Formula<0, { 2 * BOTH }> for Given {
    #[inline(always)]
    fn at<N: Number>(&self, _: [N; 0], mut all: [N; 2 * BOTH], _: [N; 0]) -> [N; 2 * BOTH] {
        all[..COUNT].fill(N::of(0.0));
        all.copy_within(BOTH..BOTH + COUNT, COUNT);
        all
    }
}

/// The rates with −σ (U − U∞), and the state with what it makes of it (Israeli and Orszag 1981). Behind them stand σ and U∞.
/// Parameter: a.
struct Damping;

impl Formula<0, { BOTH + 1 + COUNT }, 1> for Damping {
    #[inline(always)]
    fn at<N: Number>(
        &self,
        _: [N; 0],
        before: [N; BOTH + 1 + COUNT],
        [a]: [N; 1],
    ) -> [N; BOTH + 1 + COUNT] {
        let sigma = before[BOTH];
        let mut after = before;
        for k in 0..COUNT {
            let state = before[COUNT + k] - a * before[k];
            let more = sigma * (before[BOTH + 1 + k] - state);
            after[k] = before[k] + more;
            after[COUNT + k] = before[COUNT + k] + a * more;
        }
        after
    }
}

/// The waves through a face. Parameters: β and a.
#[derive(Clone, Copy)]
struct Waves {
    gas: Gas,
    base: BaseState,
    open: Open,
    length: f64,
    /// Whether a flow is, and thus U.
    is_known: bool,
}

/// ρ', (u, v, w), p' and T', or what they change by.
#[derive(Clone, Copy)]
struct Flow<N> {
    rho: N,
    velocity: [N; 3],
    p: N,
    t: N,
}

impl Waves {
    /// The flow at a point as it was before the stage, from the sums of rates and the state there.
    #[inline(always)]
    fn before<N: Number>(&self, both: &[N], a: N) -> Flow<N> {
        self.flow(std::array::from_fn(|k| both[COUNT + k] - a * both[k]))
    }

    /// The flow of a state.
    #[inline(always)]
    fn flow<N: Number>(&self, state: [N; COUNT]) -> Flow<N> {
        let [u, v, w, p, t] = Primitives { gas: self.gas, base: self.base }.at(state, state, []);
        Flow { rho: state[MASS], velocity: [u, v, w], p, t }
    }

    /// The outward derivatives on the face.
    #[inline(always)]
    fn slopes<N: Number>(at: &Flow<N>, points: &[Flow<N>; INSIDE], per_spacing: N) -> Flow<N> {
        let slope = |at, inside| slope(at, inside, per_spacing);
        Flow {
            rho: slope(at.rho, points.map(|point| point.rho)),
            velocity: std::array::from_fn(|i| {
                slope(at.velocity[i], points.map(|point| point.velocity[i]))
            }),
            p: slope(at.p, points.map(|point| point.p)),
            t: slope(at.t, points.map(|point| point.t)),
        }
    }

    /// What the rates have too little: of the waves that come in and go out, of entropy and of the velocity. `slope` is that of the flow
    /// less that of the flow beyond.
    #[inline(always)]
    fn missing<N: Number>(
        &self,
        at: &Flow<N>,
        beyond: &Flow<N>,
        rate: &Flow<N>,
        slope: &Flow<N>,
        normal: [N; 3],
    ) -> Missing<N> {
        let Self { gas, base, open, .. } = *self;
        let half = N::of(0.5);
        let (rho, p) = (whole(at.rho, base.density), whole(at.p, base.pressure));
        let c2 = N::of(gas.gamma) * p / rho;
        let c = c2.sqrt();
        let n = |v: &[N; 3]| dot(normal, *v);
        let u_n = n(&at.velocity);
        // The part of a speed that leads into the box, not above 0.
        let inward = |speed: N| half * (speed - speed.abs());
        let (back, slow, forth) = (inward(u_n - c), inward(u_n), inward(u_n + c));
        let coming = rate.p - rho * c * n(&rate.velocity);
        let relax = N::of(open.relaxation / self.length);
        let off_velocity: [N; 3] = std::array::from_fn(|i| at.velocity[i] - beyond.velocity[i]);
        let off_rho = at.rho - beyond.rho;
        let (known, off_p) = match open.beyond {
            Beyond::Outflow(p) => (0.0, at.p - N::of(p - base.pressure)),
            Beyond::Inflow(_) | Beyond::FarField(_) => (1.0, at.p - beyond.p),
        };
        let known = N::of(known);
        let (pushed, of_slope) = (known * rho * c * n(&off_velocity), rho * c * n(&slope.velocity));
        let going = forth * (slope.p + of_slope + known * relax * (off_p + pushed));
        if let Beyond::Inflow(_) = open.beyond {
            let relative = (at.t - beyond.t) / whole(at.t, base.temperature);
            return Missing {
                coming: -(coming + relax * back * rho * c * n(&off_velocity)),
                entropy: relax * c * rho * relative - (rate.rho - rate.p / c2),
                velocity: std::array::from_fn(|i| {
                    -(rate.velocity[i] + relax * c * off_velocity[i])
                }),
                going,
                speed: [rho, c],
            };
        }
        let leaving = u_n - slow;
        // Next to nothing, not 0, where nothing is carried out: κ becomes 1 where the gas goes out faster than sound all the same.
        let least = N::of(1e-3 / gas.mach);
        let carried = match self.is_known {
            true => least - inward(least - n(&beyond.velocity)),
            false => leaving,
        };
        let kept = carried / (carried - back);
        let amplitude = back * (slope.p - of_slope);
        Missing {
            coming: kept * (coming + amplitude) - coming
                + relax * back * (N::of(1.0) + leaving / c) * (off_p - pushed),
            entropy: slow * (slope.rho - slope.p / c2 + known * relax * (off_rho - off_p / c2)),
            velocity: std::array::from_fn(|i| {
                slow * (slope.velocity[i] + known * relax * off_velocity[i])
            }),
            going,
            speed: [rho, c],
        }
    }
}

/// The outward derivative of a quantity by the one-sided formula of fourth order.
#[inline(always)]
fn slope<N: Number>(at: N, inside: [N; INSIDE], per_spacing: N) -> N {
    let mut off = at;
    for (value, weight) in inside.into_iter().zip(WEIGHTS) {
        off = off - N::of(weight) * value;
    }
    N::of(-1.0 / OF_SLOPE) * per_spacing * off
}

#[inline(always)]
fn dot<N: Number>([a, b, c]: [N; 3], [x, y, z]: [N; 3]) -> N {
    a * x + b * y + c * z
}

/// See [`Waves::missing`]; the velocity without its component through the face, which the two waves of sound have.
struct Missing<N> {
    coming: N,
    entropy: N,
    velocity: [N; 3],
    going: N,
    /// ρ and c.
    speed: [N; 2],
}

/// The state, and what the flow beyond a face is by it. Read are the states inside.
struct OfStart(Waves);

impl Formula<{ COUNT * INSIDE }, { COUNT + BOTH + GEOMETRY }> for OfStart {
    #[inline(always)]
    fn at<N: Number>(
        &self,
        inside: [N; COUNT * INSIDE],
        mut all: [N; COUNT + BOTH + GEOMETRY],
        _: [N; 0],
    ) -> [N; COUNT + BOTH + GEOMETRY] {
        let Self(waves) = self;
        let flow = |all: &[N]| waves.flow(std::array::from_fn(|k| all[k]));
        let points = std::array::from_fn(|k| flow(&inside[COUNT * k..]));
        let slope = Waves::slopes(&flow(&all), &points, all[COUNT + BOTH + 3]);
        all.copy_within(..COUNT, COUNT);
        let [u, v, w] = slope.velocity;
        all[BOTH..COUNT + BOTH].copy_from_slice(&[slope.rho, u, v, w, slope.p]);
        all
    }
}

impl Formula<READ, { ALL }, 2> for Waves {
    #[inline(always)]
    fn at<N: Number>(&self, inside: [N; READ], before: [N; ALL], [beta, a]: [N; 2]) -> [N; ALL] {
        let half = N::of(0.5);
        let at = self.before(&before[..BOTH], a);
        let beyond = self.flow(std::array::from_fn(|k| before[BOTH + COUNT + k]));
        let points: [Flow<N>; INSIDE] =
            std::array::from_fn(|k| self.before(&inside[BOTH * k..][..BOTH], a));
        let [x, y, z, per_spacing] = std::array::from_fn(|k| before[ALL - GEOMETRY + k]);
        let normal = [x, y, z];
        let mut slope = Self::slopes(&at, &points, per_spacing);
        let [rho, u, v, w, p] = std::array::from_fn(|k| before[2 * BOTH + k]);
        (slope.rho, slope.p) = (slope.rho - rho, slope.p - p);
        for (own, beyond) in slope.velocity.iter_mut().zip([u, v, w]) {
            *own = *own - beyond;
        }
        let own: [N; COUNT] = std::array::from_fn(|k| before[k] - beta * before[BOTH + k]);
        let inner = N::of(self.gas.gamma - 1.0);
        let [u, v, w] = at.velocity;
        let squares = half * (u * u + v * v + w * w);
        let rho = whole(at.rho, self.base.density);
        let momentum: [N; 3] = std::array::from_fn(|i| own[MOMENTUM + i]);
        let work = |m: [N; 3]| u * m[0] + v * m[1] + w * m[2];
        let rate = Flow {
            rho: own[MASS],
            velocity: std::array::from_fn(|i| (momentum[i] - at.velocity[i] * own[MASS]) / rho),
            p: inner * (own[ENERGY] - work(momentum) + squares * own[MASS]),
            t: N::of(0.0),
        };
        let Missing { coming, entropy, velocity, going, speed: [rho, c] } =
            self.missing(&at, &beyond, &rate, &slope, normal);
        let p = half * (going + coming);
        // Along the normal the two waves of sound have it.
        let through = half * (going - coming) / (rho * c) - dot(normal, velocity);
        let velocity: [N; 3] = std::array::from_fn(|i| velocity[i] + through * normal[i]);
        let mass = entropy + p / (c * c);
        let momentum: [N; 3] = std::array::from_fn(|i| at.velocity[i] * mass + rho * velocity[i]);
        let energy = p / inner + squares * mass + rho * work(velocity);
        let [x, y, z] = momentum;
        let mut after = before;
        for (k, more) in [mass, x, y, z, energy].into_iter().enumerate() {
            after[k] = before[k] + more;
            after[COUNT + k] = before[COUNT + k] + a * more;
        }
        after
    }
}
