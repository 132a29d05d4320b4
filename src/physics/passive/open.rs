//! Passive scalars at open faces, where φ is an additional wave with speed u_n.
//!
//! ```text
//! outflow, far field  ∂φ/∂t = that of the equations + min(u_n, 0) (∂φ/∂n − ∂φ∞/∂n + σ/L (φ − φ∞))
//! inflow              ∂φ/∂t = − σ c/L (φ − φ∞), as that of T
//! ```
//! Incoming waves are replaced, so that nothing that has left returns (Poinsot and Lele 1992, as for entropy). σ = 0 at an outflow where φ
//! beyond is unknown. ∂φ∞/∂n is that of the initial state where the flow beyond is the initial flow, otherwise 0. Where the flow state is
//! prescribed, φ∞ is prescribed too. ∂(ρφ)/∂t = φ ∂ρ/∂t + ρ ∂φ/∂t uses the ∂ρ/∂t that results from the [flow
//! conditions](crate::physics::open) at the face, so that a uniform φ stays uniform.

use super::formulas::Fraction;
use crate::boundary::{Beyond, Known, Open};
use crate::cases::ScalarBeyond;
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::physics::base_state::BaseState;
use crate::physics::discretisation::Part;
use crate::physics::formulas::full_value;
use crate::physics::open::{AtFace, INSIDE, Outward, scalar_slots};
use crate::physics::walls::End;
use crate::simd::array_of;

/// The accumulated rate of ρφ and ρφ itself: the first fields of each formula.
const OWN: usize = 2;

/// A scalar at an open face, or in the zone of its sponge.
impl AtFace {
    /// In the zone of a sponge.
    pub(in crate::physics) fn damped(part: &Part<'_>, known: Option<ScalarBeyond>) -> Result<Self> {
        let base = part.on.base;
        Self::without_waves(part, known, PointFormula::map(Damping { base }), 3)
    }

    /// Where the gas enters at supersonic speed.
    pub(in crate::physics) fn prescribed(
        part: &Part<'_>,
        known: Option<ScalarBeyond>,
    ) -> Result<Self> {
        let base = part.on.base;
        Self::without_waves(part, known, PointFormula::map(Prescribed { base }), 2)
    }

    /// With a formula that uses φ beyond, and `own` fields of the part only.
    fn without_waves(
        part: &Part<'_>,
        known: Option<ScalarBeyond>,
        formula: PointFormula,
        own: usize,
    ) -> Result<Self> {
        let correct = part.prepare(formula, &[], own)?;
        let start = PointFormula::map(FromInitial { base: part.on.base });
        let start = is_initial(known).then(|| part.prepare(start, &[], 1)).transpose()?;
        Self::new(part, correct, [value_beyond(known)], start)
    }

    /// With a wave through a face of a box of this `length`, at this `end` of its lines with ∂/∂n there.
    pub(in crate::physics) fn through(
        part: &Part<'_>,
        (end, outward): (&End, Outward),
        (open, length): (&Open, f64),
        known: Option<ScalarBeyond>,
    ) -> Result<Self> {
        let base = part.on.base;
        let is_inflow = matches!(open.beyond, Beyond::Inflow(_));
        let relaxation = known.map_or(0.0, |_| open.relaxation / length);
        let wave = Wave { base, outward, is_inflow, relaxation };
        let start = || {
            let grows = open.known() == Some(Known::Start);
            let start = SlopeFromInitial { base, outward: grows.then_some(outward) };
            let reads: Vec<_> = end.fields_inside(INSIDE, 2).collect();
            part.prepare(PointFormula::map(start), &reads, 2)
        };
        let start = is_initial(known).then(start).transpose()?;
        let save_rates = || part.prepare(PointFormula::map(CopyRate), &[], 1);
        let impose = || part.prepare(PointFormula::map(PrescribedWhere { base }), &[], 4);
        let reads: Vec<_> = end.fields_inside(INSIDE, OWN + 2).collect();
        let correct = part.prepare(PointFormula::map(wave), &reads, scalar_slots::COUNT + 3)?;
        Ok(Self {
            impose: is_inflow.then(impose).transpose()?,
            save_rates: is_inflow.then(save_rates).transpose()?,
            saved_rates: vec![part.field(|_| 0.0)?],
            ..Self::new(part, correct, [value_beyond(known), 0.0], start)?
        })
    }
}

/// φ beyond; the value is unused if φ beyond is unknown, and until the initial state is known.
fn value_beyond(known: Option<ScalarBeyond>) -> f64 {
    match known {
        Some(ScalarBeyond::Value(phi)) => phi,
        Some(ScalarBeyond::Start) | None => 0.0,
    }
}

fn is_initial(known: Option<ScalarBeyond>) -> bool {
    known == Some(ScalarBeyond::Start)
}

/// φ of the initial state, stored after (ρ', ρφ).
struct FromInitial {
    base: BaseState,
}

impl Formula<0, 3> for FromInitial {
    fn at<N: Number>(&self, _: [N; 0], [rho, state, phi]: [N; 3], _: [N; 0]) -> [N; 3] {
        let [phi] = Fraction { base: self.base }.at([rho, state], [phi], []);
        [rho, state, phi]
    }
}

