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
//! rate + L is what the transverse and the viscous terms make of a wave. The rate of a wave of negative speed is replaced; all parts
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
//! What is changed are the sums of rates and the state after a stage: the state before it is U − a K, so that sweeps know nothing of
//! it. Where faces meet, each changes what those before it left; that across the later axis holds. Walls come after them.

use super::base_state::BaseState;
use super::formulas::{Primitives, whole};
use super::problem::Problem;
use super::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use super::slots::exactly;
use super::walls::{End, INSIDE, OF_SLOPE, WEIGHTS, faces_here};
use crate::backend::{Backend, Field, Prepared, Weights};
use crate::boundary::{Beyond, Open, Stream};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::{Block, Grid};
use crate::real::Values;

/// Rates and state.
const BOTH: usize = 2 * COUNT;
/// What is read at the points inside.
const READ: usize = BOTH * INSIDE;

/// The open faces that bound this rank's block, and their sponges.
#[derive(Default)]
pub(super) struct OpenFaces {
    sponges: Vec<(Prepared, Field)>,
    faces: Vec<OpenFace>,
    /// Where the gas comes in faster than sound.
    given: Vec<Prepared>,
}

/// One of them.
struct OpenFace {
    keep: Prepared,
    correct: Prepared,
    /// The sums of rates before a stage, on the face.
    kept: Vec<Field>,
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
                if let Some(Open {
                    beyond: Beyond::FarField(stream), sponge: Some(sponge), ..
                }) = face.open()
                {
                    let away = |index: usize| {
                        let at_face = at * (grid.points[a] - 1);
                        let [x, of_face] = [index, at_face].map(|i| grid.coordinate(a, i));
                        (x - of_face).abs()
                    };
                    let near = |i: &usize| away(block.start[a] + i) < sponge.width;
                    let inside: Vec<usize> = (0..block.points[a]).filter(near).collect();
                    let Some(first) = inside.first() else { continue };
                    let mut part = all;
                    (part.start[a], part.points[a]) = (*first, inside.len());
                    let mut strength = Values::zeros(backend.precision(), part.len());
                    for item in 0..part.len() {
                        let depth = 1.0 - away(block.start[a] + part.index(item)[a]) / sponge.width;
                        strength.set(item, sponge.strength * depth.powi(3));
                    }
                    let target = stream.conserved(&gas, base);
                    let formula = PointFormula::map(Damping { target });
                    let formula = backend.prepare_part(formula, block.points, part, &[], 1)?;
                    found.sponges.push((formula, backend.field(&strength)?));
                }
            }
            for (at, face) in faces_here(problem, &block, grid, axis)? {
                let Some(open) = face.open() else { continue };
                let end = End::new(&block, a, at);
                let part = end.of(all);
                let prepare = |formula, reads: &[_], own| {
                    backend.prepare_part(formula, block.points, part, reads, own)
                };
                if let Beyond::Inflow(stream) = open.beyond
                    && stream.is_supersonic(&gas, a)
                {
                    let target = stream.conserved(&gas, base);
                    found.given.push(prepare(PointFormula::map(Given { target }), &[], 0)?);
                    continue;
                }
                let waves = Waves {
                    gas,
                    base,
                    open,
                    axis: a,
                    outward: if at == 0 { -1.0 } else { 1.0 },
                    spacing: grid.spacing[a] * grid.jacobian(a, at * (grid.points[a] - 1)),
                    length: problem.domain.length[a],
                    carried: carried(problem, a, at),
                };
                let reads: Vec<_> = end.fields_inside(BOTH).collect();
                let zeros = Values::zeros(backend.precision(), part.len());
                let kept = (0..COUNT).map(|_| backend.field(&zeros)).collect::<Result<_>>()?;
                found.faces.push(OpenFace {
                    keep: prepare(PointFormula::map(Keep), &[], COUNT)?,
                    correct: prepare(PointFormula::map(waves), &reads, COUNT)?,
                    kept,
                });
            }
        }
        Ok(found)
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
        for (sponge, strength) in &mut self.sponges {
            let all = rate.iter_mut().chain(&mut *u).chain([strength]);
            let mut fields: [&mut Field; BOTH + 1] = exactly(all);
            backend.map_part(sponge, &mut fields, &[advance]);
        }
        for face in &mut self.faces {
            let all = rate.iter_mut().chain(&mut *u).chain(&mut face.kept);
            let mut fields: [&mut Field; BOTH + COUNT] = exactly(all);
            backend.map_part(&face.correct, &mut fields, &[beta, advance]);
        }
        for given in &self.given {
            let mut fields: [&mut Field; BOTH] = exactly(rate.iter_mut().chain(&mut *u));
            backend.map_part(given, &mut fields, &[]);
        }
    }
}

