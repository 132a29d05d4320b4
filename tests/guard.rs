//! Regression tests for refactoring: the text of every kernel that a run requests from a device, and every bit that a run computes on
//! the host, must not change. If a change alters them on purpose, it says so, and the tables are written again:
//! `KOLMO_TAKE_GUARD=1 cargo test --release guard`.

use std::sync::Arc;

use kolmo::Error;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::{Device, DeviceInfo, Gpu, Recording};
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::{Config, Precision};
use kolmo::grid::Decomposition;
use kolmo::time::{Simulation, Stepper};
use xxhash_rust::xxh3::Xxh3;

use crate::common::{CONVECTION, ENERGY, LAWS, VISCOUS, config, on_host, root, state};
use crate::device::runtime::gpu;
use crate::spread::threads::on_ranks;

/// A run: the case, the points of the grid, the settings.
type Run = (&'static str, [usize; 3], Vec<String>);

fn run(case: &'static str, points: [usize; 3], set: &[&str]) -> Run {
    (case, points, set.iter().map(ToString::to_string).collect())
}

fn configured((case, points, set): &Run) -> Config {
    config(case, *points, &set.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Every form, scheme, integrator, case and kind of line, but not all combinations.
fn runs() -> Vec<Run> {
    let vortex = |set: &[&str]| run("taylor-green", [16, 15, 13], set);
    let mut runs = Vec::new();
    for convection in CONVECTION {
        for (energy, viscous) in ENERGY.into_iter().zip(VISCOUS) {
            let set = [("convection", convection), ("energy", energy), ("viscous", viscous)]
                .map(|(key, value)| format!("scheme.{key}={value}"));
            runs.push(("taylor-green", [16, 15, 13], set.to_vec()));
        }
    }
    runs.extend(LAWS.map(|law| vortex(&[&format!("gas.viscosity={law}")])));
    for scheme in ["compact4", "compact10-penta", "spectral-like", "explicit4", "compact8-penta"] {
        runs.push(vortex(&[&format!("scheme.derivative={scheme}")]));
    }
    for integrator in ["rk4", "ssprk43", "ck54", "kcl54-2r", "bogey-bailly62"] {
        runs.push(vortex(&[&format!("time.integrator={integrator}")]));
    }
    runs.extend([
        vortex(&["compute.right_hand_side=composed"]),
        vortex(&["scheme.filter={ order = 8, alpha = 0.495, every = 2 }"]),
        vortex(&["case.reynolds=inf"]),
        run("taylor-green", [64, 32, 1], &[]),
        run("acoustic-wave", [24, 1, 12], &[]),
        run("taylor-green", [96, 24, 40], &[]),
        run("acoustic-wave", [16, 12, 8], &[]),
        run("entropy-wave", [17, 16, 8], &[]),
        run("shear-wave", [16, 14, 1], &[]),
        run("isentropic-vortex", [32, 31, 1], &[]),
        run("scalar-advection", [24, 16, 12], &[]),
        run("scalar-advection", [24, 16, 12], &["time.integrator=rk4"]),
    ]);
    runs
}

/// A recording GPU with this amount of on-chip memory; it computes nothing.
fn recording(on_chip: usize) -> (Arc<Device>, Recording) {
    let info = DeviceInfo { memory: 80 << 30, largest_buffer: 80 << 30, on_chip, ..gpu() };
    Device::recording(info, |_| 0)
}

/// The number of kernels and one hash of all (text, entry, threads, on-chip memory) in the order of the requests.
fn kernels(recording: &Recording) -> String {
    let mut hash = Xxh3::new();
    let kernels = recording.kernels();
    for kernel in &kernels {
        let shape = format!("{} {:?} {}", kernel.entry, kernel.threads, kernel.on_chip);
        for text in [&kernel.source.name, &kernel.source.text, &shape] {
            hash.update(text.as_bytes());
            hash.update(&[0]);
        }
    }
    format!("{} {:016x}", kernels.len(), hash.digest())
}

/// The configuration with this precision.
fn with(precision: Precision, mut config: Config) -> Config {
    config.compute.precision = precision;
    config
}

fn kernels_of(config: &Config, on_chip: usize) -> String {
    let (device, recording) = recording(on_chip);
    let len = config.grid.points.iter().product();
    let gpu = || Arc::new(Gpu::configured(device.clone(), len, &config.compute).unwrap());
    Stepper::new(&*gpu(), config.time.integrator, 1, len).unwrap();
    // A device that computes nothing gives an invalid state.
    let error = Simulation::on(gpu(), config).err();
    assert!(matches!(error, None | Some(Error::Diverged { .. })), "{error:?}");
    kernels(&recording)
}

#[test]
fn kernel_texts_are_unchanged() {
    let mut lines = Vec::new();
    for (at, run) in runs().iter().enumerate() {
        let config = configured(run);
        lines.push(match at % 4 {
            3 => {
                format!("{run:?} f32 {}", kernels_of(&with(Precision::F32, config), 48 << 10))
            }
            _ => format!("{run:?} f64 {}", kernels_of(&config, 227 << 10)),
        });
    }
    for solver in ["thomas", "cr", "cr-sorted-direct", "pcr", "neato-global", "neato-shared"] {
        for pencils in ["strided", "permuted"] {
            let solver = format!("compute.line_solver={solver}");
            let pencils = format!("compute.pencils={pencils}");
            let run =
                run("taylor-green", [16, 32, 64], &[&solver, &pencils, "compute.backend=opencl"]);
            lines.push(format!("{run:?} {}", kernels_of(&configured(&run), 48 << 10)));
        }
    }
    for method in METHODS {
        let run = run("taylor-green", [24, 28, 32], &[&format!("compute.distributed={method}")]);
        let config = configured(&run);
        for ranks in [[2, 1, 1], [1, 2, 1], [1, 1, 2]] {
            let found = on_ranks(2, |comm| {
                let (device, recording) = recording(227 << 10);
                let len = config.grid.points.iter().product::<usize>() / 2;
                let gpu = Box::new(Gpu::configured(device, len, &config.compute).unwrap());
                let ranks = Ranks::new(gpu, comm, Decomposition { ranks }, &config.compute);
                drop(Simulation::on(Arc::new(ranks.unwrap()), &config));
                kernels(&recording)
            });
            lines.push(format!("{run:?} {ranks:?} {found:?}"));
        }
    }
    compare("kernels", &lines);
}

const METHODS: [&str; 5] = ["neighbour", "pcr", "gather", "transpose", "chain"];

/// Hashes of the row of the time series and of the bits of all fields of U after three steps.
fn bits(mut simulation: Simulation) -> String {
    for _ in 0..3 {
        simulation.step(None).unwrap();
    }
    let mut hash = Xxh3::new();
    for value in simulation.row().unwrap() {
        hash.update(&value.to_le_bytes());
    }
    let row = hash.digest();
    let mut hash = Xxh3::new();
    for value in state(&simulation).concat() {
        hash.update(&value.to_le_bytes());
    }
    format!("{row:016x} {:016x}", hash.digest())
}

#[test]
fn host_results_are_bitwise_unchanged() {
    let mut lines = Vec::new();
    for run in runs() {
        for precision in [Precision::F64, Precision::F32] {
            let simulation = on_host(&with(precision, configured(&run)));
            lines.push(format!("{run:?} {} {}", precision.name(), bits(simulation)));
        }
    }
    let spread = |comm: Arc<dyn Communicator>, config: &Config, ranks| {
        let cpu = Box::new(Cpu::<f64>::new(Some(1)).unwrap());
        let ranks = Ranks::new(cpu, comm, Decomposition { ranks }, &config.compute).unwrap();
        bits(Simulation::on(Arc::new(ranks), config).unwrap())
    };
    for method in METHODS {
        let run = run("taylor-green", [80, 120, 1], &[&format!("compute.distributed={method}")]);
        let config = configured(&run);
        for ranks in [[2, 1, 1], [1, 3, 1], [2, 2, 1]] {
            let size = ranks.iter().product();
            let found = on_ranks(size, |comm| spread(comm, &config, ranks));
            lines.push(format!("{run:?} {ranks:?} {found:?}"));
        }
    }
    compare("bits", &lines);
}

/// Compares `lines` with the table of that name.
fn compare(name: &str, lines: &[String]) {
    let path = root().join(format!("tests/data/guard-{name}.txt"));
    if std::env::var_os("KOLMO_TAKE_GUARD").is_some() {
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let known = std::fs::read_to_string(path).unwrap();
    let known: Vec<&str> = known.lines().collect();
    assert_eq!(known.len(), lines.len());
    let changed = known.iter().zip(lines).filter(|(known, found)| *known != found);
    let changed: Vec<_> = changed.map(|(_, found)| found).collect();
    assert!(changed.is_empty(), "{} of {} changed: {changed:#?}", changed.len(), lines.len());
}
