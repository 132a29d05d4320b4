//! Replaces a driver where there is none: in a browser page.

use std::sync::Arc;

use super::DeviceInfo;
use super::runtime::Runtime;
use crate::error::{Error, Result};

fn unavailable() -> Error {
    Error::Device("a browser page has no devices; use `compute.backend = \"cpu\"`".into())
}

pub(super) fn list() -> Result<Vec<DeviceInfo>> {
    Err(unavailable())
}

pub(super) fn open(_: usize) -> Result<Arc<dyn Runtime>> {
    Err(unavailable())
}

pub(super) fn compiler(_: usize) -> Result<()> {
    Err(unavailable())
}

pub(super) fn has_driver() -> bool {
    false
}
