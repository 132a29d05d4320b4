// pack: interface data of an operand, for the neighbouring ranks and for this rank: weighted sums over the first or the last points of
// every line.
//   f        operand                                                                                  read
//   weights  of all rows, one row after another                                                       read
//   planes   one value per line and plane; row number `row` computes plane PLANE[row]                 written
//   traffic: the points near the ends of the operand once (weights and repeated points come from the caches), every plane once
//   no on-chip memory, no barrier; one thread per line, blockIdx.y: the row
//   FIRST_WEIGHT[] POINTS[] FROM_END[] PLANE[]   of every row: index of its first weight, number of points of the sum, whether these are
//                   the last points of the line (1) or the first (0), and the plane that it computes
// START(line): index of the first point of a line.
#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)

KERNEL_OF(THREADS) void pack(
    GLOBAL const REAL *restrict f, GLOBAL const REAL *restrict weights, GLOBAL REAL *restrict planes)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    const int row = blockIdx.y;
    if (line >= LINES) return;
    const int count = POINTS[row];
    const int64 from = START(line) + (FROM_END[row] ? (int64)(N - count) * INNER : 0);
    REAL sum = 0;
    for (int k = 0; k < count; ++k) sum += weights[FIRST_WEIGHT[row] + k] * f[from + (int64)k * INNER];
    planes[(int64)PLANE[row] * LINES + line] = sum;
}
