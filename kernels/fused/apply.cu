// apply: one operator of a fused sweep, f' in place of f, A f' = B f. What neighbours need of a chunk goes through on-chip
//   memory, all of it where the rows of an end need it; b = B f in registers; then eliminate.cu.
//   b        f and then f'                                                         read and written
//   chip     one field of the tile, then what eliminate.cu exchanges: nobody reads it any more      read and written
//   tables   see eliminate.cu                                                      read
//   on-chip words a thread: LOW + HIGH both ways, and those of eliminate.cu
//   barriers: one, and those of eliminate.cu; after the last one only what eliminate.cu reads is read, except by an
//            explicit operator
#define SHORT (LONG < CHUNKS)
#if LEFT_ROWS + RIGHT_ROWS > 0
#define AT_END (tile.first < LEFT_WIDTH || tile.first + LENGTH > N - RIGHT_WIDTH)
#else
#define AT_END 0
#endif
#define IS_NEAR (LOW <= LENGTH - SHORT && HIGH <= LENGTH - 2 * SHORT)

// What others need of a chunk.
PHASE void show(const REAL *b, ON_CHIP_PTR REAL *chip, Tile tile)
{
    const int all = !IS_NEAR || AT_END;
    EACH(j)
    {
        if (all || j < HIGH + SHORT || j >= LENGTH - SHORT - LOW) SPOT(j, tile.thread) = b[j];
    }
}

// b = B f
PHASE void multiply(REAL *b, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    REAL near[LENGTH + LOW + HIGH]; // [LOW + j]: point j of the chunk
    EACH(j) near[LOW + j] = b[j];
#if IS_NEAR
    const int before = NEIGHBOUR(tile.thread, tile.chunk, -1), next = NEIGHBOUR(tile.thread, tile.chunk, 1);
    const int last = POINTS(CHUNK_OF(before)) - LOW;
    UNROLL for (int i = 0; i < LOW; ++i) near[i] = SPOT(last + i, before);
    UNROLL for (int i = 0; i < HIGH; ++i) near[LOW + LENGTH + i] = SPOT(i + LENGTH - tile.points, next);
    if (SHORT && tile.points < LENGTH) near[LOW + LENGTH - 1] = SPOT(0, next);
#else
    UNROLL for (int j = -LOW; j < LENGTH + HIGH; ++j) {
        const int m = on_line(tile.first + j);
        if (j < 0 || j >= LENGTH - SHORT) near[LOW + j] = STAGED(tile.lane, m);
    }
#endif
    EACH(j)
    {
#define BESIDE(d) near[LOW + j + (d)]
        b[j] = INNER_ROW(BESIDE);
    }
#if LEFT_ROWS + RIGHT_ROWS > 0
    if (AT_END) {
        EACH(j)
        {
#define POINT_ON_CHIP(k) STAGED(tile.lane, k)
            const int m = tile.first + j;
            REAL sum = 0;
            if (m < LEFT_ROWS) {
                ADD_LEFT_END(sum, m, POINT_ON_CHIP);
                b[j] = sum;
            } else if (m >= N - RIGHT_ROWS && m < N) {
                ADD_RIGHT_END(sum, m - (N - RIGHT_ROWS), POINT_ON_CHIP);
                b[j] = sum;
            }
        }
    }
#endif
    if (SHORT && tile.points < LENGTH) b[LENGTH - 1] = 0;
}

DEVICE void apply(REAL *b, ON_CHIP_PTR REAL *chip, Tile tile, TABLE_SPACE const REAL *tables)
{
    // Addresses are worked out again for every operator.
    FORGET_INT(tile.thread);
    tile.chunk = CHUNK_OF(tile.thread);
    tile.first = FIRST(tile.chunk);
    tile.points = POINTS(tile.chunk);
    show(b, chip, tile);
    __syncthreads();
    multiply(b, chip, tile);
#if P > 0
    eliminate(b, chip + LENGTH * STRIDE, tile.thread, tile.chunk, tables);
#endif
}
