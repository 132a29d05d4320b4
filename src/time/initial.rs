//! U at t = 0.

use std::path::Path;

use rayon::prelude::*;

use super::memory::check_values_memory;
use super::rejections::check_interpolation;
use crate::backend::{Backend, Field};
use crate::cases::{FlowPoint, GridCase, Place};
use crate::comm::{Communicator, all_or_error, same_on_all};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::expression::shown;
use crate::fourier::resample;
use crate::grid::{Decomposition, Grid};
use crate::io::ArrayFile;
use crate::physics::System;

/// The initial state of the case, at the points of this rank's block. Collective.
///
/// # Errors
/// On all ranks, where a file of arrays cannot be used, or the state is invalid.
pub(super) fn initial(system: &dyn System, config: &Config) -> Result<Vec<Field>> {
    let backend = system.backend();
    let comm = backend.comm();
    let (gas, domain) = (&config.gas, &config.grid.domain);
    let grid = system.grid();
    let block = backend.block(grid.points);
    let x = |at: usize| grid.coordinates(block.index(at));
    let scalars = (0..config.scalars.len()).map(|at| scalar(config, at, backend, grid));
    let scalars: Vec<Vec<f64>> = scalars.collect::<Result<_>>()?;
    let flow_and_scalars = |at: usize, flow: FlowPoint, to: &mut [f64]| {
        // In the order of [`System::state_of`].
        let FlowPoint { density, velocity: [u, v, w], pressure } = flow;
        let all = [density, u, v, w, pressure].into_iter().chain(scalars.iter().map(|phi| phi[at]));
        to.iter_mut().zip(all).for_each(|(to, value)| *to = value);
    };
    let state = if let Some(case) = config.case.on_grid() {
        let place = Place {
            comm,
            decomposition: backend.decomposition(),
            grid: grid.clone(),
            domain: *domain,
            gas: *gas,
        };
        let arrays = arrays(case, config, &place)?;
        check_values_memory(comm, case.values(), &block)?;
        let flow = case.start(&place, &arrays)?;
        drop(arrays);
        system.state_of(&|at, to| flow_and_scalars(at, flow[at], to))
    } else if let Some(scalar) = config.case.scalar() {
        system.state_of(&|at, to| to[0] = scalar.initial(domain, grid.active(), x(at)))
    } else if let Some(flow) = config.case.flow() {
        system.state_of(&|at, to| {
            flow_and_scalars(at, flow.initial(gas, domain, grid.active(), x(at)), to);
        })
    } else {
        unreachable!("a case is a formula of a flow, one that is made on the grid, or a scalar")
    };
    all_or_error(comm, state)
}

/// Initial ρφ of passive scalar number `at`, in the flow of `state`. Collective.
pub(super) fn initial_scalar(
    system: &dyn System,
    state: &[Field],
    config: &Config,
    at: usize,
) -> Result<Field> {
    let backend = system.backend();
    let mut values = scalar(config, at, backend, system.grid())?;
    let at_rest = system.base_state()[0];
    let made = backend.values(&state[0]).and_then(|density| {
        values.iter_mut().zip(density.iter()).for_each(|(phi, rho)| *phi *= rho + at_rest);
        backend.field(&values.into())
    });
    all_or_error(backend.comm(), made)
}

/// Initial φ of passive scalar number `at` at every point of this rank's block. Collective.
fn scalar(config: &Config, at: usize, backend: &dyn Backend, grid: &Grid) -> Result<Vec<f64>> {
    let (scalar, comm) = (&config.scalars[at], backend.comm());
    let (name, decomposition) = (&scalar.name, backend.decomposition());
    let block = decomposition.block(comm.rank(), grid.points);
    let file = config.case.on_grid().and_then(|case| case.file());
    let file = file.map(|(path, names)| open(path, names, config, comm)).transpose()?;
    let file = file.filter(|file| file.names().any(|known| known == name));
    let formula = scalar.formula(&config.case, &config.gas, &config.grid.domain);
    let values = match (formula, file) {
        (Some(formula), None) => {
            let points = (0..block.len()).into_par_iter();
            points.map(|at| formula.at(grid.coordinates(block.index(at)))).collect()
        }
        (None, Some(file)) => read(&file, &[name], grid, comm, decomposition)?.swap_remove(0),
        (Some(_), Some(_)) => {
            let twice = format!("{name} is given by `scalars.{name}.start` and by `case.file`");
            return all_or_error(comm, Err(Error::refused_with_advice(&twice)));
        }
        (None, None) => {
            let text = format!("[scalars.{name}] needs `start`\nfor example start = \"sin(x)\"");
            return all_or_error(comm, Err(Error::refused_with_advice(&text)));
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
        Err(Error::refused_with_advice(&text))
    });
    all_or_error(comm, bad.unwrap_or(Ok(())))?;
    Ok(values)
}

/// Open the file of initial arrays, which may contain arrays of these `names` and of passive scalars. Collective.
fn open(
    path: &Path,
    names: &[&str],
    config: &Config,
    comm: &dyn Communicator,
) -> Result<ArrayFile> {
    let scalars = config.scalars.iter().map(|scalar| &*scalar.name);
    let names: Vec<&str> = names.iter().copied().chain(scalars).collect();
    all_or_error(comm, ArrayFile::open(path, &names))
}

/// The arrays of the initial file at the points of this rank's block, by the position of their names among the allowed ones.
/// Collective.
fn arrays(
    case: &dyn GridCase,
    config: &Config,
    place: &Place<'_>,
) -> Result<Vec<(usize, Vec<f64>)>> {
    let Some((path, names)) = case.file() else { return Ok(Vec::new()) };
    let Place { comm, decomposition, .. } = *place;
    let file = open(path, names, config, comm)?;
    let has = |name: &str| file.names().any(|found| found == name);
    let (at, present): (Vec<usize>, Vec<&str>) =
        names.iter().copied().enumerate().filter(|(_, name)| has(name)).unzip();
    let seen = format!("{present:?} of {:?} points", file.points());
    same_on_all(comm, &[("case.file".into(), seen)])?;
    let values = read(&file, &present, &place.grid, comm, decomposition)?;
    Ok(at.into_iter().zip(values).collect())
}

/// These arrays of a file, at the points of this rank's block of `grid`. Collective.
fn read(
    file: &ArrayFile,
    names: &[&str],
    grid: &Grid,
    comm: &dyn Communicator,
    decomposition: Decomposition,
) -> Result<Vec<Vec<f64>>> {
    let block = decomposition.block(comm.rank(), file.points());
    all_or_error(comm, check_interpolation(grid, file.points()))?;
    check_values_memory(comm, names.len(), &block)?;
    let one = |name: &&str| {
        let values = all_or_error(comm, file.read(name, block))?;
        Ok(resample(comm, decomposition, file.points(), grid.points, values))
    };
    names.iter().map(one).collect()
}
