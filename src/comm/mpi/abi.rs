//! Binary interfaces of MPI libraries: widths of handles, and values of the constants in their headers.
//!
//! | interface | libraries | handles |
//! |---|---|---|
//! | Open MPI's | Open MPI | addresses of objects in the library |
//! | MPICH's (common to several libraries since 2013) | MPICH, Intel MPI, MVAPICH, Cray MPICH | ints |
//! | the standard's (MPI 5.0, chapter "Application Binary Interface") | `libmpi_abi` of any library | pointers of small value |
//!
//! Kolmo never requests a status, so the layout of statuses does not matter.

use std::ffi::c_int;

use super::scope::Scope;

/// An MPI handle. It is never dereferenced here: it is an int, or a number as wide as a pointer.
pub(super) trait Handle: Copy + Send + Sync + 'static {
    /// Returns the handle whose [`Handle::bits`] are `bits`.
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

#[allow(clippy::cast_possible_truncation, reason = "the bits are those of an int")]
impl Handle for c_int {
    fn from_bits(bits: u64) -> Self {
        (bits as u32).cast_signed()
    }

    fn bits(self) -> u64 {
        self.cast_unsigned().into()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the bits are those of a number of this width")]
impl Handle for usize {
    fn from_bits(bits: u64) -> Self {
        bits as usize
    }

    fn bits(self) -> u64 {
        self as u64
    }
}

/// The constants of `mpi.h` that are used.
pub(super) struct Constants<H> {
    pub(super) comm_world: H,
    pub(super) info_null: H,
    pub(super) request_null: H,
    pub(super) errors_return: H,
    pub(super) byte: H,
    pub(super) double: H,
    pub(super) sum: H,
    pub(super) max: H,
    pub(super) comm_type_shared: c_int,
    pub(super) thread_serialized: c_int,
    /// An address.
    pub(super) statuses_ignore: usize,
}

/// Values in `mpi.h` of MPICH 4.0 and 5.0.
pub(super) const MPICH: Constants<c_int> = Constants {
    comm_world: 0x4400_0000,
    info_null: 0x1c00_0000,
    request_null: 0x2c00_0000,
    errors_return: 0x5400_0001,
    byte: 0x4c00_010d,
    double: 0x4c00_080b,
    sum: 0x5800_0003,
    max: 0x5800_0001,
    comm_type_shared: 1,
    thread_serialized: 2,
    statuses_ignore: 1,
};

/// Values of MPI 5.0, appendix A, as in `mpi_abi.h` of MPICH 5.0.
pub(super) const STANDARD: Constants<usize> = Constants {
    comm_world: 0x101,
    info_null: 0x130,
    request_null: 0x180,
    errors_return: 0x143,
    byte: 0x247,
    double: 0x214,
    sum: 0x21,
    max: 0x23,
    comm_type_shared: 221,
    thread_serialized: 2048,
    statuses_ignore: 0,
};

/// Returns the objects and values that `mpi.h` of Open MPI 4.1 and 5.0 names.
pub(super) fn open_mpi(scope: &Scope) -> Result<Constants<usize>, String> {
    Ok(Constants {
        comm_world: scope.address("ompi_mpi_comm_world")?,
        info_null: scope.address("ompi_mpi_info_null")?,
        request_null: scope.address("ompi_request_null")?,
        errors_return: scope.address("ompi_mpi_errors_return")?,
        byte: scope.address("ompi_mpi_byte")?,
        double: scope.address("ompi_mpi_double")?,
        sum: scope.address("ompi_mpi_op_sum")?,
        max: scope.address("ompi_mpi_op_max")?,
        comm_type_shared: 0,
        thread_serialized: 2,
        statuses_ignore: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_survive_conversion_to_bits() {
        // A handle that MPICH creates at run time has the highest bit set.
        for handle in [MPICH.request_null, -0x7bff_ffff, 0] {
            assert_eq!(c_int::from_bits(handle.bits()), handle);
        }
        for handle in [STANDARD.request_null, usize::MAX, 0] {
            assert_eq!(usize::from_bits(handle.bits()), handle);
        }
    }
}
