//! Messages between device memories, ordered by the devices' own work queues.

use crate::error::Result;

/// A message to or from another rank of a group.
#[derive(Clone, Copy, Debug)]
pub struct DeviceMessage {
    /// Start of the message in this rank's device memory.
    pub start: *mut u8,
    /// Length in bytes.
    pub bytes: usize,
    /// Rank that the message goes to or comes from.
    pub peer: usize,
}

/// Messages under way.
#[derive(Debug)]
#[must_use = "messages under way have to be waited for"]
pub struct Underway(pub(in crate::backend) u64);

/// Ranks whose devices exchange messages without their hosts. Calls fail with the message of the library or the driver.
/// Until the group is trusted, a call also fails if it takes longer than half a minute; afterwards there is no limit.
pub trait DeviceGroup: Send + Sync {
    /// Returns name and version of the library that carries the messages.
    fn library(&self) -> String;

    /// Starts messages after all work queued on the device before, while the device continues with work queued later.
    /// Messages between two ranks arrive in the order in which they were sent.
    ///
    /// # Safety
    /// The memory must stay valid. Received data must not be read, and none of the memory be written, until
    /// [`DeviceGroup::wait`] was called with the result.
    unsafe fn begin(&self, send: &[DeviceMessage], receive: &[DeviceMessage]) -> Result<Underway>;

    /// Makes work that is queued on the device from now on wait for these messages. The host does not wait.
    fn wait(&self, underway: Underway) -> Result<()>;

    /// Removes the time limit, once messages have been seen to arrive.
    fn trust(&self);
}
