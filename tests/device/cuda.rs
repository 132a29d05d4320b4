//! CUDA without a GPU: the real calls go to a strict substitute driver (tests/data/cuda_driver.c), which computes one kernel. Also the
//! error messages for drivers that cannot be used. The tests of the device itself are ignored, because they need a driver: they run here
//! with the substitute, and with `--ignored` on a machine with a GPU.

use std::path::Path;
use std::process::{Command, Output};

use kolmo::backend::device::{Api, Arg, Buffer, Device, devices};
use kolmo::config::Precision;

use super::runtime::{request, saxpy, saxpy_source, waited};
use crate::common::{program, root};

#[test]
fn device_tests_pass_on_a_strict_driver_without_leaks_or_recompilation() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let run = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--test-threads=1", "--nocapture", "device::cuda::"]);
        Driver::Strict.with(driver.path(), &mut command).output().unwrap()
    };
    let (stdout, stderr) = output_text(&run());
    assert!(stdout.contains("8 passed; 0 failed"), "{stdout}\n{stderr}");
    assert!(stderr.contains("graph of 2 launches") && !stderr.contains("left over"), "{stderr}");
    let cached = || {
        let files = std::fs::read_dir(driver.path().join("kolmo")).unwrap();
        let times = files.map(|file| file.unwrap().metadata().unwrap().modified().unwrap());
        times.collect::<Vec<_>>()
    };
    let before = cached();
    assert_eq!(before.len(), 1 + TEXTS, "a kernel text was not compiled, or was compiled twice");
    let (stdout, _) = output_text(&run());
    assert!(stdout.contains("8 passed; 0 failed"), "{stdout}");
    assert_eq!(cached(), before, "cached kernels are compiled again");
}

/// Catches a run that fails because the memory suffices for the fields but not for a graph.
#[test]
fn launches_run_without_a_graph_if_there_is_no_memory_for_it() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--nocapture", "device::cuda::launches_accept_new_scalars"]);
    let command = Driver::Strict.with(driver.path(), &mut command);
    let (stdout, stderr) = output_text(&command.env("KOLMO_CUDA_GRAPHS", "0").output().unwrap());
    assert!(stdout.contains("1 passed; 0 failed"), "{stdout}\n{stderr}");
    assert!(!stderr.contains("graph of") && !stderr.contains("left over"), "{stderr}");
}

#[test]
fn cached_kernels_are_reused_after_the_compiler_moves() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    std::fs::create_dir(&here).unwrap();
    Driver::OpenCl.build(&here);
    let cached = |driver: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--ignored",
            "--exact",
            "device::cuda::fetches_return_earlier_values_while_later_launches_run",
        ]);
        let (stdout, stderr) =
            output_text(&Driver::OpenCl.with(driver, &mut command).output().unwrap());
        assert!(stdout.contains("1 passed; 0 failed"), "{stdout}\n{stderr}");
        std::fs::read_dir(driver.join("kolmo")).unwrap().count()
    };
    assert_eq!(cached(&here), 1);
    std::fs::rename(&here, &there).unwrap();
    assert_eq!(cached(&there), 1, "the kernel was compiled again");
}

