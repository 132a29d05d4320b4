//! Fields that hold something only while one operation runs.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Buffer, Device};
use crate::error::Result;
use crate::real::Real;

/// Buffers shared by all operations of a device: work is done in the order in which it is queued, so one operation's
/// scratch memory is free when the next begins.
pub struct Scratch<T> {
    device: Arc<Device>,
    buffers: Mutex<Vec<Arc<Buffer<T>>>>,
}

impl<T: Real> Scratch<T> {
    /// No buffers yet.
    pub fn new(device: &Arc<Device>) -> Self {
        Self { device: device.clone(), buffers: Mutex::default() }
    }

    /// The first `count` buffers of at least `len` values, made where there are fewer. They hold anything.
    ///
    /// # Errors
    /// Where the device has no memory left.
    pub fn take(&self, count: usize, len: usize) -> Result<Vec<Arc<Buffer<T>>>> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fitting: Vec<_> = buffers.iter().filter(|b| b.len() >= len).cloned().collect();
        while fitting.len() < count {
            let buffer = Arc::new(Buffer::new(&self.device, len)?);
            buffers.push(buffer.clone());
            fitting.push(buffer);
        }
        fitting.truncate(count);
        Ok(fitting)
    }
}
