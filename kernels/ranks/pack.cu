// pack: what the neighbours have to know of an operand: weighted sums over the first or last points of every line.
//   f        operand                                                                          read
//   weights  of all planes, one after another                                                  read
//   planes   one value a line; plane PLANE[row] of them is made                                  written
//   traffic: the ends of the operand once (weights and repeated points come from the caches), every plane once
//   no on-chip memory, no barrier; blocks along y: rows
//   FIRST_WEIGHT[] POINTS[] FROM_END[] PLANE[]   of every row: where its weights begin, how many points it sums over,
//                   whether they are the last ones of the line, and which plane it makes
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
