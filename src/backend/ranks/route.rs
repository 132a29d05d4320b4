//! How messages travel: from host memory, from the memory of a device, or through host memory beside it.

use super::trial::trial;
use super::{Blocks, DeviceGroup, Memory};
use crate::backend::device::{Api, Device, Gpu, devices};
use crate::backend::{ComputeConfig, Pencils, Wish};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result, refused};
use crate::real::Precision;

/// How messages travel between the memories of two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// From host memory to host memory, where fields live there.
    Host,
    /// From the memory of a device to that of another, by an MPI library that was seen to do so.
    Device,
    /// The same by NCCL, in the devices' own order.
    Nccl,
    /// Through host memory beside the device's.
    Staged,
}

/// A route, and why it is not a straighter one.
#[derive(Clone, Debug)]
pub struct RouteChoice {
    /// The route.
    pub route: Route,
    /// What carries messages from device to device.
    carrier: String,
    why: Option<String>,
    /// Whether a library said that a straighter one works.
    disappoints: bool,
}

impl RouteChoice {
    fn straight(route: Route, carrier: impl Into<String>) -> Self {
        Self { route, carrier: carrier.into(), why: None, disappoints: false }
    }

    fn staged(why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..Self::straight(Route::Staged, "") }
    }

    /// In words, which follow "messages go".
    pub fn told(&self) -> String {
        let name = match self.route {
            Route::Host => "from host memory to host memory".into(),
            Route::Device | Route::Nccl => format!("from device to device by {}", self.carrier),
            Route::Staged => "through host memory".into(),
        };
        match &self.why {
            Some(why) => format!("{name}: {why}"),
            None if self.route == Route::Host => name,
            None => format!("{name}: tested"),
        }
    }

    /// The note of a run; a warning where a library does not do what it said.
    pub fn note(&self) -> String {
        let warning = if self.disappoints { "warning: " } else { "" };
        format!("{warning}messages go {}", self.told())
    }

    /// The same after NCCL, which would have been better, was not taken, `why`; nothing is said where it is not there and what is
    /// there goes as straight.
    fn without_nccl(mut self, why: Option<NoGroup>) -> Self {
        match why {
            Some(NoGroup::Fails(why)) => {
                let before = self.why.map_or(String::new(), |before| format!("{before}; "));
                self.why = Some(format!("{before}{why}"));
                self.disappoints = true;
            }
            Some(NoGroup::Missing(why)) if self.route == Route::Staged => {
                self.why = self.why.map(|before| format!("{before}; {why}"));
            }
            _ => {}
        }
        self
    }
}

/// Why there is no group of all devices.
enum NoGroup {
    /// The library is not there.
    Missing(String),
    /// It is there, and does not do what it is there for.
    Fails(String),
}

/// The best way, with the group of devices where messages go by NCCL.
pub(super) type Found = (RouteChoice, Option<Box<dyn DeviceGroup>>);

impl Route {
    /// How messages between the CUDA devices of the ranks travel; `None` where some rank has no device. Collective.
    ///
    /// # Errors
    /// What a driver says.
    pub fn between_devices(comm: &dyn Communicator) -> Result<Option<RouteChoice>> {
        let count = devices(Api::Cuda).map_or(0, |devices| devices.len());
        if in_any_rank(comm, count == 0) {
            return Ok(None);
        }
        let open = || {
            let device = Device::open(Api::Cuda, comm.local().0 % count)?;
            Gpu::new(device, Precision::F64, 1, None, Pencils::Strided)
        };
        let gpu = all_or_error(comm, open())?;
        Self::find(&gpu, comm, &ComputeConfig::default()).map(|(choice, _)| Some(choice))
    }

