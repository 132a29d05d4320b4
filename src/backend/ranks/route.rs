//! How messages travel: from host memory, from the memory of a device, or through host memory beside it.

use super::{Blocks, Memory};
use crate::backend::device::{Api, Device, Gpu, devices};
use crate::backend::{DeviceAware, Field, Pencils};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::{Precision, Values};

/// How messages travel between the memories of two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// From host memory to host memory, where fields live there.
    Host,
    /// From the memory of a device to that of another, by a library that was seen to do so.
    Device,
    /// Through host memory beside the device's.
    Staged,
}

impl Route {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Route::Host => "from host memory to host memory",
            Route::Device => "from device to device: tested",
            Route::Staged => {
                "through host memory: no MPI library that takes device memory was seen to work"
            }
        }
    }

    /// How messages between the CUDA devices of the ranks travel; `None` where some rank has no device. Collective.
    ///
    /// # Errors
    /// What a driver says.
    pub fn between_devices(comm: &dyn Communicator) -> Result<Option<Self>> {
        let count = devices(Api::Cuda).map_or(0, |devices| devices.len());
        let mut without = [f64::from(u8::from(count == 0))];
        comm.max(&mut without);
        if without[0] != 0.0 {
            return Ok(None);
        }
        let open = || {
            let device = Device::open(Api::Cuda, comm.local().0 % count)?;
            Gpu::new(device, Precision::F64, 1, None, Pencils::Strided)
        };
        let gpu = all_or_error(comm, open())?;
        Self::find(&gpu, comm, DeviceAware::Auto).map(Some)
    }

    /// The best that the library does. It is asked first: one that is not aware of devices crashes on their addresses.
    /// Where it says yes, an array is sent to the next rank and checked. Collective.
    pub(super) fn find(
        backend: &dyn Blocks,
        comm: &dyn Communicator,
        wish: DeviceAware,
    ) -> Result<Self> {
        let mut probe = backend.planes(2 * PROBE)?;
        match backend.memory(&mut probe) {
            Memory::Host(_) => return Ok(Route::Host),
            Memory::Opaque => return Ok(Route::Staged),
            Memory::Device(_) => {}
        }
        let asked = match wish {
            DeviceAware::Off => false,
            DeviceAware::Force => true,
            DeviceAware::Auto => comm.says_device_aware() == Some(true),
        };
        // All or none: a message has two ends.
        let mut refusals = [f64::from(u8::from(!asked))];
        comm.max(&mut refusals);
        if refusals[0] != 0.0 || comm.size() == 1 {
            return Ok(Route::Staged);
        }
        let mut wrong = [f64::from(u8::from(!round_trip(backend, comm, &mut probe)?))];
        comm.max(&mut wrong);
        if wrong[0] == 0.0 {
            return Ok(Route::Device);
        }
        if wish == DeviceAware::Force {
            return Err(Error::Config(vec![
                "error: `compute.device_aware = \"force\"`, but what MPI sent from device memory arrived wrong".into(),
                "       use \"auto\" or \"off\": messages then travel through host memory".into(),
            ]));
        }
        Ok(Route::Staged)
    }
}

/// Values sent to see whether they arrive.
const PROBE: usize = 1021;

/// Send the first half of `probe` to the next rank and look at what comes from the one before.
fn round_trip(backend: &dyn Blocks, comm: &dyn Communicator, probe: &mut Field) -> Result<bool> {
    let (rank, size) = (comm.rank(), comm.size());
    let before = (rank + size - 1) % size;
    let numbers = |rank: usize| {
        let mut numbers = Values::zeros(backend.precision(), PROBE);
        for at in 0..PROBE {
            numbers.set(at, u32::try_from((7919 * rank + at) % 65_521).map_or(0.0, f64::from));
        }
        numbers
    };
    backend.put(probe, 0, numbers(rank).bytes())?;
    backend.finish()?;
    let Memory::Device(start) = backend.memory(probe) else {
        return Ok(false);
    };
    let bytes = PROBE * backend.precision().bytes();
    // SAFETY: both halves lie within the array, which outlives the messages.
    let requests = unsafe {
        vec![
            comm.receive(start.add(bytes), bytes, before, 0),
            comm.send(start, bytes, (rank + 1) % size, 0),
        ]
    };
    comm.wait(requests);
    let mut came = vec![0; bytes];
    backend.fetch(probe, PROBE, &mut came)?;
    Ok(came == numbers(before).bytes())
}
