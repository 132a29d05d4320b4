//! What a loaded library has: the only place where names become functions and addresses.

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

/// The names of a library that stays until the program ends. On Unix these are all names of the program: a tool that was
/// preloaded to watch the calls (`LD_PRELOAD`, the PMPI interface of MPI 1.0) stands before the library.
pub(super) struct Scope(pub(super) Library);

impl Scope {
    pub(super) fn load(name: &OsStr) -> Result<Self, String> {
        // The error names the step that failed; what the system says of it lies within.
        let told = |error: libloading::Error| {
            error.source().map_or(error.to_string(), |why| why.to_string())
        };
        // SAFETY: what an MPI library does when it is loaded is harmless; users name no other.
        #[cfg(unix)]
        unsafe {
            // Global: plugins of Open MPI look for its names there.
            forget(Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL).map_err(told)?);
            Ok(Self(Library::this()))
        }
        // SAFETY: as above.
        #[cfg(not(unix))]
        unsafe {
            Library::new(name).map(Self).map_err(told)
        }
    }

    /// The function of that name.
    ///
    /// # Errors
    /// There is none.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to it.
    pub(super) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: as the caller promises.
        let symbol = unsafe { self.0.get::<F>(name) };
        symbol.map(|symbol| *symbol).map_err(|_| format!("it has no `{name}`"))
    }

    /// The address of the object of that name.
    pub(super) fn address(&self, name: &str) -> Result<usize, String> {
        // SAFETY: a pointer to anything, which is not followed.
        unsafe { self.function::<*const c_void>(name) }.map(|address| address as usize)
    }
}