/// Catches numbers of registers and of resident blocks that belong to another kernel, or to none.
#[test]
fn bench_sweeps_reports_the_kernel_attributes_of_the_driver() {
    let driver = tempfile::tempdir().unwrap();
    Driver::OpenCl.build(driver.path());
    let arguments = "bench sweeps --points 16x16x1 --backend cuda --repeats 1 --json \
                     --set scheme.derivative=explicit4 --set compute.sweeps.lines=8";
    let mut command = Command::new(program());
    let output = Driver::OpenCl
        .with(driver.path(), command.args(arguments.split_whitespace()))
        .output()
        .unwrap();
    let (stdout, stderr) = output_text(&output);
    assert!(output.status.success(), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = report["results"].as_array().unwrap();
    let stages: Vec<_> = rows.iter().map(|row| row["stages"].as_str().unwrap()).collect();
    assert_eq!(stages, ["first", "all", "all but last", "last"]);
    for row in rows {
        let kernel = |key: &str| row["kernel"][key].as_u64().unwrap();
        assert_eq!([kernel("registers"), kernel("lines"), kernel("threads")], [254, 8, 16]);
        let fit = (228 << 10) / (kernel("on_chip") + 1024);
        assert_eq!(kernel("resident"), fit.min(2048 / 16), "{row}");
        assert!(row["error"].as_f64().unwrap() < 1e-12, "{row}");
    }
}

#[test]
fn info_reports_cause_and_remedy_for_unusable_drivers() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let info = |set: &[(&str, &str)]| {
        let mut command = Command::new(program());
        let output = Driver::Strict
            .with(driver.path(), command.arg("info"))
            .envs(set.iter().copied())
            .output();
        let (stdout, stderr) = output_text(&output.unwrap());
        assert_eq!(stderr, "");
        stdout
    };
    for (name, value, cause, remedy) in [
        ("KOLMO_CUDA_VERSION", "12040", "is of CUDA 12.4; 12.8 or newer is needed", "release 570"),
        ("KOLMO_CUDA_INIT", "100", "finds no GPU", "nvidia-smi"),
        ("KOLMO_CUDA_INIT", "34", "is the stub of a toolkit", "LD_LIBRARY_PATH"),
        ("KOLMO_CUDA_INIT", "999", "CUDA could not start the driver: driver error 999", ""),
        ("KOLMO_CUDA_CAPABILITY", "35", "does not fit the driver", "pip install"),
    ] {
        let stdout = info(&[(name, value)]);
        assert!(stdout.contains(cause) && stdout.contains(remedy), "{stdout}");
    }
    let stdout = info(&[]);
    assert!(stdout.contains("cuda     0: Strict 0\n"), "{stdout}");
    assert!(
        stdout.contains("CUDA 13.0, compute capability 9.0; 1.0 GiB of memory, 227 KiB"),
        "{stdout}"
    );
    assert!(stdout.contains("nvrtc    13.0, "), "{stdout}");
    // An older driver and an older GPU each select the older compiler.
    assert!(info(&[("KOLMO_CUDA_VERSION", "12090")]).contains("nvrtc    12.9, "));
    assert!(info(&[("KOLMO_CUDA_CAPABILITY", "70")]).contains("nvrtc    12.9, "));
}

#[test]
#[ignore = "needs a CUDA device"]
fn launches_accept_new_scalars_each_time_also_as_a_graph() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    for n in [1, 7, 8, 9, 16, 31] {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i) + 0.5).collect();
        let nan = vec![f64::NAN; values.len()];
        let x = Buffer::from_host(&device, &values).unwrap();
        let mut y = Buffer::from_host(&device, &nan).unwrap();
        device.copy(&x, &mut y);
        let [mid, out] = [&nan; 2].map(|nan| Buffer::from_host(&device, nan).unwrap());
        for a in [2.0, -1.0, 0.25, 7.0] {
            saxpy(&device, a, &x, &y, &mid).unwrap();
            saxpy(&device, a + 1.0, &mid, &y, &out).unwrap();
            let expected: Vec<f64> = values.iter().map(|x| (a + 1.0) * (a * x + x) + x).collect();
            assert_eq!(out.download::<f64>().unwrap(), expected, "{n} {a}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_may_request_extra_on_chip_memory_and_launch_on_any_thread() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let x = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 8]).unwrap();
    let kernel = device.kernel(request(saxpy_source::<f64>(), 60_000)).unwrap();
    let seconds = std::thread::scope(|scope| {
        let work = || {
            let scalars = Arg::Scalars(Precision::F64, &[2.0]);
            let arguments = [x.arg(), x.arg(), out.arg(), scalars, Arg::Int(8)];
            device.time(|| kernel.launch([1, 1, 1], arguments)).unwrap()
        };
        scope.spawn(work).join().unwrap()
    });
    assert!(seconds > 0.0);
    assert_eq!(out.download::<f64>().unwrap(), [3.0; 8]);
}

#[test]
#[ignore = "needs a CUDA device"]
fn spilling_kernels_are_unloaded_unless_in_use() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let unspilled = || device.compiled(request(saxpy_source::<f64>(), 64), false).unwrap();
    // The substitute driver reports 24 spilled bytes, except for kernels that it runs; on a GPU the kernel has few values and spills none.
    let runs_all = std::env::var("KOLMO_CUDA_KERNELS").is_ok_and(|value| value != "0");
    let spills = device.info().name.starts_with("Strict") && !runs_all;
    let x = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 8]).unwrap();
    assert_eq!(unspilled().is_none(), spills);
    let mut expected = 3.0;
    for a in [2.0, 3.0] {
        saxpy(&device, a, &x, &x, &out).unwrap();
        assert_eq!(unspilled().is_none(), spills);
        assert_eq!(out.download::<f64>().unwrap(), [expected; 8]);
        expected += 1.0;
    }
}

