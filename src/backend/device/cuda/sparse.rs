//! Tridiagonal lines by cuSPARSE: the reference for the speed of this project's kernels.

use cudarc::cusparse::{result as cusparse, sys};
use cudarc::driver::result as cu;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;

use super::super::runtime::Tridiagonal;
use super::libraries;
use crate::error::{Error, Result};
use crate::real::Precision;

/// The functions used.
const FUNCTIONS: [&str; 7] = [
    "cusparseCreate",
    "cusparseDestroy",
    "cusparseSetStream",
    "cusparseDgtsv2StridedBatch_bufferSizeExt",
    "cusparseDgtsv2StridedBatch",
    "cusparseSgtsv2StridedBatch_bufferSizeExt",
    "cusparseSgtsv2StridedBatch",
];

/// cuSPARSE on one stream, and its workspace.
pub(super) struct Sparse {
    handle: sys::cusparseHandle_t,
    workspace: CUdeviceptr,
    bytes: usize,
}

// SAFETY: used under a lock, and cuSPARSE may be called from any thread.
unsafe impl Send for Sparse {}

impl Sparse {
    /// Opens cuSPARSE. Needs a current context.
    pub(super) fn new(stream: CUstream) -> Result<Self> {
        // A library that is already loaded is found by its name alone, in any location.
        // SAFETY: loading runs the initialisers of NVIDIA's cuSPARSE.
        let found =
            libraries::candidates("cusparse").find_map(|path| unsafe { Library::new(path) }.ok());
        let library = libraries::loaded(&["cusparse"]);
        if found.is_none()
            || library.is_none_or(|library| libraries::lacking(&library, &FUNCTIONS).is_some())
        {
            return Err(Error::Device(
                "cuSPARSE (libcusparse.so) was not found\n       \
                 install it: pip install nvidia-cusparse; or choose another `compute.line_solver`"
                    .into(),
            ));
        }
        // It stays loaded, so that lookups by name keep working.
        std::mem::forget(found);
        let handle = cusparse::create().map_err(failed("open cuSPARSE"))?;
        let sparse = Self { handle, workspace: 0, bytes: 0 };
        // SAFETY: the stream outlives this.
        unsafe { sys::cusparseSetStream(handle, stream.cast()) }
            .result()
            .map_err(failed("use the stream"))?;
        Ok(sparse)
    }

    pub(super) fn solve(&mut self, systems: &Tridiagonal) -> Result<()> {
        let &Tridiagonal { rows, batches, stride, arrays, .. } = systems;
        let told = failed("solve tridiagonal systems");
        // The same two calls for both precisions.
        macro_rules! solve {
            ($size:ident, $solve:ident) => {{
                let [lower, diagonal, upper, x] = arrays.map(super::object);
                let (context, mut bytes) = (self.handle, 0);
                let to = &raw mut bytes;
                // SAFETY: pointers to device memory of (batches - 1) stride + rows numbers each; the caller has checked
                // this.
                unsafe {
                    sys::$size(context, rows, lower, diagonal, upper, x, batches, stride, to)
                        .result()
                        .map_err(&told)?;
                    self.reserve(bytes)?;
                    let room = self.workspace as *mut _;
                    sys::$solve(context, rows, lower, diagonal, upper, x, batches, stride, room)
                        .result()
                        .map_err(&told)
                }
            }};
        }
        match systems.precision {
            Precision::F64 => {
                solve!(cusparseDgtsv2StridedBatch_bufferSizeExt, cusparseDgtsv2StridedBatch)
            }
            Precision::F32 => {
                solve!(cusparseSgtsv2StridedBatch_bufferSizeExt, cusparseSgtsv2StridedBatch)
            }
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let told = |error| Error::Device(format!("cuSPARSE needs {bytes} bytes: {error:?}"));
        // SAFETY: free_sync waits for the driver's work, after which the old workspace has no user.
        unsafe {
            if self.bytes > 0 {
                self.bytes = 0;
                cu::free_sync(self.workspace).map_err(told)?;
            }
            self.workspace = cu::malloc_sync(bytes).map_err(told)?;
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: both were made here and are not used again; the caller guarantees the context.
        unsafe {
            let _ = cusparse::destroy(self.handle);
            if self.bytes > 0 {
                let _ = cu::free_sync(self.workspace);
            }
        }
    }
}

fn failed(what: &str) -> impl Fn(cusparse::CusparseError) -> Error + '_ {
    move |error| Error::Device(format!("cuSPARSE could not {what}: {:?}", error.0))
}
