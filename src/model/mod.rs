//! `kolmo model`: predicted time of a step on any number of ranks.
//!
//! The work is counted from the plans that ranks run ([`Work`]), so messages and bytes are those of a run. Its time follows from
//! a dozen [`Rates`] and a [`Network`]. `docs/model.md` has the formulas and their limits.

mod choice;
mod line;
mod network;
mod options;
mod predict;
mod rates;
mod study;
mod sweeping;
mod table;
mod work;

pub use choice::fastest;
pub use network::Network;
pub use options::ModelOptions;
pub use predict::{Prediction, predict};
pub use rates::Rates;
pub(crate) use study::most_cubic;
pub use study::{Eighty, Row, Study, run};
pub(crate) use sweeping::{Lines, Sweeping, Task};
pub use work::Work;
