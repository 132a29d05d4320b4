//! The device layer: buffers, kernels and launch lists, on an OpenCL device and on a recording device; the cache of compiled kernels;
//! memory checks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kolmo::backend::device::{
    Api, Arg, Buffer, Device, DeviceInfo, Gpu, KernelRequest, LineSolver, PendingReduction, Source,
    check_memory, devices,
};
use kolmo::backend::{Backend, DiskCache};
use kolmo::config::{Pencils, Precision};
use kolmo::{Error, Real};

use super::{api, device};

const PRELUDE: &str = include_str!("../../kernels/prelude.cu");

/// out = a x + y, in thread blocks of 8 threads, through on-chip memory.
const SAXPY: &str = "
KERNEL_OF(8) void saxpy(GLOBAL const REAL *restrict x, GLOBAL const REAL *restrict y, GLOBAL REAL *restrict out,
                  GLOBAL const REAL *restrict scalars, int first, int n) {
    ON_CHIP(shifted, 8);
    int t = threadIdx.x;
    int i = 8 * blockIdx.x + t;
    shifted[7 - t] = i < n ? x[i] : (REAL)0;
    __syncthreads();
    if (i < n) out[i] = scalars[first] * shifted[7 - t] + y[i];
}
";

/// The complete text of a kernel: `above`, the prelude and `text`.
pub(super) fn source<T: Real>(name: &str, above: &str, text: &str) -> Source {
    let real =
        if size_of::<T>() == 8 { "#define REAL_IS_DOUBLE\n#define WIDE_IS_DOUBLE\n" } else { "" };
    Source { name: name.into(), text: format!("{real}{above}{PRELUDE}{text}") }
}

/// The complete text of [`SAXPY`].
pub(super) fn saxpy_source<T: Real>() -> Source {
    source::<T>("saxpy", "", SAXPY)
}

/// The request for the kernel of such a text, in thread blocks of 8 threads.
pub(super) fn request(source: Source, on_chip: usize) -> KernelRequest {
    KernelRequest { source, entry: "saxpy".into(), threads: [8, 1, 1], on_chip }
}

/// Waits for fetched values.
pub(super) fn waited<const W: usize>(pending: PendingReduction) -> [f64; W] {
    let mut values = [f64::NAN; W];
    pending.wait(&mut values).unwrap();
    values
}

/// Requests the kernel [`SAXPY`].
pub(super) fn ask_for_saxpy<T: Real>(device: &Arc<Device>) {
    device.kernel(request(saxpy_source::<T>(), 64)).unwrap();
}

/// Queues out = a x + y.
pub(super) fn saxpy(
    device: &Arc<Device>,
    a: f64,
    x: &Buffer,
    y: &Buffer,
    out: &Buffer,
) -> kolmo::Result<()> {
    let kernel = device.kernel(request(saxpy_source::<f64>(), 64))?;
    let n = x.len();
    let blocks = [u32::try_from(n.div_ceil(8)).unwrap(), 1, 1];
    let n = Arg::Int(i32::try_from(n).unwrap());
    let a = [a];
    let scalars = Arg::Scalars(Precision::F64, &a);
    kernel.launch(blocks, [x.arg(), y.arg(), out.arg(), scalars, n]);
    Ok(())
}

#[test]
fn small_launch_lists_accept_new_scalars_each_time() {
    let device = device();
    for n in [1, 7, 8, 9, 16, 31] {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i) + 0.5).collect();
        let nan = vec![f64::NAN; values.len()];
        let x = Buffer::from_host(&device, &values).unwrap();
        let mut y = Buffer::from_host(&device, &nan).unwrap();
        device.copy(&x, &mut y);
        for a in [2.0, -1.0, 0.25] {
            let (mid, out) = (Buffer::from_host(&device, &nan), Buffer::from_host(&device, &nan));
            let (mid, out) = (mid.unwrap(), out.unwrap());
            saxpy(&device, a, &x, &y, &mid).unwrap();
            saxpy(&device, a + 1.0, &mid, &y, &out).unwrap();
            let expected: Vec<f64> = values.iter().map(|x| (a + 1.0) * (a * x + x) + x).collect();
            assert_eq!(out.download::<f64>().unwrap(), expected, "{n} {a}");
        }
    }
}

#[test]
fn fetches_return_the_values_at_the_time_of_the_request() {
    let device = device();
    let x = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 8]).unwrap();
    saxpy(&device, 2.0, &x, &x, &out).unwrap();
    let [first, second] = [out.fetch(8).unwrap(), out.fetch(3).unwrap()];
    saxpy(&device, 4.0, &x, &x, &out).unwrap();
    assert_eq!(waited(first), [3.0; 8]);
    assert_eq!(waited(second), [3.0; 3]);
    assert_eq!(waited(out.fetch(1).unwrap()), [5.0]);
    let small = Buffer::from_host(&device, &[0.5_f32, 2.0]).unwrap();
    assert_eq!(waited(small.fetch(2).unwrap()), [0.5, 2.0]);
}

