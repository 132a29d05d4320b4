// pcr: A f' = B f, A tridiagonal, by parallel cyclic reduction on chip (Srinath 2015, section 1.4.3), one team a line.
// Every row i loses its neighbours at distance s = 1, 2, 4, ... as in cr.cu until it stands alone: x[i] = d[i] / b[i].
// Any number of rows; a cyclic matrix is solved through its core (border.cu).
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   [a, b, c] of every row of the core, then the border                   read
//   traffic: f once, out once = 16 bytes a point in f64, tables from the caches
//   on-chip  4 SPAN words a line, SPAN = N; the new values of the SHARE rows of a thread wait in registers for the others
//   barriers: 2 a level + 2
KERNEL_OF(TEAM * TX) void pcr(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, 4 * SPAN * TX);
    JOIN_TEAM
    LOAD_SYSTEM
    for (int s = 1; s < CORE; s *= 2) {
        REAL a[SHARE], b[SHARE], c[SHARE], d[SHARE];
#pragma unroll
        for (int r = 0; r < SHARE; ++r) {
            const int i = member + r * TEAM;
            a[r] = c[r] = 0;
            if (i < CORE) {
                b[r] = B(i);
                d[r] = D(i);
                if (i >= s) {
                    const REAL k1 = A(i) / B(i - s);
                    a[r] = -A(i - s) * k1;
                    b[r] -= C(i - s) * k1;
                    d[r] -= D(i - s) * k1;
                }
                if (i + s < CORE) {
                    const REAL k2 = C(i) / B(i + s);
                    b[r] -= A(i + s) * k2;
                    c[r] = -C(i + s) * k2;
                    d[r] -= D(i + s) * k2;
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < SHARE; ++r) {
            const int i = member + r * TEAM;
            if (i < CORE) {
                A(i) = a[r];
                B(i) = b[r];
                C(i) = c[r];
                D(i) = d[r];
            }
        }
        __syncthreads();
    }
    for (int i = member; i < CORE; i += TEAM) D(i) /= B(i);
    __syncthreads();
    STORE_LINE(D)
}
