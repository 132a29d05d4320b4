// y <- U^-1 L^-1 y of a diagonal block, column by column, by LANES threads: y[s] is unknown lane + s LANES. L has 1 on its
// diagonal, which is not stored; on the diagonal of U stand reciprocals. Every thread loads its rows of PANEL columns of the
// factors at once. The unknown of a column is final when the column's turn comes: its thread puts it on chip for the others.
//   known    NB words on chip        barriers: 2 a column, columns in whole panels; in uniform control flow
//   solves   0 for a thread that has no row: it waits with the others and touches nothing
#define PANELS ((NB + PANEL - 1) / PANEL)

// Rows of the columns from `first` on, on and above the diagonal for U, below it for L, else 0.
DEVICE void load_panel(
    double panel[PANEL][SHARE], GLOBAL const double *restrict factors, int first, int upper, int lane, int solves)
{
    UNROLL for (int p = 0; p < PANEL; ++p)
        UNROLL for (int s = 0; s < SHARE; ++s) {
            const int i = lane + s * LANES, j = first + p;
            const int wanted = solves && i < NB && j < NB && (upper ? i <= j : i > j);
            panel[p][s] = wanted ? factors[(int64)j * NB + i] : 0;
        }
}

DEVICE void solve_triangles(
    double y[SHARE], ON_CHIP_PTR double *known, GLOBAL const double *restrict factors, int lane, int solves)
{
    double panel[PANEL][SHARE];
    for (int at = 0; at < PANELS; ++at) {
        load_panel(panel, factors, at * PANEL, 0, lane, solves);
        UNROLL for (int p = 0; p < PANEL; ++p) {
            const int j = at * PANEL + p;
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES == j) known[j] = y[s];
            __syncthreads();
            UNROLL for (int s = 0; s < SHARE; ++s) {
                const int i = lane + s * LANES;
                if (solves && i > j && i < NB) y[s] -= panel[p][s] * known[j];
            }
        }
    }
    for (int at = PANELS - 1; at >= 0; --at) {
        load_panel(panel, factors, at * PANEL, 1, lane, solves);
        UNROLL for (int p = PANEL - 1; p >= 0; --p) {
            const int j = at * PANEL + p;
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES == j) known[j] = y[s] *= panel[p][s];
            __syncthreads();
            UNROLL for (int s = 0; s < SHARE; ++s)
                if (solves && j < NB && lane + s * LANES < j) y[s] -= panel[p][s] * known[j];
        }
    }
}
