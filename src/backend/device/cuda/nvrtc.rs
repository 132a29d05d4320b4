//! NVRTC, NVIDIA's kernel compiler: search for a suitable version, and compilation. Needs neither a GPU nor its driver.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use super::libraries;
use crate::backend::device::Source;
use crate::comm::foreign_functions;
use crate::error::{Error, Result};

/// CUDA version (major, minor) of the driver or the compiler.
pub type Version = (u32, u32);

/// An NVRTC library.
///
/// Its functions are looked up in this library, not by name in the process: a machine may have several versions, and the
/// driver determines which of them works.
pub struct Nvrtc {
    path: PathBuf,
    version: Version,
    functions: Functions,
    /// Must outlive the functions.
    _library: Library,
    /// NVRTC looks for this part of itself by name only, and finds it if it is already loaded.
    _builtins: Option<Library>,
}

/// Target of a compilation, for a compute capability such as 90 (of an H100).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Instructions of that chip.
    Cubin(u32),
    /// NVIDIA's assembly for that chip and all newer ones, which the driver translates.
    Ptx(u32),
}

impl Code {
    fn option(self) -> String {
        match self {
            Code::Cubin(capability) => format!("--gpu-architecture=sm_{capability}"),
            Code::Ptx(capability) => format!("--gpu-architecture=compute_{capability}"),
        }
    }
}

/// nvrtcProgram, an opaque pointer.
type Program = *mut c_void;
/// Functions that write the size of a text of a program, and the text.
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Names = *const *const c_char;

foreign_functions! {
    /// nvrtc.h, unchanged since CUDA 11.2. An `int` is an nvrtcResult; 0 is success.
    Functions {
        create = nvrtcCreateProgram(*mut Program, *const c_char, *const c_char, c_int, Names, Names);
        destroy = nvrtcDestroyProgram(*mut Program);
        compile = nvrtcCompileProgram(Program, c_int, Names);
        log_size = nvrtcGetProgramLogSize(Program, *mut usize);
        log = nvrtcGetProgramLog(Program, *mut c_char);
        ptx_size = nvrtcGetPTXSize(Program, *mut usize);
        ptx = nvrtcGetPTX(Program, *mut c_char);
        cubin_size = nvrtcGetCUBINSize(Program, *mut usize);
        cubin = nvrtcGetCUBIN(Program, *mut c_char);
        error = nvrtcGetErrorString(c_int) -> *const c_char;
        version = nvrtcVersion(*mut c_int, *mut c_int);
        architecture_count = nvrtcGetNumSupportedArchs(*mut c_int);
        architectures = nvrtcGetSupportedArchs(*mut c_int);
    }
}

