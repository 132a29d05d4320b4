//! In place of MPI where no library can be loaded: in a page of a browser.

use std::sync::Arc;

use super::Communicator;
use crate::error::{Result, refused};

pub(super) fn start(started: &str) -> Result<Arc<dyn Communicator>> {
    Err(refused(&format!("{started}, and a page loads no MPI library"), ""))
}

/// Why there is no library.
pub fn library() -> std::result::Result<String, String> {
    Err("a page loads no MPI library".into())
}
