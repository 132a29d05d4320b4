//! Numbers in the memory of a device.

use std::sync::{Arc, Mutex};

use super::runtime::{Handle, MOST_FETCHED};
use super::{Device, lock};
use crate::error::Result;
use crate::real::{Precision, Real, Values, bytes_of, bytes_of_mut};

/// `len` numbers in device memory.
pub struct Buffer {
    pub(super) device: Arc<Device>,
    pub(super) handle: Handle,
    pub(super) len: usize,
    pub(super) precision: Precision,
}

impl Buffer {
    /// A buffer whose content is undefined.
    pub fn new(device: &Arc<Device>, precision: Precision, len: usize) -> Result<Self> {
        let handle = device.allocate(len.max(1) * precision.bytes())?;
        Ok(Self { device: device.clone(), handle, len, precision })
    }

    /// A buffer that holds `values`.
    pub fn from_host<T: Real>(device: &Arc<Device>, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, T::PRECISION, values.len())?;
        buffer.write(0, bytes_of(values))?;
        Ok(buffer)
    }

    /// A buffer that holds `values`, rounded.
    pub(super) fn table(
        device: &Arc<Device>,
        precision: Precision,
        values: &[f64],
    ) -> Result<Self> {
        let buffer = Self::new(device, precision, values.len())?;
        let mut bytes = Vec::with_capacity(buffer.bytes());
        precision.write(values, &mut bytes);
        buffer.write(0, &bytes)?;
        Ok(buffer)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of all values.
    pub(super) fn bytes(&self) -> usize {
        self.len * self.precision.bytes()
    }

    /// The content, after all work queued before.
    ///
    /// # Panics
    /// Where the numbers are of another precision.
    pub fn download<T: Real>(&self) -> Result<Vec<T>> {
        let mut values = vec![T::ZERO; self.len];
        assert_eq!(size_of::<T>(), self.precision.bytes(), "a buffer of another precision");
        self.read(0, bytes_of_mut(&mut values))?;
        Ok(values)
    }

    /// The content in its own precision, after all work queued before.
    pub fn values(&self) -> Result<Values<'static>> {
        let mut values = Values::zeros(self.precision, self.len);
        self.read(0, values.bytes_mut())?;
        Ok(values)
    }

    /// Write the memory of numbers from number `first` on.
    pub(super) fn write(&self, first: usize, bytes: &[u8]) -> Result<()> {
        self.device.upload(bytes, self.handle, first * self.precision.bytes())
    }

    /// Read the memory of numbers from number `first` on.
    pub(super) fn read(&self, first: usize, bytes: &mut [u8]) -> Result<()> {
        self.device.download(self.handle, first * self.precision.bytes(), bytes)
    }

    /// Begin to read the first `count` numbers, at most 128 bytes, after all work queued before.
    ///
    /// # Panics
    /// Where there are fewer.
    pub fn fetch(&self, count: usize) -> Result<PendingReduction> {
        let bytes = count * self.precision.bytes();
        assert!(count <= self.len && bytes <= MOST_FETCHED, "too many numbers");
        let copy = self.device.fetch(self.handle, bytes)?;
        Ok(PendingReduction { device: self.device.clone(), copy, count, precision: self.precision })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.release(self.handle);
    }
}

/// Few numbers on their way to the host, while the device goes on.
#[must_use = "their place is kept until they are waited for"]
pub struct PendingReduction {
    device: Arc<Device>,
    copy: Handle,
    count: usize,
    precision: Precision,
}

impl PendingReduction {
    /// Wait for them, as many as were asked for, and not for what was queued since.
    pub fn wait(self, to: &mut [f64]) -> Result<()> {
        let mut bytes = [0; MOST_FETCHED];
        let bytes = &mut bytes[..self.count * self.precision.bytes()];
        self.device.fetched(self.copy, bytes)?;
        self.precision.read(bytes, to);
        Ok(())
    }
}

/// Buffers that hold something only while one operation runs. All operations of a device share them: work is done in the
/// order in which it is queued, so one operation's scratch memory is free when the next begins.
pub struct Scratch {
    pub(super) device: Arc<Device>,
    pub(super) precision: Precision,
    buffers: Mutex<Vec<Arc<Buffer>>>,
}

impl Scratch {
    /// No buffers yet.
    pub fn new(device: &Arc<Device>, precision: Precision) -> Self {
        Self { device: device.clone(), precision, buffers: Mutex::default() }
    }

    /// The first `count` buffers of at least `len` values, made where there are fewer. They hold anything.
    pub(super) fn take(&self, count: usize, len: usize) -> Result<Vec<Arc<Buffer>>> {
        let mut buffers = lock(&self.buffers);
        let mut fitting: Vec<_> = buffers.iter().filter(|b| b.len() >= len).cloned().collect();
        while fitting.len() < count {
            let buffer = Arc::new(Buffer::new(&self.device, self.precision, len)?);
            buffers.push(buffer.clone());
            fitting.push(buffer);
        }
        fitting.truncate(count);
        Ok(fitting)
    }
}
