// permute: the axes of a field in another order. Axis a of the result is axis ORDER of the source: `to` has point
// (i, j, l) of axes (0, 1, 2), i fastest, where `from` has the same point with its coordinates moved back.
//   f        source of N0 x N1 x N2 points, N0 fastest                                    read
//   to       result                                                                              written
//   traffic: f once, `to` once = 16 bytes a point in f64, both in runs of neighbouring points
// permute_rows, where axis 0 stays fastest: one thread a point of the result, no on-chip memory, no barrier.
// permute_tiles, where source axis FAST becomes fastest: blocks of TILE x ROWS threads take TILE x TILE points of axes 0
// and FAST through on-chip memory, TILE * (TILE + 1) words: the word that is left out a row keeps columns of a tile from
// meeting in a bank. Barriers: 1.
//   M0 M1 M2 points of the result; STRIDE0 STRIDE1 STRIDE2 distance in the source of neighbours along axes of the result
//   ACROSS   distance in the result of neighbours along source axis 0
//   OTHER, FROM_OTHER, TO_OTHER   points of the third axis, and its distances in source and result
#if TILED
KERNEL_OF_TILE(TILE, ROWS) void permute(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict to)
{
    ON_CHIP(tile, TILE * (TILE + 1));
    const int i0 = (int)blockIdx.x * TILE, j0 = (int)blockIdx.y * TILE;
    const int64 from_at = (int64)blockIdx.z * FROM_OTHER, to_at = (int64)blockIdx.z * TO_OTHER;
    const int column = threadIdx.x;
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) {
        const int row = (int)threadIdx.y + k * ROWS;
        const int i = i0 + column, j = j0 + row;
        if (i < N0 && j < M0) tile[row * (TILE + 1) + column] = f[from_at + (int64)j * STRIDE0 + i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) {
        const int row = (int)threadIdx.y + k * ROWS;
        const int i = i0 + row, j = j0 + column;
        if (i < N0 && j < M0) to[to_at + (int64)i * ACROSS + j] = tile[column * (TILE + 1) + row];
    }
}
#else
KERNEL_OF(THREADS) void permute(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict to)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at >= (int64)M0 * M1 * M2) return;
    const int64 i = at % M0, row = at / M0;
    to[at] = f[i + row % M1 * STRIDE1 + row / M1 * STRIDE2];
}
#endif
