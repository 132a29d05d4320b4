//! The characteristic waves through an open face: the corrections to the rates. See [the faces](super).

use super::geometry::{GEOMETRY, PER_SPACING, SUPERSONIC, TERM_COUNT, TERMS};
use super::outward::{INSIDE, Outward};
use crate::boundary::{Beyond, Known, Open};
use crate::engine::{Formula, Number};
use crate::gas::Gas;
use crate::physics::base_state::BaseState;
use crate::physics::formulas::{Primitives, dot, full_value};
use crate::physics::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use crate::simd::{array_of, mapped};

/// Number of rates and state variables together.
pub(in crate::physics) const RATES_AND_STATE: usize = 2 * COUNT;
/// Number of values read at the points inside.
const INSIDE_VALUES: usize = RATES_AND_STATE * INSIDE;
/// Number of fields of [`Waves`]: rates and state, with the saved rates, the flow beyond, and the geometry of the face.
pub(super) const FACE_FIELDS: usize = 2 * RATES_AND_STATE + COUNT + GEOMETRY;

/// Values for scalars, stored in the slots of the saved rates.
pub(in crate::physics) mod scalar_slots {
    /// The correction of ∂ρ/∂t.
    pub(in crate::physics) const MASS_CORRECTION: usize = 0;
    /// ∂ρ/∂t with the correction.
    pub(in crate::physics) const MASS_RATE: usize = 1;
    /// u_n where the gas enters, otherwise 0.
    pub(in crate::physics) const INWARD: usize = 2;
    /// c.
    pub(in crate::physics) const SOUND: usize = 3;
    /// Number of these values.
    pub(in crate::physics) const COUNT: usize = 4;
}

/// The waves through a face. They store values for scalars in the slots of the saved rates: see [`scalar_slots`]. Parameters: β, a.
#[derive(Clone, Copy)]
pub(super) struct Waves {
    pub(super) gas: Gas,
    pub(super) base: BaseState,
    pub(super) open: Open,
    pub(super) length: f64,
    /// Whether the flow beyond this face or the opposite one is known, and thus U.
    pub(super) is_known: bool,
    /// h ∂/∂n.
    pub(super) outward: Outward,
}

/// ρ', (u, v, w), p' and T', or their rates or derivatives.
#[derive(Clone, Copy)]
pub(super) struct Flow<N> {
    rho: N,
    pub(super) velocity: [N; 3],
    pub(super) p: N,
    t: N,
}

impl<N: Number> Flow<N> {
    /// ρ', u, v, w and p'.
    #[inline(always)]
    fn values(&self) -> [N; COUNT] {
        let [u, v, w] = self.velocity;
        [self.rho, u, v, w, self.p]
    }
}

/// The part of a speed that leads into the box, not above 0.
#[inline(always)]
pub(super) fn inward<N: Number>(speed: N) -> N {
    N::of(0.5) * (speed - speed.abs())
}

/// The state at a point before a stage of weight `a`, from the accumulated rates and the state there.
#[inline(always)]
pub(in crate::physics) fn before_stage<N: Number>(both: &[N], a: N) -> [N; COUNT] {
    array_of(|k| both[COUNT + k] - a * both[k])
}

impl Waves {
    /// The flow at a point before the stage, from the accumulated rates and the state there.
    #[inline(always)]
    pub(super) fn before<N: Number>(&self, both: &[N], a: N) -> Flow<N> {
        self.flow(before_stage(both, a))
    }

    /// The flow of a state.
    #[inline(always)]
    pub(super) fn flow<N: Number>(&self, state: [N; COUNT]) -> Flow<N> {
        let [u, v, w, p, t] = Primitives { gas: self.gas, base: self.base }.at(state, state, []);
        Flow { rho: state[MASS], velocity: [u, v, w], p, t }
    }

    /// The outward derivatives on the face of ρ', the velocity and p', from the flow `at` it and from the values at the points inside: the
    /// state, or with `RATES_AND_STATE` values each the rates and the state after a stage of weight `a`.
    #[inline(always)]
    fn slopes<N: Number, const EACH: usize>(
        &self,
        at: &Flow<N>,
        (inside, a): (&[N], N),
        per_spacing: N,
    ) -> Flow<N> {
        let weights = self.outward.weights();
        let mut sums = mapped(at.values(), |value| N::of(weights[0]) * value);
        for k in 0..INSIDE {
            let point = &inside[EACH * k..][..EACH];
            let flow = match EACH {
                RATES_AND_STATE => self.before(point, a),
                _ => self.flow(array_of(|i| point[i])),
            };
            for (sum, value) in sums.iter_mut().zip(flow.values()) {
                *sum = *sum + N::of(weights[1 + k]) * value;
            }
        }
        let [rho, u, v, w, p] = mapped(sums, |sum| per_spacing * sum);
        Flow { rho, velocity: [u, v, w], p, t: N::of(0.0) }
    }

