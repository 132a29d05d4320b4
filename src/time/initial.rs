//! U at t = 0.

use rayon::prelude::*;

use super::memory::check_values_memory;
use crate::backend::Field;
use crate::cases::custom::{Custom, Quantity, Start};
use crate::cases::{Case, FlowPoint};
use crate::comm::{Communicator, all_or_error, same_on_all};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::fourier::resample;
use crate::grid::{Block, Decomposition, Grid};
use crate::io::ArrayFile;
use crate::physics::System;

/// That of the case, at the points of this rank's block. Collective.
///
/// # Errors
/// On all ranks, where a file of arrays cannot be used, or the state is no flow.
pub(super) fn initial(system: &dyn System, config: &Config) -> Result<Vec<Field>> {
    let backend = system.backend();
    let comm = backend.comm();
    let (gas, domain) = (&config.gas, &config.grid.domain);
    let grid = Grid::periodic(config.grid.points, domain);
    let block = backend.block(grid.points);
    let x = |at: usize| grid.coordinates(block.index(at));
    let state = if let Case::Custom(custom) = &config.case {
        let flow = custom_flow(custom, config, comm, backend.decomposition(), &grid)?;
        system.state_of(&|at, to| to.copy_from_slice(&values(&flow[at])))
    } else if let Some(scalar) = config.case.scalar() {
        system.state_of(&|at, to| to[0] = scalar.initial(domain, grid.active(), x(at)))
    } else if let Some(flow) = config.case.flow() {
        system.state_of(&|at, to| {
            to.copy_from_slice(&values(&flow.initial(gas, domain, grid.active(), x(at))));
        })
    } else {
        unreachable!("a case is a formula of a flow, a scalar, or custom")
    };
    all_or_error(comm, state)
}

/// In the order of [`System::state_of`].
fn values(flow: &FlowPoint) -> [f64; 5] {
    let [u, v, w] = flow.velocity;
    [flow.density, u, v, w, flow.pressure]
}

/// The flow of a custom initial state at every point of this rank's block. Collective.
fn custom_flow(
    custom: &Custom,
    config: &Config,
    comm: &dyn Communicator,
    decomposition: Decomposition,
    grid: &Grid,
) -> Result<Vec<FlowPoint>> {
    let (quantities, arrays) = arrays(custom, comm, decomposition, grid.points)?;
    let place = custom.file.as_ref().map_or(String::new(), |file| format!("{}: ", file.display()));
    let start = Start::new(custom, &config.gas, &config.grid.domain, grid, &quantities);
    let start = start.map_err(|sentence| mistake(&format!("{place}{sentence}")));
    let start = all_or_error(comm, start)?;
    let block = decomposition.block(comm.rank(), grid.points);
    let nothing = FlowPoint { density: 0.0, velocity: [0.0; 3], pressure: 0.0 };
    let mut flow = vec![nothing; block.len()];
    let points = flow.par_iter_mut().enumerate();
    let bad = points.filter_map(|(at, point)| {
        match start.at(block.index(at), |array| arrays[array][at]) {
            Ok(found) => {
                *point = found;
                None
            }
            Err(bad) => Some(bad),
        }
    });
    let first = bad.find_first(|_| true);
    all_or_error(comm, first.map_or(Ok(()), |bad| Err(mistake(&start.told(&bad)))))?;
    Ok(flow)
}

/// What the file of a custom state has, at the points of this rank's block of the grid of `points`. Collective.
fn arrays(
    custom: &Custom,
    comm: &dyn Communicator,
    decomposition: Decomposition,
    points: [usize; 3],
) -> Result<(Vec<Quantity>, Vec<Vec<f64>>)> {
    let Some(path) = &custom.file else { return Ok((Vec::new(), Vec::new())) };
    let file = all_or_error(comm, ArrayFile::open(path, &Quantity::ALL.map(Quantity::name)))?;
    let has = |quantity: &Quantity| file.names().any(|name| name == quantity.name());
    let quantities: Vec<Quantity> = Quantity::ALL.into_iter().filter(has).collect();
    let seen = format!("{:?} of {:?} points", quantities, file.points());
    same_on_all(comm, &[("case.file".into(), seen)])?;
    let block: Block = decomposition.block(comm.rank(), file.points());
    all_or_error(comm, check_values_memory(quantities.len(), &block, comm.local().1))?;
    let mut arrays = Vec::new();
    for quantity in &quantities {
        let values = all_or_error(comm, file.read(quantity.name(), block))?;
        arrays.push(resample(comm, decomposition, file.points(), points, values));
    }
    Ok((quantities, arrays))
}

/// A sentence, and in a second line what to do.
fn mistake(text: &str) -> Error {
    let (found, advice) = text.split_once('\n').unwrap_or((text, ""));
    Error::refused(found, advice)
}
