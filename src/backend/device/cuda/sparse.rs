//! Tridiagonal lines by cuSPARSE: the reference for the speed of this project's kernels.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use cudarc::driver::result as cu;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;

use super::super::runtime::{Handle, Tridiagonal};
use super::{libraries, object};
use crate::comm::foreign_functions;
use crate::error::{Error, Result};
use crate::real::Precision;

/// `CUSPARSE_STATUS_SUCCESS`.
const SUCCESS: c_int = 0;

/// `cusparseHandle_t`, an opaque pointer.
type Context = *mut c_void;
/// A pointer to numbers on the device.
type Numbers = *const c_void;

foreign_functions! {
    /// cusparse.h of CUDA 13; 12 has the same declarations. An `int` is a `cusparseStatus_t`.
    Functions {
        create = cusparseCreate(*mut Context);
        destroy = cusparseDestroy(Context);
        set_stream = cusparseSetStream(Context, CUstream);
        error_string = cusparseGetErrorString(c_int) -> *const c_char;
        workspace_f64 = cusparseDgtsv2StridedBatch_bufferSizeExt(
            Context, c_int, Numbers, Numbers, Numbers, Numbers, c_int, c_int, *mut usize);
        workspace_f32 = cusparseSgtsv2StridedBatch_bufferSizeExt(
            Context, c_int, Numbers, Numbers, Numbers, Numbers, c_int, c_int, *mut usize);
        solve_f64 = cusparseDgtsv2StridedBatch(
            Context, c_int, Numbers, Numbers, Numbers, *mut c_void, c_int, c_int, *mut c_void);
        solve_f32 = cusparseSgtsv2StridedBatch(
            Context, c_int, Numbers, Numbers, Numbers, *mut c_void, c_int, c_int, *mut c_void);
    }
}

/// cuSPARSE on one stream, and its workspace.
pub(super) struct Sparse {
    call: Functions,
    handle: Context,
    workspace: CUdeviceptr,
    bytes: usize,
}

// SAFETY: used under a lock, and cuSPARSE may be called from any thread.
unsafe impl Send for Sparse {}

impl Sparse {
    /// Opens cuSPARSE. Needs a current context.
    pub(super) fn new(stream: CUstream) -> Result<Self> {
        // SAFETY: loading runs the initialisers of NVIDIA's cuSPARSE.
        let library =
            libraries::candidates("cusparse").find_map(|path| unsafe { Library::new(path) }.ok());
        let refuse = |why: String| {
            let advice =
                "install it: pip install nvidia-cusparse; or choose another `compute.line_solver`";
            Error::Device(format!("cuSPARSE (libcusparse.so) {why}\n       {advice}"))
        };
        let library = library.ok_or_else(|| refuse("was not found".into()))?;
        // SAFETY: the signatures are those of cusparse.h.
        let call = unsafe { Functions::of(&library) }
            .map_err(|why| refuse(format!("cannot be used: {why}")))?;
        // It stays loaded, as long as its functions may be called.
        std::mem::forget(library);
        let mut sparse = Self { call, handle: ptr::null_mut(), workspace: 0, bytes: 0 };
        // SAFETY: one pointer is written.
        let status = unsafe { (sparse.call.create)(&raw mut sparse.handle) };
        sparse.check("open", status)?;
        // SAFETY: the stream outlives this.
        let status = unsafe { (sparse.call.set_stream)(sparse.handle, stream) };
        sparse.check("use the stream", status)?;
        Ok(sparse)
    }

    pub(super) fn solve(&mut self, systems: &Tridiagonal) -> Result<()> {
        let &Tridiagonal { rows, batches, stride, arrays, .. } = systems;
        let (measure, solve) = match systems.precision {
            Precision::F64 => (self.call.workspace_f64, self.call.solve_f64),
            Precision::F32 => (self.call.workspace_f32, self.call.solve_f32),
        };
        let [lower, diagonal, upper, x] = arrays.map(object);
        let (context, mut bytes) = (self.handle, 0);
        let to = &raw mut bytes;
        // SAFETY: pointers to device memory of (batches - 1) stride + rows numbers each; the caller has checked this.
        let status =
            unsafe { measure(context, rows, lower, diagonal, upper, x, batches, stride, to) };
        self.check("size its workspace", status)?;
        self.reserve(bytes)?;
        let workspace = object(Handle(self.workspace));
        // SAFETY: as above, and the workspace has the size that was asked for.
        let status =
            unsafe { solve(context, rows, lower, diagonal, upper, x, batches, stride, workspace) };
        self.check("solve tridiagonal systems", status)
    }

    fn check(&self, what: &str, status: c_int) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: a constant text of the library, for any status.
        let text = unsafe { CStr::from_ptr((self.call.error_string)(status)) }.to_string_lossy();
        Err(Error::Device(format!("cuSPARSE could not {what}: {text}")))
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let to_error = |error| Error::Device(format!("cuSPARSE needs {bytes} bytes: {error:?}"));
        // SAFETY: free_sync waits for the driver's work, after which the old workspace has no user.
        unsafe {
            if self.bytes > 0 {
                self.bytes = 0;
                cu::free_sync(self.workspace).map_err(to_error)?;
            }
            self.workspace = cu::malloc_sync(bytes).map_err(to_error)?;
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: both were made here and are not used again; the caller guarantees the context.
        unsafe {
            if !self.handle.is_null() {
                (self.call.destroy)(self.handle);
            }
            if self.bytes > 0 {
                let _ = cu::free_sync(self.workspace);
            }
        }
    }
}
