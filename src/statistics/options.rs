//! What a user chooses of statistics.

use serde::{Deserialize, Serialize};

use crate::io::Schedule;
use crate::typed::not_negative;

/// `statistics = { every_time, from, quantities }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatisticsConfig {
    /// When.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Schedule,
    /// The time at which averages over time begin.
    #[serde(default, deserialize_with = "not_negative")]
    pub from: f64,
    /// Of what.
    #[serde(skip_deserializing)]
    pub quantities: Vec<Statistic>,
}

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
