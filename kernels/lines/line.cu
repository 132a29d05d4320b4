// What all kernels about lines share: where lines lie, and sums over the ends of one. The host writes above:
//   N LINES INNER   points of a line, number of lines, distance of neighbouring points; point m of line q lies at
//                   START(q) + m*INNER
//   PERIODIC        1 where lines wrap round

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
