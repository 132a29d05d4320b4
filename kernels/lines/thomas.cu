// thomas: A f' = B f by LU decomposition, one thread per line.
//   forward elimination  d[m] = inv[m] b[m] - l1[m] d[m-1] - l2[m] d[m-2]
//   back substitution    x[m] = d[m] - u1[m] x[m+1] - u2[m] x[m+2], and for a cyclic A minus the columns of U times the border
// b = B f is computed from a window of f in registers, which moves along the line.
// For a cyclic A the last P unknowns are bordered off. L then has P full rows, and U has P full columns. Their entries are below round-off
// except at rows 0 .. HEAD - 1 and TAIL .. CORE - 1, the coupled rows (src/lines/thomas.rs).
//   f        operand                                                               read
//   out      d, then f'                                                            written, read, written
//   tables   [inv, l1, l2, u1, u2] (P = 1: [inv, l1, u1]) of rows 0 .. CORE - 1; then [rows of L, columns of U] of the
//            coupled rows, 2 P numbers each                                        read, the same by all threads
//   CORNER[] [inverse pivots of border rows 0 and 1, the entry of L and the entry of U between them]; P = 1: the first only
//   traffic: f once, out written twice and read once = 32 bytes per point in f64
//   no on-chip memory, no barrier. Neighbouring threads process neighbouring lines. Along x their accesses are N words apart, not coalesced
// WIDTH: points of the window. ROW: words of a row of `tables`. COUPLED(m): whether row m is coupled. BORDER_AT(m): index in `tables` of
// the border entries of coupled row m. OPERAND(m): the operand at point m (mod N on a periodic line), or 0
// beyond an end of an open line.
#define WIDTH (LOW + HIGH + 1)
#define ROW (1 + 2 * P)
#define COUPLED(m) (PERIODIC && ((m) < HEAD || (m) >= TAIL))
#define BORDER_AT(m) (CORE * ROW + 2 * P * ((m) < HEAD ? (m) : (m) - TAIL + HEAD))
#if PERIODIC
#define OPERAND(m) f[start + (int64)on_line(m) * INNER]
#else
#define OPERAND(m) ((m) >= 0 && (m) < N ? f[start + (int64)(m) * INNER] : (REAL)0)
#endif

KERNEL_OF(THREADS) void thomas(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (line >= LINES) return;
    const int64 start = START(line);

    REAL window[WIDTH]; // window[LOW + d]: the operand at point m + d
#pragma unroll
    for (int k = 1; k < WIDTH; ++k) window[k] = OPERAND(k - 1 - LOW);
    REAL d1 = 0, d2 = 0;
    REAL gathered[P] = {0}, last[P] = {0}; // sums of the border rows of L; the border unknowns
    for (int m = 0; m < CORE; ++m) {
#pragma unroll
        for (int k = 0; k < WIDTH - 1; ++k) window[k] = window[k + 1];
        window[WIDTH - 1] = OPERAND(m + HIGH);
#define NEIGHBOUR_POINT(d) window[LOW + (d)]
        REAL b = INNER_ROW(NEIGHBOUR_POINT);
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
