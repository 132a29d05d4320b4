//! Flows on many ranks are those of one rank. The ranks leave their fields in a file; the test, which is alone, holds them
//! against its own.

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
use crate::common::{config, cores, on_host, state, steps};

/// A flow, how long it goes on, and the decompositions that it is computed on.
struct Flow {
    case: &'static str,
    points: [usize; 3],
    set: &'static [&'static str],
    steps: usize,
    /// Largest difference from one rank, relative to the largest value of each field; of the momentum, which the round-off
    /// of the pressure moves, to that of its largest component where a flow has just begun.
    tolerance: f64,
    on: &'static [[usize; 3]],
}

const TWO_WAYS: &[[usize; 3]] = &[[2, 1, 1], [1, 2, 3]];

/// The vortex that every rank count is held to, cut as a run would cut it.
const VORTEX: [Flow; 1] = [Flow {
    case: "taylor-green",
    points: [32, 32, 32],
    set: &[],
    steps: 50,
    tolerance: 1e-12,
    on: &[[1, 1, 1], [1, 1, 2], [1, 1, 3], [1, 1, 5], [1, 1, 7], [1, 2, 4]],
}];

/// The vortex on devices: kernels are compiled for every rank, so there are few.
const VORTEX_ON_DEVICES: [Flow; 2] = [
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

/// Sizes that are not divisible by the ranks, all forms, all methods; each thing once.
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

/// Blocks of 48 points, which `neighbour` is exact on, beside a filter that it is not; shorter ones in single precision.
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

/// The lists that a worker knows by name.
fn flows(list: &str) -> &'static [Flow] {
    match list {
        "vortex" => &VORTEX,
        "devices" => &VORTEX_ON_DEVICES,
        "forms" => &FORMS,
        "neighbours" => &NEIGHBOURS,
        _ => panic!("no list `{list}`"),
    }
}

/// Every flow of a list, one job for all that are for the same number of ranks.
fn check(list: &str, worker: &str) {
    let flows = flows(list);
    let alone: Vec<Vec<Vec<f64>>> =
        flows.iter().map(|flow| alone(&flow.config(), flow.steps)).collect();
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
                let what = format!("{} {:?} on {on:?}", flow.case, flow.set);
                let bytes = fs::read(dir.path().join(name(at, on))).unwrap();
                let (values, _) = bytes.as_chunks();
                let found: Vec<f64> = values.iter().map(|&v| f64::from_ne_bytes(v)).collect();
                compare(&what, &alone[at], &found, flow);
            }
        }
    }
}

/// Holds all fields against those of one rank.
fn compare(what: &str, alone: &[Vec<f64>], found: &[f64], flow: &Flow) {
    assert_eq!(found.len(), alone.iter().map(Vec::len).sum::<usize>(), "{what}");
    let largest = |field: &Vec<f64>| field.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let mut sizes: Vec<f64> = alone.iter().map(largest).collect();
    if sizes.len() == 6 && flow.steps < 10 {
        let momentum = sizes[1..4].iter().copied().fold(0.0, f64::max);
        sizes[1..4].fill(momentum);
    }
    let mut rest = found;
    for (field, expected) in alone.iter().enumerate() {
        let (found, further) = rest.split_at(expected.len());
        rest = further;
        let size = sizes[field];
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - expected).abs();
            let is_close = off <= flow.tolerance * size;
            assert!(is_close, "{what}, field {field}: off by {off:e} of {size:e}");
        }
    }
}

/// Set for a worker: which list, and where files go.
const LIST: &str = "KOLMO_TEST_LIST";
const FILES: &str = "KOLMO_TEST_FILES";

fn name(flow: usize, [px, py, pz]: &[usize; 3]) -> String {
    format!("{flow}-{px}x{py}x{pz}")
}

/// What one rank makes of a flow: the conserved fields, their part at rest included, and (time, last dt).
fn alone(config: &Config, steps: usize) -> Vec<Vec<f64>> {
    after(on_host(config), steps)
}

/// What this rank has of a flow after some steps.
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

/// Compute a flow on blocks and put the whole fields into `file`, one after another.
fn spread(
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

/// All flows of the list that are for as many ranks as there are.
fn all(open: impl Fn(Precision, usize) -> Box<dyn Blocks>) {
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
            spread(open(config.compute.precision, len), &comm, cut, flow, &file);
        }
    }
}

#[test]
fn a_vortex_after_50_steps_is_that_of_one_rank() {
    check("vortex", "ranks::runs::worker::on_the_host");
}

#[test]
fn every_form_and_method_and_case_is_that_of_one_rank() {
    check("forms", "ranks::runs::worker::on_the_host");
}

#[test]
fn long_blocks_need_no_more_than_their_neighbours() {
    check("neighbours", "ranks::runs::worker::on_the_host");
}

#[test]
fn a_vortex_on_devices_is_that_of_one_rank_on_the_host() {
    check("devices", "ranks::runs::worker::on_a_device");
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn on_the_host() {
        all(|precision, _| cores(precision, 1));
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn on_a_device() {
        all(|precision, len| {
            let device = Device::open(Api::OpenCl, 0).unwrap();
            Box::new(Gpu::new(device, precision, len, None, Pencils::Strided).unwrap())
        });
    }
}