/// The velocity with which the mean flow carries things out of end `at` of axis `a`, where a flow is known beyond it or else beyond the
/// other. Next to nothing, not 0, where it does not: κ becomes 1 where the flow there goes out faster than sound all the same.
fn carried(problem: &Problem, a: usize, at: usize) -> Option<f64> {
    let faces = problem.boundaries.0[a]?;
    let known = |end: usize| faces[end].open().and_then(|open| open.stream());
    let stream = known(at).or_else(|| known(1 - at))?;
    let outward = if at == 0 { -1.0 } else { 1.0 };
    Some((outward * stream.velocity[a]).max(1e-3 / problem.gas.mach))
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
struct Given {
    target: [f64; COUNT],
}

impl Formula<0, BOTH> for Given {
    #[inline(always)]
    fn at<N: Number>(&self, _: [N; 0], _: [N; BOTH], _: [N; 0]) -> [N; BOTH] {
        std::array::from_fn(|at| N::of(if at < COUNT { 0.0 } else { self.target[at - COUNT] }))
    }
}

/// The rates with −σ (U − U∞), and the state with what it makes of it (Israeli and Orszag 1981). Behind them stands σ. Parameter: a.
struct Damping {
    target: [f64; COUNT],
}

impl Formula<0, { BOTH + 1 }, 1> for Damping {
    #[inline(always)]
    fn at<N: Number>(&self, _: [N; 0], before: [N; BOTH + 1], [a]: [N; 1]) -> [N; BOTH + 1] {
        let sigma = before[BOTH];
        let mut after = before;
        for k in 0..COUNT {
            let state = before[COUNT + k] - a * before[k];
            let more = sigma * (N::of(self.target[k]) - state);
            after[k] = before[k] + more;
            after[COUNT + k] = before[COUNT + k] + a * more;
        }
        after
    }
}

/// The waves through a face. Parameters: β and a.
struct Waves {
    gas: Gas,
    base: BaseState,
    open: Open,
    axis: usize,
    /// The sign of the outward normal.
    outward: f64,
    spacing: f64,
    length: f64,
    /// U, where it is known.
    carried: Option<f64>,
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
        let state: [N; COUNT] = std::array::from_fn(|k| both[COUNT + k] - a * both[k]);
        let [u, v, w, p, t] = Primitives { gas: self.gas, base: self.base }.at(state, state, []);
        Flow { rho: state[MASS], velocity: [u, v, w], p, t }
    }

    /// The outward derivative of a quantity on the face, by the one-sided formula of fourth order.
    #[inline(always)]
    fn slope<N: Number>(&self, at: N, inside: [N; INSIDE]) -> N {
        let mut off = at;
        for (value, weight) in inside.into_iter().zip(WEIGHTS) {
            off = off - N::of(weight) * value;
        }
        N::of(-1.0 / (OF_SLOPE * self.spacing)) * off
    }

    /// What the rates have too little: of the waves that come in and go out, of entropy and of the velocity.
    #[inline(always)]
    fn missing<N: Number>(&self, at: &Flow<N>, rate: &Flow<N>, slope: &Flow<N>) -> Missing<N> {
        let Self { gas, base, open, axis, .. } = *self;
        let half = N::of(0.5);
        let (rho, p) = (whole(at.rho, base.density), whole(at.p, base.pressure));
        let c2 = N::of(gas.gamma) * p / rho;
        let c = c2.sqrt();
        let n = |v: &[N; 3]| N::of(self.outward) * v[axis];
        let u_n = n(&at.velocity);
        // The part of a speed that leads into the box, not above 0.
        let inward = |speed: N| half * (speed - speed.abs());
        let (back, slow, forth) = (inward(u_n - c), inward(u_n), inward(u_n + c));
        let coming = rate.p - rho * c * n(&rate.velocity);
        let relax = N::of(open.relaxation / self.length);
        let stream = match open.beyond {
            Beyond::Outflow(p) => Stream { velocity: [0.0; 3], temperature: 1.0, pressure: p },
            Beyond::Inflow(stream) | Beyond::FarField(stream) => stream,
        };
        let off_velocity: [N; 3] =
            std::array::from_fn(|i| at.velocity[i] - N::of(stream.velocity[i]));
        let off_p = at.p - N::of(stream.pressure - base.pressure);
        let off_rho = at.rho - N::of(stream.density(&gas) - base.density);
        if let Beyond::Inflow(_) = open.beyond {
            let off_t = at.t - N::of(stream.temperature - base.temperature);
            let relative = off_t / whole(at.t, base.temperature);
            return Missing {
                coming: -(coming + relax * back * rho * c * n(&off_velocity)),
                entropy: relax * c * rho * relative - (rate.rho - rate.p / c2),
                velocity: std::array::from_fn(|i| {
                    -(rate.velocity[i] + relax * c * off_velocity[i])
                }),
                going: N::of(0.0),
                speed: [rho, c],
            };
        }
        let known = N::of(f64::from(u8::from(matches!(open.beyond, Beyond::FarField(_)))));
        let leaving = u_n - slow;
        let carried = self.carried.map_or(leaving, N::of);
        let kept = carried / (carried - back);
        let (pushed, of_slope) = (known * rho * c * n(&off_velocity), rho * c * n(&slope.velocity));
        let amplitude = back * (slope.p - of_slope);
        Missing {
            coming: kept * (coming + amplitude) - coming
                + relax * back * (N::of(1.0) + leaving / c) * (off_p - pushed),
            entropy: slow * (slope.rho - slope.p / c2 + known * relax * (off_rho - off_p / c2)),
            velocity: std::array::from_fn(|i| {
                slow * (slope.velocity[i] + known * relax * off_velocity[i])
            }),
            going: forth * (slope.p + of_slope + known * relax * (off_p + pushed)),
            speed: [rho, c],
        }
    }
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

impl Formula<READ, { BOTH + COUNT }, 2> for Waves {
    #[inline(always)]
    fn at<N: Number>(
        &self,
        inside: [N; READ],
        before: [N; BOTH + COUNT],
        [beta, a]: [N; 2],
    ) -> [N; BOTH + COUNT] {
        let half = N::of(0.5);
        let at = self.before(&before[..BOTH], a);
        let points: [Flow<N>; INSIDE] =
            std::array::from_fn(|k| self.before(&inside[BOTH * k..][..BOTH], a));
        let slope = Flow {
            rho: self.slope(at.rho, points.map(|point| point.rho)),
            velocity: std::array::from_fn(|i| {
                self.slope(at.velocity[i], points.map(|point| point.velocity[i]))
            }),
            p: self.slope(at.p, points.map(|point| point.p)),
            t: self.slope(at.t, points.map(|point| point.t)),
        };
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
        let Missing { coming, entropy, mut velocity, going, speed: [rho, c] } =
            self.missing(&at, &rate, &slope);
        let p = half * (going + coming);
        velocity[self.axis] = N::of(0.5 * self.outward) * (going - coming) / (rho * c);
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
