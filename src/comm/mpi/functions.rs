//! The MPI functions that are called, with the arguments of the standard, for one width of handles.

use std::ffi::{c_char, c_int, c_void};

use super::scope::Library;
use crate::comm::foreign_functions;

/// `MPI_Aint`: an address or a distance in memory.
pub(super) type Aint = isize;
/// Array of statuses.
type Statuses = *mut c_void;

foreign_functions! {
    /// Pointers to the MPI functions. `H` is the handle type.
    pub(super) Functions<H> {
        init_thread = MPI_Init_thread(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
        initialized = MPI_Initialized(*mut c_int);
        finalize = MPI_Finalize();
        finalized = MPI_Finalized(*mut c_int);
        abort = MPI_Abort(H, c_int);
        error_string = MPI_Error_string(c_int, *mut c_char, *mut c_int);
        get_library_version = MPI_Get_library_version(*mut c_char, *mut c_int);

        comm_rank = MPI_Comm_rank(H, *mut c_int);
        comm_size = MPI_Comm_size(H, *mut c_int);
        comm_split = MPI_Comm_split(H, c_int, c_int, *mut H);
        comm_split_type = MPI_Comm_split_type(H, c_int, c_int, H, *mut H);
        comm_set_errhandler = MPI_Comm_set_errhandler(H, H);
        comm_free = MPI_Comm_free(*mut H);

        type_contiguous = MPI_Type_contiguous(c_int, H, *mut H);
        type_create_struct = MPI_Type_create_struct(c_int, *const c_int, *const Aint, *const H, *mut H);
        type_commit = MPI_Type_commit(*mut H);
        type_free = MPI_Type_free(*mut H);

        isend = MPI_Isend(*const c_void, c_int, H, c_int, c_int, H, *mut H);
        irecv = MPI_Irecv(*mut c_void, c_int, H, c_int, c_int, H, *mut H);
        waitall = MPI_Waitall(c_int, *mut H, Statuses);
        testall = MPI_Testall(c_int, *mut H, *mut c_int, Statuses);

        bcast = MPI_Bcast(*mut c_void, c_int, H, c_int, H);
        ibarrier = MPI_Ibarrier(H, *mut H);
        ibcast = MPI_Ibcast(*mut c_void, c_int, H, c_int, H, *mut H);
        igather = MPI_Igather(*const c_void, c_int, H, *mut c_void, c_int, H, c_int, H, *mut H);
        iallgather = MPI_Iallgather(*const c_void, c_int, H, *mut c_void, c_int, H, H, *mut H);
        iallreduce = MPI_Iallreduce(*const c_void, *mut c_void, c_int, H, H, H, *mut H);
        ialltoallw = MPI_Ialltoallw(
            *const c_void, *const c_int, *const c_int, *const H,
            *mut c_void, *const c_int, *const c_int, *const H, H, *mut H
        );
    }
}