#[test]
fn recording_devices_store_each_kernel_once_and_run_none() {
    let (device, recording) = Device::recording(gpu(), |_| 0);
    let x = Buffer::from_host(&device, &[1.0, 2.0]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 2]).unwrap();
    saxpy(&device, 1.0, &x, &x, &out).unwrap();
    saxpy(&device, 1.0, &x, &x, &out).unwrap();
    device.kernel(request(saxpy_source::<f64>(), 1 << 16)).unwrap();
    assert!(out.download::<f64>().unwrap().iter().all(|value| value.is_nan()));
    assert_eq!(x.download::<f64>().unwrap(), [1.0, 2.0]);
    let kernels = recording.kernels();
    let sizes: Vec<_> = kernels.iter().map(|k| (&*k.entry, k.threads, k.on_chip)).collect();
    assert_eq!(sizes, [("saxpy", [8, 1, 1], 64), ("saxpy", [8, 1, 1], 1 << 16)]);
    assert!(kernels.iter().all(|kernel| kernel.source == saxpy_source::<f64>()));
}

#[test]
#[should_panic(expected = "a buffer of another device")]
fn kernels_reject_buffers_of_another_device() {
    let [one, other] = [(), ()].map(|()| Device::recording(gpu(), |_| 0).0);
    let [x, out] = [&one, &other].map(|device| Buffer::from_host(device, &[1.0; 8]).unwrap());
    saxpy(&one, 2.0, &x, &x, &out).unwrap();
}

#[test]
fn gpu_notes_that_a_chosen_line_solver_prevents_fused_sweeps() {
    let notes = |solver| {
        let (device, _) = Device::recording(gpu(), |_| 0);
        Gpu::new(device, Precision::F64, 8, solver, Pencils::Strided).unwrap().notes()
    };
    assert!(notes(None).is_empty());
    let [note] = &notes(LineSolver::from_name("thomas"))[..] else { panic!("no note") };
    assert!(note.contains("operator by operator") && note.contains("compute.line_solver"));
}

#[test]
fn oversized_thread_blocks_are_rejected_with_need_and_limit() {
    let (device, recording) = Device::recording(gpu(), |_| 0);
    let message = |threads, on_chip| {
        let request = KernelRequest { threads, ..request(saxpy_source::<f64>(), on_chip) };
        device.kernel(request).err().unwrap().to_string()
    };
    assert_eq!(
        message([32, 33, 1], 0),
        "the kernel `saxpy` of `saxpy` needs 1056 threads per block; G has 1024"
    );
    assert_eq!(
        message([32, 1, 1], 232_449),
        "the kernel `saxpy` of `saxpy` needs 232449 bytes of on-chip memory per block; G has 232448"
    );
    assert!(recording.kernels().is_empty());
}

#[test]
fn cusparse_is_rejected_without_cuda() {
    let (device, _) = Device::recording(DeviceInfo { api: Api::OpenCl, ..gpu() }, |_| 0);
    let buffer = Buffer::from_host(&device, &[1.0; 8]).unwrap();
    device.solve_tridiagonal([4, 2, 4], [&buffer; 3], &buffer);
    let error = device.finish().unwrap_err();
    assert!(error.to_string().contains("`cusparse` needs a CUDA device"), "{error}");
}

#[test]
fn compile_errors_include_the_compiler_output() {
    let text = format!("{SAXPY}\nint wrong(void) {{ return undeclared; }}\n");
    let message =
        device().kernel(request(source::<f64>("saxpy", "", &text), 64)).err().unwrap().to_string();
    assert!(message.contains("`saxpy`") && message.contains("undeclared"), "{message}");
}

#[test]
fn a_device_with_f64_and_sufficient_limits_exists() {
    let devices = devices(api()).unwrap();
    let device = devices.iter().find(|device| device.has_f64).expect("PoCL; run ./test");
    assert!(device.memory > 1 << 28 && device.block_threads >= 256 && device.on_chip >= 32 << 10);
    assert!(devices.iter().enumerate().all(|(index, device)| device.index == index));
}

#[test]
fn grids_beyond_device_memory_are_rejected_with_a_suggestion() {
    let needed = 16.0 * f64::from(1 << 30);
    assert!(check_memory(&gpu(), None, needed, [512; 3], || panic!("it fits")).is_ok());
    let error =
        check_memory(&gpu(), Some(2 << 30), needed, [512; 3], || "less".into()).unwrap_err();
    let Error::Config(lines) = error else { panic!("{error:?}") };
    assert_eq!(
        lines[0],
        "error: 512 x 512 x 512 points need 16.0 GiB of memory; 2.0 GiB are free on G"
    );
    assert_eq!(lines[1], "       less");
}

