//! Flows on many ranks match those of one rank. The ranks write their fields to a file; the test, which runs on one rank, compares
//! them with its own.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use kolmo::backend::device::{Api, Device, Gpu};
use kolmo::backend::ranks::{Blocks, Ranks};
use kolmo::comm::Communicator;
use kolmo::config::{Config, Pencils, Precision};
use kolmo::grid::Decomposition;
use kolmo::time::Simulation;

use super::{command, job, world};
use crate::common::{config, host_with_threads, on_host, state, steps};

/// A flow, its number of steps, and the decompositions that it is computed on.
struct Flow {
    case: &'static str,
    points: [usize; 3],
    set: &'static [&'static str],
    steps: usize,
    /// Largest difference from one rank, relative to the largest value of each field. In the first steps of a flow, all components of
    /// the momentum are relative to the largest one, because the round-off of the pressure changes them.
    tolerance: f64,
    on: &'static [[usize; 3]],
}

const TWO_WAYS: &[[usize; 3]] = &[[2, 1, 1], [1, 2, 3]];

/// The vortex for all rank counts, with the decompositions that a run would choose.
const VORTEX: [Flow; 1] = [Flow {
    case: "taylor-green",
    points: [32, 32, 32],
    set: &[],
    steps: 50,
    tolerance: 1e-12,
    on: &[[1, 1, 1], [1, 1, 2], [1, 1, 3], [1, 1, 5], [1, 1, 7], [1, 2, 4]],
}];

/// Flows on devices. Kernels are compiled for every rank, so there are few.
const FLOWS_ON_DEVICES: [Flow; 2] = [
    Flow { on: &[[1, 1, 2], [1, 3, 1]], ..VORTEX[0] },
    Flow {
        case: "scalar-advection",
        points: [17, 16, 12],
        set: &["compute.distributed=transpose"],
        steps: 5,
        tolerance: 1e-13,
        on: &[[3, 1, 1]],
    },
];

/// Sizes that are not divisible by the ranks, with all forms and all methods, each once.
#[rustfmt::skip]
const FORMS: [Flow; 11] = [
    few("taylor-green", &["scheme.convection=staggered", "compute.distributed=pcr"], TWO_WAYS),
    few("taylor-green", &["scheme.convection=divergence", "compute.distributed=chain"], &[[1, 3, 1], [2, 2, 3]]),
    few("taylor-green", &["scheme.convection=feiereisen", "compute.distributed=gather"], &[[2, 2, 1], [2, 1, 4]]),
    few("taylor-green", &["scheme.convection=staggered", "compute.distributed=transpose"], &[[3, 2, 2]]),
    few("taylor-green", &["gas.viscosity=sutherland", "scheme.viscous=midpoint"], &[[3, 2, 1], [1, 1, 2]]),
    few("taylor-green", &["gas.viscosity=sutherland", "scheme.viscous=conservative", "compute.distributed=transpose"],
        &[[2, 1, 2]]),
    few("taylor-green", &["scheme.filter={ order = 8, alpha = 0.495, every = 1 }"], &[[2, 1, 1], [2, 2, 2]]),
    few("taylor-green", &["scheme.derivative=spectral-like"], &[[1, 1, 3], [2, 2, 2]]),
    few("taylor-green", &["scheme.derivative=compact10-penta", "time.integrator=rk4"], &[[1, 3, 4]]),
    few("scalar-advection", &[], &[[2, 3, 1], [1, 4, 3]]),
    few("isentropic-vortex", &["grid.points=[33, 31, 1]"], &[[4, 2, 1], [3, 1, 1]]),
];

