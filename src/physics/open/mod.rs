//! Open faces: non-reflecting outflow, inflow and far-field conditions, and sponges.
//!
//! At the points of a face the rates are those of the characteristic variables along the outward normal n (Thompson 1987; Poinsot and
//! Lele 1992), with the normal velocity u_n:
//!
//! ```text
//! wave      speed    rate                      amplitude L
//! incoming  u_n − c  ∂p/∂t − ρc ∂u_n/∂t        (u_n − c) (∂p/∂n − ρc ∂u_n/∂n)
//! entropy   u_n      ∂ρ/∂t − ∂p/∂t / c²        u_n (∂ρ/∂n − ∂p/∂n / c²)
//! vorticity u_n      ∂u_t/∂t                   u_n ∂u_t/∂n
//! outgoing  u_n + c  ∂p/∂t + ρc ∂u_n/∂t        (u_n + c) (∂p/∂n + ρc ∂u_n/∂n)
//! ```
//!
//! rate + L is the contribution of the transverse and the viscous terms. [∂/∂n](Outward) is the derivative of the scheme. It is taken minus
//! that of the flow beyond the face: an initial boundary layer grows along the stream and must be kept. The rate of a wave with negative
//! speed is replaced; all replacements vanish with the speed, so that nothing switches where the flow reverses or becomes supersonic:
//!
//! * Outflow and far field, sound: rate = κ (rate + L) − σ/L |u_n − c| (1 + M) δ, M = u_n/c or 0. δ = p − p∞ at an outflow,
//!   which then relaxes at the rate σ (1 − M²) c/L (Rudy and Strikwerda 1980), and p − p∞ − ρc (u_n − u_n∞) in the far field.
//!   Disturbances that a stream carries out with the speed U have ∂/∂t = −U ∂/∂n. With κ = U/(U + c − u_n) the new rate then equals the
//!   old one: no reflection. To first order in the disturbance κ is the Mach number U/c (Yoo and Im 2007; Lodato et al. 2008). U is the
//!   normal velocity of the flow beyond this face or the opposite one; if neither is known, it is u_n, with κ = M.
//!   If that flow V also moves along the lines ξ of the face, ∂/∂t = −U ∂/∂n − V·∇ξ ∂/∂ξ, and
//!   rate = κ (rate + L) − (1 − κ) V·∇ξ (∂p/∂ξ − ρc n·∂u/∂ξ), except at ends of lines where V leads into the face:
//!   the flow that arrives there is unknown, and V·∇ξ is taken as 0. Where the flow enters through the face, V is its part along the
//!   face.
//! * Outflow and far field, other waves: rate = (rate + L) − σ/L |speed| δ, with δ = 0 at an outflow: no wave that has left returns.
//! * Vorticity where gas enters a far field at M = |u_n|/c: rate + L contains −∇p/ρ along the face. Of this the fraction max(1 − M, 0.3)
//!   remains (Giles 1990, AIAA J. 28, 2050, for M < 0.7): oblique sound sheds no vorticity. With less, too little opposes u_t
//!   where M approaches 1: it raises the pressure on the face, by up to 70 ρc u_t if nothing remains.
//! * Inflow (Yoo et al. 2005; Yoo and Im 2007): the rates are relaxations of u_n, T and u_t towards the incoming flow.
//! * Supersonic inflow: the state is prescribed. It is imposed as at walls, and its rates are 0. For an inflow of the initial state this
//!   is decided point by point.
//! * Passive scalars are waves with the speed u_n: see the [scalars](AtFace::through).
//!
//! On a curvilinear grid n is ±∇η/|∇η| and ∂/∂n represents |∇η| ∂/∂η, the derivative in the flux through the face (Kim and Lee 2000). If
//! lines meet the face at an angle, n·∇ξ ≠ 0, and U n contributes to V·∇ξ.
//!
//! The accumulated rates K and the state U are corrected after a stage: the state before it is U − a K, so that sweeps need no knowledge
//! of faces. Sponges come first. Where faces meet, each corrects the result of the previous ones; the face across the later axis prevails.
//! Walls follow.

mod along;
mod at_face;
mod geometry;
mod outward;
mod waves;

