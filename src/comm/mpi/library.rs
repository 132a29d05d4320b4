//! Choice of the MPI library and its properties. The library is loaded at first use and stays loaded.

use std::env;
use std::ffi::{OsStr, OsString, c_char, c_int};
use std::path::Path;
use std::sync::OnceLock;

use super::abi::{Constants, MPICH, STANDARD, open_mpi};
use super::functions::Functions;
use super::scope::Scope;
use crate::comm::launcher::{Family, family};

/// Environment variable that names a library, by an absolute path or by a name that the system's loader finds.
const LIBRARY_VARIABLE: &str = "KOLMO_MPI_LIBRARY";

/// File names of installed libraries. A name does not identify the implementation with certainty.
#[cfg(not(target_os = "macos"))]
const OPEN_MPI_NAMES: [&str; 1] = ["libmpi.so.40"];
#[cfg(not(target_os = "macos"))]
const MPICH_NAMES: [&str; 2] = ["libmpi.so.12", "libmpich.so.12"];
#[cfg(not(target_os = "macos"))]
const OTHER_NAMES: [&str; 3] = ["libmpi_abi.so.1", "libmpi_abi.so", "libmpi.so"];
#[cfg(target_os = "macos")]
const OPEN_MPI_NAMES: [&str; 1] = ["libmpi.40.dylib"];
#[cfg(target_os = "macos")]
const MPICH_NAMES: [&str; 2] = ["libmpi.12.dylib", "libmpich.12.dylib"];
#[cfg(target_os = "macos")]
const OTHER_NAMES: [&str; 3] = ["libmpi_abi.1.dylib", "libmpi_abi.dylib", "libmpi.dylib"];

const CRAY_GPU_LIBRARY: &str = "libmpi_gtl_cuda.so";

/// Size in bytes of the longest text of any library: `MPI_MAX_LIBRARY_VERSION_STRING`, 256 in Open MPI and 8192 in
/// others.
const MAX_TEXT_BYTES: usize = 8192;

/// Functions and constants of a library with handles `H`.
pub(super) struct Library<H> {
    pub(super) call: Functions<H>,
    pub(super) constant: Constants<H>,
}

/// The library of this process.
pub(super) struct Loaded {
    /// Name under which it was found.
    name: OsString,
    pub(super) by_width: ByWidth,
    /// `MPIX_Query_cuda_support` of Open MPI 2 and MPICH 4, which returns 1 or 0.
    query_cuda: Option<extern "C" fn() -> c_int>,
    /// `MPIX_GPU_query_support` of MPICH 4 and Cray MPICH: whether a kind of device is supported.
    query_device: Option<unsafe extern "C" fn(c_int, *mut c_int) -> c_int>,
}

/// A library by the width of its handles.
pub(super) enum ByWidth {
    Int(Library<c_int>),
    Pointer(Library<usize>),
}

/// Why there is no library: the cause, and advice.
pub(super) struct Missing {
    pub(super) cause: String,
    pub(super) advice: String,
}

impl Loaded {
    /// Returns the library of this process; loads it at the first call.
    pub(super) fn get() -> Result<&'static Self, &'static Missing> {
        static LOADED: OnceLock<Result<Loaded, Missing>> = OnceLock::new();
        let load = || {
            if env::var_os("MPICH_GPU_SUPPORT_ENABLED").is_some_and(|value| value == "1") {
                // Cray MPICH looks for its GPU part among the libraries loaded before it, and prints a message if it is
                // missing.
                let _ = Scope::load(CRAY_GPU_LIBRARY.as_ref());
            }
            match env::var_os(LIBRARY_VARIABLE).filter(|name| !name.is_empty()) {
                Some(name) => Self::load_named(&name),
                None => Self::load_first(candidates(family())),
            }
        };
        LOADED.get_or_init(load).as_ref()
    }

    /// Loads the library that the user names.
    fn load_named(name: &OsStr) -> Result<Self, Missing> {
        let refusal = |why: &str| Missing {
            cause: format!("{LIBRARY_VARIABLE} = {}: {why}", name.display()),
            advice: "name the file of an MPI library, such as /usr/lib/libmpi.so.40".into(),
        };
        let path = Path::new(name);
        if path.is_relative() && path.components().count() > 1 {
            return Err(refusal("is neither an absolute path nor a name for the system's loader"));
        }
        let scope = Scope::load(name).map_err(|why| refusal(&why))?;
        Self::in_scope(&scope, name).map_err(|why| refusal(&why))
    }

