//! User options of the equations and their discretisation.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::scheme::{FilterConfig, SchemeFamily, families, family};
use crate::typed::or_none;

/// `[scheme]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchemeConfig {
    /// The family of formulas named by `derivative`.
    #[serde(skip_deserializing, serialize_with = "name")]
    pub derivative: SchemeFamily,
    /// Form of the convective terms.
    pub convection: Convection,
    /// Form of the convective terms of the energy equation.
    pub energy: EnergyForm,
    /// Form of the viscous terms; `auto` is resolved.
    pub viscous: ViscousForm,
    /// Compact filter, if any.
    #[serde(skip_deserializing, serialize_with = "or_none")]
    pub filter: Option<FilterConfig>,
}

/// The name of a family in inputs.
fn name<S: Serializer>(family: &SchemeFamily, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(family.name)
}

impl Default for SchemeConfig {
    fn default() -> Self {
        SchemeConfig {
            derivative: family("compact6").copied().unwrap_or(families()[0]),
            convection: Convection::default(),
            energy: EnergyForm::default(),
            viscous: ViscousForm::default(),
            filter: None,
        }
    }
}

impl SchemeConfig {
    /// The names of the forms of convection, energy and viscous terms in inputs.
    pub fn form_names(&self) -> [String; 3] {
        [self.convection.to_string(), self.energy.to_string(), self.viscous.to_string()]
    }
}

/// Form of the convective terms (see `physics::rhs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convection {
    /// ∂ⱼ(ρ uⱼ uᵢ).
    Divergence,
    /// Half divergence, half advective (Feiereisen, Reynolds and Ferziger 1981).
    Feiereisen,
    /// Cubic split with all weights ¼ (Kennedy and Gruber 2008, Pirozzoli 2010).
    #[default]
    KennedyGruber,
    /// Interpolation to midpoints and midpoint derivatives (Nagarajan, Lele and Ferziger 2003).
    Staggered,
}

/// Form of the convective terms of the energy equation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnergyForm {
    /// ∂ⱼ((ρE + p) uⱼ).
    Divergence,
    /// ½ [∂ⱼ(ρ uⱼ H) + ρ uⱼ ∂ⱼH + H ∂ⱼ(ρ uⱼ)].
    SplitEnthalpy,
    /// Internal energy, pressure work and kinetic energy, each split separately.
    #[default]
    SplitPressure,
}

/// Form of the viscous terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViscousForm {
    /// Compact second derivatives for ∂ⱼⱼ.
    #[default]
    Laplacian,
    /// Fluxes at midpoints.
    Midpoint,
    /// ∂ⱼ τᵢⱼ with first derivatives.
    Conservative,
}

macro_rules! displayed_as_in_inputs {
    ($($Form:ty),+) => {
        $(impl fmt::Display for $Form {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        })+
    };
}

displayed_as_in_inputs!(Convection, EnergyForm, ViscousForm);

/// A field that can be written to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum Variable {
    /// (u, v, w).
    Velocity,
    /// ρ.
    Density,
    /// p.
    Pressure,
    /// T.
    Temperature,
    /// curl u.
    Vorticity,
    /// Q = −½ ∂ᵢuⱼ ∂ⱼuᵢ (Hunt, Wray and Moin 1988).
    QCriterion,
    /// div u.
    Dilatation,
    /// The advected scalar φ.
    Scalar,
    /// The passive scalar with this name.
    Passive(Arc<str>),
}

impl Variable {
    /// The variables of a flow.
    pub const FLOW_VARIABLES: [Variable; 7] = [
        Variable::Velocity,
        Variable::Density,
        Variable::Pressure,
        Variable::Temperature,
        Variable::Vorticity,
        Variable::QCriterion,
        Variable::Dilatation,
    ];

    /// Number of values per point.
    pub fn components(&self) -> usize {
        match self {
            Variable::Velocity | Variable::Vorticity => 3,
            _ => 1,
        }
    }

    /// The name in inputs.
    pub fn name(&self) -> &str {
        match self {
            Variable::Velocity => "velocity",
            Variable::Density => "density",
            Variable::Pressure => "pressure",
            Variable::Temperature => "temperature",
            Variable::Vorticity => "vorticity",
            Variable::QCriterion => "q_criterion",
            Variable::Dilatation => "dilatation",
            Variable::Scalar => "scalar",
            Variable::Passive(name) => name,
        }
    }
}

impl From<Variable> for String {
    fn from(variable: Variable) -> Self {
        variable.name().into()
    }
}