pub(super) use at_face::AtFace;
pub(super) use geometry::across;
pub(super) use outward::{INSIDE, Outward};
pub(super) use waves::{RATES_AND_STATE, before_stage, scalar_slots};

use super::base_state::BaseState;
use super::discretisation::{Discretisation, Part};
use super::problem::Problem;
use super::slots::conserved::{COUNT, MASS};
use super::walls::{End, local_faces};
use crate::backend::{Backend, Field, Prepared, Weights};
use crate::boundary::{Beyond, Known, Open, Sponge, Stream};
use crate::cases::PassiveScalar;
use crate::engine::{Formula, Number, PointFormula, closure_at};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::{Axis, Block};
use crate::simd::{array_of, mapped};
use along::Along;
use geometry::{GEOMETRY, SUPERSONIC, length};
use waves::{FACE_FIELDS, FromInitial, ImposeInitial, Waves};

/// The open faces that bound this rank's block, and their sponges.
#[derive(Default)]
pub(super) struct OpenFaces {
    /// Sponges, each with σ at the points of its zone.
    sponges: Vec<(Field, Face)>,
    /// Faces that waves pass.
    faces: Vec<Face>,
    /// The lines of those faces along which a known flow moves.
    along: Vec<Along>,
    /// Faces with prescribed supersonic inflow.
    prescribed: Vec<PrescribedFace>,
}

/// A face, or the zone of its sponge.
struct Face {
    flow: AtFace,
    scalars: Vec<AtFace>,
}

/// A face with prescribed state.
struct PrescribedFace {
    face: Face,
    /// Sets a rate to 0.
    zero_rate: Prepared,
}

impl PrescribedFace {
    /// Whether scalars are prescribed by the initial state.
    fn needs_initial(&self) -> bool {
        self.face.scalars.iter().any(|scalar| scalar.from_initial.is_some())
    }

    /// Set flow and scalars to their prescribed values.
    fn impose(&mut self, backend: &dyn Backend, flow: &mut [Field], states: &mut [Field]) {
        let Face { flow: at, scalars } = &mut self.face;
        at.correct(backend, flow, &[]);
        for (scalar, state) in scalars.iter_mut().zip(states) {
            scalar.correct(backend, [state, &mut at.beyond[MASS]], &[]);
        }
    }
}