impl Nvrtc {
    /// Opens the library at `path`, or by that name through the system's loader.
    ///
    /// # Errors
    /// If it does not exist, or is not an NVRTC of CUDA 11.2 or newer.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |why: String| Error::Device(format!("{}: {why}", path.display()));
        // SAFETY: loading runs the initialisers of NVIDIA's compiler.
        let library = unsafe { Library::new(path) }.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the signatures are those of nvrtc.h.
        let functions = unsafe { Functions::of(&library) }.map_err(failed)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two integers are written.
        let status = unsafe { (functions.version)(&raw mut major, &raw mut minor) };
        let version = match (status, u32::try_from(major), u32::try_from(minor)) {
            (0, Ok(major), Ok(minor)) => (major, minor),
            _ => return Err(failed("it reports no version".into())),
        };
        let path = file_of(functions.version as *const c_void).unwrap_or(path.to_path_buf());
        let (major, minor) = version;
        let builtins = path.with_file_name(format!("libnvrtc-builtins.so.{major}.{minor}"));
        // SAFETY: as above.
        let builtins = unsafe { Library::new(builtins) }.ok();
        Ok(Self { path, version, functions, _library: library, _builtins: builtins })
    }

    /// Returns the first NVRTC of this machine, of any version.
    pub fn first() -> Option<Self> {
        libraries::candidates("nvrtc").find_map(|path| Self::open(&path).ok())
    }

    /// Returns an NVRTC of this machine whose code a driver of version `driver` loads for a chip of this compute
    /// capability: not newer than the driver, or at least of the same major version.
    ///
    /// # Errors
    /// If there is none: the command that installs one.
    pub fn find(driver: Version, capability: u32) -> Result<Self> {
        Self::fitting(libraries::candidates("nvrtc"), driver, capability)
    }

    /// As [`Nvrtc::find`], among these files; missing files are skipped.
    pub fn fitting(
        candidates: impl IntoIterator<Item = PathBuf>,
        driver: Version,
        capability: u32,
    ) -> Result<Self> {
        let mut newer: Option<Self> = None;
        let mut others = Vec::new();
        for path in candidates {
            let Ok(found) = Self::open(&path) else { continue };
            if found.version.0 > driver.0 || found.code_for(capability).is_err() {
                others.push(format!(
                    "{} is of CUDA {}",
                    found.path.display(),
                    dotted(found.version)
                ));
            } else if found.version <= driver {
                return Ok(found);
            } else if newer.is_none() {
                // Machine code, unlike PTX, runs on every driver of the same major version (CUDA Compatibility, "Minor
                // Version Compatibility").
                newer = Some(found);
            }
        }
        newer.ok_or_else(|| missing(driver, capability, &others))
    }

    /// Path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Version of the library.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the compute capabilities that it compiles for, in rising order.
    pub fn capabilities(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: one integer is written.
        let status = unsafe { (self.functions.architecture_count)(&raw mut count) };
        let mut known: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: `count` integers are written.
        if status != 0 || unsafe { (self.functions.architectures)(known.as_mut_ptr()) } != 0 {
            return Vec::new();
        }
        known.into_iter().filter_map(|capability| u32::try_from(capability).ok()).collect()
    }

    /// Returns the target for a chip: its own instructions if NVRTC knows the chip, else assembly of the nearest older
    /// chip.
    ///
    /// # Errors
    /// If the chip is older than all that NVRTC knows.
    pub fn code_for(&self, capability: u32) -> Result<Code> {
        let known = self.capabilities();
        match known.iter().rev().find(|&&known| known <= capability) {
            Some(&exact) if exact == capability => Ok(Code::Cubin(exact)),
            Some(&older) => Ok(Code::Ptx(older)),
            None => Err(Error::Device(format!(
                "NVRTC {} ({}) compiles for compute capability {} and newer; this GPU has {}",
                dotted(self.version),
                self.path.display(),
                known.first().map_or("?".into(), |&oldest| capability_name(oldest)),
                capability_name(capability)
            ))),
        }
    }

    /// Compiles `source` to `code`.
    ///
    /// # Errors
    /// The compiler's messages, with the source lines that they refer to.
    pub fn compile(&self, source: &Source, code: Code) -> Result<Vec<u8>> {
        let text = to_c_string(&source.text)?;
        let name = to_c_string(&source.name)?;
        let options = [to_c_string(&code.option())?];
        let mut program = Compilation { program: ptr::null_mut(), functions: &self.functions };
        // SAFETY: both texts live until the program is destroyed; there are no headers.
        let status = unsafe {
            (self.functions.create)(
                &raw mut program.program,
                text.as_ptr(),
                name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        program.check(status)?;
        let options = options.each_ref().map(|option| option.as_ptr());
        // SAFETY: one option, which lives on the stack.
        let status = unsafe { (self.functions.compile)(program.program, 1, options.as_ptr()) };
        if status != 0 {
            let Functions { log_size, log, .. } = self.functions;
            let log = program.get(log_size, log).unwrap_or_default();
            let log = String::from_utf8_lossy(log.strip_suffix(b"\0").unwrap_or(&log));
            return Err(Error::Device(format!(
                "NVRTC {} could not compile `{}` for {}: {}\n{}",
                dotted(self.version),
                source.name,
                code.option().trim_start_matches("--gpu-architecture="),
                program.error_text(status),
                with_source_lines(log.trim_end(), source)
            )));
        }
        let Functions { cubin_size, cubin, ptx_size, ptx, .. } = self.functions;
        match code {
            Code::Cubin(_) => program.get(cubin_size, cubin),
            Code::Ptx(_) => program.get(ptx_size, ptx),
        }
    }
}

/// An NVRTC program, destroyed on drop.
struct Compilation<'a> {
    program: Program,
    functions: &'a Functions,
}

