//! The characteristic waves through an open face: the corrections to the rates. See [the faces](super).

use super::geometry::{ALONG, GEOMETRY, GIVEN, PER_SPACING, TERMS};
use super::outward::{INSIDE, Outward};
use crate::boundary::{Beyond, Known, Open};
use crate::engine::{Formula, Number};
use crate::gas::Gas;
use crate::physics::base_state::BaseState;
use crate::physics::formulas::{Primitives, dot, whole};
use crate::physics::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};
use crate::simd::{array_of, mapped};

/// Rates and state.
pub(in crate::physics) const BOTH: usize = 2 * COUNT;
/// Number of values read at the points inside.
const READ: usize = BOTH * INSIDE;
/// Rates and state, with the kept rates, the flow beyond, and the geometry of the face.
pub(super) const ALL: usize = 2 * BOTH + COUNT + GEOMETRY;

/// Values for scalars, stored in the slots of the kept rates.
pub(in crate::physics) mod left {
    /// The correction of ∂ρ/∂t.
    pub(in crate::physics) const ADDED: usize = 0;
    /// ∂ρ/∂t with the correction.
    pub(in crate::physics) const MASS_RATE: usize = 1;
    /// u_n where the gas enters, otherwise 0.
    pub(in crate::physics) const INWARD: usize = 2;
    /// c.
    pub(in crate::physics) const SOUND: usize = 3;
    /// Number of these values.
    pub(in crate::physics) const COUNT: usize = 4;
}

/// The waves through a face. They leave values for scalars in the slots of the kept rates: see [`left`]. Parameters: β, a.
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
    /// state, or with `BOTH` values each the rates and the state after a stage of weight `a`.
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
                BOTH => self.before(point, a),
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
    fn missing<N: Number>(
        &self,
        at: &Flow<N>,
        beyond: &Flow<N>,
        rate: &Flow<N>,
        slope: &Flow<N>,
        geometry: &[N],
    ) -> Missing<N> {
        let Self { gas, base, open, .. } = *self;
        let normal = array_of(|i| geometry[i]);
        let (rho, p) = (whole(at.rho, base.density), whole(at.p, base.pressure));
        let c2 = N::of(gas.gamma) * p / rho;
        let c = c2.sqrt();
        let n = |v: &[N; 3]| dot(normal, *v);
        let u_n = n(&at.velocity);
        let (back, slow, forth) = (inward(u_n - c), inward(u_n), inward(u_n + c));
        let coming = rate.p - rho * c * n(&rate.velocity);
        let relax = N::of(open.relaxation / self.length);
        let off_velocity: [N; 3] = array_of(|i| at.velocity[i] - beyond.velocity[i]);
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
                velocity: array_of(|i| -(rate.velocity[i] + relax * c * off_velocity[i])),
                going,
                speed: [rho, c, slow],
            };
        }
        let leaving = u_n - slow;
        // Small but not 0 where nothing is carried out, so that κ becomes 1 at supersonic outflow in this case too.
        let least = N::of(1e-3 / gas.mach);
        let carried = match self.is_known {
            true => least - inward(least - n(&beyond.velocity)),
            false => leaving,
        };
        let kept = carried / (carried - back);
        let amplitude = back * (slope.p - of_slope);
        let [carried_p, carried_u_n, push @ ..]: [N; ALONG] = array_of(|k| geometry[TERMS + k]);
        let along = carried_p - rho * c * carried_u_n;
        let most = N::of(MOST);
        let without = known * (most + inward(-slow / c - most)) / rho;
        Missing {
            coming: kept * (coming + amplitude) - coming - (N::of(1.0) - kept) * along
                + relax * back * (N::of(1.0) + leaving / c) * (off_p - pushed),
            entropy: slow * (slope.rho - slope.p / c2 + known * relax * (off_rho - off_p / c2)),
            velocity: array_of(|i| {
                slow * (slope.velocity[i] + known * relax * off_velocity[i]) + without * push[i]
            }),
            going,
            speed: [rho, c, slow],
        }
    }

    /// 1 where the flow beyond enters at supersonic speed, otherwise 0.
    #[inline(always)]
    fn given<N: Number>(&self, beyond: &Flow<N>, normal: [N; 3]) -> N {
        let (rho, p) = (whole(beyond.rho, self.base.density), whole(beyond.p, self.base.pressure));
        let c = (N::of(self.gas.gamma) * p / rho).sqrt();
        let slower = dot(normal, beyond.velocity) + c;
        let sign = slower / (slower.abs() + N::of(f32::MIN_POSITIVE.into()));
        N::of(0.5) * (N::of(1.0) - sign)
    }
}

/// Largest part of the pressure gradient along a far field that vorticity waves do without.
const MOST: f64 = 0.7;

/// See [`Waves::missing`]. The normal component of `velocity` is not used: the two sound waves determine it.
struct Missing<N> {
    coming: N,
    entropy: N,
    velocity: [N; 3],
    going: N,
    /// ρ, c, and u_n where the gas enters, otherwise 0.
    speed: [N; 3],
}