impl OpenFaces {
    /// # Errors
    /// Compiler errors, or a block with too few points.
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let problem = on.problem;
        let mut open_faces = Self::default();
        for axis in on.grid.active_axes() {
            let a = axis.index();
            for (at, face) in problem.boundaries.0[a].into_iter().flatten().enumerate() {
                if let Some(open) = face.open()
                    && let Some(sponge) = open.sponge
                {
                    open_faces.sponges.extend(sponge_zone(on, [a, at], &open, sponge)?);
                }
            }
            for (at, face) in local_faces(on, axis)? {
                let Some(open) = face.open() else { continue };
                match open.beyond {
                    Beyond::Inflow(Known::Stream(stream))
                        if stream.is_supersonic(&problem.gas, a) =>
                    {
                        open_faces.prescribed.push(prescribed_face(on, [a, at], stream)?);
                    }
                    _ => open_faces.add(on, (axis, at), open)?,
                }
            }
        }
        Ok(open_faces)
    }

    /// Add a face that waves pass.
    fn add(
        &mut self,
        on: &Discretisation<'_>,
        (axis, at): (Axis, usize),
        open: Open,
    ) -> Result<()> {
        let a = axis.index();
        let known = known(on.problem, a, at);
        let length = length(&on.grid, a, on.problem.domain.length[a]);
        let is_known = known.is_some();
        let scheme = &on.problem.scheme.derivative.first;
        let closure = on.grid.ends[a].and_then(|ends| closure_at(ends[at], scheme, false));
        let outward = Outward::new(scheme, &closure.expect("lines between faces are closed"));
        let waves = Waves { gas: on.problem.gas, base: on.base, open, length, is_known, outward };
        let part = on.part(End::new(&on.block, a, at).face(&on.block));
        self.along.extend(Along::new((self.faces.len(), &part), (axis, waves), known)?);
        self.faces.push(open_face(&part, [a, at], waves)?);
        Ok(())
    }

    /// Take the values beyond the faces from the initial state.
    pub(super) fn capture_initial(&mut self, backend: &dyn Backend, start: &mut [Field]) {
        let (flow, states) = start.split_at_mut(COUNT);
        let sponges = self.sponges.iter_mut().map(|(_, face)| face);
        let prescribed = self.prescribed.iter_mut().map(|it| &mut it.face);
        for face in sponges.chain(&mut self.faces).chain(prescribed) {
            face.flow.capture_initial(backend, &mut *flow);
            for (scalar, state) in face.scalars.iter_mut().zip(&mut *states) {
                scalar.capture_initial(backend, [&mut flow[MASS], state]);
            }
        }
    }

    /// Set flow and scalars at supersonic inflow to their prescribed values, except where the initial state prescribes scalars.
    pub(super) fn impose(
        &mut self,
        backend: &dyn Backend,
        flow: &mut [Field],
        states: &mut [Field],
    ) {
        for face in self.prescribed.iter_mut().filter(|face| !face.needs_initial()) {
            face.impose(backend, flow, states);
        }
    }

    /// Set flow and scalars to the initial state where it is prescribed or enters at supersonic speed.
    pub(super) fn impose_initial(
        &mut self,
        backend: &dyn Backend,
        flow: &mut [Field],
        states: &mut [Field],
    ) {
        for face in self.prescribed.iter_mut().filter(|face| face.needs_initial()) {
            face.impose(backend, flow, states);
        }
        for Face { flow: at, scalars } in &mut self.faces {
            if at.impose.is_none() {
                continue;
            }
            at.impose_initial(backend, &mut *flow);
            for (scalar, state) in scalars.iter_mut().zip(&mut *states) {
                let is_supersonic = &mut at.geometry[SUPERSONIC];
                scalar.impose_initial(backend, [state, &mut at.beyond[MASS], is_supersonic]);
            }
        }
    }

    /// Copy the accumulated rates on the faces, which a stage replaces.
    pub(super) fn save_rates(
        &mut self,
        backend: &dyn Backend,
        rate: &mut [Field],
        weights: Weights,
    ) {
        if weights.beta == 0.0 {
            return;
        }
        let (rate, scalar_rates) = rate.split_at_mut(COUNT);
        for face in &mut self.faces {
            face.flow.save_rates(backend, &mut *rate);
            for (scalar, rate) in face.scalars.iter_mut().zip(&mut *scalar_rates) {
                scalar.save_rates(backend, [rate]);
            }
        }
    }

    /// Correct `rate` = β × (saved rates) + R, and `u`, which it has advanced.
    pub(super) fn correct(
        &mut self,
        backend: &dyn Backend,
        u: &mut [Field],
        rate: &mut [Field],
        Weights { beta, advance }: Weights,
    ) {
        let (u, states) = u.split_at_mut(COUNT);
        let (rate, scalar_rates) = rate.split_at_mut(COUNT);
        for (sigma, Face { flow, scalars }) in &mut self.sponges {
            let fields = rate.iter_mut().chain(&mut *u).chain([&mut *sigma]);
            flow.correct(backend, fields, &[advance]);
            for (scalar, own) in scalars.iter_mut().zip(rate_state_pairs(scalar_rates, states)) {
                let flow_fields = [&mut *sigma, &mut flow.beyond[MASS]];
                scalar.correct(backend, own.into_iter().chain(flow_fields), &[advance]);
            }
        }
        for along in &mut self.along {
            along.compute_terms(backend, &mut self.faces, (&mut *rate, &mut *u), advance);
        }
        for Face { flow, scalars } in &mut self.faces {
            flow.correct(backend, rate.iter_mut().chain(&mut *u), &[beta, advance]);
            for (scalar, own) in scalars.iter_mut().zip(rate_state_pairs(scalar_rates, states)) {
                let mass = [&mut rate[MASS], &mut u[MASS]];
                let flow_fields =
                    mass.into_iter().chain(flow.saved_rates.iter_mut().take(scalar_slots::COUNT));
                scalar.correct(backend, own.into_iter().chain(flow_fields), &[beta, advance]);
            }
        }
        for PrescribedFace { zero_rate, .. } in &self.prescribed {
            for rate in rate.iter_mut().chain(&mut *scalar_rates) {
                backend.map_part(zero_rate, &mut [rate], &[]);
            }
        }
    }
}

