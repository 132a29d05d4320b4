//! The cases by name, with what `kolmo cases`, `kolmo init` and the checks of an input need to know of each.

use super::{
    AcousticWave, Case, Domain, EntropyWave, FlowCase, IsentropicVortex, Reference,
    ReferenceSpectrum, ScalarAdvection, ShearWave, TaylorGreen,
};
use crate::physics::Gas;

/// What the user types as `case.name`.
pub const NAMES: [&str; 6] = [
    "taylor-green",
    "isentropic-vortex",
    "entropy-wave",
    "acoustic-wave",
    "shear-wave",
    "scalar-advection",
];

/// The commented input of the case `name`: what `kolmo init` prints, and what `kolmo run` runs given only the name.
pub fn input(name: &str) -> Option<&'static str> {
    Some(match name {
        "taylor-green" => include_str!("../../configs/taylor-green.toml"),
        "isentropic-vortex" => include_str!("../../configs/isentropic-vortex.toml"),
        "entropy-wave" => include_str!("../../configs/entropy-wave.toml"),
        "acoustic-wave" => include_str!("../../configs/acoustic-wave.toml"),
        "shear-wave" => include_str!("../../configs/shear-wave.toml"),
        "scalar-advection" => include_str!("../../configs/scalar-advection.toml"),
        _ => return None,
    })
}

impl Case {
    /// The case `name` with its default parameters; `None` where [`NAMES`] has no such name.
    pub fn default_for(name: &str) -> Option<Case> {
        Some(match name {
            "taylor-green" => Case::TaylorGreen(TaylorGreen::default()),
            "isentropic-vortex" => Case::IsentropicVortex(IsentropicVortex::default()),
            "entropy-wave" => Case::EntropyWave(EntropyWave::default()),
            "acoustic-wave" => Case::AcousticWave(AcousticWave::default()),
            "shear-wave" => Case::ShearWave(ShearWave::default()),
            "scalar-advection" => Case::ScalarAdvection(ScalarAdvection::default()),
            _ => return None,
        })
    }

