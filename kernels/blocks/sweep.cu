// block_sweep: the rows of one colour of a system of NB x NB blocks, products and solution in one (Zubair, Nielsen, Luitjens and
// Hammond 2017, section III, there two kernels):
//   x_i <- (1 - omega) x_i + omega D_i^-1 (b_i - sum_j O_ij x_j),   P D_i = L U
// No row of a colour is a column of another, so that nothing that is read is written meanwhile, except x_i by its own threads.
// A block of threads takes ROWS rows, a team (product.cu) each. Then LANES threads a row, the first ones of the block, add up
// the sums of the groups in rising order, exchange rows as the pivots say and solve (triangles.cu).
// What the second part needs is loaded before the first, where it is not `restrict`: else compilers load it where it is used.
//   starts   number of the first off-diagonal block of each row, and of all                read
//   columns  the column of each off-diagonal block                                         read
//   blocks   off-diagonal blocks, entry (k, l) at k + l NB, REAL                           read
//   factors  L and U of each diagonal block, laid out likewise, f64                        read
//   pivots   the row of the diagonal block that became each row                            read
//   b        NB numbers a row, f64                                                         read
//   x        the same; rows begin to end - 1 are solved                          read, written
//   scalars  omega                                                                         read
//   traffic: 8 NB^2 + 26 NB + 4 bytes a row and sizeof(REAL) NB^2 + 4 a block; x of neighbours from the caches
//   on-chip  ROWS (GROUPS + 1) NB words of f64; barriers: 2, and those of the triangles
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define WORDS ((GROUPS + 1) * NB)

KERNEL_OF(TEAM * ROWS) void block_sweep(
    GLOBAL const unsigned int *restrict starts, GLOBAL const unsigned int *restrict columns,
    GLOBAL const REAL *restrict blocks, GLOBAL const double *factors, GLOBAL const unsigned short *pivots,
    GLOBAL const double *b, GLOBAL double *x, int begin, int end, GLOBAL const double *scalars, int first)
{
    ON_CHIP_OF(double, chip, ROWS * WORDS);
    const int thread = threadIdx.x, top = begin + (int)blockIdx.x * ROWS;
    const int place = thread / LANES, lane = thread % LANES;
    const int solves = place < ROWS && top + place < end;
    const int64 row = solves ? top + place : begin;
    const double omega = scalars[first];
    double y[SHARE], before[SHARE];
    int pivot[SHARE];
    if (solves) {
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int64 at = row * NB + LEAST(lane + s * LANES, NB - 1);
            y[s] = b[at];
            before[s] = x[at];
            pivot[s] = pivots[at];
        }
    }
    const int team = thread / TEAM;
    if (top + team < end)
        add_products(chip + team * WORDS, starts, columns, blocks, x, top + team, lane, thread % TEAM / LANES);
    __syncthreads();

    ON_CHIP_PTR double *const own = chip + (solves ? place : 0) * WORDS;
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (solves && k < NB) {
            double sum = own[k];
            for (int group = 1; group < GROUPS; ++group) sum += own[group * NB + k];
            own[k] = y[s] - sum;
        }
    }
    __syncthreads();
    UNROLL for (int s = 0; s < SHARE; ++s)
        if (solves) y[s] = own[pivot[s]];
    solve_triangles(y, own + GROUPS * NB, factors + row * (NB * NB), lane, solves);
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (solves && k < NB) x[row * NB + k] = (1 - omega) * before[s] + omega * y[s];
    }
}