const fn few(case: &'static str, set: &'static [&'static str], on: &'static [[usize; 3]]) -> Flow {
    Flow { case, points: [33, 31, 29], set, steps: 3, tolerance: 1e-12, on }
}

/// Blocks of 48 points, on which `neighbour` is exact, also with a filter for which it is not exact; shorter blocks in single
/// precision.
#[rustfmt::skip]
const NEIGHBOURS: [Flow; 5] = [
    long([96, 16, 16], &["compute.distributed=neighbour"], &[[2, 1, 1]]),
    long([144, 16, 16], &["compute.distributed=neighbour", "scheme.convection=staggered"], &[[3, 1, 1]]),
    long([96, 97, 9],
         &["compute.distributed=neighbour", "scheme.filter={ order = 8, alpha = 0.495, every = 1 }"], &[[2, 2, 1]]),
    Flow { tolerance: 1e-5, ..long([60, 16, 17], &["compute.distributed=neighbour", "compute.precision=f32"], &[[3, 1, 1]]) },
    Flow { tolerance: 1e-5, ..long([24, 25, 23], &["compute.precision=f32"], &[[1, 1, 3], [2, 2, 1]]) },
];

const fn long(points: [usize; 3], set: &'static [&'static str], on: &'static [[usize; 3]]) -> Flow {
    Flow { case: "taylor-green", points, set, steps: 2, tolerance: 1e-12, on }
}

impl Flow {
    fn config(&self) -> Config {
        config(self.case, self.points, self.set)
    }
}

/// Returns the list with this name, for a worker.
fn flows(list: &str) -> &'static [Flow] {
    match list {
        "vortex" => &VORTEX,
        "devices" => &FLOWS_ON_DEVICES,
        "forms" => &FORMS,
        "neighbours" => &NEIGHBOURS,
        _ => panic!("no list `{list}`"),
    }
}

