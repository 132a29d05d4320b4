// order: copies fields, one for each of the NB unknowns of a block row, to vectors in the order in which block rows are solved, or
// back. The host writes two macros:
//   FIELDS        the first parameters: fields that are read, or fields that are written
//   ALL_UNKNOWNS  statements for the unknowns k = 0 .. NB - 1 of a block row: either b[k] = field k and x[k] = 0, or field k = x[k]
// In the first case x also becomes 0 for the WIDTH - ROWS block rows of other ranks. In the second case WIDTH = ROWS.
//   fields   one value per block row, in the caller's order                               read, or written
//   rows     the caller's number of the block row at each position of the solution order  read
//   b, x     NB numbers per block row, f64                                                written, or x read
//   traffic: per block row, 4 bytes and NB values of fields, and 2 NB numbers written or NB numbers read; no on-chip memory,
//            no barrier
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
