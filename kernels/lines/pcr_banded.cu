// pcr_banded: A f' = B f, A tri- or pentadiagonal, by parallel cyclic reduction with precomputed coefficients (Song et al. 2022, eq. 3 to
// 6; src/lines/pcr.rs), one team per line. On LEVELS levels (until all couplings are below round-off or reach
// beyond the matrix), with s = 1, 2, 4, ...,
//   d[i] <- d[i] - sum_j k_j[i] d[i + j s],  j = -P ... P without 0
// Then x[i] = d[i] / diagonal[i]. A cyclic matrix is solved through its open core (border.cu).
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   k of every level, j and row of the core; 1 / diagonal; the border     read
//   traffic: f once, out once = 16 bytes per point in f64. The tables have 16 P bytes per row and level; they are
//            the same for all lines and come from the caches.
//   on-chip words: LINE_WORDS per line, LINE_WORDS = N. A thread has at most ROWS_PER_THREAD rows. It keeps their new values in registers
//            until all threads have read the old ones.
//   barriers: 2 per level + 2
// D(m): d of row m of the line of this team.
#define D(m) CHIP(0, m)

KERNEL_OF(TEAM * TX) void pcr_banded(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, LINE_WORDS * TX);
    JOIN_TEAM
    for (int m = member; m < N; m += TEAM) D(m) = right_hand_side(f, start, m);
    __syncthreads();
    for (int level = 0; level < LEVELS; ++level) {
        REAL d[ROWS_PER_THREAD];
        const int s = 1 << level;
#pragma unroll
        for (int r = 0; r < ROWS_PER_THREAD; ++r) {
            const int i = member + r * TEAM;
            if (i < CORE) {
                GLOBAL const REAL *restrict k = tables + level * 2 * P * CORE + i;
                d[r] = D(i);
#pragma unroll
                for (int j = 1; j <= P; ++j) {
                    if (i >= j * s) d[r] -= k[(P - j) * CORE] * D(i - j * s);
                    if (i + j * s < CORE) d[r] -= k[(P - 1 + j) * CORE] * D(i + j * s);
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < ROWS_PER_THREAD; ++r) {
            const int i = member + r * TEAM;
            if (i < CORE) D(i) = d[r];
        }
        __syncthreads();
    }
    for (int i = member; i < CORE; i += TEAM) D(i) *= tables[LEVELS * 2 * P * CORE + i];
    __syncthreads();
    STORE_LINE(D)
}