/// The rate and the state of each scalar.
fn rate_state_pairs<'a>(
    rate: &'a mut [Field],
    state: &'a mut [Field],
) -> impl Iterator<Item = [&'a mut Field; 2]> {
    rate.iter_mut().zip(state).map(<[_; 2]>::from)
}

/// The zone of the sponge of an open face within this block, and σ there; `None` if the block has no point of it.
fn sponge_zone(
    on: &Discretisation<'_>,
    [a, at]: [usize; 2],
    open: &Open,
    sponge: Sponge,
) -> Result<Option<(Field, Face)>> {
    let Discretisation { problem, grid, block, .. } = on;
    let distance = |index: [usize; 3]| {
        let mut on_face = index;
        on_face[a] = at * (grid.points[a] - 1);
        grid.distance(index, on_face)
    };
    let in_zone = |i: &usize| {
        let mut plane = *block;
        (plane.start[a], plane.points[a]) = (block.start[a] + i, 1);
        (0..plane.len()).any(|item| distance(plane.index(item)) < sponge.width)
    };
    let inside: Vec<usize> = (0..block.points[a]).filter(in_zone).collect();
    let Some(first) = inside.first() else { return Ok(None) };
    let mut points = Block::whole(block.points);
    (points.start[a], points.points[a]) = (*first, inside.len());
    let part = on.part(points);
    let strength = |index: [usize; 3]| {
        let depth = 1.0 - distance(index) / sponge.width;
        sponge.strength * depth.max(0.0).powi(3)
    };
    let known = open.known();
    let damp = part.prepare(PointFormula::map(Damping), &[], 1 + COUNT)?;
    let sigma = part.field(strength)?;
    let from_initial = || part.prepare(PointFormula::map(CopyRates), &[], COUNT);
    let from_initial = (known == Some(Known::Start)).then(from_initial).transpose()?;
    let flow = AtFace::new(&part, damp, beyond(on, known), from_initial)?;
    let scalars = problem.scalars.iter();
    let scalars = scalars.map(|it| AtFace::damped(&part, it.known([a, at], open)));
    Ok(Some((sigma, Face { flow, scalars: scalars.collect::<Result<_>>()? })))
}

/// Face number `at` across axis `a`, with the points of `face`, that waves pass.
fn open_face(face: &Part<'_>, [a, at]: [usize; 2], waves: Waves) -> Result<Face> {
    let on = face.on;
    let Discretisation { problem, grid, block, .. } = on;
    let (end, known) = (End::new(block, a, at), known(problem, a, at));
    let Waves { open, length, outward, .. } = waves;
    let spacing = grid.spacing[a] * grid.jacobian(a, at * (grid.points[a] - 1));
    let from_initial = || {
        let reads: Vec<_> = end.fields_inside(INSIDE, COUNT).collect();
        face.prepare(PointFormula::map(FromInitial(waves)), &reads, RATES_AND_STATE + GEOMETRY)
    };
    let from_initial = || (known == Some(Known::Start)).then(from_initial).transpose();
    let is_inflow = open.beyond == Beyond::Inflow(Known::Start);
    let impose = || face.prepare(PointFormula::map(ImposeInitial), &[], RATES_AND_STATE + GEOMETRY);
    let geometry = (0..GEOMETRY).map(|k| face.field(|index| across(grid, a, at, index)[k]));
    let reads: Vec<_> = end.fields_inside(INSIDE, RATES_AND_STATE).collect();
    let through = |scalar: &PassiveScalar| {
        let known = scalar.known([a, at], &open);
        AtFace::through(face, (&end, outward.over(spacing)), (&open, length), known)
    };
    // The outward derivatives of ρ', u, v, w and p' follow the state.
    let values = beyond(on, known).into_iter().chain([0.0; COUNT]);
    let save_rates = face.prepare(PointFormula::map(CopyRates), &[], COUNT)?;
    let correct = face.prepare(PointFormula::map(waves), &reads, FACE_FIELDS - RATES_AND_STATE)?;
    let flow = AtFace {
        save_rates: Some(save_rates),
        impose: is_inflow.then(impose).transpose()?,
        saved_rates: (0..COUNT).map(|_| face.field(|_| 0.0)).collect::<Result<_>>()?,
        geometry: geometry.collect::<Result<_>>()?,
        ..AtFace::new(face, correct, values, from_initial()?)?
    };
    let scalars = problem.scalars.iter().map(through);
    Ok(Face { flow, scalars: scalars.collect::<Result<_>>()? })
}

