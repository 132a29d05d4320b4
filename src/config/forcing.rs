//! `[forcing]`

use super::resolve::AXES;
use super::section::Section;
use super::value::Value;
use crate::cases::Case;
use crate::grid::Domain;
use crate::physics::{Force, ForcingConfig, Held, Linear, Stochastic, longest};
use crate::typed::{Positive, whole};
use serde::Deserialize;

/// 2√2, the sphere of 92 wave vectors of Eswaran and Pope (1988).
const WAVENUMBER: f64 = 2.0 * std::f64::consts::SQRT_2;

/// What the user types for the kinds of force.
#[derive(Clone, Copy)]
enum Kind {
    None,
    Linear,
    Stochastic,
}

/// A whole number that is not negative.
#[derive(Deserialize)]
struct Seed(#[serde(deserialize_with = "whole::<u64, 0, { i64::MAX }, _, _>")] u64);

/// The force on the flow of `case`; `None` where there is none, or what was told to be wrong.
pub(super) fn forcing(section: &Section<'_>, case: Option<&Case>) -> Option<ForcingConfig> {
    if case.is_some_and(|case| !case.is_flow()) {
        let advice = "a scalar has no momentum; take the section out";
        section.reject("has no meaning for scalar-advection", advice);
        return None;
    }
    if !section.is_there() {
        return None;
    }
    if !section.has("kind") {
        section.missing(&["kind"], "allowed: `linear`, `stochastic`, `none`");
        return None;
    }
    let kinds = [("linear", Kind::Linear), ("stochastic", Kind::Stochastic), ("none", Kind::None)];
    let kind = match section.choice("kind", &kinds)? {
        Kind::None => None,
        Kind::Linear => linear(section).map(Force::Linear),
        Kind::Stochastic => stochastic(section).map(Force::Stochastic),
    };
    let heat_removal = section.value("heat_removal").unwrap_or(true);
    section.finish();
    kind.map(|kind| ForcingConfig { kind, heat_removal })
}

fn linear(section: &Section<'_>) -> Option<Linear> {
    if section.has("coefficient") && section.has("energy") {
        let why = "stands beside `coefficient`; only one of them sets the force";
        section.reject_value("energy", why, "");
        return None;
    }
    if section.has("coefficient") {
        return section.value("coefficient").map(|Positive(a)| Linear::Coefficient(a));
    }
    let Some(item) = section.get("energy") else {
        let advice = "for example energy = \"constant\"";
        section.missing(&["coefficient", "energy"], advice);
        return None;
    };
    let held = match item.value {
        Value::String(word) if word == "constant" => Held::Constant,
        Value::String(_) => {
            item.reject("unknown", "allowed: \"constant\", or a positive number");
            return None;
        }
        _ => Held::At(section.value("energy").map(|Positive(energy)| energy)?),
    };
    Some(Linear::Energy(held))
}

fn stochastic(section: &Section<'_>) -> Option<Stochastic> {
    let mut positive = true;
    let mut number = |key, default: Option<f64>| {
        let found = section.value(key).map(|Positive(x)| x);
        if !section.has(key) && default.is_none() {
            section.missing(&[key], "");
        }
        positive &= found.is_some() || (default.is_some() && !section.has(key));
        found.or(default).unwrap_or(1.0)
    };
    let [wavenumber, amplitude, time_scale] = [
        number("wavenumber", Some(WAVENUMBER)),
        number("amplitude", None),
        number("time_scale", None),
    ];
    let seed = section.value("seed").map_or(0, |Seed(seed)| seed);
    if positive && wavenumber < 1.0 {
        section.reject_value("wavenumber", "no wave fits: must be at least 1", "");
        return None;
    }
    positive.then_some(Stochastic { wavenumber, amplitude, time_scale, seed })
}

/// Waves that the grid can hold: more than two points a period along every axis, and an axis across each wave vector.
pub(super) fn check_waves(
    section: &Section<'_>,
    points: [usize; 3],
    domain: &Domain,
    forcing: &ForcingConfig,
) {
    let Some(stochastic) = forcing.stochastic() else { return };
    let active = points.map(|n| n > 1);
    if active.iter().filter(|active| **active).count() < 2 {
        let why = "needs more than 1 point along two axes";
        let advice = "along a single axis no force is free of divergence: use `kind = \"linear\"`";
        return section.reject_value("kind", why, advice);
    }
    let longest = longest(domain.length, active);
    for (axis, n) in points.into_iter().enumerate().filter(|&(_, n)| n > 1) {
        let periods = stochastic.periods(longest, domain.length[axis]).unsigned_abs() as usize;
        if 2 * periods >= n {
            let why =
                format!("{n} points along {} hold at most {} periods", AXES[axis], (n - 1) / 2);
            return section.reject_value("wavenumber", &why, "use more points or longer waves");
        }
    }
}
