//! What a user chooses of statistics.

use serde::Serialize;

/// What statistics can be taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Means and second moments, of Reynolds and of Favre.
    Moments,
    /// Spectra of energy and dissipation.
    Spectra,
    /// Structure functions of the velocity.
    Increments,
    /// Probability densities of the velocity gradients.
    Gradients,
    /// Scales and numbers of isotropic turbulence.
    Turbulence,
    /// Averages over planes parallel to walls.
    Profiles,
}

impl Statistic {
    /// All of them; a scalar has the first two, a flow between walls the last.
    pub const ALL: [Statistic; 6] = [
        Statistic::Moments,
        Statistic::Spectra,
        Statistic::Increments,
        Statistic::Gradients,
        Statistic::Turbulence,
        Statistic::Profiles,
    ];

    /// Whether it takes the velocity gradient.
    pub fn needs_gradients(self) -> bool {
        matches!(self, Statistic::Gradients | Statistic::Turbulence | Statistic::Profiles)
    }

    /// What the user types.
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