/// Number of kernel texts that several threads request at once.
const TEXTS: usize = 2;

#[test]
#[ignore = "needs a CUDA device"]
fn concurrent_requests_for_a_kernel_text_share_one_compilation() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    // A module that is loaded twice is left over at the end, which the substitute driver reports.
    let spills = device.info().name.starts_with("Strict");
    std::thread::scope(|scope| {
        for number in (0..TEXTS).cycle().take(4 * TEXTS) {
            let device = &device;
            scope.spawn(move || {
                let mut source = saxpy_source::<f64>();
                source.text.push_str(&format!("/* {number} */\n"));
                for _ in 0..3 {
                    let unspilled = device.compiled(request(source.clone(), 64), false).unwrap();
                    assert_eq!(unspilled.is_none(), spills);
                }
                let x = Buffer::from_host(device, &[1.0; 8]).unwrap();
                let out = Buffer::from_host(device, &[f64::NAN; 8]).unwrap();
                let kernel = device.kernel(request(source, 64)).unwrap();
                let scalars = Arg::Scalars(Precision::F64, &[2.0]);
                kernel.launch([1, 1, 1], [x.arg(), x.arg(), out.arg(), scalars, Arg::Int(8)]);
                assert_eq!(out.download::<f64>().unwrap(), [3.0; 8]);
            });
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn fetches_return_earlier_values_while_later_launches_run() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let x = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 8]).unwrap();
    for a in [2.0, 3.0, 4.0] {
        saxpy(&device, a, &x, &x, &out).unwrap();
        let pending = out.fetch(8).unwrap();
        saxpy(&device, 9.0, &x, &x, &out).unwrap();
        assert_eq!(waited(pending), [a + 1.0; 8]);
    }
    // A fetch without a wait is released with the device.
    drop(out.fetch(1).unwrap());
}

#[test]
#[ignore = "needs a CUDA device"]
fn oversized_buffers_are_rejected_with_needed_and_free_memory() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let free = device.free_memory().unwrap();
    let values = usize::try_from(device.info().memory / 8 + 1).unwrap();
    let message = Buffer::new(&device, Precision::F64, values).err().unwrap().to_string();
    assert!(message.contains(&format!("{} bytes", 8 * values)), "{message}");
    assert!(message.contains(&format!("where {free} are free")), "{message}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn missing_cuda_devices_are_rejected_with_their_index() {
    let count = devices(Api::Cuda).unwrap().len();
    let message = Device::open(Api::Cuda, count).err().unwrap().to_string();
    assert!(message.contains(&format!("no CUDA device {count}")), "{message}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn cusparse_solves_every_system_of_a_batch() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    // The stencil 1, -3, 1 applied to u = 1, 2, …, n, with zero beyond the ends; two systems, 8 numbers apart.
    let (n, stride) = (5, 8);
    let line = |values: [f64; 5]| [&values[..], &[f64::NAN; 3]].concat().repeat(2);
    let buffer = |values: [f64; 5]| Buffer::from_host(&device, &line(values)).unwrap();
    let lower = buffer([0.0, 1.0, 1.0, 1.0, 1.0]);
    let (diagonal, upper) = (buffer([-3.0; 5]), buffer([1.0, 1.0, 1.0, 1.0, 0.0]));
    let x = buffer([-1.0, -2.0, -3.0, -4.0, -11.0]);
    device.solve_tridiagonal([n, 2, stride], [&lower, &diagonal, &upper], &x);
    let found = x.download::<f64>().unwrap();
    for (m, value) in found.iter().enumerate().filter(|(m, _)| m % stride < n) {
        let expected = 1.0 + f64::from(u32::try_from(m % stride).unwrap());
        assert!((value - expected).abs() < 1e-13, "{found:?}");
    }
}

#[test]
fn backend_auto_skips_unusable_cuda_and_reports_why() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let vortex =
        ["run", "taylor-green", "--set", "grid.points=[8, 8, 8]", "--set", "time.max_steps=1"];
    for (name, value, reason) in [
        ("KOLMO_CUDA_VERSION", "12040", "is of CUDA 12.4; 12.8 or newer is needed"),
        (
            "KOLMO_CUDA_CAPABILITY",
            "35",
            "CUDA's compiler NVRTC (libnvrtc.so) does not fit the driver",
        ),
    ] {
        let run = |backend: &str| {
            let mut command = Command::new(program());
            command.args(vortex).args(["--overwrite", "--backend", backend]);
            let command = Driver::Strict.with(driver.path(), command.current_dir(driver.path()));
            command.env(name, value).env("OCL_ICD_VENDORS", "none").output().unwrap()
        };
        let auto = run("auto");
        let stderr = output_text(&auto).1;
        assert!(
            auto.status.success() && stderr.contains("note: ") && stderr.contains(reason),
            "{stderr}"
        );
        let summary = driver.path().join("runs/taylor-green/summary.json");
        assert!(std::fs::read_to_string(summary).unwrap().contains("\"backend\": \"cpu\""));
        let explicit = run("cuda");
        let stderr = output_text(&explicit).1;
        assert!(explicit.status.code() == Some(2) && stderr.contains(reason), "{stderr}");
    }
}

