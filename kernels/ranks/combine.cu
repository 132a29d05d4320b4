// combine: planes made of other planes, the same few coefficients on every line.
//   rows     for every plane that is made: its number, where its terms begin, how many they are          read
//   terms    (plane, coefficient) one after another; whole numbers are exact in REAL                       read
//   planes   one value a line                                                                     read and written
//   traffic: every plane of every term, every plane that is made once
//   no on-chip memory, no barrier; blocks along y: rows. No plane that is made is read.
KERNEL_OF(THREADS) void combine(
    GLOBAL const REAL *restrict rows, GLOBAL const REAL *restrict terms, GLOBAL REAL *planes)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    const int row = blockIdx.y;
    if (line >= LINES) return;
    const int first = (int)rows[3 * row + 1], count = (int)rows[3 * row + 2];
    REAL sum = 0;
    for (int k = first; k < first + count; ++k)
        sum += terms[2 * k + 1] * planes[(int64)terms[2 * k] * LINES + line];
    planes[(int64)rows[3 * row] * LINES + line] = sum;
}
