//! How messages travel: from host memory, from the memory of a device, or through host memory beside it.

use super::trial::trial;
use super::{Blocks, Memory};
use crate::backend::device::{Api, Device, Gpu, devices};
use crate::backend::{DeviceAware, Pencils};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::Precision;

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

/// A route, and why it is not a straighter one.
#[derive(Clone, Debug)]
pub struct RouteChoice {
    /// The route.
    pub route: Route,
    why: Option<String>,
    /// Whether the library said that a straighter one works.
    disappoints: bool,
}

impl RouteChoice {
    fn straight(route: Route) -> Self {
        Self { route, why: None, disappoints: false }
    }

    fn staged(why: impl Into<String>) -> Self {
        Self { route: Route::Staged, why: Some(why.into()), disappoints: false }
    }

    /// In words, which follow "messages go".
    pub fn told(&self) -> String {
        let name = match self.route {
            Route::Host => "from host memory to host memory",
            Route::Device => "from device to device: tested",
            Route::Staged => "through host memory",
        };
        self.why.as_ref().map_or(name.into(), |why| format!("{name}: {why}"))
    }

    /// The note of a run; a warning where the library does not do what it said.
    pub fn note(&self) -> String {
        let warning = if self.disappoints { "warning: " } else { "" };
        format!("{warning}messages go {}", self.told())
    }
}

impl Route {
    /// How messages between the CUDA devices of the ranks travel; `None` where some rank has no device. Collective.
    ///
    /// # Errors
    /// What a driver says.
    pub fn between_devices(comm: &dyn Communicator) -> Result<Option<RouteChoice>> {
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
    /// Where it says yes, messages of all kinds are sent and checked. Collective.
    pub(super) fn find(
        backend: &dyn Blocks,
        comm: &dyn Communicator,
        wish: DeviceAware,
    ) -> Result<RouteChoice> {
        match backend.memory(&mut backend.planes(1)?) {
            Memory::Host(_) => return Ok(RouteChoice::straight(Route::Host)),
            Memory::Opaque => return Ok(RouteChoice::staged("OpenCL has no other way")),
            Memory::Device(_) => {}
        }
        let (asked, why) = match (wish, comm.says_device_aware()) {
            (DeviceAware::Force, _) | (DeviceAware::Auto, Some(true)) => (true, ""),
            (DeviceAware::Off, _) => (false, "`compute.device_aware = \"off\"`"),
            (DeviceAware::Auto, Some(false)) => {
                (false, "the MPI library says that it takes no addresses in the memory of devices")
            }
            (DeviceAware::Auto, None) => (
                false,
                "the MPI library does not say that it takes addresses in the memory of devices",
            ),
        };
        // All or none: a message has two ends.
        let mut refusals = [f64::from(u8::from(!asked))];
        comm.max(&mut refusals);
        if comm.size() == 1 {
            return Ok(RouteChoice::staged("one rank sends none"));
        }
        if refusals[0] != 0.0 {
            let why = if asked { "on some rank MPI takes no memory of devices" } else { why };
            return Ok(RouteChoice::staged(why));
        }
        match trial(backend, comm)? {
            None => Ok(RouteChoice::straight(Route::Device)),
            Some(why) if wish == DeviceAware::Force => Err(Error::Config(vec![
                format!(
                    "error: `compute.device_aware = \"force\"`, but messages of devices fail: {why}"
                ),
                "       use \"auto\" or \"off\": messages then travel through host memory".into(),
            ])),
            Some(why) => {
                let why = format!("MPI says that it takes the memory of devices, but {why}");
                Ok(RouteChoice { disappoints: true, ..RouteChoice::staged(why) })
            }
        }
    }
}
