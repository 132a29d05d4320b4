//! A device that computes nothing and records every requested kernel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::lock;
use super::runtime::{DeviceInfo, Handle, KernelRequest, Launch, Runtime};
use crate::error::{Error, Result};

/// Kernels requested from a recording device: see [`Device::recording`](super::Device::recording).
#[derive(Clone, Default)]
pub struct Recording {
    kernels: Arc<Mutex<Vec<(Handle, KernelRequest)>>>,
}

impl Recording {
    /// Returns the kernels so far, without repetition, in the order of their first request; discarded kernels are left
    /// out.
    pub fn kernels(&self) -> Vec<KernelRequest> {
        lock(&self.kernels).iter().map(|(_, kernel)| kernel.clone()).collect()
    }
}

/// Function that returns the bytes per thread that a kernel spills to device memory.
type SpillModel = Box<dyn Fn(&KernelRequest) -> usize + Send + Sync>;

/// Host memory, and kernels without effect.
pub(super) struct Recorder {
    info: DeviceInfo,
    spilled_bytes: SpillModel,
    recording: Recording,
    buffers: Mutex<HashMap<Handle, Vec<u8>>>,
}

impl Recorder {
    pub(super) fn new(info: DeviceInfo, spilled_bytes: SpillModel) -> (Self, Recording) {
        let recording = Recording::default();
        let recorder =
            Self { info, spilled_bytes, recording: recording.clone(), buffers: Mutex::default() };
        (recorder, recording)
    }
}

fn invalid_access() -> Error {
    Error::Device("a copy beyond a buffer, or a buffer or kernel of another device".into())
}

impl Runtime for Recorder {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        // The system allocates the pages when they are written.
        Ok(Handle::store(vec![0; bytes], &mut *lock(&self.buffers)))
    }

    fn release(&self, buffer: Handle) {
        lock(&self.buffers).remove(&buffer);
    }

    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        let mut buffers = lock(&self.buffers);
        let target =
            buffers.get_mut(&to).and_then(|to| to.get_mut(offset..)?.get_mut(..data.len()));
        target.ok_or_else(invalid_access)?.copy_from_slice(data);
        Ok(())
    }

    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        let buffers = lock(&self.buffers);
        let source = buffers.get(&from).and_then(|from| from.get(offset..)?.get(..to.len()));
        to.copy_from_slice(source.ok_or_else(invalid_access)?);
        Ok(())
    }

    fn send(&self, data: &[u8], to: Handle) -> Result<()> {
        self.upload(data, to, 0)
    }

    fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle> {
        let copy = self.allocate(bytes)?;
        self.copy(from, copy, bytes)?;
        Ok(copy)
    }

    fn finish_fetch(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        self.download(copy, 0, to)?;
        self.release(copy);
        Ok(())
    }

    fn copy(&self, from: Handle, to: Handle, bytes: usize) -> Result<()> {
        let mut data = vec![0; bytes];
        self.download(from, 0, &mut data)?;
        self.upload(&data, to, 0)
    }

    fn kernel(&self, request: &KernelRequest) -> Result<Handle> {
        Ok(Handle::store(request.clone(), &mut *lock(&self.recording.kernels)))
    }

    fn spilled_bytes(&self, kernel: Handle) -> Result<usize> {
        let kernels = lock(&self.recording.kernels);
        let known = kernels.iter().find(|(handle, _)| *handle == kernel);
        known.map(|(_, kernel)| (self.spilled_bytes)(kernel)).ok_or_else(invalid_access)
    }

    fn discard(&self, kernel: Handle) {
        lock(&self.recording.kernels).retain(|(handle, _)| *handle != kernel);
    }

    fn launch(&self, _: &Launch) -> Result<()> {
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn record(&self) -> Result<Handle> {
        Ok(Handle::default())
    }

    fn seconds(&self, _: Handle, _: Handle) -> Result<f64> {
        Ok(0.0)
    }
}
