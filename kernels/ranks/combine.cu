// combine: planes made of other planes, the same few coefficients on every line.
//   lists    for every operand: where its rows begin, how many they are                                    read
//   rows     for every plane that is made: its number, where its terms begin, how many they are            read
//   terms    (plane, coefficient) one after another; whole numbers are exact in REAL                       read
//   planes   one value a line                                                                     read and written
//   traffic: every plane that is read or made, once where the first cache holds those of a list
//   no on-chip memory, no barrier; blocks along y: lists. A row may read planes that rows before it in its list make, on the
//   same thread; no list touches a plane that another makes, no row its own.
KERNEL_OF(THREADS) void combine(
    GLOBAL const REAL *restrict lists, GLOBAL const REAL *restrict rows, GLOBAL const REAL *restrict terms,
    GLOBAL REAL *planes)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (line >= LINES) return;
    const int begin = (int)lists[2 * blockIdx.y], end = begin + (int)lists[2 * blockIdx.y + 1];
    for (int row = begin; row < end; ++row) {
        const int first = (int)rows[3 * row + 1], last = first + (int)rows[3 * row + 2];
        REAL sum = 0;
        for (int k = first; k < last; ++k)
            sum += terms[2 * k + 1] * planes[(int64)terms[2 * k] * LINES + line];
        planes[(int64)rows[3 * row] * LINES + line] = sum;
    }
}
