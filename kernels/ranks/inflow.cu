// inflow: adds the contribution of the neighbouring ranks near the ends of every line, out += C z, with the interface values z.
//   out      result of this block without its neighbours                                           read and written
//   columns  C: INFLOW_LEFT columns for the first LEFT_REACH points, then INFLOW_RIGHT columns for the last RIGHT_REACH points   read
//   planes   z, one value per line and plane: from the left in planes LEFT_PLANE, LEFT_PLANE + 1, ..., from the right in planes
//            RIGHT_PLANE, RIGHT_PLANE + 1, ...                                                      read
//   traffic: the points near the ends of `out` twice, the planes once (repeated reads come from the caches)
//   no on-chip memory, no barrier
// START(line): index of the first point of a line.
#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)
// There is one thread per point that changes. COUNT: number of these points per line, near both ends or all; POINT_OF(row): number `row` of
// them. LINE_OF(at), ROW_OF(at): line and row of thread number `at`, such that neighbouring threads access neighbouring addresses.
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
