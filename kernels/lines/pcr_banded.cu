// pcr_banded: A f' = B f, A tri- or pentadiagonal, by parallel cyclic reduction with the coefficients worked out
// beforehand (Song et al. 2022, eq. 3 to 6; src/lines/pcr.rs), one team a line. At s = 1, 2, 4, ..., LEVELS times,
//   d[i] <- d[i] - sum_j k_j[i] d[i + j s],  j = -P ... P without 0
// and then x[i] = d[i] / diagonal[i]. A cyclic matrix is solved through its core (border.cu).
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   k of every level, j and row of the core; 1 / diagonal; the border     read
//   traffic: f once, out once = 16 bytes a point in f64; 16 P bytes a row and level of tables,
//            the same for all lines: from the caches
//   on-chip  SPAN words a line, SPAN = N; the new values of the SHARE rows of a thread wait in registers for the others
//   barriers: 2 a level + 2
#define D(m) CHIP(0, m)

KERNEL_OF(TEAM * TX) void pcr_banded(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, SPAN * TX);
    JOIN_TEAM
    for (int m = member; m < N; m += TEAM) D(m) = right_hand_side(f, start, m);
    __syncthreads();
    for (int level = 0; level < LEVELS; ++level) {
        REAL d[SHARE];
        const int s = 1 << level;
#pragma unroll
        for (int r = 0; r < SHARE; ++r) {
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
        for (int r = 0; r < SHARE; ++r) {
            const int i = member + r * TEAM;
            if (i < CORE) D(i) = d[r];
        }
        __syncthreads();
    }
    for (int i = member; i < CORE; i += TEAM) D(i) *= tables[LEVELS * 2 * P * CORE + i];
    __syncthreads();
    STORE_LINE(D)
}
