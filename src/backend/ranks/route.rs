//! How messages travel: from host memory, from device memory, or from device memory through host memory.

use super::message_check::test_messages;
use super::{Blocks, DeviceGroup, Memory};
use crate::backend::device::{Api, Device, Gpu, devices};
use crate::backend::{ComputeConfig, Pencils, Wish};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result, refused};
use crate::real::Precision;

/// How messages travel between the memories of two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Between host memories, where the fields are.
    Host,
    /// Between device memories, by an MPI library that was tested.
    Device,
    /// Between device memories by NCCL, in the order of the devices' queues.
    Nccl,
    /// Between device memories through host memory.
    Staged,
}

/// A route, and why a more direct one was not taken.
#[derive(Clone, Debug)]
pub struct RouteChoice {
    /// The route.
    pub route: Route,
    /// Library that carries messages from device to device.
    carrier: String,
    why: Option<String>,
    /// Whether a library reported support for a more direct route that does not work.
    contradicts_report: bool,
}

impl RouteChoice {
    fn new(route: Route, carrier: impl Into<String>) -> Self {
        Self { route, carrier: carrier.into(), why: None, contradicts_report: false }
    }

    fn staged(why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..Self::new(Route::Staged, "") }
    }

    /// Returns a phrase that follows "messages go".
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

    /// Returns the note of a run; a warning if a library does not do what it reported.
    pub fn note(&self) -> String {
        let warning = if self.contradicts_report { "warning: " } else { "" };
        format!("{warning}messages go {}", self.told())
    }

    /// Adds the reason `why` NCCL, the preferred route, was not taken. Adds nothing if NCCL is missing and the route is
    /// from device to device anyway.
    fn without_nccl(mut self, why: Option<GroupFailure>) -> Self {
        match why {
            Some(GroupFailure::Fails(why)) => {
                let before = self.why.map_or(String::new(), |before| format!("{before}; "));
                self.why = Some(format!("{before}{why}"));
                self.contradicts_report = true;
            }
            Some(GroupFailure::Missing(why)) if self.route == Route::Staged => {
                self.why = self.why.map(|before| format!("{before}; {why}"));
            }
            _ => {}
        }
        self
    }
}

/// Why there is no group of all devices.
enum GroupFailure {
    /// The library is missing.
    Missing(String),
    /// The library is present, but does not work.
    Fails(String),
}

/// The best route, with the group of devices if messages go by NCCL.
pub(super) type RouteAndGroup = (RouteChoice, Option<Box<dyn DeviceGroup>>);

impl Route {
    /// Returns how messages between the CUDA devices of the ranks travel; `None` if some rank has no device. Collective.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn between_devices(comm: &dyn Communicator) -> Result<Option<RouteChoice>> {
        let count = devices(Api::Cuda).map_or(0, |devices| devices.len());
        if on_any_rank(comm, count == 0) {
            return Ok(None);
        }
        let open = || {
            let device = Device::open(Api::Cuda, comm.local().0 % count)?;
            Gpu::new(device, Precision::F64, 1, None, Pencils::Strided)
        };
        let gpu = all_or_error(comm, open())?;
        Self::find(&gpu, comm, &ComputeConfig::default()).map(|(choice, _)| Some(choice))
    }

    /// Finds the best available and permitted route: NCCL, which needs no host to wait, then MPI from device to device,
    /// then host memory. A route between devices is tested first with messages of all kinds. Collective.
    pub(super) fn find(
        backend: &dyn Blocks,
        comm: &dyn Communicator,
        compute: &ComputeConfig,
    ) -> Result<RouteAndGroup> {
        match backend.memory(&mut backend.planes(1)?) {
            Memory::Host(_) => return Ok((RouteChoice::new(Route::Host, ""), None)),
            Memory::Opaque => return Ok((RouteChoice::staged("OpenCL has no other route"), None)),
            Memory::Device(_) => {}
        }
        if comm.size() == 1 {
            return Ok((RouteChoice::staged("a single rank sends no messages"), None));
        }
        let mut group_failure = None;
        if compute.nccl != Wish::Off && compute.device_aware != Wish::Force {
            match open_group(backend, comm)? {
                Ok(group) => {
                    let choice = RouteChoice::new(Route::Nccl, group.library());
                    return Ok((choice, Some(group)));
                }
                Err(GroupFailure::Missing(why) | GroupFailure::Fails(why))
                    if compute.nccl == Wish::Force =>
                {
                    return Err(forced_route_error("nccl", &why));
                }
                Err(why) => group_failure = Some(why),
            }
        }
        Ok((by_mpi(backend, comm, compute.device_aware)?.without_nccl(group_failure), None))
    }
}

/// Error for a forced route that does not work.
fn forced_route_error(key: &str, why: &str) -> Error {
    refused(
        format!("`compute.{key} = \"force\"`, but messages between devices fail: {why}"),
        "use \"auto\" or \"off\": messages then take another route",
    )
}

/// Whether `condition` is true on any rank. Collective.
fn on_any_rank(comm: &dyn Communicator, condition: bool) -> bool {
    let mut any = [f64::from(u8::from(condition))];
    comm.max(&mut any);
    any[0] != 0.0
}

/// Returns the group of all devices after a test of its messages. Collective.
fn open_group(
    backend: &dyn Blocks,
    comm: &dyn Communicator,
) -> Result<Result<Box<dyn DeviceGroup>, GroupFailure>> {
    // All ranks must have the library, so that no rank waits for ever.
    let id = match all_or_error(comm, backend.group_id(comm.rank())) {
        Ok(id) => comm.broadcast(0, id),
        Err(why) => return Ok(Err(GroupFailure::Missing(first_line(&why)))),
    };
    let group = match all_or_error(comm, backend.join(&id, [comm.rank(), comm.size()])) {
        Ok(group) => group,
        Err(why) => return Ok(Err(GroupFailure::Fails(first_line(&why)))),
    };
    Ok(match test_messages(backend, comm, Some(&*group))? {
        None => {
            group.trust();
            Ok(group)
        }
        Some(why) => Err(GroupFailure::Fails(format!("NCCL was found, but {why}"))),
    })
}

/// Returns the first line of an error without its prefix.
fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").into()
}

/// Returns the best route of the MPI library. The library is queried first: one without device support crashes on device
/// addresses. If it reports support, the route is tested. Collective.
fn by_mpi(backend: &dyn Blocks, comm: &dyn Communicator, wish: Wish) -> Result<RouteChoice> {
    let (requested, why) = match (wish, comm.reports_device_aware()) {
        (Wish::Force, _) | (Wish::Auto, Some(true)) => (true, ""),
        (Wish::Off, _) => (false, "`compute.device_aware = \"off\"`"),
        (Wish::Auto, Some(false)) => {
            (false, "the MPI library reports that it does not accept device addresses")
        }
        (Wish::Auto, None) => {
            (false, "the MPI library does not report that it accepts device addresses")
        }
    };
    // All ranks or none: both ends of a message must agree.
    if on_any_rank(comm, !requested) {
        let why = if requested { "MPI does not accept device memory on some rank" } else { why };
        return Ok(RouteChoice::staged(why));
    }
    match test_messages(backend, comm, None)? {
        None => Ok(RouteChoice::new(Route::Device, "MPI")),
        Some(why) if wish == Wish::Force => Err(forced_route_error("device_aware", &why)),
        Some(why) => {
            let why = format!("MPI reports that it accepts device memory, but {why}");
            Ok(RouteChoice { contradicts_report: true, ..RouteChoice::staged(why) })
        }
    }
}
