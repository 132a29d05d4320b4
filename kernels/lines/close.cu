// The border of a cyclic matrix (border.cu), with y and b' in `out`, as one array of N rows per line. There are two launches, because every
// row of the second one reads x'.
//   close_unknowns   replaces b' by x', one thread per line
//   close_rows       replaces y by x in the first HEAD rows and from row TAIL on, one thread per row
// Y(m) is row m of the line of a thread.
//   out      y and b', then x                                                      read and written
//   tables   the rows of Z                                                         read
//   traffic: a few numbers per line, and 16 bytes per changed row in f64; no on-chip memory, no barrier
#if PERIODIC
KERNEL_OF(THREADS) void close_unknowns(GLOBAL REAL *restrict out)
{
    const int64 line = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (line >= LINES) return;
    const int64 start = START(line);
#define Y(m) out[start + (int64)(m) * INNER]
    REAL last[P];
#pragma unroll
    for (int r = 0; r < P; ++r) {
        last[r] = 0;
        ADD_UNKNOWN(last[r], r, Y)
    }
#pragma unroll
    for (int r = 0; r < P; ++r) Y(CORE + r) = last[r];
}

KERNEL_OF(THREADS) void close_rows(GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at >= (int64)LINES * (HEAD + CORE - TAIL)) return;
    const int row = ROW_OF(at, HEAD + CORE - TAIL);
    const int m = row < HEAD ? row : row - HEAD + TAIL;
    const int64 start = START(LINE_OF(at, HEAD + CORE - TAIL));
    Y(m) -= border_correction(tables, m, Y(CORE), Y(CORE + P - 1));
}
#endif
