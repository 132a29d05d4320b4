//! Replaces a driver where there is none: in a browser page.

use std::sync::Arc;

use super::DeviceInfo;
use super::runtime::Runtime;
use crate::error::{Error, Result};

fn none() -> Error {
    Error::Device("a browser page has no devices; use `compute.backend = \"cpu\"`".into())
}

pub(super) fn list() -> Result<Vec<DeviceInfo>> {
    Err(none())
}

pub(super) fn open(_: usize) -> Result<Arc<dyn Runtime>> {
    Err(none())
}

pub(super) fn compiler(_: usize) -> Result<()> {
    Err(none())
}

pub(super) fn has_driver() -> bool {
    false
}
