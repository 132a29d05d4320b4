// block_product, then block_solve: update the block rows of one colour (system.cu) in two kernels, as in Zubair et al. (2017). Each
// kernel has as many threads as its own work can use.
// block_product: left = b - O x. A thread block takes ROWS block rows, with one team (product.cu) for each.
//   traffic: 16 NB + 4 bytes per block row (b, left, starts), and sizeof(REAL) NB^2 + 4 bytes per off-diagonal block; x of
//            neighbours comes from the caches
//   on-chip  ROWS GROUPS NB words of f64; barriers: 1
// block_solve: x <- (1 - omega) x + omega D^-1 left. A thread block takes SOLVE_ROWS block rows, with LANES threads for each
// (triangles.cu).
//   traffic: 8 NB^2 + 26 NB bytes per block row
//   on-chip  SOLVE_ROWS NB words of f64; barriers: those of triangles.cu
KERNEL_OF(TEAM * ROWS) void block_product(PARAMETERS)
{
    ON_CHIP_OF(double, chip, ROWS * GROUPS * NB);
    const int thread = threadIdx.x, top = begin + (int)blockIdx.x * ROWS;
    const int team = thread / TEAM, lane = thread % LANES;
    if (top + team < end)
        add_products(chip + team * GROUPS * NB, starts, columns, blocks, x, top + team, lane, thread % TEAM / LANES);
    __syncthreads();
    const int place = thread / LANES;
    if (place < ROWS && top + place < end) {
        const int64 row = top + place;
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int k = lane + s * LANES;
            if (k < NB)
                left[(row - begin) * NB + k] = b[row * NB + k] - over_groups(chip + place * GROUPS * NB, k);
        }
    }
}

KERNEL_OF(LANES * SOLVE_ROWS) void block_solve(PARAMETERS)
{
    ON_CHIP_OF(double, chip, SOLVE_ROWS * NB);
    const int thread = threadIdx.x, place = thread / LANES, lane = thread % LANES;
    const int wanted = begin + (int)blockIdx.x * SOLVE_ROWS + place, solves = wanted < end;
    const int64 row = solves ? wanted : begin;
    const double omega = scalars[first];
    double y[SHARE], before[SHARE];
    if (solves) {
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int64 at = row * NB + MIN_OF(lane + s * LANES, NB - 1);
            y[s] = left[(row - begin) * NB + pivots[at]];
            before[s] = x[at];
        }
    }
    solve_triangles(y, chip + place * NB, factors + row * (NB * NB), lane, solves);
    if (solves) relax(x + row * NB, before, y, omega, lane);
}
