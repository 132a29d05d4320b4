//! Replaces MPI where no library can be loaded: in a browser page.

use std::sync::Arc;

use super::Communicator;
use crate::error::{Result, refused};

pub(super) fn start(started: &str) -> Result<Arc<dyn Communicator>> {
    Err(refused(&format!("{started}, and a browser page loads no MPI library"), ""))
}

/// Returns why there is no library.
pub fn library() -> std::result::Result<String, String> {
    Err("a browser page loads no MPI library".into())
}
