// block_sweep: updates the block rows of one colour (system.cu), products and solution in one kernel. A thread block takes ROWS block
// rows, with one team (product.cu) for each. The first ROWS LANES threads of the thread block, LANES per block row, then add the sums
// of the groups, permute the entries according to the pivots, and solve with the factors (triangles.cu).
//   traffic: 8 NB^2 + 26 NB + 4 bytes per block row, and sizeof(REAL) NB^2 + 4 bytes per off-diagonal block; x of neighbours
//            comes from the caches
//   on-chip  ROWS (GROUPS + 1) NB words of f64; barriers: 2, and those of triangles.cu
// ROW_WORDS is the number of on-chip words of a block row: NB sums for each group, and NB solved unknowns.
#define ROW_WORDS ((GROUPS + 1) * NB)

KERNEL_OF(TEAM * ROWS) void block_sweep(PARAMETERS)
{
    ON_CHIP_OF(double, chip, ROWS * ROW_WORDS);
    const int thread = threadIdx.x, top = begin + (int)blockIdx.x * ROWS;
    const int place = thread / LANES, lane = thread % LANES;
    const int solves = place < ROWS && top + place < end;
    const int64 row = solves ? top + place : begin;
    const double omega = scalars[first];
    double y[SHARE], before[SHARE];
    int pivot[SHARE];
    if (solves) {
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int64 at = row * NB + MIN_OF(lane + s * LANES, NB - 1);
            y[s] = b[at];
            before[s] = x[at];
            pivot[s] = pivots[at];
        }
    }
    const int team = thread / TEAM;
    if (top + team < end)
        add_products(chip + team * ROW_WORDS, starts, columns, blocks, x, top + team, lane, thread % TEAM / LANES);
    __syncthreads();

    ON_CHIP_PTR double *const own = chip + (solves ? place : 0) * ROW_WORDS;
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (solves && k < NB) own[k] = y[s] - over_groups(own, k);
    }
    __syncthreads();
    UNROLL for (int s = 0; s < SHARE; ++s)
        if (solves) y[s] = own[pivot[s]];
    solve_triangles(y, own + GROUPS * NB, factors + row * (NB * NB), lane, solves);
    if (solves) relax(x + row * NB, before, y, omega, lane);
}
