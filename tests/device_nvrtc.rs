//! Kernels compiled for NVIDIA's GPUs, without one: by NVRTC for every architecture that is served, then assembled by
//! ptxas, which tells registers, on-chip memory, and spills of registers to device memory.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use kolmo::backend::device::cuda::{Code, Nvrtc};
use kolmo::backend::device::{Api, Device, DeviceInfo, RecordedKernel, Source};

use crate::device_runtime::{ask_for_saxpy, saxpy_source};

/// A computation whose kernels are compiled: its name, and what asks a device for them.
type Specialisation = (&'static str, fn(&Arc<Device>));

/// The computations whose kernels are compiled; one line adds another.
fn specialisations() -> Vec<Specialisation> {
    vec![("saxpy f64", ask_for_saxpy::<f64>), ("saxpy f32", ask_for_saxpy::<f32>)]
}

/// (architecture, bytes of on-chip memory that a block may take, CUDA whose compiler and assembler are used)
const ARCHITECTURES: [(u32, usize, u32); 5] = [
    (70, 96 << 10, 12),
    (75, 64 << 10, 13),
    (80, 163 << 10, 13),
    (90, 227 << 10, 13),
    (100, 227 << 10, 13),
];

/// Spills that are allowed: (kernel as in the table, architecture, bytes stored and loaded, why it is faster so, as
/// measured).
const SPILLS: &[(&str, u32, u32, &str)] = &[];

/// Registers of a multiprocessor, of which a block of threads must find enough.
const REGISTERS: u32 = 65536;

/// What the assembler says of a kernel.
#[derive(Debug, Default, PartialEq)]
struct Usage {
    registers: u32,
    /// Beyond what a launch asks for.
    on_chip: u32,
    spilled: u32,
}

#[test]
fn every_kernel_compiles_for_every_architecture_and_spills_no_register() {
    let compilers = BTreeMap::from([13, 12].map(|major| (major, compiler(major))));
    let mut work = Vec::new();
    for (architecture, on_chip, cuda) in ARCHITECTURES {
        for (name, kernels) in recorded(on_chip) {
            work.extend(kernels.into_iter().map(|kernel| (architecture, cuda, name, kernel)));
        }
    }
    let rows = on_two_threads(work, |(architecture, cuda, name, kernel)| {
        let usage = compiled(&compilers[cuda], *cuda, *architecture, &kernel.source);
        let usage = usage.map(|mut all| all.remove(&kernel.entry).unwrap_or_default());
        (format!("{name}: {}", kernel.entry), *architecture, kernel.clone(), usage)
    });
    let mut table = String::from("architecture  registers  on chip  spilled  kernel\n");
    let mut wrong = Vec::new();
    let mut allowed: HashSet<_> = SPILLS.iter().map(|row| (row.0, row.1, row.2)).collect();
    for (name, architecture, kernel, usage) in &rows {
        let usage = match usage {
            Ok(usage) => usage,
            Err(message) => {
                wrong.push(format!("{name} for sm_{architecture}: {message}"));
                continue;
            }
        };
        let on_chip = kernel.on_chip + usage.on_chip as usize;
        table += &format!(
            "sm_{architecture:<9} {:10} {on_chip:8} {:8}  {name}\n",
            usage.registers, usage.spilled
        );
        let spilled = (name.as_str(), *architecture, usage.spilled);
        if usage.spilled > 0 && !allowed.remove(&spilled) {
            wrong.push(format!("{name} spills {} bytes on sm_{architecture}", usage.spilled));
        }
        if usage.registers == 0 {
            wrong.push(format!("{name}: the assembler does not speak of it"));
        }
        let threads: u32 = kernel.threads.iter().product();
        // A warp takes registers by 256, so a thread by 8.
        if usage.registers.next_multiple_of(8) * threads.next_multiple_of(32) > REGISTERS {
            let taken = format!("{} registers a thread", usage.registers);
            wrong.push(format!(
                "{name} cannot start on sm_{architecture}: {threads} threads, {taken}"
            ));
        }
    }
    println!("{table}");
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels.txt"), table).unwrap();
    wrong.extend(allowed.iter().map(|spill| format!("{spill:?} is allowed and does not happen")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    let usage = compiled(&compiler(13), 13, 90, &source).unwrap().remove("greedy").unwrap();
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

/// The kernels of every specialisation on a GPU with this much on-chip memory a block, each text once.
fn recorded(on_chip: usize) -> Vec<(&'static str, Vec<RecordedKernel>)> {
    let mut seen = HashSet::new();
    let of = |(name, ask): Specialisation| {
        let (device, recording) = Device::recording(DeviceInfo {
            api: Api::Cuda,
            index: 0,
            name: "a GPU".into(),
            driver: String::new(),
            is_gpu: true,
            memory: 80 << 30,
            largest_buffer: 80 << 30,
            on_chip,
            block_threads: 1024,
            has_f64: true,
        });
        ask(&device);
        let mut kernels = recording.kernels();
        assert!(!kernels.is_empty(), "{name} asks for no kernel");
        kernels.retain(|kernel| seen.insert(kernel.clone()));
        (name, kernels)
    };
    specialisations().into_iter().map(of).collect()
}

/// What the assembler says of each kernel of a text, by entry.
fn compiled(
    nvrtc: &Nvrtc,
    cuda: u32,
    architecture: u32,
    source: &Source,
) -> Result<BTreeMap<String, Usage>, String> {
    let ptx = nvrtc.compile(source, Code::Ptx(architecture)).map_err(|error| error.to_string())?;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), ptx.strip_suffix(b"\0").unwrap_or(&ptx)).unwrap();
    let assembler = tool(match cuda {
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
        if line.contains("bytes spill stores") {
            usage.spilled +=
                before(line, " bytes spill stores") + before(line, " bytes spill loads");
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

/// Two at a time: what takes long here is the compiler, and machines that run these tests have two cores or more.
fn on_two_threads<A: Send, B: Send>(work: Vec<A>, task: impl Fn(&A) -> B + Sync) -> Vec<B> {
    let queue = Mutex::new(work.into_iter().enumerate().collect::<Vec<_>>().into_iter());
    let next = || queue.lock().unwrap().next();
    let mut results: Vec<(usize, B)> = std::thread::scope(|scope| {
        let thread = || {
            let mut done = Vec::new();
            while let Some((at, item)) = next() {
                done.push((at, task(&item)));
            }
            done
        };
        let threads = [scope.spawn(thread), scope.spawn(thread)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
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
    let libraries = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/lib");
    let pythons = std::fs::read_dir(&libraries).into_iter().flatten().flatten();
    let mut paths = pythons.map(|python| python.path().join("site-packages").join(name));
    paths.find(|path| path.exists()).unwrap_or_else(|| {
        panic!("{name} is not in the Python packages under {}; run ./test", libraries.display())
    })
}
