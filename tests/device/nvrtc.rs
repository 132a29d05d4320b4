//! Kernels compiled for NVIDIA GPUs without a GPU: by NVRTC for every supported architecture, then assembled by ptxas, which reports
//! registers, on-chip memory, and spills of registers to device memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use kolmo::backend::device::cuda::{Code, Nvrtc};
use kolmo::backend::device::{
    Device, DeviceInfo, DeviceOperator, Gpu, KernelRequest, LineSolver, Recording, Scratch, Source,
    why_unsupported,
};
use kolmo::config::Pencils;
use kolmo::engine::{LineOperators, Op};
use kolmo::grid::Axis;
use kolmo::scheme::family;
use kolmo::time::{Simulation, Stepper};
use kolmo::{Error, Real};

use super::block_sweeps::ask as ask_for_block_sweeps;
use super::blocks::ask as ask_for_blocks;
use super::on_two_threads;
use super::runtime::{ask_for_saxpy, gpu, saxpy_source};
use crate::common::{config, root};
use crate::operators::grid;

/// A function that requests the kernels of a computation from a device.
type Ask = Box<dyn Fn(&Arc<Device>) + Send + Sync>;
/// The name of a computation, and the function that requests its kernels.
type Specialisation = (&'static str, Ask);

/// The computations whose kernels are compiled. One line adds another computation.
pub(super) fn specialisations() -> Vec<Specialisation> {
    forms().into_iter().chain(others()).collect()
}

/// The computations that are compiled for every requested architecture.
fn others() -> Vec<Specialisation> {
    let mut all: Vec<Specialisation> = vec![
        ("saxpy f64", Box::new(ask_for_saxpy::<f64>)),
        ("saxpy f32", Box::new(ask_for_saxpy::<f32>)),
        ("navier-stokes", run("taylor-green", POINTS, &[])),
        ("navier-stokes f32", run("taylor-green", POINTS, &["compute.precision=f32"])),
        ("scalar", run("scalar-advection", POINTS, &[])),
        ("blocks of lines", Box::new(ask_for_blocks)),
        ("sweeps over blocks", Box::new(ask_for_block_sweeps)),
    ];
    let solvers = LineSolver::ALL.into_iter().filter(|solver| solver.name() != "cusparse");
    all.extend(solvers.map(|solver| (solver.name(), line_solver(solver))));
    all
}

/// The computations that are compiled for the architecture with the fewest resources, and for others only if all architectures are
/// requested: the others could reveal nothing but a register spill.
fn forms() -> Vec<Specialisation> {
    vec![
        (
            "divergence",
            run(
                "taylor-green",
                POINTS,
                &["scheme.convection=divergence", "scheme.energy=divergence"],
            ),
        ),
        (
            "feiereisen",
            run(
                "taylor-green",
                POINTS,
                &["scheme.convection=feiereisen", "scheme.energy=split-enthalpy"],
            ),
        ),
        (
            "staggered, sutherland",
            run(
                "taylor-green",
                POINTS,
                &["scheme.convection=staggered", "gas.viscosity=sutherland"],
            ),
        ),
        (
            "conservative, power law, filtered",
            run(
                "taylor-green",
                POINTS,
                &[
                    "scheme.viscous=conservative",
                    "gas.viscosity=power",
                    "scheme.filter={ order = 8 }",
                ],
            ),
        ),
        ("compact10-penta", run("taylor-green", POINTS, &["scheme.derivative=compact10-penta"])),
        (
            "curved lines, walls, far field, implicit steps",
            run(
                "cylinder",
                POINTS,
                &["gas.viscosity=sutherland", "time.implicit={ method = 'bdf2', krylov = 3 }"],
            ),
        ),
    ]
}

/// Lines that chunks divide evenly, and lines that they do not.
const POINTS: [usize; 3] = [64, 63, 62];

/// Returns a function that requests all kernels of a run of `case`.
pub(super) fn run(case: &'static str, points: [usize; 3], set: &'static [&'static str]) -> Ask {
    Box::new(move |device| {
        let config = config(case, points, set);
        let len = config.grid.points.iter().product();
        let gpu = || Arc::new(Gpu::configured(device.clone(), len, &config.compute).unwrap());
        Stepper::new(&*gpu(), config.time.integrator, 1, len).unwrap();
        // A device that computes nothing gives an invalid state; by then all kernels have been requested.
        let error = Simulation::on(gpu(), &config).err();
        assert!(matches!(error, None | Some(Error::Diverged { .. })), "{error:?}");
    })
}

/// Returns a function that requests the kernels of one line solver, where it is supported: both precisions, axes, periodic and closed
/// lines, long and short lines.
fn line_solver(solver: LineSolver) -> Ask {
    fn ask<T: Real>(
        device: &Arc<Device>,
        solver: LineSolver,
        axis: Axis,
        n: usize,
        periodic: bool,
    ) {
        let grid = grid(axis, n, [5, 3], periodic);
        let operators = LineOperators::new(family("compact6").unwrap(), None, &grid, T::PRECISION);
        let (operator, scratch) = (operators.get(axis, Op::D1), Scratch::new(device, T::PRECISION));
        for pencils in [Pencils::Strided, Pencils::Permuted] {
            if why_unsupported(solver, operator, (axis, pencils), device.info()).is_none() {
                let points = grid.points;
                let method = (solver, pencils);
                let created = DeviceOperator::new(&scratch, operator, points, axis, method);
                drop(created.unwrap());
            }
        }
    }
    Box::new(move |device| {
        ask::<f64>(device, solver, Axis::X, 256, true);
        ask::<f64>(device, solver, Axis::Y, 512, true);
        ask::<f32>(device, solver, Axis::Z, 255, true);
        ask::<f64>(device, solver, Axis::Z, 65, false);
    })
}

/// A compute capability with its limit of on-chip memory and its compiler.
#[derive(Clone, Copy)]
pub(super) struct Architecture {
    /// Ten times the capability.
    pub(super) number: u32,
    /// Bytes of on-chip memory that a thread block may use.
    pub(super) on_chip: usize,
    /// The major version of CUDA whose compiler and assembler are used.
    cuda: u32,
}

pub(super) const ARCHITECTURES: [Architecture; 5] = [
    Architecture { number: 70, on_chip: 96 << 10, cuda: 12 },
    Architecture { number: 75, on_chip: 64 << 10, cuda: 13 },
    Architecture { number: 80, on_chip: 163 << 10, cuda: 13 },
    Architecture { number: 90, on_chip: 227 << 10, cuda: 13 },
    Architecture { number: 100, on_chip: 227 << 10, cuda: 13 },
];

/// Whether the environment variable KOLMO_ARCHITECTURES requests all architectures.
fn all_are_requested() -> bool {
    std::env::var("KOLMO_ARCHITECTURES").is_ok_and(|which| which == "all")
}

/// The architectures with `usual` numbers, or those with `numbers` if all are requested.
pub(super) fn architectures(usual: &[u32], numbers: &[u32]) -> Vec<Architecture> {
    let wanted = if all_are_requested() { numbers } else { usual };
    ARCHITECTURES.into_iter().filter(|on| wanted.contains(&on.number)).collect()
}

/// Registers of a multiprocessor, which must suffice for a thread block.
pub(super) const REGISTERS: u32 = 65536;

/// The resources of a kernel as reported by the assembler.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) registers: u32,
    /// Bytes in addition to those that a launch requests.
    on_chip: u32,
    /// Bytes that a thread spills to device memory.
    pub(super) spilled: u32,
}

/// The resources of each kernel of a text by entry, or the error message of the compiler.
pub(super) type Usages = Result<BTreeMap<String, Usage>, String>;

/// The compilers, and the resources of all texts compiled so far.
pub(super) struct Compilers {
    of: BTreeMap<u32, Nvrtc>,
    known: Mutex<HashMap<(u32, Source), Usages>>,
}

impl Compilers {
    pub(super) fn new() -> Arc<Self> {
        let of = BTreeMap::from([13, 12].map(|major| (major, compiler(major))));
        Arc::new(Self { of, known: Mutex::default() })
    }

    pub(super) fn usages(&self, on: Architecture, source: &Source) -> Usages {
        let key = (on.number, source.clone());
        let known = self.known.lock().unwrap().get(&key).cloned();
        known.unwrap_or_else(|| {
            let usages = compiled(&self.of[&on.cuda], on.number, source);
            self.known.lock().unwrap().insert(key, usages.clone());
            usages
        })
    }

    /// A recording GPU of an architecture, which computes nothing. Kernels that are `examined` are compiled; the others are assumed not to
    /// spill.
    pub(super) fn recording(
        self: &Arc<Self>,
        on: Architecture,
        examined: impl Fn(&KernelRequest) -> bool + Send + Sync + 'static,
    ) -> (Arc<Device>, Recording) {
        let info = DeviceInfo {
            memory: 80 << 30,
            largest_buffer: 80 << 30,
            on_chip: on.on_chip,
            has_async_copies: on.number >= 80,
            ..gpu()
        };
        let compilers = Arc::clone(self);
        Device::recording(info, move |kernel| match examined(kernel) {
            true => compilers.usages(on, &kernel.source).unwrap()[&kernel.entry].spilled as usize,
            false => 0,
        })
    }
}

#[test]
fn all_kernels_compile_for_an_old_and_a_new_architecture_without_spills() {
    let compilers = Compilers::new();
    let mut work = Vec::new();
    for on in architectures(&[70, 90], &ARCHITECTURES.map(|on| on.number)) {
        let computations =
            if on.number == 70 || all_are_requested() { specialisations() } else { others() };
        work.extend(computations.into_iter().map(|(name, ask)| (on, name, ask)));
    }
    let requested = on_two_threads(work, |(on, name, ask)| {
        let (device, recording) = compilers.recording(*on, |_| true);
        ask(&device);
        assert!(!recording.kernels().is_empty(), "{name} requests no kernel");
        recording.kernels().into_iter().map(|kernel| (*on, *name, kernel)).collect::<Vec<_>>()
    });
    let work = texts(requested.into_iter().flatten());
    let results = on_two_threads(work, |(architecture, (source, kernels))| {
        match compilers.usages(*architecture, source) {
            Ok(usages) => checked(*architecture, kernels, &usages),
            Err(message) => (Vec::new(), vec![format!("{}: {message}", kernels[0].0)]),
        }
    });
    let (rows, errors): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let (rows, errors) = (rows.concat(), errors.concat());
    let table = format!("architecture  registers  on chip  spilled  kernel\n{}\n", rows.join("\n"));
    println!("{table}");
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels.txt"), table).unwrap();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The table rows of the kernels of one text, and their errors.
fn checked(
    Architecture { number, on_chip: limit, .. }: Architecture,
    kernels: &[(String, KernelRequest)],
    usages: &BTreeMap<String, Usage>,
) -> (Vec<String>, Vec<String>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for (name, kernel) in kernels {
        let Some(&Usage { registers, on_chip, spilled }) = usages.get(&kernel.entry) else {
            errors.push(format!("{name}: missing in the output of the assembler"));
            continue;
        };
        let on_chip = kernel.on_chip + on_chip as usize;
        rows.push(format!("sm_{number:<9} {registers:10} {on_chip:8} {spilled:8}  {name}"));
        let mut report = |error: String| errors.push(format!("{name} on sm_{number}: {error}"));
        if spilled > 0 {
            report(format!("{spilled} bytes are spilled"));
        }
        if on_chip > limit {
            report(format!("{on_chip} bytes of on-chip memory per block; the limit is {limit}"));
        }
        let threads: u32 = kernel.threads.iter().product();
        // Registers are allocated per warp in units of 256, so per thread in units of 8.
        if registers.next_multiple_of(8) * threads.next_multiple_of(32) > REGISTERS {
            report(format!("{threads} threads of {registers} registers cannot start"));
        }
    }
    (rows, errors)
}

#[test]
fn register_spills_are_detected() {
    // 300 values that are all live until the end exceed the 255 registers of a thread.
    let many = (0..300).map(|i| format!("double a{i} = x[{i}] * x[{i} + n];\n"));
    let sums = (0..300).map(|i| format!("x[{i} * n] = a{i} / a{};\n", 299 - i));
    let body: String = many.chain(["__syncthreads();\n".to_string()]).chain(sums).collect();
    let source = Source {
        name: "greedy".into(),
        text: format!("extern \"C\" __global__ void greedy(double *x, int n) {{\n{body}}}\n"),
    };
    let usage = compiled(&compiler(13), 90, &source).unwrap().remove("greedy").unwrap();
    assert!(usage.spilled > 0 && usage.registers == 255, "{usage:?}");
}

#[test]
fn nvrtc_is_chosen_by_driver_version_and_compute_capability() {
    let [new, old] = [13, 12].map(|major| compiler(major).path().to_path_buf());
    let both = [new.clone(), PathBuf::from("/nowhere/libnvrtc.so"), old.clone()];
    for (driver, capability, version) in [
        ((13, 0), 90, (13, 0)),
        ((13, 2), 75, (13, 0)),
        ((12, 9), 90, (12, 9)),
        // A compiler that is not newer than the driver, if there is one; otherwise one of the same major version, whose machine code the
        // driver loads.
        ((12, 8), 90, (12, 9)),
        ((13, 0), 70, (12, 9)),
    ] {
        let found = Nvrtc::fitting(both.clone(), driver, capability).unwrap();
        assert_eq!(found.version(), version, "driver {driver:?}, {capability}");
    }
    let error_message = |candidates: &[PathBuf], driver, capability| {
        let error = Nvrtc::fitting(candidates.to_vec(), driver, capability).err().unwrap();
        error.to_string()
    };
    let message = error_message(&[], (13, 1), 90);
    assert!(
        message.contains("was not found")
            && message.contains("pip install 'nvidia-cuda-nvrtc<13.2'")
    );
    let message = error_message(&[], (12, 8), 90);
    assert!(message.contains("pip install 'nvidia-cuda-nvrtc-cu12<12.9'"), "{message}");
    let message = error_message(std::slice::from_ref(&new), (12, 8), 90);
    assert!(
        message.contains("does not fit the driver (CUDA 12.8)") && message.contains("of CUDA 13.0")
    );
    let message = error_message(&[new], (13, 0), 70);
    assert!(message.contains("pip install 'nvidia-cuda-nvrtc-cu12<13.0'"), "{message}");
}

#[test]
fn known_gpus_get_cubins_and_newer_gpus_the_newest_ptx() {
    let nvrtc = compiler(13);
    assert_eq!(nvrtc.code_for(75).unwrap(), Code::Cubin(75));
    assert_eq!(nvrtc.code_for(90).unwrap(), Code::Cubin(90));
    let newest = *nvrtc.capabilities().last().unwrap();
    assert_eq!(nvrtc.code_for(newest + 10).unwrap(), Code::Ptx(newest));
    let message = nvrtc.code_for(70).unwrap_err().to_string();
    assert!(
        message.contains("compiles for compute capability 7.5 and newer; this GPU has 7.0"),
        "{message}"
    );
    let image = nvrtc.compile(&saxpy_source::<f64>(), Code::Cubin(90)).unwrap();
    assert!(image.starts_with(b"\x7fELF"));
    let assembly = nvrtc.compile(&saxpy_source::<f64>(), Code::Ptx(90)).unwrap();
    assert!(String::from_utf8(assembly).unwrap().contains(".target sm_90"));
}

#[test]
fn compile_errors_quote_the_source_lines() {
    let Source { text, .. } = saxpy_source::<f64>();
    let line = text.lines().count() + 1;
    let source = Source {
        name: "saxpy f64".into(),
        text: text + "DEVICE int wrong(void) { return missing; }\n",
    };
    let message = compiler(13).compile(&source, Code::Cubin(90)).unwrap_err().to_string();
    for part in [
        "could not compile `saxpy f64` for sm_90",
        &format!("saxpy f64({line}): error: identifier \"missing\" is undefined"),
        &format!("\n{line:6} | DEVICE int wrong(void) {{ return missing; }}"),
    ] {
        assert!(message.contains(part), "{part}\nin\n{message}");
    }
}

/// A text with its kernels, each named after the computation that requests it first.
type Text = (Source, Vec<(String, KernelRequest)>);

/// The texts of all requested kernels, each once per architecture.
fn texts(
    requested: impl Iterator<Item = (Architecture, &'static str, KernelRequest)>,
) -> Vec<(Architecture, Text)> {
    let mut texts: Vec<(Architecture, Text)> = Vec::new();
    let (mut seen, mut places) = (HashSet::new(), HashMap::new());
    for (on, name, kernel) in requested {
        if !seen.insert((on.number, kernel.clone())) {
            continue;
        }
        let source = kernel.source.clone();
        let at = *places.entry((on.number, source.clone())).or_insert_with(|| {
            texts.push((on, (source, Vec::new())));
            texts.len() - 1
        });
        texts[at].1.1.push((format!("{name}: {}", kernel.entry), kernel));
    }
    texts
}

fn compiled(nvrtc: &Nvrtc, architecture: u32, source: &Source) -> Usages {
    let ptx = nvrtc.compile(source, Code::Ptx(architecture)).map_err(|error| error.to_string())?;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), ptx.strip_suffix(b"\0").unwrap_or(&ptx)).unwrap();
    let assembler = tool(match nvrtc.version().0 {
        13 => "nvidia/cu13/bin/ptxas",
        _ => "nvidia/cuda_nvcc/bin/ptxas",
    });
    let output = Command::new(&assembler)
        .args(["-v", &format!("-arch=sm_{architecture}"), "-o", "/dev/null"])
        .arg(file.path())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; run ./test", assembler.display()));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(usages(&stderr)) } else { Err(stderr) }
}

/// Parses the output of the assembler.
fn usages(output: &str) -> BTreeMap<String, Usage> {
    let before = |line: &str, unit: &str| -> u32 {
        let number =
            line.split(unit).next().unwrap().rsplit([' ', ',']).find(|word| !word.is_empty());
        number.unwrap().parse().unwrap()
    };
    let mut all = BTreeMap::new();
    let mut entry = String::new();
    for line in output.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.split('\'').next().unwrap().to_string();
        }
        let usage: &mut Usage = all.entry(entry.clone()).or_default();
        if line.contains(" bytes stack frame") {
            usage.spilled = before(line, " bytes stack frame");
        }
        if line.contains(" registers") {
            usage.registers = before(line, " registers");
        }
        if line.contains(" bytes smem") {
            usage.on_chip = before(line, " bytes smem");
        }
    }
    all
}

/// The NVRTC of this major version, which `./test` installs.
fn compiler(major: u32) -> Nvrtc {
    let path = tool(match major {
        13 => "nvidia/cu13/lib/libnvrtc.so.13",
        _ => "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    });
    let nvrtc = Nvrtc::open(&path).unwrap_or_else(|error| panic!("{error}; run ./test"));
    assert_eq!(nvrtc.version().0, major);
    nvrtc
}

/// A file of the Python packages of tests/requirements.txt.
fn tool(name: &str) -> PathBuf {
    let libraries = root().join(".venv/lib");
    let pythons = std::fs::read_dir(&libraries).into_iter().flatten().flatten();
    let mut paths = pythons.map(|python| python.path().join("site-packages").join(name));
    paths.find(|path| path.exists()).unwrap_or_else(|| {
        panic!("{name} is not in the Python packages under {}; run ./test", libraries.display())
    })
}
