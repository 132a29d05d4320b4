//! Locations of NVIDIA's libraries on a machine.

use std::env::join_paths;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cudarc::get_lib_name_candidates;
use libloading::Library;

use crate::backend::environment::{folder, folders, program};

/// Returns candidate paths of the library `name` ("nvrtc"), in the order in which to try them: names for the system's
/// loader, the folders of CUDA's installer, and Python's packages. Python is run only if the others were not sufficient.
pub(super) fn candidates(name: &str) -> impl Iterator<Item = PathBuf> {
    let file = format!("lib{name}.so");
    // NCCL has its own version count: it is at 2.
    let versions = (12..=15).rev().chain([2]).map(|major| format!("{file}.{major}"));
    let on_path: Vec<_> = versions.chain([file.clone()]).map(PathBuf::from).collect();
    let inside = toolkits()
        .into_iter()
        .chain(environments())
        .chain(std::iter::once_with(python_path).flatten().flat_map(|path| packages(&path)));
    on_path.into_iter().chain(inside.flat_map(move |folder| files(&folder, &file)))
}

/// Returns the library folders of every installed CUDA toolkit: first the one that the user names, then the newest first.
fn toolkits() -> Vec<PathBuf> {
    let mut roots: Vec<_> = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(folder).collect();
    roots.push("/usr/local/cuda".into());
    let mut installed = entries(Path::new("/usr/local"));
    installed.retain(|path| name_of(path).starts_with("cuda-"));
    roots.extend(installed.into_iter().rev());
    let inside = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"];
    roots.iter().flat_map(|root| inside.map(|folder| root.join(folder))).collect()
}

/// Returns the library folders of the active virtual or conda environment.
fn environments() -> Vec<PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder);
    let libraries = active.map(|root| root.join("lib"));
    let inside = libraries.flat_map(|folder| {
        let versions = entries(&folder);
        let pythons = versions.iter().filter(|path| name_of(path).starts_with("python3"));
        let sites: Vec<_> =
            pythons.flat_map(|path| packages(&path.join("site-packages"))).collect();
        std::iter::once(folder).chain(sites)
    });
    inside.collect()
}

/// Returns the package search path of the `python3` on the path; empty without Python. Python runs in the root directory,
/// because it also imports from the current directory.
fn python_path() -> Vec<PathBuf> {
    let Some(python) = program("python3") else { return Vec::new() };
    let mut command = Command::new(python);
    command.args(["-c", "import sys; print('\\n'.join(sys.path))"]).current_dir("/");
    command.env("PYTHONPATH", join_paths(folders("PYTHONPATH")).unwrap_or_default());
    if folder("PYTHONHOME").is_none() {
        command.env_remove("PYTHONHOME");
    }
    let printed = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let printed = printed.map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&printed).into_owned();
    lines.lines().map(PathBuf::from).filter(|path| path.is_absolute()).collect()
}

/// Returns the library folders of NVIDIA's packages (`nvidia/cu13/lib`, `nvidia/cuda_nvrtc/lib`) in a site-packages
/// folder.
fn packages(site: &Path) -> Vec<PathBuf> {
    entries(&site.join("nvidia")).into_iter().map(|package| package.join("lib")).collect()
}

/// Returns the versions of a library in a folder: `libnvrtc.so.13`, but not `libnvrtc.alt.so.13`.
fn files(folder: &Path, file: &str) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|path| name_of(path).starts_with(file));
    files.reverse();
    files
}

/// Returns the entries of a folder, sorted; empty if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// Returns the first of `functions` that `library` lacks.
pub(super) fn missing_function<'a>(library: &Library, functions: &[&'a str]) -> Option<&'a str> {
    // SAFETY: the address is not used.
    let lacks = |name: &&&str| unsafe { library.get::<*const ()>(**name) }.is_err();
    functions.iter().find(lacks).copied()
}

/// Loads the library that cudarc takes for one of `names`, by the same search order.
pub(super) fn load_first(names: &[&str]) -> Option<Library> {
    let mut files = names.iter().flat_map(|name| get_lib_name_candidates(name));
    // SAFETY: loading runs the initialisers of NVIDIA's library.
    files.find_map(|file| unsafe { Library::new(file) }.ok())
}
