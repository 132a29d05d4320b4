//! `kolmo bench`: the time of individual parts, compared with a copy of the same memory in the same run.
//!
//! Every time is reported with the minimum number of bytes of the algorithm, the copy it was measured with, and the error of the
//! result. Inputs are several fields of noise, used in turn, so that no part is timed on zeros or on cached values; the repeats
//! of a part and of the copy alternate. A device is timed by its own events, the host by its clock. `docs/benchmarks.md` explains
//! the figures.

mod arguments;
mod blocks;
mod check;
mod maps;
mod measure;
mod operators;
mod output;
mod permute;
mod place;
mod pool;
mod ranks;
mod step;
mod sweeps;
mod table;

pub use arguments::Bench;
pub use output::Report;
pub(crate) use output::Row;

use std::sync::Arc;

use crate::backend::on_host;
use crate::comm::{Communicator, Solo, all_or_error};
use crate::config::{Backend, Precision};
use crate::error::{Result, refused};
use crate::grid::Axis;
use crate::io::summary::Machine;
use operators::Request;
use place::Setup;

/// Run the benchmark `bench` on this rank alone, or on all ranks of `comm` if [`Bench::is_collective`]; only rank 0 then has the
/// complete report.
///
/// # Errors
/// [`crate::Error::Config`] for an impossible request; errors of a device. If one of several parts fails, the report contains the
/// failure.
pub fn run(bench: &Bench, comm: &Arc<dyn Communicator>) -> Result<Report> {
    let comm = if bench.is_collective() { comm.clone() } else { Arc::new(Solo) };
    let compute = bench.compute();
    if let (Backend::Cpu, Some(device @ 1..)) = (compute.backend, compute.device) {
        let advice = "use `--backend cuda` or `--backend opencl`, or remove this option";
        return Err(refused(
            format!("`--device {device}`: the CPU is one device, number 0"),
            advice,
        ));
    }
    let setup = &Setup::find(compute, &*comm)?;
    // The host part, also if a device does the work.
    let host = on_host(&setup.compute, None);
    let host = all_or_error(&*comm, host)?;
    let machine = Machine::here(host.threads(), host.simd(), None);
    let mut report = Report::new(machine, setup.device.as_ref().map(|device| device.info()));
    match bench {
        Bench::Copy(common) => maps::copy(common, setup, &mut report),
        Bench::Derivative(options) => {
            operators::run(&Request::derivative(options), setup, &mut report)
        }
        Bench::Lines(options) => operators::run(&Request::lines(options), setup, &mut report),
        Bench::Permute(options) => permute::run(options, setup, &mut report),
        Bench::Step(options) if bench.is_collective() => {
            ranks::scaling::run(options, setup, &comm, &mut report)
        }
        Bench::Step(options) => step::run(options, setup, &mut report),
        Bench::Sweeps(options) => sweeps::run(options, setup, &mut report),
        Bench::Blocks(options) => blocks::run(options, setup, &mut report),
        Bench::Comm(options) => ranks::comm::run(options, setup, &comm, &mut report),
    }?;
    // With several ranks, only the first one has all results.
    let nothing = report.results.is_empty() && report.blocks.is_empty();
    if comm.rank() == 0 && nothing && report.failures.is_empty() {
        let why = report.notes.iter().filter(|note| note.starts_with("left out"));
        let why: Vec<&str> = why.map(String::as_str).collect();
        return Err(refused("nothing was measured", why.join("\n       ")));
    }
    Ok(report)
}

/// x, y, z or all.
fn axes(name: &str) -> Vec<Axis> {
    Axis::ALL.into_iter().filter(|axis| name == "all" || axis.name() == name).collect()
}

/// The largest error of a correct derivative, relative to the largest result: some thousand times the round-off in f64.
fn tolerance(precision: Precision) -> f64 {
    if precision == Precision::F64 { 1e-12 } else { 1e-5 }
}