/// Checks every flow of a list, with one job for all flows on the same number of ranks.
fn check(list: &str, worker: &str) {
    let flows = flows(list);
    let references: Vec<Vec<Vec<f64>>> =
        flows.iter().map(|flow| on_one_rank(&flow.config(), flow.steps)).collect();
    let size = |on: &[usize; 3]| on.iter().product::<usize>();
    let mut sizes: Vec<usize> = flows.iter().flat_map(|flow| flow.on).map(size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for ranks in sizes {
        let dir = tempfile::tempdir().unwrap();
        let mut command = command(worker);
        command.env(LIST, list).env(FILES, dir.path());
        let ended = job(ranks, &command);
        assert_eq!(ended.code, Some(0), "{list} on {ranks}:\n{}\n{}", ended.out, ended.err);
        for (at, flow) in flows.iter().enumerate() {
            for on in flow.on.iter().filter(|on| size(on) == ranks) {
                let label = format!("{} {:?} on {on:?}", flow.case, flow.set);
                let bytes = fs::read(dir.path().join(name(at, on))).unwrap();
                let (values, _) = bytes.as_chunks();
                let found: Vec<f64> = values.iter().map(|&v| f64::from_ne_bytes(v)).collect();
                compare(&label, &references[at], &found, flow);
            }
        }
    }
}

/// Compares all fields with those of one rank.
fn compare(label: &str, reference: &[Vec<f64>], found: &[f64], flow: &Flow) {
    assert_eq!(found.len(), reference.iter().map(Vec::len).sum::<usize>(), "{label}");
    let largest = |field: &Vec<f64>| field.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let mut sizes: Vec<f64> = reference.iter().map(largest).collect();
    if sizes.len() == 6 && flow.steps < 10 {
        let momentum = sizes[1..4].iter().copied().fold(0.0, f64::max);
        sizes[1..4].fill(momentum);
    }
    let mut rest = found;
    for (field, expected) in reference.iter().enumerate() {
        let (found, further) = rest.split_at(expected.len());
        rest = further;
        let size = sizes[field];
        for (found, expected) in found.iter().zip(expected) {
            let deviation = (found - expected).abs();
            let is_close = deviation <= flow.tolerance * size;
            assert!(is_close, "{label}, field {field}: deviation {deviation:e} of {size:e}");
        }
    }
}

/// Environment variables of a worker: the name of the list, and the folder of its files.
const LIST: &str = "KOLMO_TEST_LIST";
const FILES: &str = "KOLMO_TEST_FILES";

fn name(flow: usize, [px, py, pz]: &[usize; 3]) -> String {
    format!("{flow}-{px}x{py}x{pz}")
}

/// Returns the result on one rank: the conserved fields, including the state at rest, and (time, last dt).
fn on_one_rank(config: &Config, steps: usize) -> Vec<Vec<f64>> {
    after(on_host(config), steps)
}

/// Returns the fields of this rank after `count` steps.
fn after(mut simulation: Simulation, count: usize) -> Vec<Vec<f64>> {
    steps(&mut simulation, count);
    let at_rest = simulation.system_and_state().0.base_state();
    let mut fields = state(&simulation);
    for (field, at_rest) in fields.iter_mut().zip(at_rest) {
        field.iter_mut().for_each(|value| *value += at_rest);
    }
    fields.push(vec![simulation.time(), simulation.last_dt()]);
    fields
}

/// Computes a flow on blocks and writes the fields of the whole grid to `file`, one after another.
fn run_on_blocks(
    inner: Box<dyn Blocks>,
    comm: &Arc<dyn Communicator>,
    cut: Decomposition,
    flow: &Flow,
    file: &Path,
) {
    let config = flow.config();
    let ranks = Ranks::new(inner, comm.clone(), cut, &config.compute).unwrap();
    let simulation = Simulation::on(Arc::new(ranks), &config).unwrap();
    let points = config.grid.points;
    let mut all = Vec::new();
    for field in after(simulation, flow.steps) {
        let bytes: Vec<u8> = field.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let Some(parts) = comm.gather(&bytes) else { continue };
        let mut whole = vec![f64::NAN; if field.len() == 2 { 2 } else { points.iter().product() }];
        for (rank, part) in parts.iter().enumerate() {
            let block = cut.block(rank, points);
            for (at, &value) in part.as_chunks().0.iter().enumerate() {
                let [i, j, k] = block.index(at);
                let to = if whole.len() == 2 { at } else { i + points[0] * (j + points[1] * k) };
                whole[to] = f64::from_ne_bytes(value);
            }
        }
        all.extend(whole.into_iter().flat_map(f64::to_ne_bytes));
    }
    if comm.rank() == 0 {
        fs::write(file, all).unwrap();
    }
}

/// Runs all flows of the list that have as many ranks as this job.
fn run_list(open: impl Fn(Precision, usize) -> Box<dyn Blocks>) {
    let comm = world();
    let list = std::env::var(LIST).unwrap();
    let files = std::env::var(FILES).unwrap();
    for (at, flow) in flows(&list).iter().enumerate() {
        for on in flow.on {
            let cut = Decomposition { ranks: *on };
            if cut.size() != comm.size() {
                continue;
            }
            let file = Path::new(&files).join(name(at, on));
            let config = flow.config();
            let len = cut.block(comm.rank(), config.grid.points).len();
            run_on_blocks(open(config.compute.precision, len), &comm, cut, flow, &file);
        }
    }
}

#[test]
fn vortex_after_50_steps_matches_one_rank() {
    check("vortex", "ranks::runs::worker::on_the_host");
}

#[test]
fn every_form_method_and_case_matches_one_rank() {
    check("forms", "ranks::runs::worker::on_the_host");
}

#[test]
fn neighbour_on_long_blocks_and_single_precision_match_one_rank() {
    check("neighbours", "ranks::runs::worker::on_the_host");
}

#[test]
fn flows_on_devices_match_one_rank_on_the_host() {
    check("devices", "ranks::runs::worker::on_a_device");
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn on_the_host() {
        run_list(|precision, _| host_with_threads(precision, 1));
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn on_a_device() {
        run_list(|precision, len| {
            let device = Device::open(Api::OpenCl, 0).unwrap();
            Box::new(Gpu::new(device, precision, len, None, Pencils::Strided).unwrap())
        });
    }
}
