//! `kolmo bench`: how long the parts take, beside a copy of the same memory in the same run.
//!
//! Every time stands with the bytes that the algorithm cannot do without, the copy it was measured with, and the error
//! of what was computed. Inputs are noise, several of them in turn, so that nothing is timed on zeros or on what a
//! cache still holds; the repeats of a part and of the copy alternate. A device is timed by its own events, the host by
//! its clock. `docs/benchmarks.md` says how to read the figures.

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

/// Measure what `bench` asks for, on this rank alone, or on all ranks of `comm` where [`Bench::is_collective`]; what was
/// found is then known to rank 0.
///
/// # Errors
/// [`crate::Error::Config`] where it asks for what cannot be; what a device says. A part among many that fails is told in the
/// report.
pub fn run(bench: &Bench, comm: &Arc<dyn Communicator>) -> Result<Report> {
    let comm = if bench.is_collective() { comm.clone() } else { Arc::new(Solo) };
    let compute = bench.compute();
    if let (Backend::Cpu, Some(device @ 1..)) = (compute.backend, compute.device) {
        let advice = "use `--backend cuda` or `--backend opencl`, or take this out";
        return Err(refused(
            format!("`--device {device}`: the CPU is one device, number 0"),
            advice,
        ));
    }
    let setup = &Setup::find(compute, &*comm)?;
    // The host's part also where a device does the work.
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
    // Of several ranks only the first knows of all that was measured.
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

/// The largest error of a right derivative, as a fraction of the largest result: some thousand times the round-off in f64.
fn tolerance(precision: Precision) -> f64 {
    if precision == Precision::F64 { 1e-12 } else { 1e-5 }
}
