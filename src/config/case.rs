//! `[case]` and `[gas]`.

use serde::{Deserialize, Serialize, Serializer};

use super::resolve::AXES;
use super::section::Section;
use crate::cases::{Case, NAMES};
use crate::gas::{Gas, Viscosity};
use crate::typed::{NotNegative, above_one, positive, reynolds};

/// The keys of `[case]` that all cases share.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CaseKeys {
    #[serde(skip_deserializing)]
    pub(super) name: &'static str,
    #[serde(skip_deserializing)]
    pub(super) path: Option<String>,
    #[serde(deserialize_with = "positive")]
    pub(super) mach: Option<f64>,
    #[serde(deserialize_with = "reynolds")]
    pub(super) reynolds: Option<f64>,
}

/// `[gas]`
#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(super) struct GasKeys {
    #[serde(deserialize_with = "above_one")]
    pub(super) gamma: f64,
    #[serde(deserialize_with = "positive")]
    pub(super) prandtl: f64,
    #[serde(skip_deserializing, serialize_with = "law_or_word")]
    pub(super) viscosity: Viscosity,
}

/// Air.
impl Default for GasKeys {
    fn default() -> Self {
        GasKeys { gamma: 1.4, prandtl: 0.71, viscosity: Viscosity::Constant }
    }
}

/// The case with its parameters; `None` if its name is unknown.
pub(super) fn case(section: &Section<'_>) -> Option<Case> {
    if !section.has("name") {
        section.missing(&["name"], "`kolmo cases` lists them");
        return None;
    }
    let default = Case::default_for(section.choice("name", &NAMES.map(|name| (name, name)))?)?;
    section.read_by(&[], |keys| default.read(keys))
}

/// Whether the case is known and is scalar advection, not a flow.
pub(super) fn is_scalar(case: Option<&Case>) -> bool {
    case.is_some_and(|case| !case.is_flow())
}

/// Whether the case is scalar advection; if so, rejects `section`, which only flows have, with `advice`.
pub(super) fn refuse_for_scalar(section: &Section<'_>, case: Option<&Case>, advice: &str) -> bool {
    if is_scalar(case) {
        section.reject("has no meaning for scalar-advection", advice);
    }
    is_scalar(case)
}

/// The gas of `case`: its numbers are in `[case]`, its properties in `[gas]`.
pub(super) fn gas(section: &Section<'_>, properties: &Section<'_>, case: Option<&Case>) -> Gas {
    let (mut numbers, mut keys) = (CaseKeys::default(), GasKeys::default());
    if refuse_for_scalar(properties, case, "scalar-advection has no gas; remove the section") {
        for key in ["mach", "reynolds"] {
            let advice = "scalar-advection has `velocity` and `diffusivity`; remove this key";
            section.forbid(key, "has no meaning for scalar-advection", advice);
        }
    } else {
        numbers = section.read().unwrap_or_default();
        keys = properties.read().unwrap_or_default();
        keys.viscosity = viscosity(properties).unwrap_or_default();
        properties.finish();
    }
    let GasKeys { gamma, prandtl, viscosity } = keys;
    let defaults =
        case.map_or((1.0, 1.0), |case| ((case.about().mach)(gamma), case.about().reynolds));
    let (mach, reynolds) =
        (numbers.mach.unwrap_or(defaults.0), numbers.reynolds.unwrap_or(defaults.1));
    Gas { gamma, prandtl, mach, reynolds, viscosity }
}

/// The viscosity law: a word, or a table with its parameter.
fn viscosity(section: &Section<'_>) -> Option<Viscosity> {
    let laws = [
        ("constant", Viscosity::Constant),
        ("power", Viscosity::POWER),
        ("sutherland", Viscosity::SUTHERLAND),
    ];
    let example = "{ law = \"power\", exponent = 0.76 }";
    let table = match section.table_or("viscosity", &laws, example)? {
        Ok(table) => table,
        Err(law) => return Some(law),
    };
    let mut law = table.needed_choice("law", &laws)?;
    match &mut law {
        Viscosity::Constant => {}
        Viscosity::Power { exponent } => *exponent = table.value("exponent").unwrap_or(*exponent),
        Viscosity::Sutherland { temperature_ratio: s } => {
            *s = table.value("temperature_ratio").map_or(*s, |NotNegative(s)| s);
        }
    }
    table.finish();
    Some(law)
}

fn law_or_word<S: Serializer>(law: &Viscosity, output: S) -> Result<S::Ok, S::Error> {
    match law {
        Viscosity::Constant => output.serialize_str("constant"),
        law => law.serialize(output),
    }
}

/// Require that the grid resolves the waves: more than two points per period along every axis.
pub(super) fn check_waves(section: &Section<'_>, points: [usize; 3], case: &Case) {
    let periods = case.periods();
    for (axis, n) in points.into_iter().enumerate().filter(|&(_, n)| n > 1) {
        if u64::from(periods[axis]) * 2 >= n as u64 {
            let why =
                format!("{n} points along {} hold at most {} periods", AXES[axis], (n - 1) / 2);
            section.reject_value("wavenumber", &why, "use more points or a longer wave");
        }
    }
}
