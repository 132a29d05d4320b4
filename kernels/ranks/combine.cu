// combine: linear combinations of planes, with the same coefficients on every line. A plane has one value per line.
//   lists    of every list (one per operand): its first row, its number of rows                             read
//   rows     of every row: the plane that it computes, its first term, its number of terms                  read
//   terms    (plane, coefficient) of every term; REAL represents the integers exactly                       read
//   planes   plane number p at p * LINES                                                                    read and written
//   traffic: every plane that is read or written once, if the planes of a list fit in the L1 cache
//   no on-chip memory, no barrier; blockIdx.y: the list. One thread computes all rows of a list for its line, in order. So a row may read
//   planes that earlier rows of its list have written. No list reads or writes a plane that another list writes, and no row reads the plane
//   that it writes.
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
