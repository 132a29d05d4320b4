// One colour of a system of NB x NB blocks: block rows `begin` to `end` - 1 (Zubair, Nielsen, Luitjens and Hammond 2017, section
// III). The diagonal blocks are factored, P D_i = L U. The kernels compute
//   x_i <- (1 - omega) x_i + omega D_i^-1 (b_i - sum_j O_ij x_j)
// Block rows of the same colour are not coupled: no j of the sum has the colour of i. While a colour is updated, only the threads of
// block row i access x_i, so no thread reads an unknown that another block row writes.
//   starts   number of the first off-diagonal block of each block row, then the number of all of them read
//   columns  block column of each off-diagonal block                                                   read
//   blocks   off-diagonal blocks, entry (k, l) of a block at k + l NB, REAL                            read
//   factors  L and U of each diagonal block, same layout, f64, the diagonal of U as reciprocals        read
//   pivots   P: for each row of L U, the row of the diagonal block that it comes from                  read
//   b        NB numbers per block row, f64                                                             read
//   x        NB numbers per block row, f64; then those of other ranks, which are only read             read and written
//   left     b_i - sum_j O_ij x_j of the block rows of this colour, f64, if two kernels share the work (split.cu), the first
//            of row `begin`; written by the first kernel, read by the second
//   scalars  scalars[first] is omega                                                                   read
// block_sweep and block_solve load b or left, x, pivots and panels of factors ahead of the barriers after which they need them. The
// pointers to these values are not `restrict`:
// compilers move loads through `restrict` pointers to where the values are used, even past barriers.
// PARAMETERS is the parameter list that all kernels of a colour share.
#define PARAMETERS \
    GLOBAL const unsigned int *restrict starts, GLOBAL const unsigned int *restrict columns, \
    GLOBAL const REAL *restrict blocks, GLOBAL const double *factors, GLOBAL const unsigned short *pivots, \
    GLOBAL const double *b, GLOBAL double *x, GLOBAL double *left, int begin, int end, \
    GLOBAL const double *scalars, int first
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
// MIN_OF(a, b) is the smaller of a and b.
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

// x <- (1 - omega) before + omega y for the unknowns lane, lane + LANES, ... of a block row. `before` is the old x.
DEVICE void relax(GLOBAL double *x, const double before[SHARE], const double y[SHARE], double omega, int lane)
{
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (k < NB) x[k] = (1 - omega) * before[s] + omega * y[s];
    }
}
