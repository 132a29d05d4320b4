// The rows `begin` to `end` - 1 of one colour of a system of NB x NB blocks (Zubair, Nielsen, Luitjens and Hammond 2017, section
// III), of a matrix whose diagonal blocks are factored, P D_i = L U:
//   x_i <- (1 - omega) x_i + omega D_i^-1 (b_i - sum_j O_ij x_j)
// No row of a colour is a column of another, so that nothing that is read is written meanwhile, except x_i by its own threads.
//   starts   number of the first off-diagonal block of each row, and of all                read
//   columns  the column of each off-diagonal block                                         read
//   blocks   off-diagonal blocks, entry (k, l) at k + l NB, REAL                           read
//   factors  L and U of each diagonal block, laid out likewise, f64                        read
//   pivots   the row of the diagonal block that became each row                            read
//   b        NB numbers a row, f64                                                         read
//   x        the same                                                             read, written
//   left     b_i - sum_j O_ij x_j of the rows of this colour, f64, where two kernels share the work
//   scalars  omega                                                                         read
// A thread loads early what it needs after a barrier. That is not `restrict`: compilers move loads of what is, past barriers too,
// to where they are used.
#define PARAMETERS \
    GLOBAL const unsigned int *restrict starts, GLOBAL const unsigned int *restrict columns, \
    GLOBAL const REAL *restrict blocks, GLOBAL const double *factors, GLOBAL const unsigned short *pivots, \
    GLOBAL const double *b, GLOBAL double *x, GLOBAL double *left, int begin, int end, \
    GLOBAL const double *scalars, int first
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

// x <- (1 - omega) before + omega y of the unknowns lane, lane + LANES, ... of a row.
DEVICE void relax(GLOBAL double *x, const double before[SHARE], const double y[SHARE], double omega, int lane)
{
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (k < NB) x[k] = (1 - omega) * before[s] + omega * y[s];
    }
}
