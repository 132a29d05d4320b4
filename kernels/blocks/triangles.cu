// solve_triangles: y <- U^-1 L^-1 y, y = P b already permuted, with the factors of one diagonal block: forward elimination, then back
// substitution, column by column. LANES threads share the rows; y[s] is unknown lane + s LANES. The diagonal of L is 1 and is not stored.
// The diagonal of U is stored as reciprocals. A thread loads PANEL columns of the factors at once, for its own rows, if it needs any of
// them. When a column is processed, its unknown is final, and the thread of this unknown writes it to on-chip memory for the others.
//   known    NB words of on-chip memory for these unknowns
//   solves   0 for a thread without a block row: it takes part in the barriers and accesses no memory
//   barriers: 1 per column in each of the two substitutions, with the columns rounded up to full panels;
//             all threads of the thread block must call the function
// PANELS is the number of panels of PANEL columns, rounded up.
#define PANELS ((NB + PANEL - 1) / PANEL)

// Loads PANEL columns of the factors, from column `first` on, for the rows of this thread.
DEVICE void load_panel(double panel[PANEL][SHARE], GLOBAL const double *factors, int first, int lane)
{
    UNROLL for (int p = 0; p < PANEL; ++p)
        UNROLL for (int s = 0; s < SHARE; ++s)
            panel[p][s] = factors[(int64)MIN_OF(first + p, NB - 1) * NB + MIN_OF(lane + s * LANES, NB - 1)];
}

DEVICE void solve_triangles(
    double y[SHARE], ON_CHIP_PTR double *known, GLOBAL const double *factors, int lane, int solves)
{
    double panel[PANEL][SHARE];
    for (int first = 0; first < NB; first += PANEL) {
        // L concerns only rows below `first`. A single panel stays loaded for U, which concerns all rows.
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
