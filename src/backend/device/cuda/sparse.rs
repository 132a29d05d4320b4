//! Tridiagonal lines by cuSPARSE: the yardstick that the kernels of this project are held to.

use cudarc::cusparse::{result as cusparse, sys};
use cudarc::driver::result as cu;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;

use super::super::runtime::Tridiagonal;
use super::libraries;
use crate::error::{Error, Result};
use crate::real::Precision;

/// What is called of it.
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

// SAFETY: used under a lock, and cuSPARSE does not care which thread calls it.
unsafe impl Send for Sparse {}

impl Sparse {
    /// Needs a current context.
    pub(super) fn new(stream: CUstream) -> Result<Self> {
        // A library that is loaded already is found by its name alone, wherever it lies.
        // SAFETY: loading runs the library's initialisers, those of NVIDIA's cuSPARSE.
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
        // It stays loaded: what is found by name must not go away.
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
        // The same two calls for both types of numbers.
        macro_rules! solve {
            ($size:ident, $solve:ident) => {{
                let [lower, diagonal, upper, x] = arrays.map(super::object);
                let (context, mut bytes) = (self.handle, 0);
                let to = &raw mut bytes;
                // SAFETY: pointers to device memory of (batches - 1) stride + rows numbers each, as the caller has checked.
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
        // SAFETY: the old workspace is used by nobody once the driver has waited for its work, which free does.
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
        // SAFETY: both were made here and are used no more; the context is the caller's concern.
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