/// Defines the flow beyond a face from the initial state. Fields: the state, the flow beyond, the geometry; reads the states inside.
pub(super) struct OfStart(pub(super) Waves);

impl Formula<{ COUNT * INSIDE }, { COUNT + BOTH + GEOMETRY }> for OfStart {
    fn at<N: Number>(
        &self,
        inside: [N; COUNT * INSIDE],
        mut all: [N; COUNT + BOTH + GEOMETRY],
        _: [N; 0],
    ) -> [N; COUNT + BOTH + GEOMETRY] {
        let Self(waves) = self;
        let flow = |all: &[N]| waves.flow(array_of(|k| all[k]));
        let per_spacing = all[COUNT + BOTH + PER_SPACING];
        let slope = waves.slopes::<N, COUNT>(&flow(&all), (&inside, N::of(0.0)), per_spacing);
        all.copy_within(..COUNT, COUNT);
        let [u, v, w] = slope.velocity;
        all[BOTH..COUNT + BOTH].copy_from_slice(&[slope.rho, u, v, w, slope.p]);
        let normal = array_of(|k| all[COUNT + BOTH + k]);
        all[COUNT + BOTH + GIVEN] = waves.given(&flow(&all), normal);
        all
    }
}

/// Sets the state to the initial state where that enters at supersonic speed. The flow beyond and the geometry follow the state.
pub(super) struct Imposed;

impl Formula<0, { COUNT + BOTH + GEOMETRY }> for Imposed {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        mut all: [N; COUNT + BOTH + GEOMETRY],
        _: [N; 0],
    ) -> [N; COUNT + BOTH + GEOMETRY] {
        let given = all[COUNT + BOTH + GIVEN];
        for k in 0..COUNT {
            all[k] = all[k] + given * (all[COUNT + k] - all[k]);
        }
        all
    }
}

impl Formula<READ, { ALL }, 2> for Waves {
    fn at<N: Number>(&self, inside: [N; READ], before: [N; ALL], [beta, a]: [N; 2]) -> [N; ALL] {
        let half = N::of(0.5);
        let at = self.before(&before[..BOTH], a);
        let beyond = self.flow(array_of(|k| before[BOTH + COUNT + k]));
        let geometry = &before[ALL - GEOMETRY..];
        let normal: [N; 3] = array_of(|i| geometry[i]);
        let mut slope = self.slopes::<N, BOTH>(&at, (&inside, a), geometry[PER_SPACING]);
        let [rho, u, v, w, p] = array_of(|k| before[2 * BOTH + k]);
        (slope.rho, slope.p) = (slope.rho - rho, slope.p - p);
        for (own, beyond) in slope.velocity.iter_mut().zip([u, v, w]) {
            *own = *own - beyond;
        }
        let own: [N; COUNT] = array_of(|k| before[k] - beta * before[BOTH + k]);
        let inner = N::of(self.gas.gamma - 1.0);
        let [u, v, w] = at.velocity;
        let squares = half * (u * u + v * v + w * w);
        let rho = whole(at.rho, self.base.density);
        let momentum: [N; 3] = array_of(|i| own[MOMENTUM + i]);
        let work = |m: [N; 3]| u * m[0] + v * m[1] + w * m[2];
        let rate = Flow {
            rho: own[MASS],
            velocity: array_of(|i| (momentum[i] - at.velocity[i] * own[MASS]) / rho),
            p: inner * (own[ENERGY] - work(momentum) + squares * own[MASS]),
            t: N::of(0.0),
        };
        let Missing { coming, entropy, velocity, going, speed: [rho, c, inward] } =
            self.missing(&at, &beyond, &rate, &slope, geometry);
        let p = half * (going + coming);
        // The two sound waves determine the normal component.
        let through = half * (going - coming) / (rho * c) - dot(normal, velocity);
        let velocity: [N; 3] = array_of(|i| velocity[i] + through * normal[i]);
        let mass = entropy + p / (c * c);
        let momentum: [N; 3] = array_of(|i| at.velocity[i] * mass + rho * velocity[i]);
        let energy = p / inner + squares * mass + rho * work(velocity);
        let [x, y, z] = momentum;
        let mut after = before;
        for (k, more) in [mass, x, y, z, energy].into_iter().enumerate() {
            after[k] = before[k] + more;
            after[COUNT + k] = before[COUNT + k] + a * more;
        }
        let mut added = mass;
        if let Beyond::Inflow(Known::Start) = self.open.beyond {
            let given = geometry[GIVEN];
            for k in 0..COUNT {
                after[k] = after[k] - given * after[k];
                after[COUNT + k] = before[COUNT + k] + a * (after[k] - before[k]);
            }
            added = mass - given * (own[MASS] + mass);
        }
        after[BOTH + left::ADDED] = added;
        after[BOTH + left::MASS_RATE] = own[MASS] + added;
        after[BOTH + left::INWARD] = inward;
        after[BOTH + left::SOUND] = c;
        after
    }
}
