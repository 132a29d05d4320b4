//! Copies through pinned host memory: neither the host nor the device waits for them.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;

use cudarc::driver::result::{self as cu, DriverError};
use cudarc::driver::sys;

use crate::backend::device::runtime::{Handle, MAX_SEND_BYTES};

type Result<T> = std::result::Result<T, DriverError>;

/// Pinned memory of [`MAX_SEND_BYTES`] bytes, and the event after the last copy to it or from it. A slot whose copy the driver
/// refused is not used again, because it is unknown when it would be free.
pub(super) struct Slot {
    memory: *mut c_void,
    event: sys::CUevent,
}

/// All slots of a device.
#[derive(Default)]
pub(super) struct Slots {
    idle: Vec<Slot>,
    /// Slots that are being copied to the device, the oldest first.
    sending: VecDeque<Slot>,
    /// Slots that are being copied from the device.
    receiving: HashMap<Handle, Slot>,
}

impl Slot {
    fn new() -> Result<Self> {
        let event = cu::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        // SAFETY: both are freed by [`Slots::free_all`].
        match unsafe { cu::malloc_host(MAX_SEND_BYTES, 0) } {
            Ok(memory) => {
                // SAFETY: the memory has that size, and is read as bytes.
                unsafe { memory.cast::<u8>().write_bytes(0, MAX_SEND_BYTES) };
                Ok(Self { memory, event })
            }
            Err(error) => {
                // SAFETY: the event has no other user yet.
                let _ = unsafe { cu::event::destroy(event) };
                Err(error)
            }
        }
    }

    /// # Safety
    /// No copy to or from the slot is under way.
    unsafe fn bytes(&mut self, count: usize) -> &mut [u8] {
        assert!(count <= MAX_SEND_BYTES, "more bytes than pinned memory has");
        // SAFETY: the memory has that size, and has no other writer.
        unsafe { std::slice::from_raw_parts_mut(self.memory.cast(), count) }
    }

    /// Waits for the copy to the slot, and reads it.
    pub(super) fn wait(&mut self, to: &mut [u8]) -> Result<()> {
        // SAFETY: the event was recorded after the copy, which has therefore ended.
        unsafe {
            cu::event::synchronize(self.event)?;
            to.copy_from_slice(self.bytes(to.len()));
        }
        Ok(())
    }
}

impl Slots {
    fn slot(&mut self) -> Result<Slot> {
        self.idle.pop().map_or_else(Slot::new, Ok)
    }

    /// Starts to copy `data` to `to`.
    ///
    /// # Safety
    /// `to` has at least as many bytes.
    pub(super) unsafe fn send(
        &mut self,
        data: &[u8],
        to: sys::CUdeviceptr,
        stream: sys::CUstream,
    ) -> Result<()> {
        // SAFETY: events live as long as their slots.
        let left = |slot: &Slot| unsafe { cu::event::query(slot.event) }.is_ok();
        while self.sending.front().is_some_and(left) {
            self.idle.extend(self.sending.pop_front());
        }
        let mut slot = self.slot()?;
        // SAFETY: the slot is idle, and is not used again before its event shows that the copy has ended.
        unsafe {
            let bytes = slot.bytes(data.len());
            bytes.copy_from_slice(data);
            cu::memcpy_htod_async(to, bytes, stream)?;
            cu::event::record(slot.event, stream)?;
        }
        self.sending.push_back(slot);
        Ok(())
    }

    /// Starts to copy `bytes` bytes from `from`, for [`Slots::take`].
    ///
    /// # Safety
    /// `from` has at least as many bytes.
    pub(super) unsafe fn fetch(
        &mut self,
        from: sys::CUdeviceptr,
        bytes: usize,
        stream: sys::CUstream,
    ) -> Result<Handle> {
        let mut slot = self.slot()?;
        // SAFETY: the slot is idle, and is read only after its event shows that the copy has ended.
        unsafe {
            cu::memcpy_dtoh_async(slot.bytes(bytes), from, stream)?;
            cu::event::record(slot.event, stream)?;
        }
        let copy = super::handle(slot.memory);
        self.receiving.insert(copy, slot);
        Ok(copy)
    }

    /// Returns a slot to wait for, and then to give [`Slots::put_back`].
    pub(super) fn take(&mut self, copy: Handle) -> Option<Slot> {
        self.receiving.remove(&copy)
    }

    /// Returns a slot without copies under way to the pool.
    pub(super) fn put_back(&mut self, slot: Slot) {
        self.idle.push(slot);
    }

    /// # Safety
    /// All copies have ended.
    pub(super) unsafe fn free_all(self) {
        let slots = self.idle.into_iter().chain(self.sending).chain(self.receiving.into_values());
        for Slot { memory, event } in slots {
            // SAFETY: both were made here. Errors at shutdown cannot be handled.
            unsafe {
                let _ = cu::free_host(memory);
                let _ = cu::event::destroy(event);
            }
        }
    }
}
