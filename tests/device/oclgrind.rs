//! Kernels under Oclgrind, an interpreter that detects errors which a GPU does not report: out-of-bounds reads and writes, races,
//! uninitialised values, and barriers that not all threads reach. This test program starts itself under Oclgrind with each test of the
//! device layer whose name contains `small`; any diagnosis is a failure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use kolmo::backend::device::{Api, Buffer, Device, KernelRequest};

use super::on_two_threads;
use super::runtime::source;

/// The library of Oclgrind that the OpenCL loader loads as a driver.
const DRIVER: [&str; 3] = [
    "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
    "/usr/lib64/oclgrind/liboclgrind-rt-icd.so",
    "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so",
];

/// The environment variable with the name of the kernel that [`planted_kernel_writes_finite_values`] runs.
const PLANTED: &str = "KOLMO_PLANTED";

/// (name; body of a kernel of two blocks of 8 threads, where x and out have 16 numbers each; the required diagnosis of Oclgrind)
const PLANTS: [(&str, &str, Option<&str>); 6] = [
    ("sound", "s[t] = x[i]; __syncthreads(); out[i] = s[7 - t];", None),
    (
        "race on chip",
        "s[t] = x[i]; out[i] = s[7 - t];",
        Some("Read-write data race at local memory"),
    ),
    (
        "race of blocks",
        "out[i] = x[i]; out[t] = (REAL)i; s[t] = 0;",
        Some("Write-write data race at global memory"),
    ),
    ("read beyond the end", "s[t] = x[i + 1]; out[i] = s[t];", Some("Invalid read of size 8")),
    (
        "unwritten value",
        "if (t < 7) s[t] = x[i]; out[i] = s[t] > (REAL)0 ? (REAL)1 : (REAL)2;",
        Some("Uninitialized value"),
    ),
    (
        "divergent barrier",
        "s[t] = x[i]; if (t < 4) { __syncthreads(); } out[i] = s[t];",
        Some("divergence detected"),
    ),
];

#[test]
fn oclgrind_reports_no_error_in_the_device_layer() {
    let list = Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let tests: Vec<&str> = (list.lines().filter_map(|line| line.strip_suffix(": test")))
        .filter(|name| name.starts_with("device::") && name.contains("small"))
        .collect();
    assert!(!tests.is_empty(), "no test of the device layer has `small` in its name");
    let start = Instant::now();
    // One process per test: Oclgrind stores its knowledge of memory per thread, and each test has its own thread.
    let found = on_two_threads(tests, |test| (under_oclgrind(test, ""), *test));
    println!("{} tests in {:.0} s", found.len(), start.elapsed().as_secs_f64());
    for ((passed, log), test) in found {
        assert_eq!(log, "", "Oclgrind's diagnosis of {test}");
        assert!(passed, "{test} fails under Oclgrind");
    }
}

#[test]
fn oclgrind_detects_and_names_planted_errors() {
    for (name, _, diagnosis) in PLANTS {
        let (passed, log) =
            under_oclgrind("device::oclgrind::planted_kernel_writes_finite_values", name);
        match diagnosis {
            None => assert!(passed && log.is_empty(), "{name}: {log}"),
            Some(diagnosis) => assert!(log.contains(diagnosis), "{name}: {log}"),
        }
    }
}

#[test]
#[ignore = "run under Oclgrind by oclgrind_detects_and_names_planted_errors"]
fn planted_kernel_writes_finite_values() {
    let name = std::env::var(PLANTED).unwrap();
    let (_, body, _) = PLANTS.iter().find(|(plant, ..)| *plant == name).unwrap();
    let text = format!(
        "
KERNEL_OF(8) void plant(GLOBAL const REAL *x, GLOBAL REAL *out) {{
    ON_CHIP(s, 8);
    int t = threadIdx.x;
    int i = 8 * blockIdx.x + t;
    {body}
}}
"
    );
    let device = Device::open(Api::OpenCl, 0).unwrap();
    let kernel = device.kernel(KernelRequest {
        source: source::<f64>(&name, "", &text),
        entry: "plant".into(),
        threads: [8, 1, 1],
        on_chip: 64,
    });
    let kernel = kernel.unwrap();
    let x = Buffer::from_host(&device, &[1.0; 16]).unwrap();
    let out = Buffer::from_host(&device, &[f64::NAN; 16]).unwrap();
    kernel.launch([2, 1, 1], [x.arg(), out.arg()]);
    assert!(out.download::<f64>().unwrap().iter().all(|value| value.is_finite()));
}

/// Runs a test of this program with Oclgrind as the only OpenCL device. Returns whether it passed, and the log of Oclgrind.
fn under_oclgrind(test: &str, plant: &str) -> (bool, String) {
    let driver = DRIVER.iter().find(|path| Path::new(path).exists());
    let driver = driver.unwrap_or_else(|| panic!("Oclgrind is in none of {DRIVER:?}; run ./test"));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("oclgrind.icd"), format!("{driver}\n")).unwrap();
    let log: PathBuf = dir.path().join("log");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--include-ignored", "--exact", test])
        .env(PLANTED, plant)
        .env("OCL_ICD_VENDORS", dir.path())
        .env("OCLGRIND_LOG", &log)
        .envs([
            ("OCLGRIND_CHECK_API", "1"),
            ("OCLGRIND_DATA_RACES", "1"),
            ("OCLGRIND_UNIFORM_WRITES", "1"),
            ("OCLGRIND_MAX_ERRORS", "20"),
            // Optimised code contains an instruction that the check for uninitialised values does not support.
            ("OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable"),
            // Bytes: the on-chip memory of the smallest GPU, and enough device memory for small tests.
            ("OCLGRIND_LOCAL_MEM_SIZE", "49152"),
            ("OCLGRIND_GLOBAL_MEM_SIZE", "1073741824"),
        ])
        // Oclgrind tracks written values per thread, and crashes where ranks are threads.
        .envs((!test.contains("blocks")).then_some(("OCLGRIND_UNINITIALIZED", "1")))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("running 1 test"), "{test} was not run:\n{stdout}");
    if !output.status.success() {
        println!("{stdout}");
    }
    (output.status.success(), std::fs::read_to_string(log).unwrap_or_default())
}