#[test]
fn startup_compiles_only_the_kernels_of_a_step() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--backend", "cuda", "--set", "grid.points=[12, 12, 1]"]);
    let command = Driver::Strict.with(driver.path(), command.current_dir(driver.path()));
    let output = command.env("KOLMO_CUDA_OTHER_KERNELS", "2").output().unwrap();
    // Kernels that compute nothing give an invalid initial state.
    let stderr = output_text(&output).1;
    assert!(stderr.contains("the initial state has"), "{stderr}");
    // The name of a kernel text ends the first line of its cache key.
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        let content = std::fs::read(file.unwrap().path()).unwrap();
        let line = String::from_utf8_lossy(&content).lines().nth(2).unwrap().to_string();
        line.rsplit([' ', ':']).next().unwrap().to_string()
    };
    let files = std::fs::read_dir(driver.path().join("kolmo")).unwrap();
    let mut names: Vec<String> = files.map(name).collect();
    names.sort();
    // Along two axes: a pass, the first sweep, and the last sweep with and without gradients for the next stage.
    assert_eq!(names, ["StepRate", "Zero", "sweep", "sweep", "sweep", "sweep"]);
}

/// A substitute driver and the libraries that accompany it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Driver {
    /// It computes one kernel; cuSPARSE is there, NCCL is not.
    Strict,
    /// With NCCL.
    Nccl,
    /// With NCCL and a compiler; OpenCL runs all kernels.
    OpenCl,
}

impl Driver {
    /// Builds it under all library names that the program searches, because calls to one library take part in the driver's queue.
    pub(crate) fn build(self, folder: &Path) {
        let compile = |library: &str, sources: &[&str], needed: &str| {
            let data = root().join("tests/data");
            let cc = Command::new("cc")
                .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
                .arg(folder.join(library))
                .args(sources.iter().map(|source| data.join(source)))
                .arg("-L")
                .arg(folder)
                .args([&format!("-l:{needed}"), "-lpthread"])
                .output()
                .unwrap_or_else(|error| panic!("cc, the linker of Rust: {error}"));
            assert!(cc.status.success(), "{}", output_text(&cc).1);
        };
        compile("libcuda.so", &["cuda_driver.c", "opencl.c"], "libOpenCL.so.1");
        let solver = folder.join("libcusparse.so");
        std::os::unix::fs::symlink(folder.join("libcuda.so"), solver).unwrap();
        if self != Driver::Strict {
            compile("libnccl.so.2", &["nccl.c"], "libcuda.so");
        }
        if self == Driver::OpenCl {
            compile("libnvrtc.so.13", &["nvrtc.c"], "libOpenCL.so.1");
        }
    }

    /// Lets a command find this driver first, the compilers of `./test`, and an empty cache.
    pub(crate) fn with<'a>(self, folder: &Path, command: &'a mut Command) -> &'a mut Command {
        for name in ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "CUDA_VISIBLE_DEVICES"] {
            command.env_remove(name);
        }
        command.env("LD_LIBRARY_PATH", folder).env("XDG_CACHE_HOME", folder);
        let set = |so: bool| if so { "1" } else { "0" };
        // Trials of memory need the kernels that clear and copy it: with NCCL they exist, but do not run.
        command.env("KOLMO_CUDA_OTHER_KERNELS", set(self == Driver::Nccl));
        command.env("KOLMO_CUDA_KERNELS", set(self == Driver::OpenCl));
        command.env("VIRTUAL_ENV", root().join(".venv"))
    }
}

fn output_text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
