//! `[forcing]`

use super::case::refuse_for_scalar;
use super::resolve::AXES;
use super::section::Section;
use super::value::Value;
use crate::cases::Case;
use crate::grid::{Axis, Domain};
use crate::physics::{
    Force, ForcingConfig, GradientStrength, Held, Linear, PressureGradient, Stochastic, longest,
};
use crate::typed::{Positive, whole};
use serde::Deserialize;

/// 2√2, the sphere of 92 wave vectors of Eswaran and Pope (1988).
const DEFAULT_WAVENUMBER: f64 = 2.0 * std::f64::consts::SQRT_2;

/// Keys of forces other than the pressure gradient.
const OTHER_FORCE_KEYS: [&str; 6] =
    ["coefficient", "energy", "wavenumber", "amplitude", "time_scale", "seed"];

/// A non-negative whole number.
#[derive(Deserialize)]
struct Seed(#[serde(deserialize_with = "whole::<u64, 0, { i64::MAX }, _, _>")] u64);

/// The force on the flow of `case`: the one in the input, otherwise `case_forcing`, the one of the case. `None` if there is no force
/// or if a problem was reported. Without `kind` the keys change the pressure gradient of the case.
pub(super) fn forcing(
    section: &Section<'_>,
    case: Option<&Case>,
    case_forcing: Option<ForcingConfig>,
) -> Option<ForcingConfig> {
    if refuse_for_scalar(
        section,
        case,
        "scalar-advection has no momentum equation; remove the section",
    ) {
        return None;
    }
    if !section.is_there() {
        return case_forcing;
    }
    let kinds = ["linear", "stochastic", "pressure-gradient", "none"].map(|kind| (kind, kind));
    let is_changed = |force: &ForcingConfig| {
        force.pressure_gradient().is_some() && !OTHER_FORCE_KEYS.iter().any(|key| section.has(key))
    };
    let (kind, changed) = match (section.has("kind"), case_forcing.filter(is_changed)) {
        (false, Some(force)) => ("pressure-gradient", Some(force)),
        _ => (section.needed_choice("kind", &kinds)?, None),
    };
    let gradient = changed.as_ref().and_then(ForcingConfig::pressure_gradient);
    let kind = match kind {
        "linear" => linear(section).map(Force::Linear),
        "stochastic" => stochastic(section).map(Force::Stochastic),
        "pressure-gradient" => pressure_gradient(section, gradient).map(Force::PressureGradient),
        _ => None,
    };
    // In a channel, heat leaves through the walls.
    let removed = !matches!(kind, Some(Force::PressureGradient(_)));
    let removed = changed.map_or(removed, |changed| changed.heat_removal);
    let heat_removal = section.value("heat_removal").unwrap_or(removed);
    section.finish();
    kind.map(|kind| ForcingConfig { kind, heat_removal })
}

fn linear(section: &Section<'_>) -> Option<Linear> {
    if is_strength_given(section, "coefficient", "energy")? {
        return section.value("coefficient").map(|Positive(a)| Linear::Coefficient(a));
    }
    let energy = || section.value("energy").map(|Positive(energy)| energy);
    held_quantity(section, "energy", "a positive number", energy).map(Linear::Energy)
}

/// `changed`: the force of the case, which the keys modify.
fn pressure_gradient(
    section: &Section<'_>,
    changed: Option<&PressureGradient>,
) -> Option<PressureGradient> {
    let axis = match section.has("axis") {
        true => section.choice("axis", &Axis::ALL.map(|axis| (axis.name(), axis))),
        false => Some(changed.map_or(Axis::X, |changed| changed.axis)),
    };
    let unchanged = changed.filter(|_| !section.has("value") && !section.has("mass_flux"));
    if let Some(PressureGradient { strength, .. }) = unchanged {
        return Some(PressureGradient { axis: axis?, strength: *strength });
    }
    let strength = match is_strength_given(section, "value", "mass_flux")? {
        true => section.value("value").map(GradientStrength::Value),
        false => held_quantity(section, "mass_flux", "a number", || section.value("mass_flux"))
            .map(GradientStrength::MassFlux),
    };
    Some(PressureGradient { axis: axis?, strength: strength? })
}

/// Whether `strength` sets the force and not `mean`, the quantity held constant; `None` if both keys are given, or neither.
fn is_strength_given(
    section: &Section<'_>,
    strength: &'static str,
    mean: &'static str,
) -> Option<bool> {
    let is_given = section.has(strength);
    if section.refuse_both(strength, mean, "sets the force") {
        return None;
    }
    if !is_given && !section.has(mean) {
        section.missing(&[strength, mean], &format!("for example {mean} = \"constant\""));
        return None;
    }
    Some(is_given)
}

/// The mean quantity at `key` that the force holds constant.
fn held_quantity(
    section: &Section<'_>,
    key: &'static str,
    number: &str,
    value: impl Fn() -> Option<f64>,
) -> Option<Held> {
    let item = section.get(key)?;
    match item.value {
        Value::String(word) if word == "constant" => Some(Held::Constant),
        Value::String(_) => {
            item.reject("unknown", &format!("allowed: \"constant\", or {number}"));
            None
        }
        _ => value().map(Held::At),
    }
}

fn stochastic(section: &Section<'_>) -> Option<Stochastic> {
    let wavenumber = match section.has("wavenumber") {
        true => section.value("wavenumber").map(|Positive(k)| k),
        false => Some(DEFAULT_WAVENUMBER),
    };
    let needed = |key| section.needed(key, "").map(|Positive(x)| x);
    let [amplitude, time_scale] = ["amplitude", "time_scale"].map(needed);
    let seed = section.value("seed").map_or(0, |Seed(seed)| seed);
    let forcing = Stochastic {
        wavenumber: wavenumber?,
        amplitude: amplitude?,
        time_scale: time_scale?,
        seed,
    };
    if forcing.wavenumber < 1.0 {
        section.reject_value("wavenumber", "no wave fits: must be at least 1", "");
        return None;
    }
    Some(forcing)
}

/// Reject a force, of the input or of the case: it is only available `on` one kind of grid, and `key` selects another kind.
pub(super) fn refuse_force(section: &Section<'_>, on: &str, key: &str) {
    let problem = format!("[forcing] is only available {on}");
    let advice = format!("remove {key}, or set forcing.kind = \"none\"");
    section.reject_key("kind", &format!("{problem}\n{advice}"));
}

/// Require that the grid resolves the waves: more than two points per period along every axis, and an axis normal to each wave
/// vector.
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
        let advice = "no force along a single axis is divergence-free: use `kind = \"linear\"`";
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