/// A face where `stream` enters at supersonic speed.
fn prescribed_face(
    on: &Discretisation<'_>,
    [a, at]: [usize; 2],
    stream: Stream,
) -> Result<PrescribedFace> {
    let part = on.part(End::new(&on.block, a, at).face(&on.block));
    let open = Open::to(Beyond::Inflow(Known::Stream(stream)));
    let scalars = on.problem.scalars.iter();
    let scalars = scalars.map(|it| AtFace::prescribed(&part, it.known([a, at], &open)));
    let scalars = scalars.collect::<Result<_>>()?;
    let impose = part.prepare(PointFormula::map(Prescribed), &[], COUNT)?;
    let zero_rate = part.prepare(PointFormula::map(ZeroRate), &[], 0)?;
    let flow = AtFace::new(&part, impose, stream.conserved(&on.problem.gas, on.base), None)?;
    Ok(PrescribedFace { face: Face { flow, scalars }, zero_rate })
}

/// The state of the `known` flow; the gas at rest if there is none, and until the initial state is known.
fn beyond(on: &Discretisation<'_>, known: Option<Known>) -> [f64; COUNT] {
    let gas = &on.problem.gas;
    let stream = known.and_then(Known::stream).unwrap_or(Stream::at_rest(gas));
    stream.conserved(gas, on.base)
}

/// The flow known beyond end `at` of axis `a`, otherwise beyond the other end.
fn known(problem: &Problem, a: usize, at: usize) -> Option<Known> {
    let faces = problem.boundaries.0[a]?;
    let known = |end: usize| faces[end].open().and_then(|open| open.known());
    known(at).or_else(|| known(1 - at))
}

impl Stream {
    /// (ρ', ρu, ρv, ρw, ρE').
    fn conserved(&self, gas: &Gas, base: BaseState) -> [f64; COUNT] {
        let rho = self.density(gas);
        let [u, v, w] = mapped(self.velocity, |component| rho * component);
        let kinetic = 0.5 * rho * self.velocity.iter().map(|u| u * u).sum::<f64>();
        let inner = (self.pressure - base.pressure) / (gas.gamma - 1.0);
        [rho - base.density, u, v, w, inner + kinetic]
    }

    fn density(&self, gas: &Gas) -> f64 {
        gas.temperature(1.0, self.pressure) / self.temperature
    }
}

/// A copy of the rates.
pub(super) struct CopyRates;

impl Formula<0, RATES_AND_STATE> for CopyRates {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        before: [N; RATES_AND_STATE],
        _: [N; 0],
    ) -> [N; RATES_AND_STATE] {
        array_of(|at| before[at % COUNT])
    }
}

/// The prescribed state, which follows the state.
struct Prescribed;

impl Formula<0, RATES_AND_STATE> for Prescribed {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        before: [N; RATES_AND_STATE],
        _: [N; 0],
    ) -> [N; RATES_AND_STATE] {
        array_of(|at| before[COUNT + at % COUNT])
    }
}

/// Zero, the rate of a prescribed value.
struct ZeroRate;

impl Formula<0, 1> for ZeroRate {
    fn at<N: Number>(&self, _: [N; 0], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [N::of(0.0)]
    }
}

/// Adds −σ (U − U∞) to the rates, and its effect to the state (Israeli and Orszag 1981). The fields σ and U∞ follow.
/// Parameter: a.
struct Damping;

impl Formula<0, { RATES_AND_STATE + 1 + COUNT }, 1> for Damping {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        before: [N; RATES_AND_STATE + 1 + COUNT],
        [a]: [N; 1],
    ) -> [N; RATES_AND_STATE + 1 + COUNT] {
        let sigma = before[RATES_AND_STATE];
        let mut after = before;
        for k in 0..COUNT {
            let state = before[COUNT + k] - a * before[k];
            let correction = sigma * (before[RATES_AND_STATE + 1 + k] - state);
            after[k] = before[k] + correction;
            after[COUNT + k] = before[COUNT + k] + a * correction;
        }
        after
    }
}
