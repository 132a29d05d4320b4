// What all line solvers share: where lines lie, the operand, and the right-hand side B f. The host writes above:
//   N LINES INNER   points of a line, number of lines, distance of neighbouring points; point m of line q lies at
//                   START(q) + m*INNER
//   INNER_ROW(F)    row of B at an inner point, F(d) the operand d points on; it reads d = -LOW .. HIGH
//   LEFT_ROWS LEFT_WIDTH LEFT_END[]   rows of B at points 0, 1, ... of a line with ends, read from point 0 on
//   RIGHT_ROWS RIGHT_WIDTH RIGHT_END[]   rows of B at the last points, read up to the last point
//   PERIODIC        1 where lines wrap round
//   CORE P          rows of the open matrix that is solved, and its half-bandwidth: a cyclic one has its last P unknowns
//                   bordered off, CORE = N - P (border.cu)

#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)

// Line and row of item `at` of `count` rows of every line, so that neighbouring items lie side by side in memory.
#if INNER == 1
#define LINE_OF(at, count) ((at) / (count))
#define ROW_OF(at, count) ((int)((at) % (count)))
#else
#define LINE_OF(at, count) ((at) % LINES)
#define ROW_OF(at, count) ((int)((at) / LINES))
#endif

// (m mod N) for -N <= m < 2 N, or the nearest point of a line with ends.
DEVICE int on_line(int m)
{
#if PERIODIC
    return m < 0 ? m + N : m >= N ? m - N : m;
#else
    return m < 0 ? 0 : m >= N ? N - 1 : m;
#endif
}

// Adds to `sum` row m, or row N - RIGHT_ROWS + m, of an end; LOAD(k) is the operand at point k.
#define ADD_LEFT_END(sum, m, LOAD) \
    for (int k = 0; k < LEFT_WIDTH; ++k) sum += LEFT_END[(m) * LEFT_WIDTH + k] * LOAD(k)
#define ADD_RIGHT_END(sum, m, LOAD) \
    for (int k = 0; k < RIGHT_WIDTH; ++k) sum += RIGHT_END[(m) * RIGHT_WIDTH + k] * LOAD(N - RIGHT_WIDTH + k)

// B f at point m of the line that begins at `start`, f from device memory.
DEVICE REAL right_hand_side(GLOBAL const REAL *restrict f, int64 start, int m)
{
#define OPERAND_AT(k) f[start + (int64)(k) * INNER]
#define OPERAND_BESIDE(d) OPERAND_AT(on_line(m + (d)))
#if LEFT_ROWS + RIGHT_ROWS > 0
    if (m < LEFT_ROWS) {
        REAL sum = 0;
        ADD_LEFT_END(sum, m, OPERAND_AT);
        return sum;
    }
    if (m >= N - RIGHT_ROWS) {
        REAL sum = 0;
        ADD_RIGHT_END(sum, m - (N - RIGHT_ROWS), OPERAND_AT);
        return sum;
    }
#endif
    return INNER_ROW(OPERAND_BESIDE);
#undef OPERAND_BESIDE
#undef OPERAND_AT
}
