// block_sweep: products and solution of the rows of a colour (system.cu) in one kernel. A block of threads takes ROWS rows, a
// team (product.cu) each. Then LANES threads a row, the first ones of the block, add up the sums of the groups, exchange rows as
// the pivots say and solve (triangles.cu).
//   traffic: 8 NB^2 + 26 NB + 4 bytes a row and sizeof(REAL) NB^2 + 4 an off-diagonal block; x of neighbours from the caches
//   on-chip  ROWS (GROUPS + 1) NB words of f64; barriers: 2, and those of the triangles
#define WORDS ((GROUPS + 1) * NB)

KERNEL_OF(TEAM * ROWS) void block_sweep(PARAMETERS)
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
        if (solves && k < NB) own[k] = y[s] - over_groups(own, k);
    }
    __syncthreads();
    UNROLL for (int s = 0; s < SHARE; ++s)
        if (solves) y[s] = own[pivot[s]];
    solve_triangles(y, own + GROUPS * NB, factors + row * (NB * NB), lane, solves);
    if (solves) relax(x + row * NB, before, y, omega, lane);
}
