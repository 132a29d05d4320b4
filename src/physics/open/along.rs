//! Terms along the grid lines ξ of an open face: transport by the flow beyond, (V·∇ξ) ∂p'/∂ξ and n·(V·∇ξ) ∂u'/∂ξ, where V is the velocity
//! of that flow, or its part along the face where it enters, and the pressure gradient ∇ξ ∂p'/∂ξ. See [the faces](super).
//!
//! The derivatives are those of the scheme on the lines of the face. If lines are split across ranks, each rank has a part of the face.

use super::Face;
use super::geometry::{GEOMETRY, TERM_COUNT, TERMS, gradient, outward};
use super::waves::{RATES_AND_STATE, Waves, inward};
use crate::backend::{Backend, Field, Prepared, Program, Weights};
use crate::boundary::{Beyond, Known};
use crate::engine::{Expr, Formula, Number, PointFormula, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;
use crate::physics::discretisation::Part;
use crate::physics::formulas::dot;
use crate::physics::slots::conserved::COUNT;
use crate::physics::slots::exactly;
use crate::simd::array_of;

/// Number of transported values: p', u, v and w.
const TRANSPORTED: usize = 4;
/// The axes along a face.
const AXES: usize = 2;
/// Values per axis and point: ∇ξ, and −1 or 1 at the ends of its lines, otherwise 0.
const PER_AXIS: usize = 4;
/// Number of fields of [`Before`]: rates, state, the flow beyond, the geometry, the values of the axes, p' and the velocity, the speeds.
const FIELDS: usize = RATES_AND_STATE + COUNT + GEOMETRY + PER_AXIS * AXES + TRANSPORTED + AXES;

/// The grid lines of a face, and the fields and programs of the terms along them.
pub(super) struct Along {
    /// The number of the face.
    face: usize,
    before: Prepared,
    axis_fields: Vec<Field>,
    /// p' and the velocity before a stage, minus those of the flow beyond.
    flow: Vec<Field>,
    /// V·∇ξ.
    speeds: Vec<Field>,
    /// Programs that add the terms of the lines along an axis, one per axis.
    programs: Vec<(usize, Program)>,
}

impl Along {
    /// The lines of face number `face` of this rank, across `axis`, with the points of `part`; `None` unless the face is a far field, or an
    /// outflow along which a known flow moves.
    pub(super) fn new(
        (face, part): (usize, &Part<'_>),
        (axis, waves): (Axis, Waves),
        known: Option<Known>,
    ) -> Result<Option<Self>> {
        let grid = &part.on.grid;
        let axes = Axis::ALL.into_iter().filter(|it| *it != axis);
        let is_needed = match (waves.open.beyond, known) {
            (Beyond::Inflow(_), _) | (_, None) => false,
            (Beyond::FarField(_), _) | (_, Some(Known::Start)) => true,
            (_, Some(Known::Stream(stream))) => {
                let moves = |it: Axis| grid.is_active(it) && stream.velocity[it.index()] != 0.0;
                match grid.plane {
                    None => axes.clone().any(moves),
                    Some(_) => Axis::ALL.into_iter().any(moves),
                }
            }
        };
        let active: Vec<_> =
            axes.clone().enumerate().filter(|(_, it)| grid.is_active(*it)).collect();
        if !is_needed || active.is_empty() {
            return Ok(None);
        }
        let zeros = |count: usize| (0..count).map(|_| part.field(|_| 0.0)).collect::<Result<_>>();
        let axis_field = |(it, k): (Axis, usize)| {
            part.field(|index| match k {
                3 => outward(grid, it, index),
                k => gradient(grid, it, index)[k],
            })
        };
        let axis_fields = axes.clone().flat_map(|it| (0..PER_AXIS).map(move |k| (it, k)));
        let program = |(k, it)| Ok((k, part.on.program_on_planes(it, axis, &sweep(it))?));
        Ok(Some(Self {
            face,
            before: part.prepare(
                PointFormula::map(Before(waves)),
                &[],
                FIELDS - RATES_AND_STATE,
            )?,
            axis_fields: axis_fields.map(axis_field).collect::<Result<_>>()?,
            flow: zeros(TRANSPORTED)?,
            speeds: zeros(AXES)?,
            programs: active.into_iter().map(program).collect::<Result<_>>()?,
        }))
    }

    /// Write the terms along the face at the state before a stage, `u` − `advance` × `rate`, into the geometry of the face.
    pub(super) fn compute_terms(
        &mut self,
        backend: &dyn Backend,
        faces: &mut [Face],
        (rate, u): (&mut [Field], &mut [Field]),
        advance: f64,
    ) {
        let Self { face, before, axis_fields, flow, speeds, programs } = self;
        let of_face = &mut faces[*face].flow;
        let known = of_face.beyond.iter_mut().take(COUNT).chain(&mut of_face.geometry);
        let own = known.chain(&mut *axis_fields).chain(&mut *flow).chain(&mut *speeds);
        let mut all: [&mut Field; FIELDS] = exactly(rate.iter_mut().chain(u).chain(own));
        backend.map_part(before, &mut all, &[advance]);
        let mut weights = Weights::SET;
        for (k, program) in programs {
            let (normal, terms) = of_face.geometry.split_at_mut(TERMS);
            let vectors = normal.iter().take(3).chain(axis_fields[PER_AXIS * *k..].iter().take(3));
            let read: [&Field; TRANSPORTED + 7] =
                exactly(flow.iter().chain([&speeds[*k]]).chain(vectors));
            let mut write: [&mut Field; TERM_COUNT] = exactly(terms.iter_mut().take(TERM_COUNT));
            backend.run(program, &read, &mut write, weights);
            weights = Weights::ADD;
        }
    }
}

/// The terms along a face of the lines along `axis`.
fn sweep(axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    let speed = s.read(TRANSPORTED);
    let [normal, gradient] = [TRANSPORTED + 1, TRANSPORTED + 4];
    let slope = s.d1(s.read(0));
    s.add(0, speed * slope);
    let through = (0..3).map(|i| {
        let velocity = s.read(1 + i);
        let velocity = if i == axis.index() { s.odd(velocity) } else { velocity };
        speed * (s.read(normal + i) * s.d1(velocity))
    });
    s.add(1, through.fold(Expr::zero(), |sum, term| sum + term));
    for i in 0..3 {
        s.add(2 + i, s.read(gradient + i) * slope);
    }
    s.build()
}

/// p' and the velocity before a stage minus those of the flow beyond, and V·∇ξ, which is 0 at ends of lines where V leads into the face:
/// the flow that arrives there is unknown. Parameter: a.
struct Before(Waves);

impl Formula<0, FIELDS, 1> for Before {
    fn at<N: Number>(&self, _: [N; 0], before: [N; FIELDS], [a]: [N; 1]) -> [N; FIELDS] {
        let Self(waves) = self;
        let at = waves.before(&before[..RATES_AND_STATE], a);
        let beyond = waves.flow(array_of(|k| before[RATES_AND_STATE + k]));
        let normal = array_of(|k| before[RATES_AND_STATE + COUNT + k]);
        // V minus its incoming normal part.
        let through = inward(dot(normal, beyond.velocity));
        let carried: [N; 3] = array_of(|i| beyond.velocity[i] - through * normal[i]);
        let mut after = before;
        let [axis_fields, flow] = [RATES_AND_STATE + COUNT + GEOMETRY, FIELDS - TRANSPORTED - AXES];
        after[flow] = at.p - beyond.p;
        for i in 0..3 {
            after[flow + 1 + i] = at.velocity[i] - beyond.velocity[i];
        }
        for k in 0..AXES {
            let [x, y, z, end] = array_of(|i| before[axis_fields + PER_AXIS * k + i]);
            let speed = dot([x, y, z], carried);
            after[flow + TRANSPORTED + k] = speed - end * inward(end * speed);
        }
        after
    }
}
