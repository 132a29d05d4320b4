//! Symbols of a loaded library: the only place that turns names into functions and addresses.

use std::error::Error;
use std::ffi::{OsStr, c_void};
#[cfg(unix)]
use std::mem::forget;

#[cfg(not(unix))]
pub(super) use libloading::Library;
#[cfg(unix)]
pub(super) use libloading::os::unix::Library;
#[cfg(unix)]
use libloading::os::unix::{RTLD_GLOBAL, RTLD_NOW};

/// Symbols of a library that stays loaded until the program ends. On Unix these are all symbols of the program, so that a
/// preloaded tool that intercepts the calls (`LD_PRELOAD`, the PMPI interface of MPI 1.0) comes before the library.
pub(super) struct Scope(pub(super) Library);

impl Scope {
    pub(super) fn load(name: &OsStr) -> Result<Self, String> {
        // The outer error names the failed step; its source contains the system's message.
        let message = |error: libloading::Error| {
            error.source().map_or(error.to_string(), |why| why.to_string())
        };
        // SAFETY: loading an MPI library has no harmful effect; users name no other library.
        #[cfg(unix)]
        unsafe {
            // Global: plugins of Open MPI look up its symbols there.
            forget(Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL).map_err(message)?);
            Ok(Self(Library::this()))
        }
        // SAFETY: as above.
        #[cfg(not(unix))]
        unsafe {
            Library::new(name).map(Self).map_err(message)
        }
    }

    /// Returns the function with this name.
    ///
    /// # Errors
    /// There is no such function.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(super) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: as the caller promises.
        let symbol = unsafe { self.0.get::<F>(name) };
        symbol.map(|symbol| *symbol).map_err(|_| format!("it has no `{name}`"))
    }

    /// Returns the address of the object with this name.
    pub(super) fn address(&self, name: &str) -> Result<usize, String> {
        // SAFETY: the pointer is not dereferenced.
        unsafe { self.function::<*const c_void>(name) }.map(|address| address as usize)
    }
}
