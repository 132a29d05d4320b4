//! A page in a browser is one rank.

use std::sync::Arc;

use super::Communicator;
use super::world::refusal;
use crate::error::Result;

const WHY: &str = "there is no MPI in a browser";

pub(super) fn start(_: &str) -> Result<Arc<dyn Communicator>> {
    Err(refusal(WHY, ""))
}

pub(super) fn library() -> std::result::Result<String, String> {
    Err(WHY.into())
}
