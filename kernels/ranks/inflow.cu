// inflow: what comes in from the neighbours is added to the ends of the lines, out += C z.
//   out      result of the block alone                                                    read and written
//   columns  INFLOW_LEFT columns of LEFT_REACH values for the first points, then INFLOW_RIGHT of RIGHT_REACH for the last
//   planes   z: plane LEFT_PLANE and on from the left, RIGHT_PLANE and on from the right            read
//   traffic: the ends of `out` twice, the planes once (again from the caches)
//   no on-chip memory, no barrier
#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)
// The points that change, side by side in memory for neighbouring threads: those at both ends, or all.
#if LEFT_REACH + RIGHT_REACH < N
#define COUNT (LEFT_REACH + RIGHT_REACH)
#define POINT_OF(row) ((row) < LEFT_REACH ? (row) : N - COUNT + (row))
#else
#define COUNT N
#define POINT_OF(row) (row)
#endif
#if INNER == 1
#define LINE_OF(at) ((at) / COUNT)
#define ROW_OF(at) ((int)((at) % COUNT))
#else
#define LINE_OF(at) ((at) % LINES)
#define ROW_OF(at) ((int)((at) / LINES))
#endif

KERNEL_OF(THREADS) void inflow(
    GLOBAL REAL *restrict out, GLOBAL const REAL *restrict columns, GLOBAL const REAL *restrict planes)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at >= (int64)LINES * COUNT) return;
    const int64 line = LINE_OF(at);
    const int m = POINT_OF(ROW_OF(at));
    const int64 to = START(line) + (int64)m * INNER;
    REAL sum = out[to];
    if (m < LEFT_REACH) {
        for (int c = 0; c < INFLOW_LEFT; ++c)
            sum += columns[c * LEFT_REACH + m] * planes[(int64)(LEFT_PLANE + c) * LINES + line];
    }
    const int back = m - (N - RIGHT_REACH);
    if (back >= 0) {
        for (int c = 0; c < INFLOW_RIGHT; ++c)
            sum += columns[INFLOW_LEFT * LEFT_REACH + c * RIGHT_REACH + back]
                * planes[(int64)(RIGHT_PLANE + c) * LINES + line];
    }
    out[to] = sum;
}
