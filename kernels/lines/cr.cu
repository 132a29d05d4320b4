// cr: A f' = B f, A tridiagonal, by cyclic reduction in on-chip memory (Srinath 2015, eq. 1.7 to 1.17), one team per line. For
// s = 1, 2, 4, ... the rows i = 2s - 1, 4s - 1, ... are decoupled from their neighbours at distance s,
//   k1 = a[i]/b[i-s], k2 = c[i]/b[i+s]
//   a[i] <- -a[i-s] k1,  b[i] <- b[i] - c[i-s] k1 - a[i+s] k2,  c[i] <- -c[i+s] k2,  d[i] <- d[i] - d[i-s] k1 - d[i+s] k2
// until one row remains. Back substitution follows: x[i] = (d[i] - a[i] x[i-s] - c[i] x[i+s]) / b[i]. Rows beyond the last one count as
// x = 0, so the number of rows is arbitrary. A cyclic matrix is solved through its open core (border.cu).
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   [a, b, c] of every row of the core, then the border                   read
//   traffic: f once, out once = 16 bytes per point in f64 (tables come from the caches)
//   on-chip words: 4 LINE_WORDS per line, LINE_WORDS = N; barriers: 2 per level (floor(log2 CORE) levels) + 2. Accesses with power-of-two
//            strides cause bank conflicts.
KERNEL_OF(TEAM * TX) void cr(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, 4 * LINE_WORDS * TX);
    JOIN_TEAM
    LOAD_SYSTEM
    int s = 1;
    for (; 2 * s <= CORE; s *= 2) {
        for (int i = (member + 1) * 2 * s - 1; i < CORE; i += TEAM * 2 * s) {
            const REAL k1 = A(i) / B(i - s);
            REAL b = B(i) - C(i - s) * k1, c = 0, d = D(i) - D(i - s) * k1;
            if (i + s < CORE) {
                const REAL k2 = C(i) / B(i + s);
                b -= A(i + s) * k2;
                c = -C(i + s) * k2;
                d -= D(i + s) * k2;
            }
            A(i) = -A(i - s) * k1;
            B(i) = b;
            C(i) = c;
            D(i) = d;
        }
        __syncthreads();
    }
    if (member == 0) D(s - 1) /= B(s - 1);
    __syncthreads();
    for (s /= 2; s >= 1; s /= 2) {
        for (int i = (2 * member + 1) * s - 1; i < CORE; i += TEAM * 2 * s) {
            REAL x = D(i);
            if (i >= s) x -= A(i) * D(i - s);
            if (i + s < CORE) x -= C(i) * D(i + s);
            D(i) = x / B(i);
        }
        __syncthreads();
    }
    STORE_LINE(D)
}
