//! Kernels compiled for NVIDIA's GPUs, without one: by NVRTC for every architecture that is served, then assembled by
//! ptxas, which tells registers, on-chip memory, and spills of registers to device memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use kolmo::backend::device::cuda::{Code, Nvrtc};
use kolmo::backend::device::{
    Device, DeviceInfo, DeviceOperator, Gpu, KernelRequest, LineSolver, Recording, Scratch, Source,
    obstacle,
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

/// Asks a device for the kernels of a computation.
type Ask = Box<dyn Fn(&Arc<Device>) + Send + Sync>;
/// A computation whose kernels are compiled, by name.
type Specialisation = (&'static str, Ask);

/// The computations whose kernels are compiled; one line adds another.
pub(super) fn specialisations() -> Vec<Specialisation> {
    forms().into_iter().chain(others()).collect()
}

/// Those that are compiled for every architecture that is asked for.
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

/// Those of `specialisations` that are compiled for the architecture that has least of everything, and for others only where all are
/// asked for: what others would find is a spill.
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

/// Lines that chunks divide evenly, and others.
const POINTS: [usize; 3] = [64, 63, 62];

/// What asks for all that a run of `case` takes.
pub(super) fn run(case: &'static str, points: [usize; 3], set: &'static [&'static str]) -> Ask {
    Box::new(move |device| {
        let config = config(case, points, set);
        let len = config.grid.points.iter().product();
        let gpu = || Arc::new(Gpu::configured(device.clone(), len, &config.compute).unwrap());
        Stepper::new(&*gpu(), config.time.integrator, 1, len).unwrap();
        // A device that computes nothing gives no state that makes sense; by then everything has been asked for.
        let refused = Simulation::on(gpu(), &config).err();
        assert!(matches!(refused, None | Some(Error::Diverged { .. })), "{refused:?}");
    })
}

/// What asks for the kernels of one line solver: both precisions, axes and ends, long and short lines, where it can.
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
            if obstacle(solver, operator, (axis, pencils), device.info()).is_none() {
                let points = grid.points;
                let method = (solver, pencils);
                let made = DeviceOperator::new(&scratch, operator, points, axis, method);
                drop(made.unwrap());
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

/// A compute capability, and with what it is served.
#[derive(Clone, Copy)]
pub(super) struct Architecture {
    /// Ten times the capability.
    pub(super) number: u32,
    /// Bytes of on-chip memory that a block may take.
    pub(super) on_chip: usize,
    /// The CUDA whose compiler and assembler are used.
    cuda: u32,
}

pub(super) const ARCHITECTURES: [Architecture; 5] = [
    Architecture { number: 70, on_chip: 96 << 10, cuda: 12 },
    Architecture { number: 75, on_chip: 64 << 10, cuda: 13 },
    Architecture { number: 80, on_chip: 163 << 10, cuda: 13 },
    Architecture { number: 90, on_chip: 227 << 10, cuda: 13 },
    Architecture { number: 100, on_chip: 227 << 10, cuda: 13 },
];

/// Whether the variable KOLMO_ARCHITECTURES asks for all.
fn all_are_asked_for() -> bool {
    std::env::var("KOLMO_ARCHITECTURES").is_ok_and(|which| which == "all")
}

/// Those of `usual` numbers; all of `numbers` where all are asked for.
pub(super) fn architectures(usual: &[u32], numbers: &[u32]) -> Vec<Architecture> {
    let wanted = if all_are_asked_for() { numbers } else { usual };
    ARCHITECTURES.into_iter().filter(|on| wanted.contains(&on.number)).collect()
}

/// Registers of a multiprocessor, of which a block of threads must find enough.
pub(super) const REGISTERS: u32 = 65536;

/// What the assembler says of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) registers: u32,
    /// Beyond what a launch asks for.
    on_chip: u32,
    /// Bytes that a thread keeps in device memory.
    pub(super) spilled: u32,
}

/// What the assembler says of each kernel of a text, by entry; or what the compiler refuses.
pub(super) type Usages = Result<BTreeMap<String, Usage>, String>;

/// The compilers, and what they made of texts so far.
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

    /// A GPU of an architecture that computes nothing, with these compilers for the kernels that are `looked_at`: others are taken to
    /// spill nothing.
    pub(super) fn recording(
        self: &Arc<Self>,
        on: Architecture,
        looked_at: impl Fn(&KernelRequest) -> bool + Send + Sync + 'static,
    ) -> (Arc<Device>, Recording) {
        let info = DeviceInfo {
            memory: 80 << 30,
            largest_buffer: 80 << 30,
            on_chip: on.on_chip,
            copies_beside: on.number >= 80,
            ..gpu()
        };
        let compilers = Arc::clone(self);
        Device::recording(info, move |kernel| match looked_at(kernel) {
            true => compilers.usages(on, &kernel.source).unwrap()[&kernel.entry].spilled as usize,
            false => 0,
        })
    }
}

#[test]
fn every_kernel_compiles_for_the_oldest_architecture_and_a_new_one_and_spills_no_register() {
    let compilers = Compilers::new();
    let mut work = Vec::new();
    for on in architectures(&[70, 90], &ARCHITECTURES.map(|on| on.number)) {
        let here =
            if on.number == 70 || all_are_asked_for() { specialisations() } else { others() };
        work.extend(here.into_iter().map(|(name, ask)| (on, name, ask)));
    }
    let asked = on_two_threads(work, |(on, name, ask)| {
        let (device, recording) = compilers.recording(*on, |_| true);
        ask(&device);
        assert!(!recording.kernels().is_empty(), "{name} asks for no kernel");
        recording.kernels().into_iter().map(|kernel| (*on, *name, kernel)).collect::<Vec<_>>()
    });
    let work = texts(asked.into_iter().flatten());
    let results = on_two_threads(work, |(architecture, (source, kernels))| {
        match compilers.usages(*architecture, source) {
            Ok(usages) => judged(*architecture, kernels, &usages),
            Err(message) => (Vec::new(), vec![format!("{}: {message}", kernels[0].0)]),
        }
    });
    let (rows, wrong): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let (rows, wrong) = (rows.concat(), wrong.concat());
    let table = format!("architecture  registers  on chip  spilled  kernel\n{}\n", rows.join("\n"));
    println!("{table}");
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels.txt"), table).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of the table for the kernels of one text, and what is wrong with them.
fn judged(
    Architecture { number, on_chip: limit, .. }: Architecture,
    kernels: &[(String, KernelRequest)],
    usages: &BTreeMap<String, Usage>,
) -> (Vec<String>, Vec<String>) {
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (name, kernel) in kernels {
        let Some(&Usage { registers, on_chip, spilled }) = usages.get(&kernel.entry) else {
            wrong.push(format!("{name}: the assembler does not speak of it"));
            continue;
        };
        let on_chip = kernel.on_chip + on_chip as usize;
        rows.push(format!("sm_{number:<9} {registers:10} {on_chip:8} {spilled:8}  {name}"));
        let mut refuse = |what: String| wrong.push(format!("{name} on sm_{number}: {what}"));
        if spilled > 0 {
            refuse(format!("{spilled} bytes are spilled"));
        }
        if on_chip > limit {
            refuse(format!("{on_chip} bytes on chip a block; there are {limit}"));
        }
        let threads: u32 = kernel.threads.iter().product();
        // A warp takes registers by 256, so a thread by 8.
        if registers.next_multiple_of(8) * threads.next_multiple_of(32) > REGISTERS {
            refuse(format!("{threads} threads of {registers} registers cannot start"));
        }
    }
    (rows, wrong)
}

#[test]
fn a_spill_is_seen() {
    // 300 values that are all needed at the end do not fit into the 255 registers of a thread.
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
fn the_compiler_that_fits_the_driver_and_the_chip_is_taken() {
    let [new, old] = [13, 12].map(|major| compiler(major).path().to_path_buf());
    let both = [new.clone(), PathBuf::from("/nowhere/libnvrtc.so"), old.clone()];
    for (driver, capability, version) in [
        ((13, 0), 90, (13, 0)),
        ((13, 2), 75, (13, 0)),
        ((12, 9), 90, (12, 9)),
        // No newer than the driver where there is one; else of its major version, whose machine code it loads.
        ((12, 8), 90, (12, 9)),
        ((13, 0), 70, (12, 9)),
    ] {
        let found = Nvrtc::fitting(both.clone(), driver, capability).unwrap();
        assert_eq!(found.version(), version, "driver {driver:?}, {capability}");
    }
    let refusal = |candidates: &[PathBuf], driver, capability| {
        let error = Nvrtc::fitting(candidates.to_vec(), driver, capability).err().unwrap();
        error.to_string()
    };
    let told = refusal(&[], (13, 1), 90);
    assert!(
        told.contains("was not found") && told.contains("pip install 'nvidia-cuda-nvrtc<13.2'")
    );
    let told = refusal(&[], (12, 8), 90);
    assert!(told.contains("pip install 'nvidia-cuda-nvrtc-cu12<12.9'"), "{told}");
    let told = refusal(std::slice::from_ref(&new), (12, 8), 90);
    assert!(told.contains("does not fit the driver (CUDA 12.8)") && told.contains("of CUDA 13.0"));
    let told = refusal(&[new], (13, 0), 70);
    assert!(told.contains("pip install 'nvidia-cuda-nvrtc-cu12<13.0'"), "{told}");
}

#[test]
fn a_chip_gets_its_own_code_and_one_newer_than_the_compiler_that_of_the_nearest() {
    let nvrtc = compiler(13);
    assert_eq!(nvrtc.code_for(75).unwrap(), Code::Cubin(75));
    assert_eq!(nvrtc.code_for(90).unwrap(), Code::Cubin(90));
    let newest = *nvrtc.capabilities().last().unwrap();
    assert_eq!(nvrtc.code_for(newest + 10).unwrap(), Code::Ptx(newest));
    let told = nvrtc.code_for(70).unwrap_err().to_string();
    assert!(
        told.contains("compiles for compute capability 7.5 and newer; this GPU has 7.0"),
        "{told}"
    );
    let image = nvrtc.compile(&saxpy_source::<f64>(), Code::Cubin(90)).unwrap();
    assert!(image.starts_with(b"\x7fELF"));
    let assembly = nvrtc.compile(&saxpy_source::<f64>(), Code::Ptx(90)).unwrap();
    assert!(String::from_utf8(assembly).unwrap().contains(".target sm_90"));
}

#[test]
fn what_does_not_compile_is_refused_with_the_lines_it_speaks_of() {
    let Source { text, .. } = saxpy_source::<f64>();
    let line = text.lines().count() + 1;
    let source = Source {
        name: "saxpy f64".into(),
        text: text + "DEVICE int wrong(void) { return missing; }\n",
    };
    let told = compiler(13).compile(&source, Code::Cubin(90)).unwrap_err().to_string();
    for part in [
        "could not compile `saxpy f64` for sm_90",
        &format!("saxpy f64({line}): error: identifier \"missing\" is undefined"),
        &format!("\n{line:6} | DEVICE int wrong(void) {{ return missing; }}"),
    ] {
        assert!(told.contains(part), "{part}\nin\n{told}");
    }
}

/// A text with the kernels in it, each named for the specialisation that asks for it first.
type Text = (Source, Vec<(String, KernelRequest)>);

/// Every text of kernels that are asked for, each once for an architecture.
fn texts(
    asked: impl Iterator<Item = (Architecture, &'static str, KernelRequest)>,
) -> Vec<(Architecture, Text)> {
    let mut texts: Vec<(Architecture, Text)> = Vec::new();
    let (mut seen, mut places) = (HashSet::new(), HashMap::new());
    for (on, name, kernel) in asked {
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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(usages(&said)) } else { Err(said) }
}

/// The assembler's words as numbers.
fn usages(said: &str) -> BTreeMap<String, Usage> {
    let before = |line: &str, unit: &str| -> u32 {
        let number =
            line.split(unit).next().unwrap().rsplit([' ', ',']).find(|word| !word.is_empty());
        number.unwrap().parse().unwrap()
    };
    let mut all = BTreeMap::new();
    let mut entry = String::new();
    for line in said.lines() {
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

/// NVRTC of this major version, which `./test` installs.
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