    /// Loads the first of `names` that can be loaded.
    fn load_first(names: impl IntoIterator<Item = &'static str>) -> Result<Self, Missing> {
        let (mut tried, mut broken) = (Vec::new(), String::new());
        for name in names {
            match Scope::load(name.as_ref()) {
                Ok(scope) => {
                    return Self::in_scope(&scope, name.as_ref()).map_err(|why| Missing {
                        cause: format!("{name} is not an MPI library that Kolmo can use: {why}"),
                        advice: format!("name another one in {LIBRARY_VARIABLE}"),
                    });
                }
                // For a missing file glibc's message begins with the file name; other messages mean that the file exists.
                Err(why) if !why.starts_with(&format!("{name}: cannot open")) => {
                    broken += &format!("; {why}");
                }
                Err(_) => {}
            }
            tried.push(name);
        }
        Err(Missing {
            cause: format!("no MPI library was found: tried {}{broken}", tried.join(", ")),
            advice: format!("load the module of one, or name its file in {LIBRARY_VARIABLE}"),
        })
    }

    /// Wraps a loaded library; its interface is recognised by the symbols it has.
    fn in_scope(scope: &Scope, name: &OsStr) -> Result<Self, String> {
        // SAFETY: the functions, where present, are as the standard and the headers of both libraries declare them; so
        // are those of the table, with the handle width of the interface.
        unsafe {
            let by_width = if is_standard(scope) {
                ByWidth::Pointer(Library { call: Functions::of(&scope.0)?, constant: STANDARD })
            } else if scope.address("ompi_mpi_comm_world").is_ok() {
                ByWidth::Pointer(Library {
                    call: Functions::of(&scope.0)?,
                    constant: open_mpi(scope)?,
                })
            } else if scope.address("MPIR_Dup_fn").is_ok() {
                // `MPI_DUP_FN` of `mpi.h`: every library of this interface has it.
                ByWidth::Int(Library { call: Functions::of(&scope.0)?, constant: MPICH })
            } else {
                return Err("it has the interface of neither Open MPI, MPICH nor MPI 5".into());
            };
            Ok(Self {
                name: name.into(),
                by_width,
                query_cuda: scope.function("MPIX_Query_cuda_support").ok(),
                query_device: scope.function("MPIX_GPU_query_support").ok(),
            })
        }
    }

    /// Returns name and version of the library, which need not be started, and the name under which it was found.
    pub(super) fn describe(&self) -> String {
        // SAFETY: the buffer holds the longest text.
        let text = text(|start, length| unsafe {
            match &self.by_width {
                ByWidth::Int(library) => (library.call.get_library_version)(start, length),
                ByWidth::Pointer(library) => (library.call.get_library_version)(start, length),
            }
        });
        let line = text.trim_matches(['\0', '\n', ' ']).lines().next().unwrap_or("");
        let line = line.split(", package").next().unwrap_or(line).replace('\t', " ");
        format!("{line} ({})", self.name.display())
    }

    /// Whether the library reports that it accepts addresses in CUDA device memory; `None` if it reports nothing. Valid
    /// once MPI is started.
    pub(super) fn reports_device_aware(&self) -> Option<bool> {
        /// `MPIX_GPU_SUPPORT_CUDA`.
        const CUDA: c_int = 0;
        if let Some(query) = self.query_device {
            let mut aware: c_int = 0;
            // SAFETY: the result is one int.
            let code = unsafe { query(CUDA, &raw mut aware) };
            return (code == 0).then_some(aware != 0);
        }
        self.query_cuda.map(|query| query() == 1)
    }
}

/// Returns the library's text for an error code.
pub(super) fn error_text<H>(library: &Library<H>, code: c_int) -> String {
    // SAFETY: the buffer holds the longest text.
    let text = text(|start, length| unsafe { (library.call.error_string)(code, start, length) });
    text.trim_matches(['\0', '\n', ' ']).replace('\n', "; ")
}

/// Returns the text that a call writes to an address, with its length.
fn text(call: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let mut text = vec![0_u8; MAX_TEXT_BYTES + 1];
    let mut length: c_int = 0;
    call(text.as_mut_ptr().cast::<c_char>(), &raw mut length);
    text.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether a library has the interface of the standard: then it reports the version of that interface (MPI 5.0,
/// `MPI_Abi_get_version`).
///
/// # Safety
/// `scope` must be an MPI library.
unsafe fn is_standard(scope: &Scope) -> bool {
    type Query = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    // SAFETY: declared as in the standard.
    unsafe { scope.function::<Query>("MPI_Abi_get_version") }.is_ok_and(|query| {
        let (mut major, mut minor): (c_int, c_int) = (-1, -1);
        // SAFETY: the results are two ints; the function may be called at any time.
        let code = unsafe { query(&raw mut major, &raw mut minor) };
        code == 0 && major > 0
    })
}

/// Returns the names to try, in order: first those of the launcher's family.
fn candidates(family: Option<Family>) -> impl Iterator<Item = &'static str> {
    let (first, second) = match family {
        Some(Family::Mpich) => (&MPICH_NAMES[..], &OPEN_MPI_NAMES[..]),
        _ => (&OPEN_MPI_NAMES[..], &MPICH_NAMES[..]),
    };
    first.iter().chain(second).chain(&OTHER_NAMES).copied()
}
