//! Numbers of bytes that MPI, which counts in 32 bits, has no word for.

use std::ffi::c_int;

use mpi::ffi::{
    MPI_Aint, MPI_Datatype, MPI_Type_commit, MPI_Type_contiguous, MPI_Type_create_struct,
    MPI_Type_free, RSMPI_UINT8_T,
};

/// Bytes of the blocks that long messages are described by.
const BLOCK: c_int = 1 << 30;

/// Some bytes at some distance from an address. Its datatype is freed when it is dropped; messages on their way may still
/// need it, and MPI keeps it for them.
pub(super) struct Bytes {
    /// Distance from the address; what the datatype does not hold of it.
    pub(super) start: c_int,
    /// How many of the datatype.
    pub(super) count: c_int,
    pub(super) datatype: MPI_Datatype,
    is_own: bool,
}

impl Bytes {
    /// `bytes` bytes at an address.
    pub(super) fn new(bytes: usize) -> Self {
        Self::at(0, bytes)
    }

    /// `bytes` bytes from `start` on.
    pub(super) fn at(start: usize, bytes: usize) -> Self {
        match (c_int::try_from(start), c_int::try_from(bytes)) {
            (Ok(start), Ok(count)) => {
                // SAFETY: a constant of the library.
                let datatype = unsafe { RSMPI_UINT8_T };
                Self { start, count, datatype, is_own: false }
            }
            _ => Self { start: 0, count: 1, datatype: long(start, bytes), is_own: true },
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: the datatype was made by `long` and is freed once.
            unsafe { MPI_Type_free(&raw mut self.datatype) };
        }
    }
}

/// A datatype of `bytes` bytes from `start` on: as many whole blocks as fit, then what is left.
#[allow(clippy::cast_possible_truncation, reason = "the rest is less than a block")]
#[allow(clippy::cast_sign_loss, reason = "a block is positive")]
fn long(start: usize, bytes: usize) -> MPI_Datatype {
    let block = BLOCK as usize;
    let address = |at: usize| MPI_Aint::try_from(at).expect("memory ends before");
    let blocks = c_int::try_from(bytes / block).expect("memory ends before");
    let counts = [blocks, (bytes % block) as c_int];
    let starts = [address(start), address(start + bytes / block * block)];
    // SAFETY: constants of the library and pointers to values that outlive the calls; the block is freed once, which the
    // datatype made of it does not mind.
    unsafe {
        let mut whole = RSMPI_UINT8_T;
        MPI_Type_contiguous(BLOCK, RSMPI_UINT8_T, &raw mut whole);
        let types = [whole, RSMPI_UINT8_T];
        let mut datatype = whole;
        MPI_Type_create_struct(
            2,
            counts.as_ptr(),
            starts.as_ptr(),
            types.as_ptr(),
            &raw mut datatype,
        );
        MPI_Type_commit(&raw mut datatype);
        MPI_Type_free(&raw mut whole);
        datatype
    }
}
