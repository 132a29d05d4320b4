// Products of a row of blocks with the unknowns of its columns. The off-diagonal blocks of row i lie one after another, each
// column by column, so that they are one matrix O_i of NB rows whose columns a team of LANES x GROUPS threads shares:
//   lane     takes rows lane, lane + LANES, ... of O_i, SHARE of them
//   group    takes columns group, group + GROUPS, ..., AHEAD at a time, all loaded before one is used; beyond the end the
//            last column is loaded again, times 0: a load on a condition waits for it
// Neighbouring threads read neighbouring numbers, and a group adds up its columns in rising order.
#define TEAM (LANES * GROUPS)

// sums[group NB + k] = sum over the columns of this group of O_i[k][column] x[column].
PHASE void add_products(
    ON_CHIP_PTR double *sums,
    GLOBAL const unsigned int *restrict starts, GLOBAL const unsigned int *restrict columns,
    GLOBAL const REAL *restrict blocks, GLOBAL const double *x,
    int row, int lane, int group)
{
    const unsigned int start = starts[row], count = (starts[row + 1] - start) * NB;
    GLOBAL const REAL *const own = blocks + (int64)start * (NB * NB);
    double sum[SHARE];
    UNROLL for (int s = 0; s < SHARE; ++s) sum[s] = 0;
    for (unsigned int next = group; next < count; next += AHEAD * GROUPS) {
        REAL numbers[AHEAD][SHARE];
        double unknowns[AHEAD];
        UNROLL for (int a = 0; a < AHEAD; ++a) {
            const unsigned int wanted = next + a * GROUPS, column = LEAST(wanted, count - 1);
            const double unknown = x[(int64)columns[start + column / NB] * NB + column % NB];
            unknowns[a] = wanted < count ? unknown : 0;
            UNROLL for (int s = 0; s < SHARE; ++s)
                numbers[a][s] = own[(int64)column * NB + LEAST(lane + s * LANES, NB - 1)];
        }
        UNROLL for (int a = 0; a < AHEAD; ++a)
            UNROLL for (int s = 0; s < SHARE; ++s) sum[s] += (double)numbers[a][s] * unknowns[a];
    }
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (k < NB) sums[group * NB + k] = sum[s];
    }
}

// Entry k of the product: the sums of all groups, the first group first.
DEVICE double over_groups(ON_CHIP_PTR const double *sums, int k)
{
    double sum = sums[k];
    for (int group = 1; group < GROUPS; ++group) sum += sums[group * NB + k];
    return sum;
}
