//! `[case]` and `[gas]`.

use super::read::AXES;
use super::section::{
    ABOVE_ONE, FINITE, NOT_NEGATIVE, POSITIVE, POSITIVE_OR_INF, Section, WordOrTable,
};
use crate::cases::{
    AcousticWave, Case, EntropyWave, IsentropicVortex, Mode, NAMES, ScalarAdvection, Shape,
    ShearWave, Start, TaylorGreen,
};
use crate::physics::{Gas, Viscosity};

/// γ where the user gives none: a gas of two-atomic molecules.
const GAMMA: f64 = 1.4;
/// Pr where the user gives none: air.
const PRANDTL: f64 = 0.71;
/// Exponent of the power law where the user gives none: air.
const EXPONENT: f64 = 0.76;
/// Sutherland's S = S₀/T₀ where the user gives none: air at 0 °C.
const SUTHERLAND: f64 = 110.4 / 273.15;

/// More periods than this fit no grid.
const MOST_PERIODS: i32 = 32768;

/// What the user types as `case.start`.
pub(super) const STARTS: [(&str, Start); 2] = [
    ("constant-density", Start::ConstantDensity),
    ("constant-temperature", Start::ConstantTemperature),
];
/// What the user types as `case.mode`.
pub(super) const MODES: [(&str, Mode); 3] = [
    ("acoustic-right", Mode::AcousticRight),
    ("acoustic-left", Mode::AcousticLeft),
    ("entropy", Mode::Entropy),
];
/// What the user types as `case.shape`.
pub(super) const SHAPES: [(&str, Shape); 3] =
    [("gaussian", Shape::Gaussian), ("sine", Shape::Sine), ("cone", Shape::Cone)];

/// The case with its parameters; `None` where its name is not known.
pub(super) fn case(section: &Section<'_>) -> Option<Case> {
    if !section.has("name") {
        section.missing(&["name"], "`kolmo cases` lists them");
        return None;
    }
    let cases: Vec<(&str, Case)> =
        NAMES.iter().filter_map(|name| Some((*name, Case::default_for(name)?))).collect();
    Some(match section.choice("name", &cases)? {
        Case::TaylorGreen(default) => Case::TaylorGreen(TaylorGreen {
            start: section.choice("start", &STARTS).unwrap_or(default.start),
        }),
        Case::IsentropicVortex(default) => Case::IsentropicVortex(IsentropicVortex {
            strength: section.number("strength", FINITE).unwrap_or(default.strength),
            velocity: section.numbers("velocity", FINITE).unwrap_or(default.velocity),
            half_width: section.number("half_width", POSITIVE).unwrap_or(default.half_width),
        }),
        Case::EntropyWave(default) => Case::EntropyWave(EntropyWave {
            amplitude: section.number("amplitude", FINITE).unwrap_or(default.amplitude),
            velocity: section.numbers("velocity", FINITE).unwrap_or(default.velocity),
        }),
        Case::AcousticWave(default) => Case::AcousticWave(AcousticWave {
            amplitude: section.number("amplitude", FINITE).unwrap_or(default.amplitude),
            wavenumber: wavenumber(section).unwrap_or(default.wavenumber),
            mode: section.choice("mode", &MODES).unwrap_or(default.mode),
        }),
        Case::ShearWave(default) => Case::ShearWave(ShearWave {
            amplitude: section.number("amplitude", FINITE).unwrap_or(default.amplitude),
            wavenumber: wavenumber(section).unwrap_or(default.wavenumber),
            velocity: section.number("velocity", FINITE).unwrap_or(default.velocity),
        }),
        Case::ScalarAdvection(default) => Case::ScalarAdvection(ScalarAdvection {
            shape: section.choice("shape", &SHAPES).unwrap_or(default.shape),
            velocity: section.numbers("velocity", FINITE).unwrap_or(default.velocity),
            diffusivity: section.number("diffusivity", NOT_NEGATIVE).unwrap_or(default.diffusivity),
            width: section.number("width", POSITIVE).unwrap_or(default.width),
            wavenumber: section
                .integers("wavenumber", -MOST_PERIODS, MOST_PERIODS)
                .unwrap_or(default.wavenumber),
        }),
    })
}

