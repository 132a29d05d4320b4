// thomas: A f' = B f by LU, one thread a line.
//   down  d[m] = inv[m] b[m] - l1[m] d[m-1] - l2[m] d[m-2],  b = B f from a window of f that slides along
//   up    x[m] = d[m] - u1[m] x[m+1] - u2[m] x[m+2]
// A cyclic line has its last P unknowns bordered off: full rows of L, full columns of U, which matter in the first HEAD
// and from row TAIL on (src/lines/thomas.rs).
//   f        operand                                                               read
//   out      f'                                                                    written, written, read
//   tables   [inv, l1, l2, u1, u2] (P = 1: [inv, l1, u1]) of every row; behind them [rows of L, columns of U] of the
//            coupled rows, 2 P numbers each                                        read, the same by all threads
//   traffic: f once, out twice written and once read = 32 bytes a point in f64
//   no on-chip memory, no barrier. Neighbouring threads are neighbouring lines: along x their accesses lie N apart.
#define WIDTH (LOW + HIGH + 1)
#define ROW (1 + 2 * P)
#define COUPLED(m) (PERIODIC && ((m) < HEAD || (m) >= TAIL))
#define BORDER_AT(m) (CORE * ROW + 2 * P * ((m) < HEAD ? (m) : (m) - TAIL + HEAD))
#if PERIODIC
#define FETCH(m) f[start + (int64)on_line(m) * INNER]
#else
#define FETCH(m) ((m) >= 0 && (m) < N ? f[start + (int64)(m) * INNER] : (REAL)0)
#endif

KERNEL_OF(THREADS) void thomas(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (line >= LINES) return;
    const int64 start = START(line);

    REAL window[WIDTH]; // [LOW + d]: the operand at point m + d
#pragma unroll
    for (int k = 1; k < WIDTH; ++k) window[k] = FETCH(k - 1 - LOW);
    REAL d1 = 0, d2 = 0;
    REAL gathered[P] = {0}, last[P] = {0}; // by the border rows; the border unknowns
    for (int m = 0; m < CORE; ++m) {
#pragma unroll
        for (int k = 0; k < WIDTH - 1; ++k) window[k] = window[k + 1];
        window[WIDTH - 1] = FETCH(m + HIGH);
#define BESIDE(d) window[LOW + (d)]
        REAL b = INNER_ROW(BESIDE);
#if LEFT_ROWS + RIGHT_ROWS > 0
        if (m < LEFT_ROWS || m >= N - RIGHT_ROWS) b = right_hand_side(f, start, m);
#endif
        GLOBAL const REAL *restrict row = tables + m * ROW;
        REAL d = b * row[0] - row[1] * d1;
#if P > 1
        d -= row[2] * d2;
#endif
        if (COUPLED(m)) {
#pragma unroll
            for (int q = 0; q < P; ++q) gathered[q] += tables[BORDER_AT(m) + q] * d;
        }
        out[start + (int64)m * INNER] = d;
        d2 = d1;
        d1 = d;
    }

#if PERIODIC
#pragma unroll
    for (int q = 0; q < P; ++q) last[q] = right_hand_side(f, start, CORE + q);
    last[0] = (last[0] - gathered[0]) * CORNER[0];
#if P > 1
    last[1] = (last[1] - gathered[1] - CORNER[2] * last[0]) * CORNER[1];
    last[0] -= CORNER[3] * last[1];
#endif
#pragma unroll
    for (int q = 0; q < P; ++q) out[start + (int64)(CORE + q) * INNER] = last[q];
#endif

    REAL x1 = 0, x2 = 0;
    for (int m = CORE - 1; m >= 0; --m) {
        GLOBAL const REAL *restrict row = tables + m * ROW + P + 1;
        REAL x = out[start + (int64)m * INNER] - row[0] * x1;
#if P > 1
        x -= row[1] * x2;
#endif
        if (COUPLED(m)) {
#pragma unroll
            for (int q = 0; q < P; ++q) x -= tables[BORDER_AT(m) + P + q] * last[q];
        }
        out[start + (int64)m * INNER] = x;
        x2 = x1;
        x1 = x;
    }
}
