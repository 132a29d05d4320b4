// order: a field of each of the NB unknowns of a row, and vectors in the order in which rows are solved. The host writes FIELDS (the
// parameters: fields that are read, or written) and ALL_UNKNOWNS (what is done with the unknowns of a row): b becomes what the fields
// hold and x 0, also for the WIDTH - ROWS rows of other ranks; or the fields become x.
//   fields   one value a row, in the caller's order                                     read, or written
//   rows     the caller's row at each place                                                  read
//   b, x     NB numbers a row, f64                                                  written, or x read
//   traffic: 4 bytes, NB values of fields and 2 NB numbers a row, or NB; no on-chip memory, no barrier
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

KERNEL_OF(THREADS) void order(
    FIELDS, GLOBAL const unsigned int *restrict rows, GLOBAL double *restrict ordered_b, GLOBAL double *restrict ordered_x)
{
    const int64 place = (int64)blockIdx.x * THREADS + threadIdx.x;
    GLOBAL double *const b = ordered_b + place * NB, *const x = ordered_x + place * NB;
    if (place < ROWS) {
        const int64 row = rows[place];
        ALL_UNKNOWNS
    } else if (place < WIDTH) {
        for (int k = 0; k < NB; ++k) x[k] = 0;
    }
}