/// Periods in the box.
fn wavenumber(section: &Section<'_>) -> Option<u32> {
    let most = u64::from(MOST_PERIODS.unsigned_abs());
    section.integer("wavenumber", 1, most).and_then(|value| u32::try_from(value).ok())
}

/// The gas of `case`, whose numbers stand in `[case]` and whose properties stand in `[gas]`.
pub(super) fn gas(section: &Section<'_>, properties: &Section<'_>, case: Option<&Case>) -> Gas {
    let mut gas = Gas {
        gamma: GAMMA,
        prandtl: PRANDTL,
        mach: case.map_or(1.0, |case| case.default_mach(GAMMA)),
        reynolds: case.map_or(1.0, Case::default_reynolds),
        viscosity: Viscosity::Constant,
    };
    if case.is_some_and(|case| case.flow().is_none()) {
        let why = "has no meaning for scalar-advection";
        for key in ["mach", "reynolds"] {
            section.reject_value(
                key,
                why,
                "a scalar has `velocity` and `diffusivity`; take this out",
            );
        }
        if properties.is_present() {
            properties.reject(why, "a scalar is no gas; take the section out");
        }
        return gas;
    }
    gas.gamma = properties.number("gamma", ABOVE_ONE).unwrap_or(GAMMA);
    gas.prandtl = properties.number("prandtl", POSITIVE).unwrap_or(PRANDTL);
    gas.viscosity = viscosity(properties).unwrap_or(Viscosity::Constant);
    properties.finish();
    let mach = case.map_or(1.0, |case| case.default_mach(gas.gamma));
    gas.mach = section.number("mach", POSITIVE).unwrap_or(mach);
    gas.reynolds = section.number("reynolds", POSITIVE_OR_INF).unwrap_or(gas.reynolds);
    gas
}

/// The viscosity law: a word, or a table with its parameter.
fn viscosity(section: &Section<'_>) -> Option<Viscosity> {
    let power = Viscosity::Power { exponent: EXPONENT };
    let sutherland = Viscosity::Sutherland { temperature_ratio: SUTHERLAND };
    let laws = [("constant", Viscosity::Constant), ("power", power), ("sutherland", sutherland)];
    let example = "{ law = \"power\", exponent = 0.76 }";
    let table = match section.word_or_table("viscosity", &laws, example)? {
        WordOrTable::Word(law) => return Some(law),
        WordOrTable::Table(table) => table,
    };
    if !table.has("law") {
        table.missing(&["law"], "allowed: `constant`, `power`, `sutherland`");
        return None;
    }
    let law = match table.choice("law", &laws)? {
        Viscosity::Constant => Viscosity::Constant,
        Viscosity::Power { exponent } => {
            Viscosity::Power { exponent: table.number("exponent", FINITE).unwrap_or(exponent) }
        }
        Viscosity::Sutherland { temperature_ratio } => Viscosity::Sutherland {
            temperature_ratio: table
                .number("temperature_ratio", NOT_NEGATIVE)
                .unwrap_or(temperature_ratio),
        },
    };
    table.finish();
    Some(law)
}

/// Waves that the grid can hold: more than two points a period along every axis.
pub(super) fn check_waves(section: &Section<'_>, points: [usize; 3], case: &Case) {
    let periods = match case {
        Case::AcousticWave(wave) => [wave.wavenumber, 0, 0],
        Case::ShearWave(wave) => [wave.wavenumber, 0, 0],
        Case::ScalarAdvection(scalar) if scalar.shape == Shape::Sine => {
            scalar.wavenumber.map(i32::unsigned_abs)
        }
        _ => return,
    };
    for (axis, n) in points.into_iter().enumerate().filter(|&(_, n)| n > 1) {
        if u64::from(periods[axis]) * 2 >= n as u64 {
            let why =
                format!("{n} points along {} hold at most {} periods", AXES[axis], (n - 1) / 2);
            section.reject_value("wavenumber", &why, "use more points or a longer wave");
        }
    }
}
