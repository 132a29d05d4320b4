// permute: a field with its axes in another order. Axis a of the result is axis order[a] of the source, with `order` of
// src/backend/device/permute.rs. Axis 0 is the fastest: its neighbouring points are adjacent in memory.
//   f        source                                                                              read
//   to       result, M0 x M1 x M2 points, M0 fastest                                             written
//   traffic: f once, `to` once = 16 bytes per point in f64, both coalesced
// TILED = 0: axis 0 remains the fastest. One thread per point of the result; no on-chip memory, no barrier.
// TILED = 1: another axis of the source becomes the fastest. A block of TILE x ROWS threads moves a tile of TILE x TILE points of this axis
// and of source axis 0 through on-chip memory, of TILE * (TILE + 1) words: one unused word per row avoids bank conflicts between the
// threads that access a column of the tile. Barriers: 1.
//   STRIDE0 STRIDE1 STRIDE2   distance in the source of points that are neighbours along axis 0, 1, 2 of the result
//   N0       points of source axis 0
//   ACROSS   distance in the result of points that are neighbours along source axis 0
//   FROM_OTHER TO_OTHER   distance in the source and in the result of points that are neighbours along the third axis (blockIdx.z)
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
