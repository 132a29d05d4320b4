//! Messages between the memories of devices that take their turn in the devices' own queues of work.

use crate::error::Result;

/// A message to or from another rank of a group.
#[derive(Clone, Copy, Debug)]
pub struct DeviceMessage {
    /// Where it begins in the memory of this rank's device.
    pub start: *mut u8,
    /// Its length.
    pub bytes: usize,
    /// The rank that it goes to or comes from.
    pub peer: usize,
}

/// Messages under way.
#[derive(Debug)]
#[must_use = "messages under way have to be waited for"]
pub struct Underway(pub(in crate::backend) u64);

/// Ranks whose devices send each other messages without their hosts. Calls fail with what the library or the driver says. Until the
/// group is trusted, they fail too where something takes longer than half a minute; then they wait as long as it takes.
pub trait DeviceGroup: Send + Sync {
    /// Name and version of the library that carries the messages.
    fn library(&self) -> String;

    /// Begin messages, after all work that the device was asked for before, while it goes on with what it is asked for next.
    /// Those between two ranks arrive in the order in which they were sent.
    ///
    /// # Safety
    /// The memory must be there, and what comes must not be read, nor anything else written, until
    /// [`DeviceGroup::wait`] was called with the result.
    unsafe fn begin(&self, send: &[DeviceMessage], receive: &[DeviceMessage]) -> Result<Underway>;

    /// Let work that the device is asked for from now on wait for these messages. The host does not wait.
    fn wait(&self, underway: Underway) -> Result<()>;

    /// From now on there is no limit of time: messages were seen to arrive.
    fn trust(&self);
}