    /// The corrections to the rates: of the incoming and outgoing sound waves, of entropy and of velocity. `slope` is that of the flow
    /// minus that of the flow beyond; `geometry` has the fields of the face.
    #[inline(always)]
    fn corrections<N: Number>(
        &self,
        at: &Flow<N>,
        beyond: &Flow<N>,
        rate: &Flow<N>,
        slope: &Flow<N>,
        geometry: &[N],
    ) -> Corrections<N> {
        let Self { gas, base, open, .. } = *self;
        let normal = array_of(|i| geometry[i]);
        let (rho, p) = (full_value(at.rho, base.density), full_value(at.p, base.pressure));
        let c2 = N::of(gas.gamma) * p / rho;
        let c = c2.sqrt();
        let n = |v: &[N; 3]| dot(normal, *v);
        let u_n = n(&at.velocity);
        // The speeds of the incoming wave, of the gas and of the outgoing wave where they lead into the box, otherwise 0.
        let (back, slow, forth) = (inward(u_n - c), inward(u_n), inward(u_n + c));
        let incoming = rate.p - rho * c * n(&rate.velocity);
        let relax = N::of(open.relaxation / self.length);
        let off_velocity: [N; 3] = array_of(|i| at.velocity[i] - beyond.velocity[i]);
        let off_rho = at.rho - beyond.rho;
        let (known, off_p) = match open.beyond {
            Beyond::Outflow(p) => (0.0, at.p - N::of(p - base.pressure)),
            Beyond::Inflow(_) | Beyond::FarField(_) => (1.0, at.p - beyond.p),
        };
        let known = N::of(known);
        let (off_rho_c_u, slope_rho_c_u) =
            (known * rho * c * n(&off_velocity), rho * c * n(&slope.velocity));
        let outgoing = forth * (slope.p + slope_rho_c_u + known * relax * (off_p + off_rho_c_u));
        if let Beyond::Inflow(_) = open.beyond {
            let relative = (at.t - beyond.t) / full_value(at.t, base.temperature);
            return Corrections {
                incoming: -(incoming + relax * back * rho * c * n(&off_velocity)),
                entropy: relax * c * rho * relative - (rate.rho - rate.p / c2),
                velocity: array_of(|i| -(rate.velocity[i] + relax * c * off_velocity[i])),
                outgoing,
                speed: [rho, c, slow],
            };
        }
        let outward_speed = u_n - slow;
        // Small but not 0 where nothing is carried out, so that κ becomes 1 at supersonic outflow in this case too.
        let min_speed = N::of(1e-3 / gas.mach);
        let stream = match self.is_known {
            true => min_speed - inward(min_speed - n(&beyond.velocity)),
            false => outward_speed,
        };
        let kappa = stream / (stream - back);
        let amplitude = back * (slope.p - slope_rho_c_u);
        let [along_p, along_u_n, gradient_p @ ..]: [N; TERM_COUNT] =
            array_of(|k| geometry[TERMS + k]);
        let along = along_p - rho * c * along_u_n;
        let max_removed = N::of(MAX_REMOVED);
        let removed = known * (max_removed + inward(-slow / c - max_removed)) / rho;
        Corrections {
            incoming: kappa * (incoming + amplitude) - incoming - (N::of(1.0) - kappa) * along
                + relax * back * (N::of(1.0) + outward_speed / c) * (off_p - off_rho_c_u),
            entropy: slow * (slope.rho - slope.p / c2 + known * relax * (off_rho - off_p / c2)),
            velocity: array_of(|i| {
                slow * (slope.velocity[i] + known * relax * off_velocity[i])
                    + removed * gradient_p[i]
            }),
            outgoing,
            speed: [rho, c, slow],
        }
    }

    /// 1 where the flow beyond enters at supersonic speed, otherwise 0.
    #[inline(always)]
    fn supersonic<N: Number>(&self, beyond: &Flow<N>, normal: [N; 3]) -> N {
        let (rho, p) =
            (full_value(beyond.rho, self.base.density), full_value(beyond.p, self.base.pressure));
        let c = (N::of(self.gas.gamma) * p / rho).sqrt();
        let slower = dot(normal, beyond.velocity) + c;
        let sign = slower / (slower.abs() + N::of(f32::MIN_POSITIVE.into()));
        N::of(0.5) * (N::of(1.0) - sign)
    }
}

/// Largest fraction of the pressure gradient along a far field that is removed from vorticity waves.
const MAX_REMOVED: f64 = 0.7;

/// See [`Waves::corrections`]. The normal component of `velocity` is not used: the two sound waves determine it.
struct Corrections<N> {
    incoming: N,
    entropy: N,
    velocity: [N; 3],
    outgoing: N,
    /// ρ, c, and u_n where the gas enters, otherwise 0.
    speed: [N; 3],
}

/// Defines the flow beyond a face from the initial state. Fields: the state, the flow beyond, the geometry; reads the states inside.
pub(super) struct FromInitial(pub(super) Waves);

