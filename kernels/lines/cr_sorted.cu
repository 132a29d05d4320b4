// cr_sorted: A x = b, A tridiagonal, by cyclic reduction in device memory with reordered rows (Esfahanian et al. 2014, section 2). The even
// rows of a level, which are not needed again before the back substitution, are stored together; the odd rows form the next level. The
// coefficients come from tables that all lines share (src/lines/cr.rs).
//   forward   odd row 2u + 1:   d <- d - k1[u] d[2u] - k2[u] d[2u+2]
//   backward  even row 2t:      x = d/b - a/b x[2t-1] - c/b x[2t+1]
// PLACE(array, m) is place m of this thread's line in an array: word START(line) + m*INNER, whichever row is stored there.
//   direct    rows are sorted once: even rows of level 0, even rows of level 1, ...; row i of the line is at SORTED(i)
//   stepwise  every level splits its rows: the even rows go to the array `even`, the odd rows to the front of the array `to`. The arrays
//             `from` and `to` are the result and a scratch field, in turn. The backward pass merges the rows.
// EVENS_BEFORE(level) is the number of even rows of all finer levels. A cyclic matrix is solved through its open core (close.cu).
//   tables    [k1, k2] of every level and odd row; then [1/b, a/b, c/b] of every level and even row; then the border (close.cu). Those of a
//             level begin at `forward_at` and at `backward_at`.                                       read
//   traffic   in f64, all levels together, tables from the caches: direct 16 bytes per point to sort, 24 forward, 24 backward,
//             16 to unsort; stepwise 16 for b, 32 forward, 32 backward. No on-chip memory, no barrier.
#define PLACE(array, m) array[start + (int64)(m) * INNER]
#define EVENS_BEFORE(level) (CORE - (CORE >> (level)))

// Place of row i of a line. Its level is the exponent of 2 in i + 1. It is an even row of this level, and is stored behind the even rows of
// all finer levels.
DEVICE int sorted_place(int i)
{
    int level = 0;
    while (((i + 1) >> level) % 2 == 0) ++level;
    return EVENS_BEFORE(level) + ((i + 1) >> (level + 1));
}
#define SORTED(i) PLACE(sorted, sorted_place(i))

// TAKE_ROW, for a kernel with `count` rows per line: declares at, row and start of this thread, and ends a thread beyond the last row.
#define TAKE_ROW(count) \
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x; \
    if (at >= (int64)LINES * (count)) return; \
    const int row = ROW_OF(at, count); \
    const int64 start = START(LINE_OF(at, count));

// Stores b = B f at its place in `sorted`, and the right-hand side of the border rows in `out`.
KERNEL_OF(THREADS) void sort_rows(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL REAL *restrict sorted)
{
    TAKE_ROW(N)
    const REAL b = right_hand_side(f, start, row);
    if (row < CORE)
        SORTED(row) = b;
    else
        PLACE(out, row) = b;
}

KERNEL_OF(THREADS) void unsort_rows(GLOBAL const REAL *restrict sorted, GLOBAL REAL *restrict out)
{
    TAKE_ROW(CORE)
    PLACE(out, row) = SORTED(row);
}

KERNEL_OF(THREADS) void direct_forward(GLOBAL REAL *restrict sorted, GLOBAL const REAL *restrict tables, int level, int forward_at)
{
    const int rows = CORE >> level;
    TAKE_ROW(rows / 2)
    const int even = EVENS_BEFORE(level) + row;
    const int place = sorted_place(((2 * row + 2) << level) - 1);
    GLOBAL const REAL *restrict k = tables + forward_at + 2 * row;
    REAL d = PLACE(sorted, place) - k[0] * PLACE(sorted, even);
    if (2 * row + 2 < rows) d -= k[1] * PLACE(sorted, even + 1);
    PLACE(sorted, place) = d;
}

KERNEL_OF(THREADS) void direct_backward(GLOBAL REAL *restrict sorted, GLOBAL const REAL *restrict tables, int level, int backward_at)
{
    const int rows = CORE >> level;
    TAKE_ROW((rows + 1) / 2)
    const int place = EVENS_BEFORE(level) + row;
    GLOBAL const REAL *restrict k = tables + backward_at + 3 * row;
    REAL x = PLACE(sorted, place) * k[0];
    if (row > 0) x -= k[1] * SORTED(((2 * row) << level) - 1);
    if (2 * row + 1 < rows) x -= k[2] * SORTED(((2 * row + 2) << level) - 1);
    PLACE(sorted, place) = x;
}

KERNEL_OF(THREADS) void stepwise_forward(GLOBAL const REAL *restrict from, GLOBAL REAL *restrict even, GLOBAL REAL *restrict to,
                             GLOBAL const REAL *restrict tables, int level, int forward_at)
{
    const int rows = CORE >> level;
    TAKE_ROW((rows + 1) / 2)
    const REAL below = PLACE(from, 2 * row);
    PLACE(even, EVENS_BEFORE(level) + row) = below;
    if (2 * row + 1 < rows) {
        GLOBAL const REAL *restrict k = tables + forward_at + 2 * row;
        REAL d = PLACE(from, 2 * row + 1) - k[0] * below;
        if (2 * row + 2 < rows) d -= k[1] * PLACE(from, 2 * row + 2);
        PLACE(to, row) = d;
    }
}

KERNEL_OF(THREADS) void stepwise_backward(GLOBAL const REAL *restrict from, GLOBAL const REAL *restrict even,
                              GLOBAL REAL *restrict to, GLOBAL const REAL *restrict tables, int level, int backward_at)
{
    const int rows = CORE >> level;
    TAKE_ROW((rows + 1) / 2)
    GLOBAL const REAL *restrict k = tables + backward_at + 3 * row;
    REAL x = PLACE(even, EVENS_BEFORE(level) + row) * k[0];
    if (row > 0) x -= k[1] * PLACE(from, row - 1);
    if (2 * row + 1 < rows) {
        const REAL above = PLACE(from, row);
        x -= k[2] * above;
        PLACE(to, 2 * row + 1) = above;
    }
    PLACE(to, 2 * row) = x;
}

// Solves the remaining row, which is at `place` of every line.
KERNEL_OF(THREADS) void last_row(GLOBAL REAL *restrict array, int place)
{
    TAKE_ROW(1)
    PLACE(array, place + row) *= LAST;
}
