//! Where NVIDIA's libraries lie on a machine.

use std::env::join_paths;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cudarc::get_lib_name_candidates;
use libloading::Library;

use crate::backend::environment::{folder, folders, program};

/// What may be the library `name` ("nvrtc"), in the order in which it is to be tried: what the system's loader finds,
/// the folders of CUDA's own installer, and Python's packages. Python is asked only where the others were not enough.
pub(super) fn candidates(name: &str) -> impl Iterator<Item = PathBuf> {
    let file = format!("lib{name}.so");
    // NCCL counts for itself: it is at 2.
    let versions = (12..=15).rev().chain([2]).map(|major| format!("{file}.{major}"));
    let on_path: Vec<_> = versions.chain([file.clone()]).map(PathBuf::from).collect();
    let inside = toolkits()
        .into_iter()
        .chain(environments())
        .chain(std::iter::once_with(python_path).flatten().flat_map(|path| packages(&path)));
    on_path.into_iter().chain(inside.flat_map(move |folder| files(&folder, &file)))
}

/// The folders with libraries of every installed CUDA toolkit, the one named by the user first, then newest first.
fn toolkits() -> Vec<PathBuf> {
    let mut roots: Vec<_> = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(folder).collect();
    roots.push("/usr/local/cuda".into());
    let mut installed = entries(Path::new("/usr/local"));
    installed.retain(|path| name_of(path).starts_with("cuda-"));
    roots.extend(installed.into_iter().rev());
    let inside = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"];
    roots.iter().flat_map(|root| inside.map(|folder| root.join(folder))).collect()
}

/// The folders with libraries of the active virtual or conda environment.
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

/// Where the `python3` on the path looks for packages; nothing where there is none. It runs in the root of the system: Python
/// imports from the current directory, too.
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

/// The folders with libraries of NVIDIA's packages (`nvidia/cu13/lib`, `nvidia/cuda_nvrtc/lib`) in a site-packages.
fn packages(site: &Path) -> Vec<PathBuf> {
    entries(&site.join("nvidia")).into_iter().map(|package| package.join("lib")).collect()
}

/// The versions of a library in a folder: `libnvrtc.so.13`, but not `libnvrtc.alt.so.13`.
fn files(folder: &Path, file: &str) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|path| name_of(path).starts_with(file));
    files.reverse();
    files
}

/// What is in a folder, sorted; nothing where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// What `library` lacks of `functions`.
pub(super) fn lacking<'a>(library: &Library, functions: &[&'a str]) -> Option<&'a str> {
    // SAFETY: the address is not used.
    let lacks = |name: &&&str| unsafe { library.get::<*const ()>(**name) }.is_err();
    functions.iter().find(lacks).copied()
}

/// The library that cudarc takes for one of `names`, by what it looks for in the same order.
pub(super) fn loaded(names: &[&str]) -> Option<Library> {
    let mut files = names.iter().flat_map(|name| get_lib_name_candidates(name));
    // SAFETY: loading runs the library's initialisers, those of NVIDIA.
    files.find_map(|file| unsafe { Library::new(file) }.ok())
}
