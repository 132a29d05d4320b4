//! The cases by name.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use super::{About, Definition, FlowCase, GridCase};

/// How the initial state of a case is defined.
enum Kind<'a> {
    /// A flow given by a formula at every point.
    Flow(&'a dyn FlowCase),
    /// A flow constructed on the grid as a whole.
    Grid(&'a dyn GridCase),
    /// A scalar.
    Scalar(&'a ScalarAdvection),
}

/// A case of the list below.
pub trait Listed {
    /// Description of the case.
    fn about(&self) -> &'static About;
}

/// Expands a list of types to the items that need one entry per case.
macro_rules! cases {
    ($($file:ident::$Case:ident as $Kind:ident: $doc:literal,)+) => {
        $(pub use super::$file::$Case;)+

        /// A case with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Case {
            $(#[doc = $doc] $Case($Case)),+
        }

        /// Descriptions of all cases.
        const ABOUT: [&About; [$($doc),+].len()] = [$(&$Case::ABOUT),+];

        /// Names for `case.name` in inputs.
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

            fn kind(&self) -> Kind<'_> {
                match self {
                    $(Case::$Case(case) => Kind::$Kind(case)),+
                }
            }

            fn definition(&self) -> &(dyn Definition + 'static) {
                match self {
                    $(Case::$Case(case) => case),+
                }
            }
        }

        $(impl Listed for $Case {
            fn about(&self) -> &'static About {
                &Self::ABOUT
            }
        })+
    };
}

cases! {
    taylor_green::TaylorGreen as Flow: "Decaying Taylor-Green vortex.",
    isotropic_turbulence::IsotropicTurbulence as Grid: "Random velocity with a prescribed spectrum.",
    kida_vortex::KidaVortex as Flow: "Kida's high-symmetry flow.",
    abc_flow::AbcFlow as Flow: "Arnold-Beltrami-Childress flow.",
    double_shear_layer::DoubleShearLayer as Flow: "Two shear layers that roll up.",
    isentropic_vortex::IsentropicVortex as Flow: "Vortex carried by a uniform stream.",
    entropy_wave::EntropyWave as Flow: "Density wave carried by a uniform stream.",
    acoustic_wave::AcousticWave as Flow: "Linear acoustic or entropy mode with viscosity and conduction.",
    shear_wave::ShearWave as Flow: "Transverse velocity wave, decaying by viscosity.",
    couette::CouetteFlow as Flow: "Gas between a resting and a moving plate.",
    stokes_layer::StokesLayer as Flow: "Gas over a plate that oscillates in its plane.",
    poiseuille::PoiseuilleFlow as Flow: "Gas between two plates, driven by a pressure gradient.",
    channel::Channel as Grid: "Turbulence between two plates.",
    boundary_layer::BoundaryLayer as Grid: "Boundary layer on a flat plate.",
    lid_driven_cavity::LidDrivenCavity as Flow: "Gas in a square box with a moving lid.",
    acoustic_pulse::AcousticPulse as Flow: "Pulse of sound between a wall and an outflow.",
    vortex_outflow::VortexOutflow as Flow: "Vortex carried out of the box.",
    cylinder::Cylinder as Flow: "Cylinder in a uniform stream.",
    aerofoil::Aerofoil as Grid: "Aerofoil in a uniform stream.",
    scalar_advection::ScalarAdvection as Scalar: "Linear scalar advection and diffusion.",
    custom::Custom as Grid: "The user's own initial state.",
}

/// The commented input of the case `name`: printed by `kolmo init`, and used by `kolmo run` given only the name.
pub fn input(name: &str) -> Option<&'static str> {
    ABOUT.into_iter().find(|about| about.name == name).map(|about| about.input)
}

impl Case {
    /// Name in inputs, one of [`NAMES`].
    pub fn name(&self) -> &'static str {
        self.about().name
    }

    /// Whether the case is a flow, not a scalar.
    pub fn is_flow(&self) -> bool {
        self.scalar().is_none()
    }

    /// The field of the state used for errors and profiles.
    pub fn shown(&self) -> usize {
        self.flow().map_or(0, FlowCase::shown)
    }

    /// Name of the quantity whose error is computed, for messages.
    pub fn error_quantity(&self) -> &'static str {
        match self.scalar() {
            Some(_) => "the scalar",
            None => ["the density", "ρu", "ρv", "ρw"][self.shown()],
        }
    }

    /// The case as a flow given by a formula at every point; `None` for a scalar, and for an initial state constructed on the grid.
    pub fn flow(&self) -> Option<&dyn FlowCase> {
        match self.kind() {
            Kind::Flow(case) => Some(case),
            _ => None,
        }
    }

    /// The case as a flow whose initial state is constructed on the grid as a whole.
    pub fn on_grid(&self) -> Option<&dyn GridCase> {
        match self.kind() {
            Kind::Grid(case) => Some(case),
            _ => None,
        }
    }

    /// The case as a scalar; `None` for a flow.
    pub fn scalar(&self) -> Option<&ScalarAdvection> {
        match self.kind() {
            Kind::Scalar(case) => Some(case),
            _ => None,
        }
    }
}

/// The methods of its [`Definition`].
impl Deref for Case {
    type Target = dyn Definition;

    fn deref(&self) -> &Self::Target {
        self.definition()
    }
}
