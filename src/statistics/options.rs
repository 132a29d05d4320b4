//! What a user chooses of statistics.

use serde::Serialize;

/// What statistics can be taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Statistic {
    /// Means and second moments, of Reynolds and of Favre.
    Moments,
    /// Spectra of energy and dissipation.
    Spectra,
    /// Structure functions of the velocity.
    Increments,
    /// Probability densities of the velocity gradients.
    Gradients,
}

impl Statistic {
    /// All of them; a scalar has the first two.
    pub const ALL: [Statistic; 4] =
        [Statistic::Moments, Statistic::Spectra, Statistic::Increments, Statistic::Gradients];

    /// What the user types.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Moments => "moments",
            Statistic::Spectra => "spectra",
            Statistic::Increments => "increments",
            Statistic::Gradients => "gradients",
        }
    }
}

impl From<Statistic> for &'static str {
    fn from(statistic: Statistic) -> Self {
        statistic.name()
    }
}
