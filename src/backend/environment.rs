//! Folders and programs named by environment variables, accepted only if they are absolute. An empty or relative name
//! refers to the current directory: anyone with write access there could place code in it that others run.

use std::env;
use std::path::PathBuf;

/// Returns the folder in the variable `name`.
pub(super) fn folder(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Returns the folders in the variable `name`, a list such as PATH.
pub(super) fn folders(name: &str) -> Vec<PathBuf> {
    let list = env::var_os(name).unwrap_or_default();
    env::split_paths(&list).filter(|folder| folder.is_absolute()).collect()
}

/// Finds the program `name` in the folders of PATH.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    folders("PATH").into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file())
}
