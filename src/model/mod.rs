//! `kolmo model`: what a step takes on ranks that are not there.
//!
//! The work is counted from the plans that ranks carry out ([`Work`]), so that messages and bytes are those of a run; what it
//! takes follows from a dozen [`Rates`] and a [`Network`]. `docs/model.md` has the formulas, and what they leave out.

mod choice;
mod line;
mod network;
mod options;
mod planner;
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
pub use study::{Eighty, Row, Study, run};
pub use sweeping::{Lines, Peer, Stage, Step, Sweeping};
pub use work::Work;
