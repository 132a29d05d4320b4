// y <- U^-1 L^-1 y of a diagonal block, column by column, by LANES threads: y[s] is unknown lane + s LANES. L has 1 on its
// diagonal, which is not stored; on the diagonal of U stand reciprocals. Every thread loads its rows of PANEL columns of the
// factors at once, where it needs one of them. The unknown of a column is final when the column's turn comes: its thread puts it
// on chip for the others.
//   known    NB words on chip        barriers: 2 a column, columns in whole panels; in uniform control flow
//   solves   0 for a thread that has no row: it waits with the others and touches nothing
#define PANELS ((NB + PANEL - 1) / PANEL)

// The columns from `first` on, of the rows of this thread.
DEVICE void load_panel(double panel[PANEL][SHARE], GLOBAL const double *factors, int first, int lane)
{
    UNROLL for (int p = 0; p < PANEL; ++p)
        UNROLL for (int s = 0; s < SHARE; ++s)
            panel[p][s] = factors[(int64)LEAST(first + p, NB - 1) * NB + LEAST(lane + s * LANES, NB - 1)];
}

DEVICE void solve_triangles(
    double y[SHARE], ON_CHIP_PTR double *known, GLOBAL const double *factors, int lane, int solves)
{
    double panel[PANEL][SHARE];
    for (int first = 0; first < NB; first += PANEL) {
        // A panel of all columns serves U too.
        const int top = PANELS == 1 ? -1 : first;
        if (solves && lane + (SHARE - 1) * LANES > top) load_panel(panel, factors, first, lane);
        UNROLL for (int p = 0; p < PANEL; ++p) {
            const int j = first + p;
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES == j) known[j] = y[s];
            __syncthreads();
            UNROLL for (int s = 0; s < SHARE; ++s) {
                const int i = lane + s * LANES;
                if (solves && i > j && i < NB) y[s] -= panel[p][s] * known[j];
            }
        }
    }
    for (int first = (PANELS - 1) * PANEL; first >= 0; first -= PANEL) {
        if (PANELS > 1 && solves && lane < first + PANEL) load_panel(panel, factors, first, lane);
        UNROLL for (int p = PANEL - 1; p >= 0; --p) {
            const int j = first + p;
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES == j) known[j] = y[s] *= panel[p][s];
            __syncthreads();
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES < j) y[s] -= panel[p][s] * known[j];
        }
    }
}
