//! Numbers in the memory of a device.

use std::sync::{Arc, Mutex};

use super::runtime::{Handle, MAX_FETCH_BYTES};
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
    /// Creates a buffer with undefined content.
    pub fn new(device: &Arc<Device>, precision: Precision, len: usize) -> Result<Self> {
        let handle = device.allocate(len.max(1) * precision.bytes())?;
        Ok(Self { device: device.clone(), handle, len, precision })
    }

    /// Creates a buffer with `values`.
    pub fn from_host<T: Real>(device: &Arc<Device>, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, T::PRECISION, values.len())?;
        buffer.write(0, bytes_of(values))?;
        Ok(buffer)
    }

    /// Creates a buffer with `values`, rounded to `precision`.
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

    /// Whether the buffer has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size of all values in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.len * self.precision.bytes()
    }

    /// Returns the content after all work queued before.
    ///
    /// # Panics
    /// If the buffer has another precision.
    pub fn download<T: Real>(&self) -> Result<Vec<T>> {
        let mut values = vec![T::ZERO; self.len];
        assert_eq!(size_of::<T>(), self.precision.bytes(), "a buffer of another precision");
        self.read(0, bytes_of_mut(&mut values))?;
        Ok(values)
    }

    /// Returns the content in the precision of the buffer, after all work queued before.
    pub fn values(&self) -> Result<Values<'static>> {
        let mut values = Values::zeros(self.precision, self.len);
        self.read(0, values.bytes_mut())?;
        Ok(values)
    }

    /// Writes `bytes` to memory from value `first` on.
    pub(super) fn write(&self, first: usize, bytes: &[u8]) -> Result<()> {
        self.device.upload(bytes, self.handle, first * self.precision.bytes())
    }

    /// Reads memory from value `first` on into `bytes`.
    pub(super) fn read(&self, first: usize, bytes: &mut [u8]) -> Result<()> {
        self.device.download(self.handle, first * self.precision.bytes(), bytes)
    }

    /// Starts to read the first `count` values, at most 128 bytes, after all work queued before.
    ///
    /// # Panics
    /// If the buffer has fewer values.
    pub fn fetch(&self, count: usize) -> Result<PendingReduction> {
        let bytes = count * self.precision.bytes();
        assert!(count <= self.len && bytes <= MAX_FETCH_BYTES, "too many numbers");
        let copy = self.device.fetch(self.handle, bytes)?;
        Ok(PendingReduction { device: self.device.clone(), copy, count, precision: self.precision })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.release(self.handle);
    }
}

/// A few values on their way to the host, while the device continues.
#[must_use = "their place is kept until they are waited for"]
pub struct PendingReduction {
    device: Arc<Device>,
    copy: Handle,
    count: usize,
    precision: Precision,
}

impl PendingReduction {
    /// Waits for the requested values, but not for work queued since.
    pub fn wait(self, to: &mut [f64]) -> Result<()> {
        let mut bytes = [0; MAX_FETCH_BYTES];
        let bytes = &mut bytes[..self.count * self.precision.bytes()];
        self.device.finish_fetch(self.copy, bytes)?;
        self.precision.read(bytes, to);
        Ok(())
    }
}

/// Scratch buffers, each in use by one operation at a time. All operations of a device share them: work is done in the
/// order in which it is queued, so the scratch memory of one operation is free when the next begins.
pub struct Scratch {
    pub(super) device: Arc<Device>,
    pub(super) precision: Precision,
    buffers: Mutex<Vec<Arc<Buffer>>>,
}

impl Scratch {
    /// Creates a pool without buffers.
    pub fn new(device: &Arc<Device>, precision: Precision) -> Self {
        Self { device: device.clone(), precision, buffers: Mutex::default() }
    }

    /// Returns the first `count` buffers of at least `len` values, and creates the missing ones. Their content is
    /// undefined.
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
