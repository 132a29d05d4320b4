//! What a run takes from its environment: no code of the current directory, no library that is none, no memory or threads beyond
//! the limits of the process.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// `kolmo` with `arguments` in `dir`, and the variables `set`; what looks for OpenCL finds none.
fn with(dir: &Path, set: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    for name in ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "VIRTUAL_ENV", "PYTHONPATH"] {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(dir).env("OCL_ICD_VENDORS", "none");
    command.env("KOLMO_TEST_LOADED", dir.join("loaded")).envs(set.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn empty_and_relative_names_in_the_environment_load_and_run_nothing_of_the_current_directory() {
    let dir = tempfile::tempdir().unwrap();
    let python = "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib";
    for folder in ["lib", "lib64", "nvidia/cuda_nvrtc/lib", python] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        symlink(library(), dir.path().join(folder).join("libnvrtc.so.12")).unwrap();
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
        let outcome = with(dir.path(), &[*set], &["info"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        assert!(!dir.path().join("loaded").exists(), "{set:?}: {}", outcome.out);
    }
    let outcome = with(dir.path(), &hostile, &small(&["--backend", "opencl"]));
    assert!(!dir.path().join("loaded").exists());
    let told = "OpenCL cannot be used: OPENCL_DYLIB_PATH names `lib/libnvrtc.so.12`";
    assert!(outcome.code == Some(2) && outcome.err.contains(told), "{}", outcome.err);
    // What would be loaded is: the same names with the whole path.
    let whole = dir.path().to_str().unwrap();
    for name in ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"] {
        with(dir.path(), &[(name, whole)], &["info"]);
        fs::remove_file(dir.path().join("loaded"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn libraries_without_functions_are_refused_in_a_sentence_and_auto_goes_on_without_them() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["libcuda.so", "libcusparse.so", "libOpenCL.so.1", "libnvrtc.so.12"] {
        symlink(library(), dir.path().join(name)).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let run = |arguments: &[&str]| with(dir.path(), &[("LD_LIBRARY_PATH", path)], arguments);
    let auto = run(&small(&[]));
    assert_eq!(auto.code, Some(0), "{}", auto.err);
    let told = "note: CUDA cannot be used: the libcuda.so on the library path has no function";
    assert!(auto.err.contains(told), "{}", auto.err);
    for (backend, name) in [("cuda", "CUDA"), ("opencl", "OpenCL")] {
        let asked = run(&small(&["--overwrite", "--backend", backend]));
        let told = format!("error: {name} cannot be used: the lib");
        assert!(asked.code == Some(2) && asked.err.contains(&told), "{}", asked.err);
    }
    let info = run(&["info"]);
    assert_eq!((info.code, info.err.as_str()), (Some(0), ""));
    assert_eq!(info.out.matches("cannot be used: ").count(), 2, "{}", info.out);
}

#[test]
fn more_threads_than_a_machine_can_use_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = kolmo(dir.path(), small(&["--backend", "cpu", "--set", "compute.threads=4096"]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let told = "error: 4096 threads are more than this machine of ";
    assert!(outcome.err.contains(told) && outcome.err.contains("at most "), "{}", outcome.err);
    assert!(!dir.path().join("runs").exists());
}

#[test]
fn a_run_that_does_not_fit_into_the_limits_of_its_process_is_refused_before_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    for (limits, set, told) in [
        ("ulimit -v 250000", "grid.points=[128,128,128]", "128 x 128 x 128 points need 0.4 GiB"),
        ("ulimit -d 250000", "grid.points=[128,128,128]", "128 x 128 x 128 points need 0.4 GiB"),
        ("ulimit -v 150000", "compute.threads=128", "error: the system cannot start the threads"),
    ] {
        let kolmo = program();
        let line = format!("{limits}; exec {kolmo} run taylor-green --backend cpu --set {set}");
        let outcome = shell(dir.path(), &line);
        assert_eq!(outcome.code, Some(2), "{limits}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{limits}: {}", outcome.err);
        assert!(!dir.path().join("runs").exists());
    }
    // What is not counted before, here a list that is read: 200 MB that take no room on the disk.
    done(dir.path(), small(&["--out", "run"]));
    let list = fs::File::options().write(true).open(dir.path().join("run/slices/slices.json"));
    list.unwrap().set_len(200_000_000).unwrap();
    let outcome = shell(dir.path(), &format!("ulimit -v 180000; exec {} plot run", program()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("error: out of memory: "), "{}", outcome.err);
}
