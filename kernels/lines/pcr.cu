// pcr: A f' = B f, A tridiagonal, by parallel cyclic reduction in on-chip memory (Srinath 2015, section 1.4.3), one team per line. For
// s = 1, 2, 4, ... every row i is decoupled from its neighbours at distance s as in cr.cu, until no coupling remains: x[i] = d[i] / b[i].
// The number of rows is arbitrary. A cyclic matrix is solved through its open core (border.cu).
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   [a, b, c] of every row of the core, then the border                   read
//   traffic: f once, out once = 16 bytes per point in f64 (tables come from the caches)
//   on-chip words: 4 LINE_WORDS per line, LINE_WORDS = N. A thread has at most ROWS_PER_THREAD rows. It keeps their new values in registers
//            until all threads have read the old ones.
//   barriers: 2 per level (ceil(log2 CORE) levels) + 2
KERNEL_OF(TEAM * TX) void pcr(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, 4 * LINE_WORDS * TX);
    JOIN_TEAM
    LOAD_SYSTEM
    for (int s = 1; s < CORE; s *= 2) {
        REAL a[ROWS_PER_THREAD], b[ROWS_PER_THREAD], c[ROWS_PER_THREAD], d[ROWS_PER_THREAD];
#pragma unroll
        for (int r = 0; r < ROWS_PER_THREAD; ++r) {
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
        for (int r = 0; r < ROWS_PER_THREAD; ++r) {
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
