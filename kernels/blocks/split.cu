// block_product, then block_solve: the rows of a colour (system.cu) in two kernels, as Zubair et al. (2017) have it, so that each
// has as many threads as its own work can use.
// block_product: left = b - O x; a block of threads takes ROWS rows, a team (product.cu) each.
//   traffic: 24 NB + 4 bytes a row and sizeof(REAL) NB^2 + 4 an off-diagonal block; x of neighbours from the caches
//   on-chip  ROWS GROUPS NB words of f64; barriers: 1
// block_solve: a block of threads takes SOLVED rows, LANES threads each (triangles.cu).
//   traffic: 8 NB^2 + 26 NB bytes a row
//   on-chip  SOLVED NB words of f64; barriers: those of the triangles
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

KERNEL_OF(LANES * SOLVED) void block_solve(PARAMETERS)
{
    ON_CHIP_OF(double, chip, SOLVED * NB);
    const int thread = threadIdx.x, place = thread / LANES, lane = thread % LANES;
    const int wanted = begin + (int)blockIdx.x * SOLVED + place, solves = wanted < end;
    const int64 row = solves ? wanted : begin;
    const double omega = scalars[first];
    double y[SHARE], before[SHARE];
    if (solves) {
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int64 at = row * NB + LEAST(lane + s * LANES, NB - 1);
            y[s] = left[(row - begin) * NB + pivots[at]];
            before[s] = x[at];
        }
    }
    solve_triangles(y, chip + place * NB, factors + row * (NB * NB), lane, solves);
    if (solves) relax(x + row * NB, before, y, omega, lane);
}
