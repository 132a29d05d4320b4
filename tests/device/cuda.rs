//! CUDA without a GPU: the real calls to a driver that is not one (tests/data/cuda_driver.c), which is strict and computes
//! one kernel; and what users are told of drivers that cannot be used. The tests of the device are ignored unless a
//! driver is there: run with that driver here, and with `--ignored` on a machine with a GPU.

use std::path::Path;
use std::process::{Command, Output};

use kolmo::backend::device::{Api, Arg, Buffer, Device, devices};
use kolmo::config::Precision;

use super::runtime::{request, saxpy, saxpy_source, waited};
use crate::common::{program, root};

#[test]
fn all_that_a_device_does_goes_through_a_strict_driver_and_nothing_is_left() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let run = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--test-threads=1", "--nocapture", "device::cuda::"]);
        Driver::Strict.with(driver.path(), &mut command).output().unwrap()
    };
    let (said, told) = words(&run());
    assert!(said.contains("8 passed; 0 failed"), "{said}\n{told}");
    assert!(told.contains("graph of 2 launches") && !told.contains("left over"), "{told}");
    let kept = || {
        let files = std::fs::read_dir(driver.path().join("kolmo")).unwrap();
        let times = files.map(|file| file.unwrap().metadata().unwrap().modified().unwrap());
        times.collect::<Vec<_>>()
    };
    let before = kept();
    assert_eq!(
        before.len(),
        1 + TEXTS,
        "a text was not compiled, or two were compiled that differ in nothing"
    );
    let (said, _) = words(&run());
    assert!(said.contains("8 passed; 0 failed"), "{said}");
    assert_eq!(kept(), before, "what was compiled before is compiled again");
}

/// Catches a run that ends because memory is left for fields and not for a graph.
#[test]
fn a_list_of_launches_that_finds_no_room_as_a_graph_goes_without() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--nocapture", "device::cuda::a_list_of_launches_gives"]);
    let command = Driver::Strict.with(driver.path(), &mut command);
    let (said, told) = words(&command.env("KOLMO_CUDA_GRAPHS", "0").output().unwrap());
    assert!(said.contains("1 passed; 0 failed"), "{said}\n{told}");
    assert!(!told.contains("graph of") && !told.contains("left over"), "{told}");
}

#[test]
fn what_was_compiled_is_found_where_the_compiler_lies_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    std::fs::create_dir(&here).unwrap();
    Driver::OpenCl.build(&here);
    let kept = |driver: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--ignored",
            "--exact",
            "device::cuda::numbers_come_while_the_device_goes_on",
        ]);
        let (said, told) = words(&Driver::OpenCl.with(driver, &mut command).output().unwrap());
        assert!(said.contains("1 passed; 0 failed"), "{said}\n{told}");
        std::fs::read_dir(driver.join("kolmo")).unwrap().count()
    };
    assert_eq!(kept(&here), 1);
    std::fs::rename(&here, &there).unwrap();
    assert_eq!(kept(&there), 1, "it was compiled again");
}

/// Catches registers and resident blocks that are those of another kernel, or of none.
#[test]
fn a_bench_of_sweeps_says_what_the_driver_tells_of_their_kernels() {
    let driver = tempfile::tempdir().unwrap();
    Driver::OpenCl.build(driver.path());
    let arguments = "bench sweeps --points 16x16x1 --backend cuda --repeats 1 --json \
                     --set scheme.derivative=explicit4 --set compute.sweeps.lines=8";
    let mut command = Command::new(program());
    let output = Driver::OpenCl
        .with(driver.path(), command.args(arguments.split_whitespace()))
        .output()
        .unwrap();
    let (said, told) = words(&output);
    assert!(output.status.success(), "{told}");
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
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
fn a_driver_that_cannot_be_used_is_refused_with_its_cause_and_the_way_out() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let info = |set: &[(&str, &str)]| {
        let mut command = Command::new(program());
        let output = Driver::Strict
            .with(driver.path(), command.arg("info"))
            .envs(set.iter().copied())
            .output();
        let (said, told) = words(&output.unwrap());
        assert_eq!(told, "");
        said
    };
    for (name, value, cause, way_out) in [
        ("KOLMO_CUDA_VERSION", "12040", "is of CUDA 12.4; 12.8 or newer is needed", "release 570"),
        ("KOLMO_CUDA_INIT", "100", "finds no GPU", "nvidia-smi"),
        ("KOLMO_CUDA_INIT", "34", "is the stub of a toolkit", "LD_LIBRARY_PATH"),
        ("KOLMO_CUDA_INIT", "999", "CUDA could not start the driver: driver error 999", ""),
        ("KOLMO_CUDA_CAPABILITY", "35", "does not fit the driver", "pip install"),
    ] {
        let said = info(&[(name, value)]);
        assert!(said.contains(cause) && said.contains(way_out), "{said}");
    }
    let said = info(&[]);
    assert!(said.contains("cuda     0: Strict 0\n"), "{said}");
    assert!(
        said.contains("CUDA 13.0, compute capability 9.0; 1.0 GiB of memory, 227 KiB"),
        "{said}"
    );
    assert!(said.contains("nvrtc    13.0, "), "{said}");
    // The compiler that fits an older driver, and an older GPU.
    assert!(info(&[("KOLMO_CUDA_VERSION", "12090")]).contains("nvrtc    12.9, "));
    assert!(info(&[("KOLMO_CUDA_CAPABILITY", "70")]).contains("nvrtc    12.9, "));
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_list_of_launches_gives_the_same_with_new_scalars_each_time_also_as_a_graph() {
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
fn more_on_chip_memory_than_is_free_is_asked_for_and_another_thread_may_launch() {
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
fn a_kernel_that_spills_is_given_back_unless_somebody_holds_it() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let unspilled = || device.compiled(request(saxpy_source::<f64>(), 64), false).unwrap();
    // The driver of these tests says that 24 bytes are, but not of kernels that it runs; on a GPU the kernel has few values.
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

/// Texts that several threads ask for at once.
const TEXTS: usize = 2;

#[test]
#[ignore = "needs a CUDA device"]
fn threads_that_ask_for_one_text_at_once_get_what_one_of_them_compiled() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    // A module that is loaded twice is left over in the end, as the driver of these tests says.
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
fn numbers_come_while_the_device_goes_on() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let x = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 8]).unwrap();
    for a in [2.0, 3.0, 4.0] {
        saxpy(&device, a, &x, &x, &out).unwrap();
        let coming = out.fetch(8).unwrap();
        saxpy(&device, 9.0, &x, &x, &out).unwrap();
        assert_eq!(waited(coming), [a + 1.0; 8]);
    }
    // What nobody waits for is given back with the device.
    drop(out.fetch(1).unwrap());
}