impl Formula<{ COUNT * INSIDE }, { COUNT + RATES_AND_STATE + GEOMETRY }> for FromInitial {
    fn at<N: Number>(
        &self,
        inside: [N; COUNT * INSIDE],
        mut all: [N; COUNT + RATES_AND_STATE + GEOMETRY],
        _: [N; 0],
    ) -> [N; COUNT + RATES_AND_STATE + GEOMETRY] {
        let Self(waves) = self;
        let flow = |all: &[N]| waves.flow(array_of(|k| all[k]));
        let per_spacing = all[COUNT + RATES_AND_STATE + PER_SPACING];
        let slope = waves.slopes::<N, COUNT>(&flow(&all), (&inside, N::of(0.0)), per_spacing);
        all.copy_within(..COUNT, COUNT);
        let [u, v, w] = slope.velocity;
        all[RATES_AND_STATE..COUNT + RATES_AND_STATE]
            .copy_from_slice(&[slope.rho, u, v, w, slope.p]);
        let normal = array_of(|k| all[COUNT + RATES_AND_STATE + k]);
        all[COUNT + RATES_AND_STATE + SUPERSONIC] = waves.supersonic(&flow(&all), normal);
        all
    }
}

/// Sets the state to the initial state where that enters at supersonic speed. The flow beyond and the geometry follow the state.
pub(super) struct ImposeInitial;

impl Formula<0, { COUNT + RATES_AND_STATE + GEOMETRY }> for ImposeInitial {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        mut all: [N; COUNT + RATES_AND_STATE + GEOMETRY],
        _: [N; 0],
    ) -> [N; COUNT + RATES_AND_STATE + GEOMETRY] {
        let supersonic = all[COUNT + RATES_AND_STATE + SUPERSONIC];
        for k in 0..COUNT {
            all[k] = all[k] + supersonic * (all[COUNT + k] - all[k]);
        }
        all
    }
}

impl Formula<INSIDE_VALUES, { FACE_FIELDS }, 2> for Waves {
    fn at<N: Number>(
        &self,
        inside: [N; INSIDE_VALUES],
        before: [N; FACE_FIELDS],
        [beta, a]: [N; 2],
    ) -> [N; FACE_FIELDS] {
        let half = N::of(0.5);
        let at = self.before(&before[..RATES_AND_STATE], a);
        let beyond = self.flow(array_of(|k| before[RATES_AND_STATE + COUNT + k]));
        let geometry = &before[FACE_FIELDS - GEOMETRY..];
        let normal: [N; 3] = array_of(|i| geometry[i]);
        let mut slope = self.slopes::<N, RATES_AND_STATE>(&at, (&inside, a), geometry[PER_SPACING]);
        let [rho, u, v, w, p] = array_of(|k| before[2 * RATES_AND_STATE + k]);
        (slope.rho, slope.p) = (slope.rho - rho, slope.p - p);
        for (own, beyond) in slope.velocity.iter_mut().zip([u, v, w]) {
            *own = *own - beyond;
        }
        let own: [N; COUNT] = array_of(|k| before[k] - beta * before[RATES_AND_STATE + k]);
        let inner = N::of(self.gas.gamma - 1.0);
        let [u, v, w] = at.velocity;
        let squares = half * (u * u + v * v + w * w);
        let rho = full_value(at.rho, self.base.density);
        let momentum: [N; 3] = array_of(|i| own[MOMENTUM + i]);
        let work = |m: [N; 3]| u * m[0] + v * m[1] + w * m[2];
        let rate = Flow {
            rho: own[MASS],
            velocity: array_of(|i| (momentum[i] - at.velocity[i] * own[MASS]) / rho),
            p: inner * (own[ENERGY] - work(momentum) + squares * own[MASS]),
            t: N::of(0.0),
        };
        let Corrections { incoming, entropy, velocity, outgoing, speed: [rho, c, inward] } =
            self.corrections(&at, &beyond, &rate, &slope, geometry);
        let p = half * (outgoing + incoming);
        // The two sound waves determine the normal component.
        let through = half * (outgoing - incoming) / (rho * c) - dot(normal, velocity);
        let velocity: [N; 3] = array_of(|i| velocity[i] + through * normal[i]);
        let mass = entropy + p / (c * c);
        let momentum: [N; 3] = array_of(|i| at.velocity[i] * mass + rho * velocity[i]);
        let energy = p / inner + squares * mass + rho * work(velocity);
        let [x, y, z] = momentum;
        let mut after = before;
        for (k, correction) in [mass, x, y, z, energy].into_iter().enumerate() {
            after[k] = before[k] + correction;
            after[COUNT + k] = before[COUNT + k] + a * correction;
        }
        let mut mass_correction = mass;
        if let Beyond::Inflow(Known::Start) = self.open.beyond {
            let supersonic = geometry[SUPERSONIC];
            for k in 0..COUNT {
                after[k] = after[k] - supersonic * after[k];
                after[COUNT + k] = before[COUNT + k] + a * (after[k] - before[k]);
            }
            mass_correction = mass - supersonic * (own[MASS] + mass);
        }
        after[RATES_AND_STATE + scalar_slots::MASS_CORRECTION] = mass_correction;
        after[RATES_AND_STATE + scalar_slots::MASS_RATE] = own[MASS] + mass_correction;
        after[RATES_AND_STATE + scalar_slots::INWARD] = inward;
        after[RATES_AND_STATE + scalar_slots::SOUND] = c;
        after
    }
}