impl Compilation<'_> {
    fn check(&self, status: c_int) -> Result<()> {
        match status {
            0 => Ok(()),
            _ => Err(Error::Device(format!("NVRTC: {}", self.error_text(status)))),
        }
    }

    fn error_text(&self, status: c_int) -> String {
        // SAFETY: the text belongs to the library and is never freed.
        let text = unsafe { CStr::from_ptr((self.functions.error)(status)) };
        text.to_string_lossy().into_owned()
    }

    fn get(&self, size: Size, text: Text) -> Result<Vec<u8>> {
        let mut count = 0;
        // SAFETY: one integer is written.
        self.check(unsafe { size(self.program, &raw mut count) })?;
        let mut bytes = vec![0_u8; count];
        // SAFETY: `count` bytes are written.
        self.check(unsafe { text(self.program, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for Compilation<'_> {
    fn drop(&mut self) {
        // SAFETY: a null program is refused; any other is destroyed once.
        unsafe { (self.functions.destroy)(&raw mut self.program) };
    }
}

/// Returns the log and, below it, the source lines that it refers to: "thomas(12): error: ..." refers to line 12.
fn with_source_lines(log: &str, source: &Source) -> String {
    let number = |line: &str| {
        let rest = line.strip_prefix(&source.name)?.strip_prefix('(')?;
        rest.split_once(')')?.0.parse::<usize>().ok()
    };
    let mut numbers: Vec<usize> = log.lines().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let lines: Vec<&str> = source.text.lines().collect();
    let quoted = numbers.into_iter().filter_map(|number| {
        let line = lines.get(number.checked_sub(1)?)?;
        Some(format!("\n{number:6} | {line}"))
    });
    std::iter::once(log.to_string()).chain(quoted).collect()
}

fn to_c_string(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::Device("a kernel's text has a zero byte in it".to_string()))
}

/// Returns the file that contains the code at `address`, if the system reports it.
#[cfg(unix)]
fn file_of(address: *const c_void) -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: all zero is a Dl_info of null pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address is allowed.
    let found = unsafe { libc::dladdr(address, &raw mut info) } != 0 && !info.dli_fname.is_null();
    // SAFETY: the text belongs to the loader and lives as long as the library.
    let name = found.then(|| unsafe { CStr::from_ptr(info.dli_fname) })?;
    std::fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()
}

#[cfg(not(unix))]
fn file_of(_: *const c_void) -> Option<PathBuf> {
    None
}

/// Error without a suitable NVRTC: lists the versions found and the command that installs a suitable one.
fn missing(driver: Version, capability: u32, others: &[String]) -> Error {
    // CUDA 13 dropped the chips before Turing (7.5), and its packages dropped the version number from their names.
    let (package, below) = match driver {
        (13.., _) if capability < 75 => ("nvidia-cuda-nvrtc-cu12", (13, 0)),
        (13.., _) => ("nvidia-cuda-nvrtc", (driver.0, driver.1 + 1)),
        _ => ("nvidia-cuda-nvrtc-cu12", (driver.0, driver.1 + 1)),
    };
    let found = match others {
        [] => "was not found".to_string(),
        _ => format!("does not fit the driver (CUDA {}): {}", dotted(driver), others.join(", ")),
    };
    Error::Device(format!(
        "CUDA's compiler NVRTC (libnvrtc.so) {found}\n       \
         install it: pip install '{package}<{}'; or set CUDA_PATH to the folder of a CUDA toolkit, \
         or use `--backend opencl` or `--backend cpu`",
        dotted(below)
    ))
}

/// 13.0
pub(super) fn dotted((major, minor): Version) -> String {
    format!("{major}.{minor}")
}

/// Formats 90 as 9.0, 103 as 10.3.
pub(super) fn capability_name(capability: u32) -> String {
    dotted((capability / 10, capability % 10))
}