    /// What the user types: one of [`NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Case::TaylorGreen(_) => NAMES[0],
            Case::IsentropicVortex(_) => NAMES[1],
            Case::EntropyWave(_) => NAMES[2],
            Case::AcousticWave(_) => NAMES[3],
            Case::ShearWave(_) => NAMES[4],
            Case::ScalarAdvection(_) => NAMES[5],
        }
    }

    /// What the case is called in a text.
    pub fn title(&self) -> &'static str {
        match self {
            Case::TaylorGreen(_) => "Taylor-Green vortex",
            Case::IsentropicVortex(_) => "Isentropic vortex",
            Case::EntropyWave(_) => "Entropy wave",
            Case::AcousticWave(_) => "Acoustic wave",
            Case::ShearWave(_) => "Shear wave",
            Case::ScalarAdvection(_) => "Scalar advection",
        }
    }

    /// One line for `kolmo cases`.
    pub fn summary(&self) -> &'static str {
        match self {
            Case::TaylorGreen(_) => {
                "vortices that break down into turbulence and decay; the standard test of DNS codes"
            }
            Case::IsentropicVortex(_) => {
                "a vortex carried by a uniform stream; exact for the Euler equations (2-D)"
            }
            Case::EntropyWave(_) => {
                "a density wave carried at uniform pressure; exact for the Euler equations"
            }
            Case::AcousticWave(_) => {
                "a small sound or entropy wave with viscosity and conduction; exact to first order (1-D)"
            }
            Case::ShearWave(_) => {
                "a small transverse wave that viscosity damps; exact to first order (1-D)"
            }
            Case::ScalarAdvection(_) => {
                "a scalar carried at constant velocity, with diffusion or without; exact"
            }
        }
    }

    /// The box, unless the user gives `grid.length`.
    pub fn domain(&self) -> Domain {
        match (self.flow(), self.scalar()) {
            (Some(flow), _) => flow.domain(),
            (None, Some(scalar)) => scalar.domain(),
            (None, None) => Domain::cube(1.0),
        }
    }

    /// The case as a flow; `None` for a scalar.
    pub fn flow(&self) -> Option<&dyn FlowCase> {
        match self {
            Case::TaylorGreen(case) => Some(case),
            Case::IsentropicVortex(case) => Some(case),
            Case::EntropyWave(case) => Some(case),
            Case::AcousticWave(case) => Some(case),
            Case::ShearWave(case) => Some(case),
            Case::ScalarAdvection(_) => None,
        }
    }

    /// The case as a scalar; `None` for a flow.
    pub fn scalar(&self) -> Option<&ScalarAdvection> {
        match self {
            Case::ScalarAdvection(case) => Some(case),
            _ => None,
        }
    }

    /// Ma where the user gives none. A scalar has no use for it.
    pub fn default_mach(&self, gamma: f64) -> f64 {
        match self {
            Case::TaylorGreen(_) => 0.1,
            // T = p / ρ, the scaling in which the vortex is usually written.
            Case::IsentropicVortex(_) => 1.0 / gamma.sqrt(),
            Case::EntropyWave(_) | Case::AcousticWave(_) | Case::ShearWave(_) => 0.5,
            Case::ScalarAdvection(_) => 1.0,
        }
    }

    /// Re where the user gives none; infinite where the exact solution is one of the Euler equations.
    pub fn default_reynolds(&self) -> f64 {
        match self {
            Case::TaylorGreen(_) => 1600.0,
            Case::AcousticWave(_) | Case::ShearWave(_) => 100.0,
            Case::IsentropicVortex(_) | Case::EntropyWave(_) | Case::ScalarAdvection(_) => {
                f64::INFINITY
            }
        }
    }

    /// Of a case whose solution is exact to first order in its amplitude only, that with the opposite amplitude: half the
    /// difference of the two is exact to second order. `None` where the solution is exact, or unknown.
    pub fn opposite(&self) -> Option<Case> {
        match *self {
            Case::AcousticWave(case) => {
                Some(Case::AcousticWave(AcousticWave { amplitude: -case.amplitude, ..case }))
            }
            Case::ShearWave(case) => {
                Some(Case::ShearWave(ShearWave { amplitude: -case.amplitude, ..case }))
            }
            _ => None,
        }
    }

    /// The axes along which the grid must have more than one point.
    pub fn required_axes(&self) -> [bool; 3] {
        match self {
            Case::TaylorGreen(_) | Case::IsentropicVortex(_) => [true, true, false],
            Case::AcousticWave(_) | Case::ShearWave(_) => [true, false, false],
            Case::EntropyWave(_) | Case::ScalarAdvection(_) => [false; 3],
        }
    }

    /// What is impossible about the parameters with this gas and box: (key of `[case]`, a sentence that says what was
    /// found and what is allowed). Empty where all is well.
    pub fn problems(&self, gas: &Gas, domain: &Domain) -> Vec<(&'static str, String)> {
        match self {
            Case::TaylorGreen(_) => Vec::new(),
            Case::IsentropicVortex(case) => case.problems(gas),
            Case::EntropyWave(case) => case.problems(),
            Case::AcousticWave(case) => case.problems(gas, domain),
            Case::ShearWave(case) => case.problems(),
            Case::ScalarAdvection(case) => case.problems(domain),
        }
    }

    /// Published or computed history to hold a run against, where there is one for this gas, box and grid.
    pub fn reference(&self, gas: &Gas, domain: &Domain, active: [bool; 3]) -> Option<Reference> {
        match self {
            Case::TaylorGreen(case) => case.reference(gas, domain, active),
            _ => None,
        }
    }

    /// The spectrum to hold a run against, where there is one for this gas, box and grid.
    pub fn reference_spectrum(
        &self,
        gas: &Gas,
        domain: &Domain,
        active: [bool; 3],
    ) -> Option<ReferenceSpectrum> {
        match self {
            Case::TaylorGreen(case) => case.reference_spectrum(gas, domain, active),
            _ => None,
        }
    }
}