#[test]
fn disk_cache_returns_entries_only_under_their_own_key() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("not yet created");
    let cache = DiskCache::at(&folder);
    assert_eq!(cache.get("a"), None);
    cache.put("a", b"image of a");
    cache.put("b", b"");
    assert_eq!(DiskCache::at(&folder).get("a").unwrap(), b"image of a");
    assert_eq!(cache.get("b").unwrap(), b"");
    assert_eq!(cache.get("c"), None);
    cache.put("a", b"another");
    assert_eq!(cache.get("a").unwrap(), b"another");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "a temporary file is left");
}

#[test]
fn damaged_cache_entries_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let cache = DiskCache::at(dir.path());
    cache.put("key", b"0123456789");
    let path = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    let intact = std::fs::read(&path).unwrap();
    for at in 0..intact.len() {
        let mut damaged = intact.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(cache.get("key"), None, "byte {at} changed");
        std::fs::write(&path, &intact[..at]).unwrap();
        assert_eq!(cache.get("key"), None, "cut after {at} bytes");
    }
    cache.put("key", b"0123456789");
    assert_eq!(cache.get("key").unwrap(), b"0123456789");
    // A folder that cannot be created, and a folder in place of the file.
    let nowhere = DiskCache::at(path.join("below a file"));
    nowhere.put("key", b"image");
    assert_eq!(nowhere.get("key"), None);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    cache.put("key", b"image");
    assert_eq!(cache.get("key"), None);
}

#[test]
fn cache_pruning_removes_stale_and_least_recently_used_files() {
    let dir = tempfile::tempdir().unwrap();
    let cache = DiskCache::at(dir.path());
    let day = Duration::from_secs(24 * 3600);
    let age = |path: &Path, days: u32| {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - days * day).unwrap();
    };
    // Stores an entry and returns the path of its new file.
    let put = |key: &str, days| {
        let files = || -> BTreeSet<PathBuf> {
            std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path()).collect()
        };
        let before = files();
        cache.put(key, &[7; 1000]);
        let path = files().difference(&before).next().unwrap().clone();
        age(&path, days);
        path
    };
    put("of today", 0);
    let of_yesterday = put("of yesterday", 2);
    put("of this month", 20);
    put("of last year", 365);
    let name = of_yesterday.file_name().unwrap().to_str().unwrap();
    let beside = |name: &str, days| {
        let path = dir.path().join(name);
        std::fs::write(&path, [0; 10]).unwrap();
        age(&path, days);
        path
    };
    let number = &name[..16];
    let others = [
        (beside(&format!("{number}.0.0.1.kept"), 3), true),
        (beside(&format!("{number}.0.0.2.kept"), 8), false),
        (beside(&format!("{name}.part-17-0"), 0), true),
        (beside(&format!("{name}.part-18-0"), 2), false),
        (beside("opencl-build.lock", 400), true),
        (beside("notes of a user.kept", 400), true),
    ];
    cache.prune(1 << 20);
    for (path, remains) in others {
        assert_eq!(path.exists(), remains, "{}", path.display());
    }
    assert_eq!(cache.get("of last year"), None);
    // This entry is used now, so the other is the least recently used.
    assert!(cache.get("of this month").is_some());
    age(&of_yesterday, 3);
    cache.prune(2500);
    assert!(cache.get("of today").is_some() && cache.get("of this month").is_some());
    assert_eq!(cache.get("of yesterday"), None);
}

#[test]
fn concurrent_cache_access_returns_complete_entries_or_none() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let cache = DiskCache::at(dir.path());
            scope.spawn(move || {
                for round in 0..50_u8 {
                    let key = format!("{}", round % 5);
                    cache.put(&key, &vec![round % 5; 500]);
                    let found = cache.get(&key);
                    assert!(found.is_none_or(|found| found == vec![round % 5; 500]));
                    cache.prune(if (round + thread) % 2 == 0 { 1500 } else { 0 });
                }
            });
        }
    });
    let cache = DiskCache::at(dir.path());
    cache.prune(0);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "a partial file is left");
}

/// The properties of an imaginary GPU.
pub(crate) fn gpu() -> DeviceInfo {
    DeviceInfo {
        api: Api::Cuda,
        index: 0,
        name: "G".into(),
        driver: String::new(),
        is_gpu: true,
        memory: 32 << 30,
        largest_buffer: 32 << 30,
        on_chip: 232_448,
        block_threads: 1024,
        multiprocessors: 132,
        has_f64: true,
        has_async_copies: true,
    }
}