#[test]
#[ignore = "needs a CUDA device"]
fn more_memory_than_there_is_is_refused_with_both_numbers() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    let free = device.free_memory().unwrap();
    let values = usize::try_from(device.info().memory / 8 + 1).unwrap();
    let refusal = Buffer::new(&device, Precision::F64, values).err().unwrap().to_string();
    assert!(refusal.contains(&format!("{} bytes", 8 * values)), "{refusal}");
    assert!(refusal.contains(&format!("where {free} are free")), "{refusal}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_device_that_is_not_there_is_refused_with_how_many_there_are() {
    let count = devices(Api::Cuda).unwrap().len();
    let refusal = Device::open(Api::Cuda, count).err().unwrap().to_string();
    assert!(refusal.contains(&format!("no CUDA device {count}")), "{refusal}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_makers_solver_solves_every_system_of_a_batch() {
    let device = Device::open(Api::Cuda, 0).unwrap();
    // u'' by 1, -3, 1 of u = m, with what is beyond the ends zero; two systems, 8 numbers apart.
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
fn auto_goes_on_without_a_cuda_that_cannot_be_used_and_says_why() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let vortex =
        ["run", "taylor-green", "--set", "grid.points=[8, 8, 8]", "--set", "time.max_steps=1"];
    for (name, value, why) in [
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
        let told = words(&auto).1;
        assert!(auto.status.success() && told.contains("note: ") && told.contains(why), "{told}");
        let summary = driver.path().join("runs/taylor-green/summary.json");
        assert!(std::fs::read_to_string(summary).unwrap().contains("\"backend\": \"cpu\""));
        let asked = run("cuda");
        let told = words(&asked).1;
        assert!(asked.status.code() == Some(2) && told.contains(why), "{told}");
    }
}

#[test]
fn a_start_compiles_what_a_step_runs_and_nothing_of_rows_and_files() {
    let driver = tempfile::tempdir().unwrap();
    Driver::Strict.build(driver.path());
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--backend", "cuda", "--set", "grid.points=[12, 12, 1]"]);
    let command = Driver::Strict.with(driver.path(), command.current_dir(driver.path()));
    let refused = command.env("KOLMO_CUDA_OTHERS", "2").output().unwrap();
    // Kernels that do nothing make no state that has a meaning.
    let told = words(&refused).1;
    assert!(told.contains("the initial state has"), "{told}");
    // The name of a text ends the first line of what it is kept for.
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        let kept = std::fs::read(file.unwrap().path()).unwrap();
        let line = String::from_utf8_lossy(&kept).lines().nth(2).unwrap().to_string();
        line.rsplit([' ', ':']).next().unwrap().to_string()
    };
    let files = std::fs::read_dir(driver.path().join("kolmo")).unwrap();
    let mut names: Vec<String> = files.map(name).collect();
    names.sort();
    // Along two axes: a pass, the first sweep, the last with gradients for the next stage and without.
    assert_eq!(names, ["StepRate", "Zero", "sweep", "sweep", "sweep", "sweep"]);
}

/// A driver that is none, and what goes with it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Driver {
    /// It knows one kernel, and there is cuSPARSE.
    Strict,
    /// There is NCCL, too.
    Nccl,
    /// With NCCL and a compiler, all kernels are run by OpenCL.
    OpenCl,
}

impl Driver {
    /// Make it, under all the names that are looked for: what one library is asked for takes part in the queue of the driver.
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
                .unwrap_or_else(|error| panic!("cc, which Rust links with: {error}"));
            assert!(cc.status.success(), "{}", words(&cc).1);
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

    /// Let a command find it before any other, the compilers of `./test`, and an empty cache.
    pub(crate) fn with<'a>(self, folder: &Path, command: &'a mut Command) -> &'a mut Command {
        for name in ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "CUDA_VISIBLE_DEVICES"] {
            command.env_remove(name);
        }
        command.env("LD_LIBRARY_PATH", folder).env("XDG_CACHE_HOME", folder);
        let set = |so: bool| if so { "1" } else { "0" };
        // Memory is tried with the kernels that clear and copy it there, and without running them.
        command.env("KOLMO_CUDA_OTHERS", set(self == Driver::Nccl));
        command.env("KOLMO_CUDA_KERNELS", set(self == Driver::OpenCl));
        command.env("VIRTUAL_ENV", root().join(".venv"))
    }
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