/// φ of the initial state and its outward derivative (0 without `outward`), stored after (ρ', ρφ).
struct SlopeFromInitial {
    base: BaseState,
    outward: Option<Outward>,
}

impl Formula<{ 2 * INSIDE }, 4> for SlopeFromInitial {
    fn at<N: Number>(
        &self,
        inside: [N; 2 * INSIDE],
        [rho, state, ..]: [N; 4],
        _: [N; 0],
    ) -> [N; 4] {
        let phi = |rho, state| {
            let [phi] = Fraction { base: self.base }.at([rho, state], [state], []);
            phi
        };
        let at = phi(rho, state);
        let points = |k: usize| phi(inside[2 * k], inside[2 * k + 1]);
        let slope = self.outward.map_or(N::of(0.0), |outward| outward.slope(at, points));
        [rho, state, at, slope]
    }
}

/// A copy of the rate.
struct CopyRate;

impl Formula<0, 2> for CopyRate {
    fn at<N: Number>(&self, _: [N; 0], [rate, _]: [N; 2], _: [N; 0]) -> [N; 2] {
        [rate, rate]
    }
}

/// Adds −σ (ρφ − ρ∞φ∞) to the rate, and its effect to the state. The fields σ, ρ∞' and φ∞ follow. Parameter: a.
struct Damping {
    base: BaseState,
}

impl Formula<0, { OWN + 3 }, 1> for Damping {
    fn at<N: Number>(&self, _: [N; 0], before: [N; OWN + 3], [a]: [N; 1]) -> [N; OWN + 3] {
        let [rate, state, sigma, rho, phi] = before;
        let correction = sigma * (full_value(rho, self.base.density) * phi - (state - a * rate));
        [rate + correction, state + a * correction, sigma, rho, phi]
    }
}

/// The prescribed state ρ∞φ∞. The fields ρ∞' and φ∞ follow.
struct Prescribed {
    base: BaseState,
}

impl Formula<0, 3> for Prescribed {
    fn at<N: Number>(&self, _: [N; 0], [_, rho, phi]: [N; 3], _: [N; 0]) -> [N; 3] {
        [full_value(rho, self.base.density) * phi, rho, phi]
    }
}

/// ρ∞φ∞ where it is prescribed, otherwise the state. The fields ρ∞', a flag for prescribed points, φ∞ and ∂φ∞/∂n follow.
struct PrescribedWhere {
    base: BaseState,
}

impl Formula<0, 5> for PrescribedWhere {
    fn at<N: Number>(
        &self,
        _: [N; 0],
        [state, rho, prescribed, phi, slope]: [N; 5],
        _: [N; 0],
    ) -> [N; 5] {
        let beyond = full_value(rho, self.base.density) * phi;
        [state + prescribed * (beyond - state), rho, prescribed, phi, slope]
    }
}

/// φ as a wave. Rate and state are followed by the rate of ρ and ρ', the values of the flow in [`scalar_slots`], the saved rate, φ∞ and
/// ∂φ∞/∂n; the first four are also read at the points inside. Parameters: β and a.
struct Wave {
    base: BaseState,
    /// ∂/∂n.
    outward: Outward,
    is_inflow: bool,
    /// σ/L.
    relaxation: f64,
}

/// Number of these fields.
const FIELDS: usize = OWN + 2 + scalar_slots::COUNT + 3;

impl Wave {
    /// φ before the stage.
    #[inline(always)]
    fn before<N: Number>(&self, fields: &[N], a: N) -> N {
        Fraction { base: self.base }.before_stage(fields, a)
    }
}

impl Formula<{ (OWN + 2) * INSIDE }, FIELDS, 2> for Wave {
    fn at<N: Number>(
        &self,
        inside: [N; (OWN + 2) * INSIDE],
        before: [N; FIELDS],
        [beta, a]: [N; 2],
    ) -> [N; FIELDS] {
        let [rate, state, rate_of_mass, mass, ..] = before;
        let flow = |k: usize| before[OWN + 2 + k];
        let [saved, beyond, slope_beyond] = array_of(|k| before[OWN + 2 + scalar_slots::COUNT + k]);
        let rho = full_value(mass - a * rate_of_mass, self.base.density);
        let phi = self.before(&before, a);
        let relaxed = N::of(self.relaxation) * (phi - beyond);
        let correction = if self.is_inflow {
            let required =
                phi * flow(scalar_slots::MASS_RATE) - rho * flow(scalar_slots::SOUND) * relaxed;
            required - (rate - beta * saved)
        } else {
            let points = |k: usize| self.before(&inside[(OWN + 2) * k..], a);
            let slope = self.outward.slope(phi, points) - slope_beyond;
            phi * flow(scalar_slots::MASS_CORRECTION)
                + rho * flow(scalar_slots::INWARD) * (slope + relaxed)
        };
        let mut after = before;
        after[0] = rate + correction;
        after[1] = state + a * correction;
        after
    }
}
