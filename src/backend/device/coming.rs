//! Few numbers that a device sends while it goes on.

use std::sync::Arc;

use super::runtime::{Handle, MOST_FETCHED};
use super::{Buffer, Device};
use crate::error::Result;
use crate::real::Real;

/// Numbers on their way to the host.
#[must_use = "their place is kept until they are waited for"]
pub struct Coming {
    device: Arc<Device>,
    copy: Handle,
    count: usize,
    /// Bytes of each.
    size: usize,
}

impl Coming {
    /// Wait for them, and not for what was queued since; zeros are put behind them.
    ///
    /// # Errors
    /// What the device says of the work before.
    pub fn arrived<const W: usize>(self) -> Result<[f64; W]> {
        let mut bytes = [0; MOST_FETCHED];
        self.device.fetched(self.copy, &mut bytes[..self.count * self.size])?;
        let number = |at: usize| match self.size {
            4 => f64::from(f32::from_ne_bytes(std::array::from_fn(|k| bytes[4 * at + k]))),
            _ => f64::from_ne_bytes(std::array::from_fn(|k| bytes[8 * at + k])),
        };
        Ok(std::array::from_fn(number))
    }
}

impl<T: Real> Buffer<T> {
    /// Begin to read the first `count` numbers, at most 128 bytes, after all work queued before.
    ///
    /// # Errors
    /// What the driver says of the work before.
    ///
    /// # Panics
    /// Where there are fewer.
    pub fn fetch(&self, count: usize) -> Result<Coming> {
        let size = size_of::<T>();
        assert!(count <= self.len && count * size <= MOST_FETCHED, "too many numbers");
        let copy = self.device.fetch(self.handle, count * size)?;
        Ok(Coming { device: self.device.clone(), copy, count, size })
    }
}
