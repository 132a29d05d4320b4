//! User options of statistics.

use serde::Serialize;

/// Kinds of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Reynolds and Favre means and second moments.
    Moments,
    /// Spectra of energy and dissipation.
    Spectra,
    /// Structure functions of the velocity.
    Increments,
    /// Probability densities of the velocity gradients.
    Gradients,
    /// Scales and dimensionless numbers of isotropic turbulence.
    Turbulence,
    /// Averages over planes parallel to walls.
    Profiles,
}

impl Statistic {
    /// All kinds; a scalar has the first two, a flow between walls the last.
    pub const ALL: [Statistic; 6] = [
        Statistic::Moments,
        Statistic::Spectra,
        Statistic::Increments,
        Statistic::Gradients,
        Statistic::Turbulence,
        Statistic::Profiles,
    ];

    /// Whether it needs the velocity gradient.
    pub fn needs_gradients(self) -> bool {
        matches!(self, Statistic::Gradients | Statistic::Turbulence | Statistic::Profiles)
    }

    /// Name in the input.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Moments => "moments",
            Statistic::Spectra => "spectra",
            Statistic::Increments => "increments",
            Statistic::Gradients => "gradients",
            Statistic::Turbulence => "turbulence",
            Statistic::Profiles => "profiles",
        }
    }
}
