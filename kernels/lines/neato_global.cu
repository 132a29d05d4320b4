// neato_global: A x = b, A tridiagonal and near-Toeplitz, by cyclic reduction in device memory with compile-time constants as coefficients
// (Srinath 2015, section 2.2.2). stencil.cu has stored b = B f in `out`. There is one launch per level in each of the two passes, and
// one more for the remaining row (backward with level = LEVELS).
//   forward   odd rows r of the level:   d[r] <- d[r] - k1 d[r-1] - k2 d[r+1]
//   backward  even rows:                 x[r] = d[r]/b - a/b x[r-1] - c/b x[r+1];  level LEVELS: the remaining row
// Row r of a level is row (r + 1) 2^level - 1 of the line; ROW_AT(r) is its word in `out`. A cyclic matrix is solved through its open core
// (close.cu).
//   out      b, then x                                                             read and written
//   traffic: 16 bytes per point for b, 24 forward and 24 backward in f64, all levels together, if neighbouring lines share sectors (lines
//            along y or z). Along x the rows of a level are 2^level words apart, and a sector of 32 bytes is moved for every number.
//   no on-chip memory, no barrier
#define ROW_AT(r) out[start + (int64)((((r) + 1) << level) - 1) * INNER]

KERNEL_OF(THREADS) void neato_forward(GLOBAL REAL *restrict out, int level)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    const int rows = CORE >> level, count = rows / 2;
    if (at >= (int64)LINES * count) return;
    const int r = 2 * ROW_OF(at, count) + 1;
    const int64 start = START(LINE_OF(at, count));
    REAL d = ROW_AT(r) - K(level, r, 0) * ROW_AT(r - 1);
    if (r + 1 < rows) d -= K(level, r, 1) * ROW_AT(r + 1);
    ROW_AT(r) = d;
}

KERNEL_OF(THREADS) void neato_backward(GLOBAL REAL *restrict out, int level)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    const int rows = CORE >> level, count = (rows + 1) / 2;
    if (at >= (int64)LINES * count) return;
    const int r = 2 * ROW_OF(at, count);
    const int64 start = START(LINE_OF(at, count));
    if (level == LEVELS) {
        ROW_AT(r) *= LAST;
        return;
    }
    REAL x = ROW_AT(r) * BACK(level, r, 0);
    if (r > 0) x -= BACK(level, r, 1) * ROW_AT(r - 1);
    if (r + 1 < rows) x -= BACK(level, r, 2) * ROW_AT(r + 1);
    ROW_AT(r) = x;
}
