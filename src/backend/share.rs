//! Hardware assigned to one of several ranks.

use std::sync::Arc;

use super::ComputeConfig;
use super::device::{Device, choose};
use crate::comm::placement::Placement;
use crate::comm::{Communicator, all_or_error};
use crate::error::Result;

/// The device of a rank, or its cores.
#[derive(Clone)]
pub(crate) struct Share {
    /// `None` is the host.
    pub(crate) device: Option<Arc<Device>>,
    /// The requested options, with the threads of this rank.
    pub(crate) compute: ComputeConfig,
    /// The cores that its threads are pinned to; none where they may migrate.
    pub(crate) cores: Option<Vec<usize>>,
    /// Placement of several ranks, in words.
    pub(crate) placement: Option<String>,
}

impl Share {
    /// Assigns each rank of a host its share of the cores, and the next device. Collective.
    ///
    /// # Errors
    /// On all ranks, if one has no such device.
    pub(crate) fn find(mut compute: ComputeConfig, comm: &dyn Communicator) -> Result<Self> {
        let open = |(api, index)| Device::open(api, index);
        let chosen = choose(&compute, comm.local().0);
        let device = all_or_error(comm, chosen.and_then(|chosen| chosen.map(open).transpose()))?;
        let (mut cores, mut placement) = (None, None);
        if comm.size() > 1 {
            let assigned = Placement::find(comm, compute.threads);
            let name = device.as_ref().map(|device| device.info().name.as_str());
            placement = assigned.described(comm, name);
            cores = assigned.pins().map(<[usize]>::to_vec);
            compute.threads = Some(assigned.threads);
        }
        Ok(Self { device, compute, cores, placement })
    }
}
