//! Copies through pinned memory of the host: neither the host nor the device waits for them.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;

use cudarc::driver::result::{self as cu, DriverError};
use cudarc::driver::sys;

use crate::backend::device::runtime::{Handle, MOST_SENT};

type Result<T> = std::result::Result<T, DriverError>;

/// Pinned memory of [`MOST_SENT`] bytes, and the event behind the last copy to it or from it. One that the driver refused to copy
/// is not used again: nobody knows when it would be free.
pub(super) struct Slot {
    memory: *mut c_void,
    event: sys::CUevent,
}

/// All that a device has.
#[derive(Default)]
pub(super) struct Slots {
    idle: Vec<Slot>,
    /// From which a copy goes to the device, the oldest first.
    sending: VecDeque<Slot>,
    /// To which a copy comes from the device.
    coming: HashMap<Handle, Slot>,
}

impl Slot {
    fn new() -> Result<Self> {
        let event = cu::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        // SAFETY: both are given back by [`Slots::give_back`].
        match unsafe { cu::malloc_host(MOST_SENT, 0) } {
            Ok(memory) => {
                // SAFETY: it is of that size, and is read as bytes.
                unsafe { memory.cast::<u8>().write_bytes(0, MOST_SENT) };
                Ok(Self { memory, event })
            }
            Err(error) => {
                // SAFETY: nobody has it yet.
                let _ = unsafe { cu::event::destroy(event) };
                Err(error)
            }
        }
    }

    /// # Safety
    /// No copy to or from it is under way.
    unsafe fn bytes(&mut self, count: usize) -> &mut [u8] {
        assert!(count <= MOST_SENT, "more bytes than pinned memory has");
        // SAFETY: it is of that size, and nobody else writes to it.
        unsafe { std::slice::from_raw_parts_mut(self.memory.cast(), count) }
    }

    /// Wait for the copy to it, and take what came.
    pub(super) fn wait(&mut self, to: &mut [u8]) -> Result<()> {
        // SAFETY: the event was recorded behind the copy, which has ended then.
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

    /// Begin to copy `data` to `to`.
    ///
    /// # Safety
    /// `to` has as many bytes.
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
        // SAFETY: the slot is idle, and is not used again before its event says that the copy has ended.
        unsafe {
            let bytes = slot.bytes(data.len());
            bytes.copy_from_slice(data);
            cu::memcpy_htod_async(to, bytes, stream)?;
            cu::event::record(slot.event, stream)?;
        }
        self.sending.push_back(slot);
        Ok(())
    }

    /// Begin to copy `bytes` bytes of `from`, for [`Slots::take`].
    ///
    /// # Safety
    /// `from` has as many.
    pub(super) unsafe fn fetch(
        &mut self,
        from: sys::CUdeviceptr,
        bytes: usize,
        stream: sys::CUstream,
    ) -> Result<Handle> {
        let mut slot = self.slot()?;
        // SAFETY: the slot is idle, and is read when its event says that the copy has ended.
        unsafe {
            cu::memcpy_dtoh_async(slot.bytes(bytes), from, stream)?;
            cu::event::record(slot.event, stream)?;
        }
        let copy = super::handle(slot.memory);
        self.coming.insert(copy, slot);
        Ok(copy)
    }

    /// To be waited for, and then put [`Slots::back`].
    pub(super) fn take(&mut self, copy: Handle) -> Option<Slot> {
        self.coming.remove(&copy)
    }

    /// A slot that no copy goes to or comes from.
    pub(super) fn back(&mut self, slot: Slot) {
        self.idle.push(slot);
    }

    /// # Safety
    /// All copies have ended.
    pub(super) unsafe fn give_back(self) {
        let slots = self.idle.into_iter().chain(self.sending).chain(self.coming.into_values());
        for Slot { memory, event } in slots {
            // SAFETY: both were made here. A refusal has nobody to be told to.
            unsafe {
                let _ = cu::free_host(memory);
                let _ = cu::event::destroy(event);
            }
        }
    }
}
