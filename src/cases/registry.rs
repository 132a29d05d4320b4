//! The cases by name.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use super::{About, Definition, FlowCase};

/// Makes of a list of types what needs one line for each of them.
macro_rules! cases {
    ($($file:ident::$Case:ident: $doc:literal,)+) => {
        $(pub use super::$file::$Case;)+

        /// A case with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Case {
            $(#[doc = $doc] $Case($Case)),+
        }

        /// What is said of each.
        const ABOUT: [&About; [$($doc),+].len()] = [$(&$Case::ABOUT),+];

        /// What the user types as `case.name`.
        pub const NAMES: [&str; ABOUT.len()] = [$($Case::ABOUT.name),+];

        impl Case {
            /// The case `name` with its default parameters; `None` where [`NAMES`] has no such name.
            pub fn default_for(name: &str) -> Option<Case> {
                let cases = [$(Case::$Case($Case::default())),+];
                cases.into_iter().find(|case| case.name() == name)
            }

            /// The same case with the parameters in `input`.
            pub(crate) fn read<'de, D: Deserializer<'de>>(&self, input: D) -> Result<Case, D::Error> {
                match self {
                    $(Case::$Case(_) => $Case::deserialize(input).map(Case::$Case)),+
                }
            }

            fn about(&self) -> &'static About {
                match self {
                    $(Case::$Case(_) => &$Case::ABOUT),+
                }
            }

            fn definition(&self) -> &(dyn Definition + 'static) {
                match self {
                    $(Case::$Case(case) => case),+
                }
            }
        }
    };
}

cases! {
    taylor_green::TaylorGreen: "Decaying Taylor-Green vortex.",
    isotropic_turbulence::IsotropicTurbulence: "Random velocity with a prescribed spectrum.",
    kida_vortex::KidaVortex: "Kida's high-symmetry flow.",
    abc_flow::AbcFlow: "Arnold-Beltrami-Childress flow.",
    double_shear_layer::DoubleShearLayer: "Two shear layers that roll up.",
    isentropic_vortex::IsentropicVortex: "Vortex carried by a uniform stream.",
    entropy_wave::EntropyWave: "Density wave carried by a uniform stream.",
    acoustic_wave::AcousticWave: "Linear acoustic or entropy mode with viscosity and conduction.",
    shear_wave::ShearWave: "Transverse velocity wave, decaying by viscosity.",
    couette::CouetteFlow: "Gas between a plate at rest and one that moves.",
    stokes_layer::StokesLayer: "Gas over a plate that oscillates in its plane.",
    poiseuille::PoiseuilleFlow: "Gas between two plates, driven by a pressure gradient.",
    channel::Channel: "Turbulence between two plates.",
    boundary_layer::BoundaryLayer: "Boundary layer that grows along a flat plate.",
    lid_driven_cavity::LidDrivenCavity: "Gas in a square box whose lid moves.",
    acoustic_pulse::AcousticPulse: "Pulse of sound between a wall and an outflow.",
    vortex_outflow::VortexOutflow: "Vortex carried out of the box.",
    cylinder::Cylinder: "Cylinder in a uniform stream.",
    aerofoil::Aerofoil: "Aerofoil in a uniform stream.",
    scalar_advection::ScalarAdvection: "Linear scalar advection and diffusion.",
    custom::Custom: "The user's own initial state.",
}

/// The commented input of the case `name`: what `kolmo init` prints, and what `kolmo run` runs given only the name.
pub fn input(name: &str) -> Option<&'static str> {
    ABOUT.into_iter().find(|about| about.name == name).map(|about| about.input)
}

impl Case {
    /// What the user types: one of [`NAMES`].
    pub fn name(&self) -> &'static str {
        self.about().name
    }

    /// What the case is called in a text.
    pub fn title(&self) -> &'static str {
        self.about().title
    }

    /// One line for `kolmo cases`.
    pub fn summary(&self) -> &'static str {
        self.about().summary
    }

    /// Ma where the user gives none. A scalar has no use for it.
    pub fn default_mach(&self, gamma: f64) -> f64 {
        (self.about().mach)(gamma)
    }

    /// Re where the user gives none; infinite where the exact solution is one of the Euler equations.
    pub fn default_reynolds(&self) -> f64 {
        self.about().reynolds
    }

    /// The axes along which the grid must have more than one point.
    pub fn required_axes(&self) -> [bool; 3] {
        self.about().needs
    }

    /// Whether it is a flow, not a scalar.
    pub fn is_flow(&self) -> bool {
        self.scalar().is_none()
    }

    /// Which field of the state its error and its profile are of.
    pub fn shown(&self) -> usize {
        self.flow().map_or(0, FlowCase::shown)
    }

    /// What the error against an exact solution is of, for a sentence.
    pub fn error_quantity(&self) -> &'static str {
        match self.scalar() {
            Some(_) => "the scalar",
            None => ["the density", "ρu", "ρv", "ρw"][self.shown()],
        }
    }

    /// The case as a scalar; `None` for a flow.
    pub fn scalar(&self) -> Option<&ScalarAdvection> {
        match self {
            Case::ScalarAdvection(case) => Some(case),
            _ => None,
        }
    }
}

/// What its [`Definition`] says.
impl Deref for Case {
    type Target = dyn Definition;

    fn deref(&self) -> &Self::Target {
        self.definition()
    }
}
