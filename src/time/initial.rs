//! U at t = 0.

use std::path::Path;

use rayon::prelude::*;

use super::memory::check_values_memory;
use crate::backend::{Backend, Field};
use crate::cases::custom::{Custom, Quantity, Start, shown};
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
    let scalars = (0..config.scalars.len()).map(|at| scalar(config, at, backend, &grid));
    let scalars: Vec<Vec<f64>> = scalars.collect::<Result<_>>()?;
    let flow_and_scalars = |at: usize, flow: FlowPoint, to: &mut [f64]| {
        let all = values(&flow).into_iter().chain(scalars.iter().map(|phi| phi[at]));
        to.iter_mut().zip(all).for_each(|(to, value)| *to = value);
    };
    let state = if let Case::Custom(custom) = &config.case {
        let flow = custom_flow(custom, config, comm, backend.decomposition(), &grid)?;
        system.state_of(&|at, to| flow_and_scalars(at, flow[at], to))
    } else if let Some(scalar) = config.case.scalar() {
        system.state_of(&|at, to| to[0] = scalar.initial(domain, grid.active(), x(at)))
    } else if let Some(flow) = config.case.flow() {
        system.state_of(&|at, to| {
            flow_and_scalars(at, flow.initial(gas, domain, grid.active(), x(at)), to);
        })
    } else {
        unreachable!("a case is a formula of a flow, a scalar, or custom")
    };
    all_or_error(comm, state)
}

/// ρφ of passive scalar number `at` at its start, in the flow of `state`. Collective.
///
/// # Errors
/// As there.
pub(super) fn initial_scalar(
    system: &dyn System,
    state: &[Field],
    config: &Config,
    at: usize,
) -> Result<Field> {
    let backend = system.backend();
    let grid = Grid::periodic(config.grid.points, &config.grid.domain);
    let mut values = scalar(config, at, backend, &grid)?;
    let at_rest = system.base_state()[0];
    let made = backend.values(&state[0]).and_then(|density| {
        values.iter_mut().zip(density.iter()).for_each(|(phi, rho)| *phi *= rho + at_rest);
        backend.field(&values.into())
    });
    all_or_error(backend.comm(), made)
}

/// φ of passive scalar number `at` at its start, at every point of this rank's block. Collective.
fn scalar(config: &Config, at: usize, backend: &dyn Backend, grid: &Grid) -> Result<Vec<f64>> {
    let (scalar, comm) = (&config.scalars[at], backend.comm());
    let (name, cut) = (&scalar.name, backend.decomposition());
    let block = cut.block(comm.rank(), grid.points);
    let file = match &config.case {
        Case::Custom(Custom { file: Some(path), .. }) => Some(open(path, config, comm)?),
        _ => None,
    };
    let file = file.filter(|file| file.names().any(|known| known == name));
    let formula = scalar.formula(&config.case, &config.gas, &config.grid.domain);
    let values = match (formula, file) {
        (Some(formula), None) => {
            let points = (0..block.len()).into_par_iter();
            points.map(|at| formula.at(grid.coordinates(block.index(at)))).collect()
        }
        (None, Some(file)) => {
            let own = cut.block(comm.rank(), file.points());
            all_or_error(comm, check_values_memory(1, &own, comm.local().1))?;
            let values = all_or_error(comm, file.read(name, own))?;
            resample(comm, cut, file.points(), grid.points, values)
        }
        (Some(_), Some(_)) => {
            let twice = format!("{name} is given by `scalars.{name}.start` and by `case.file`");
            return all_or_error(comm, Err(mistake(&twice)));
        }
        (None, None) => {
            let text = format!("[scalars.{name}] needs `start`\nfor example start = \"sin(x)\"");
            return all_or_error(comm, Err(mistake(&text)));
        }
    };
    let bad = values.iter().position(|phi: &f64| !phi.is_finite()).map(|at| {
        let ([i, j, k], phi) = (block.index(at), values[at]);
        let start = scalar.start.as_ref().map_or(String::new(), |start| {
            format!(": scalars.{name}.start = {:?}", shown(start.text()))
        });
        let text = format!(
            "the initial state has {name} = {phi:?} at point ({i}, {j}, {k}){start}\nallowed: finite numbers"
        );
        Err(mistake(&text))
    });
    all_or_error(comm, bad.unwrap_or(Ok(())))?;
    Ok(values)
}

/// The file of a custom state. Collective.
fn open(path: &Path, config: &Config, comm: &dyn Communicator) -> Result<ArrayFile> {
    let scalars = config.scalars.iter().map(|scalar| &*scalar.name);
    let names: Vec<&str> = Quantity::ALL.map(Quantity::name).into_iter().chain(scalars).collect();
    all_or_error(comm, ArrayFile::open(path, &names))
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
    let (quantities, arrays) = arrays(custom, config, comm, decomposition, grid.points)?;
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
    config: &Config,
    comm: &dyn Communicator,
    decomposition: Decomposition,
    points: [usize; 3],
) -> Result<(Vec<Quantity>, Vec<Vec<f64>>)> {
    let Some(path) = &custom.file else { return Ok((Vec::new(), Vec::new())) };
    let file = open(path, config, comm)?;
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
