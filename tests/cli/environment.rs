//! The environment of a run: no code is loaded from the current directory, and invalid libraries and runs beyond the memory and thread
//! limits of the process are rejected.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Run `kolmo` with `arguments` in `dir` and with the environment variables `set`. The OpenCL loader finds no driver.
fn kolmo_with(dir: &Path, set: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    for name in ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "VIRTUAL_ENV", "PYTHONPATH"] {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(dir).env("OCL_ICD_VENDORS", "none");
    command.env("KOLMO_TEST_LOADED", dir.join("loaded")).envs(set.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn empty_or_relative_environment_paths_load_nothing_from_current_dir() {
    let dir = tempfile::tempdir().unwrap();
    let python = "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib";
    for folder in ["lib", "lib64", "nvidia/cuda_nvrtc/lib", python] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        symlink(stub_library(), dir.path().join(folder).join("libnvrtc.so.12")).unwrap();
    }
    let script = dir.path().join("python3");
    fs::write(&script, "#!/bin/sh\ntouch \"$KOLMO_TEST_LOADED\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let python = "import os\nopen(os.environ['KOLMO_TEST_LOADED'], 'w')\n";
    fs::write(dir.path().join("sitecustomize.py"), python).unwrap();

    let path = std::env::var("PATH").unwrap();
    let [first, last] = [format!(":{path}"), format!(".:{path}")];
    let library = "lib/libnvrtc.so.12";
    let hostile: Vec<(&str, &str)> =
        ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"]
            .into_iter()
            .flat_map(|name| [(name, ""), (name, ".")])
            .chain([("PYTHONPATH", ":"), ("PATH", &first), ("PATH", &last), ("PATH", "")])
            .chain([("PYTHONHOME", "."), ("OPENCL_DYLIB_PATH", library)])
            .collect();
    for set in &hostile {
        let outcome = kolmo_with(dir.path(), &[*set], &["info"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(!dir.path().join("loaded").exists(), "{set:?}: {}", outcome.stdout);
    }
    let outcome = kolmo_with(dir.path(), &hostile, &small_run(&["--backend", "opencl"]));
    assert!(!dir.path().join("loaded").exists());
    let message = "OpenCL cannot be used: OPENCL_DYLIB_PATH names `lib/libnvrtc.so.12`";
    assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{}", outcome.stderr);
    // Control: with absolute paths the same variables do load these files.
    let absolute = dir.path().to_str().unwrap();
    for name in ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"] {
        kolmo_with(dir.path(), &[(name, absolute)], &["info"]);
        fs::remove_file(dir.path().join("loaded"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn libraries_without_symbols_are_rejected_and_auto_continues_without_them() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["libcuda.so", "libcusparse.so", "libOpenCL.so.1", "libnvrtc.so.12"] {
        symlink(stub_library(), dir.path().join(name)).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let run = |arguments: &[&str]| kolmo_with(dir.path(), &[("LD_LIBRARY_PATH", path)], arguments);
    let auto = run(&small_run(&[]));
    assert_eq!(auto.code, Some(0), "{}", auto.stderr);
    let message = "note: CUDA cannot be used: the libcuda.so on the library path has no function";
    assert!(auto.stderr.contains(message), "{}", auto.stderr);
    for (backend, name) in [("cuda", "CUDA"), ("opencl", "OpenCL")] {
        let outcome = run(&small_run(&["--overwrite", "--backend", backend]));
        let message = format!("error: {name} cannot be used: the lib");
        assert!(outcome.code == Some(2) && outcome.stderr.contains(&message), "{}", outcome.stderr);
    }
    let info = run(&["info"]);
    assert_eq!((info.code, info.stderr.as_str()), (Some(0), ""));
    assert_eq!(info.stdout.matches("cannot be used: ").count(), 2, "{}", info.stdout);
}

#[test]
fn more_threads_than_the_machine_can_use_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let outcome =
        kolmo(dir.path(), small_run(&["--backend", "cpu", "--set", "compute.threads=4096"]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = "error: 4096 threads are more than this machine of ";
    assert!(
        outcome.stderr.contains(message) && outcome.stderr.contains("at most "),
        "{}",
        outcome.stderr
    );
    assert!(!dir.path().join("runs").exists());
}

#[test]
fn run_above_the_limits_of_its_process_is_rejected_before_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    for (limits, set, message) in [
        ("ulimit -v 250000", "grid.points=[128,128,128]", "128 x 128 x 128 points need 0.4 GiB"),
        ("ulimit -d 250000", "grid.points=[128,128,128]", "128 x 128 x 128 points need 0.4 GiB"),
        ("ulimit -v 150000", "compute.threads=128", "error: the system cannot start the threads"),
    ] {
        let kolmo = program();
        let line = format!("{limits}; exec {kolmo} run taylor-green --backend cpu --set {set}");
        let outcome = shell(dir.path(), &line);
        assert_eq!(outcome.code, Some(2), "{limits}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{limits}: {}", outcome.stderr);
        assert!(!dir.path().join("runs").exists());
    }
    // Memory that is not estimated in advance, here for a list that is read: a sparse file of 200 MB.
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let list = fs::File::options().write(true).open(dir.path().join("run/slices/slices.json"));
    list.unwrap().set_len(200_000_000).unwrap();
    let outcome = shell(dir.path(), &format!("ulimit -v 180000; exec {} plot run", program()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("error: out of memory: "), "{}", outcome.stderr);
}
