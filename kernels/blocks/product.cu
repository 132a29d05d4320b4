// Products of a block row with the unknowns of its columns. The off-diagonal blocks of block row i are stored one after another, each
// column by column. They therefore form one matrix O_i of NB rows, stored by columns. A team of LANES x GROUPS threads shares it:
//   lane     takes rows lane, lane + LANES, ... of O_i, at most SHARE rows
//   group    takes columns group, group + GROUPS, ..., AHEAD columns at a time. All AHEAD columns are loaded before the first is used.
//            Beyond the last column, the last column is loaded again and multiplied by 0: a load under a condition would have
//            to wait for the condition.
// Neighbouring threads read neighbouring numbers (coalesced access). A group adds its columns in rising order.
// TEAM is the number of threads of a team.
#define TEAM (LANES * GROUPS)

// sums[group NB + k] = sum of O_i[k][column] x[column] over the columns of this group, for the rows k of this lane. `sums` is on-chip
// memory of the team.
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
            const unsigned int wanted = next + a * GROUPS, column = MIN_OF(wanted, count - 1);
            const double unknown = x[(int64)columns[start + column / NB] * NB + column % NB];
            unknowns[a] = wanted < count ? unknown : 0;
            UNROLL for (int s = 0; s < SHARE; ++s)
                numbers[a][s] = own[(int64)column * NB + MIN_OF(lane + s * LANES, NB - 1)];
        }
        UNROLL for (int a = 0; a < AHEAD; ++a)
            UNROLL for (int s = 0; s < SHARE; ++s) sum[s] += (double)numbers[a][s] * unknowns[a];
    }
    UNROLL for (int s = 0; s < SHARE; ++s) {
        const int k = lane + s * LANES;
        if (k < NB) sums[group * NB + k] = sum[s];
    }
}

// Entry k of the product: the sum over all groups, from the first group on.
DEVICE double over_groups(ON_CHIP_PTR const double *sums, int k)
{
    double sum = sums[k];
    for (int group = 1; group < GROUPS; ++group) sum += sums[group * NB + k];
    return sum;
}