    /// The best of what is there and wished for: NCCL, for which no host waits, then MPI from device to device, then through
    /// host memory. Messages of all kinds are sent and checked first. Collective.
    pub(super) fn find(
        backend: &dyn Blocks,
        comm: &dyn Communicator,
        compute: &ComputeConfig,
    ) -> Result<Found> {
        match backend.memory(&mut backend.planes(1)?) {
            Memory::Host(_) => return Ok((RouteChoice::straight(Route::Host, ""), None)),
            Memory::Opaque => return Ok((RouteChoice::staged("OpenCL has no other way"), None)),
            Memory::Device(_) => {}
        }
        if comm.size() == 1 {
            return Ok((RouteChoice::staged("one rank sends none"), None));
        }
        let mut no_group = None;
        if compute.nccl != Wish::Off && compute.device_aware != Wish::Force {
            match grouped(backend, comm)? {
                Ok(group) => {
                    let choice = RouteChoice::straight(Route::Nccl, group.library());
                    return Ok((choice, Some(group)));
                }
                Err(NoGroup::Missing(why) | NoGroup::Fails(why)) if compute.nccl == Wish::Force => {
                    return Err(forced("nccl", &why));
                }
                Err(why) => no_group = Some(why),
            }
        }
        Ok((by_mpi(backend, comm, compute.device_aware)?.without_nccl(no_group), None))
    }
}

/// A way that was forced and does not work.
fn forced(key: &str, why: &str) -> Error {
    refused(
        format!("`compute.{key} = \"force\"`, but messages of devices fail: {why}"),
        "use \"auto\" or \"off\": messages then take another way",
    )
}

/// Whether it is so on any rank. Collective.
fn in_any_rank(comm: &dyn Communicator, so: bool) -> bool {
    let mut any = [f64::from(u8::from(so))];
    comm.max(&mut any);
    any[0] != 0.0
}

/// The group of all devices, whose messages were seen to arrive. Collective.
fn grouped(
    backend: &dyn Blocks,
    comm: &dyn Communicator,
) -> Result<std::result::Result<Box<dyn DeviceGroup>, NoGroup>> {
    // Every rank must have the library, so that none is waited for in vain.
    let id = match all_or_error(comm, backend.group_id(comm.rank())) {
        Ok(id) => comm.broadcast(0, id),
        Err(why) => return Ok(Err(NoGroup::Missing(told(&why)))),
    };
    let group = match all_or_error(comm, backend.join(&id, [comm.rank(), comm.size()])) {
        Ok(group) => group,
        Err(why) => return Ok(Err(NoGroup::Fails(told(&why)))),
    };
    Ok(match trial(backend, comm, Some(&*group))? {
        None => {
            group.trust();
            Ok(group)
        }
        Some(why) => Err(NoGroup::Fails(format!("NCCL is there, but {why}"))),
    })
}

/// The first line of an error without what marks it as one.
fn told(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").into()
}

/// The best that the MPI library does. It is asked first: one that is not aware of devices crashes on their addresses. Where it says
/// yes, it is tried. Collective.
fn by_mpi(backend: &dyn Blocks, comm: &dyn Communicator, wish: Wish) -> Result<RouteChoice> {
    let (asked, why) = match (wish, comm.says_device_aware()) {
        (Wish::Force, _) | (Wish::Auto, Some(true)) => (true, ""),
        (Wish::Off, _) => (false, "`compute.device_aware = \"off\"`"),
        (Wish::Auto, Some(false)) => {
            (false, "the MPI library says that it takes no addresses in the memory of devices")
        }
        (Wish::Auto, None) => {
            (false, "the MPI library does not say that it takes addresses in the memory of devices")
        }
    };
    // All or none: a message has two ends.
    if in_any_rank(comm, !asked) {
        let why = if asked { "on some rank MPI takes no memory of devices" } else { why };
        return Ok(RouteChoice::staged(why));
    }
    match trial(backend, comm, None)? {
        None => Ok(RouteChoice::straight(Route::Device, "MPI")),
        Some(why) if wish == Wish::Force => Err(forced("device_aware", &why)),
        Some(why) => {
            let why = format!("MPI says that it takes the memory of devices, but {why}");
            Ok(RouteChoice { disappoints: true, ..RouteChoice::staged(why) })
        }
    }
}
