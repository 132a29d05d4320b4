// Layout of lines, and sums over the points near their ends, for all line kernels. The host writes above:
//   N LINES INNER   points per line, number of lines, distance of neighbouring points of a line in memory
//   PERIODIC        1 if lines are periodic, else 0
// START(line): index of the first point of a line. Point m of the line is at START(line) + m * INNER.

#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)

// A kernel with `count` items (rows) per line: line and row of item number `at`. Neighbouring items are neighbouring rows of a line along
// x, otherwise the same row of neighbouring lines: accesses are coalesced if the rows are contiguous.
#if INNER == 1
#define LINE_OF(at, count) ((at) / (count))
#define ROW_OF(at, count) ((int)((at) % (count)))
#else
#define LINE_OF(at, count) ((at) % LINES)
#define ROW_OF(at, count) ((int)((at) / LINES))
#endif

// For -N <= m < 2 N: m mod N on a periodic line, otherwise the point of the line that is nearest to m.
DEVICE int on_line(int m)
{
#if PERIODIC
    return m < 0 ? m + N : m >= N ? m - N : m;
#else
    return m < 0 ? 0 : m >= N ? N - 1 : m;
#endif
}

// ADD_LEFT_END adds row m of B f to `sum`, m < LEFT_ROWS; ADD_RIGHT_END adds row N - RIGHT_ROWS + m, m < RIGHT_ROWS (rows.cu). LOAD(k) is
// the operand at point k.
#define ADD_LEFT_END(sum, m, LOAD) \
    for (int k = 0; k < LEFT_WIDTH; ++k) sum += LEFT_END[(m) * LEFT_WIDTH + k] * LOAD(k)
#define ADD_RIGHT_END(sum, m, LOAD) \
    for (int k = 0; k < RIGHT_WIDTH; ++k) sum += RIGHT_END[(m) * RIGHT_WIDTH + k] * LOAD(N - RIGHT_WIDTH + k)
