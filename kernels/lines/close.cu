// The border of a cyclic matrix where y, with b' behind it, lies in `out`: two launches, since every row reads x'.
//   close_unknowns   b' becomes x', one thread a line
//   close_rows       y becomes x in the HEAD first rows and from row TAIL on, one thread a row
//   traffic: a few numbers a line, and 16 bytes a coupled row in f64; no on-chip memory, no barrier
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
