// apply: applies one operator of a fused sweep. A thread replaces f by f' at the points of its chunk, where A f' = B f. Threads
//   exchange the points that the stencil of B reads from other chunks through on-chip memory. A chunk at an end of the line is
//   exchanged as a whole if the rows of B there need it. b = B f is computed in registers; eliminate.cu then solves A f' = b.
//   b        f on entry, f' on return                                              read and written
//   chip     one field of the tile (LENGTH STRIDE words), then the exchange area of eliminate.cu. When apply is called, no
//            thread may still read the field. The previous operator may still read the exchange area, which is written only
//            after the barrier of apply                                            read and written
//   tables   see eliminate.cu                                                      read
//   on-chip traffic: a thread writes at most LOW + HIGH + 2 UNEQUAL_CHUNKS words, never more than LENGTH (LENGTH if all points are
//            exchanged). It reads LOW + HIGH words, one more if chunks differ in length, and those of the rows at the ends of a
//            line; eliminate.cu adds its own
//   barriers: one, and those of eliminate.cu. After the last barrier, threads read only the exchange area of eliminate.cu. An
//            explicit operator (P = 0) is the exception: its only barrier comes before the reads of the field.
// UNEQUAL_CHUNKS is 1 if some chunks have only LENGTH - 1 points, otherwise 0. It is a compile-time constant.
#define UNEQUAL_CHUNKS (LONG_CHUNKS < CHUNKS)
// AT_END is true if this thread's chunk, counted as LENGTH points, contains points that the rows of B at an end of the line read:
// the first LEFT_WIDTH or the last RIGHT_WIDTH points. Such a chunk is exchanged as a whole, and its thread computes the rows that lie
// in it. AT_END is 0 at compile time if lines have no such rows.
#if LEFT_ROWS + RIGHT_ROWS > 0
#define AT_END (tile.first < LEFT_WIDTH || tile.first + LENGTH > N - RIGHT_WIDTH)
#else
#define AT_END 0
#endif
// IS_NEAR is true if the stencil of B reaches no further than the two adjacent chunks. It is a compile-time constant.
#define IS_NEAR (LOW <= LENGTH - UNEQUAL_CHUNKS && HIGH <= LENGTH - 2 * UNEQUAL_CHUNKS)

// Writes to on-chip memory the points of this thread's chunk that other threads read: the first HIGH and the last LOW points (more by
// UNEQUAL_CHUNKS, because chunks differ in length), or all points.
PHASE void publish_operand(const REAL *b, ON_CHIP_PTR REAL *chip, Tile tile)
{
    const int all = !IS_NEAR || AT_END;
    FOR_EACH_POINT(j)
    {
        if (all || j < HIGH + UNEQUAL_CHUNKS || j >= LENGTH - UNEQUAL_CHUNKS - LOW) CHUNK_POINT(j, tile.thread) = b[j];
    }
}

// b = B f. The operand is f in registers for points of the own chunk, and f in on-chip memory for points of other chunks; the rows of B
// at the ends of the line read all points from on-chip memory.
PHASE void multiply(REAL *b, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    REAL near[LENGTH + LOW + HIGH]; // near[LOW + j] is point j of the chunk
    FOR_EACH_POINT(j) near[LOW + j] = b[j];
    // `before` and `next` are the threads of the adjacent chunks. A chunk that is one point short takes one more point of the next.
#if IS_NEAR
    const int before = NEIGHBOUR(tile.thread, tile.chunk, -1), next = NEIGHBOUR(tile.thread, tile.chunk, 1);
    const int last = POINTS(CHUNK_OF(before)) - LOW;
    UNROLL for (int i = 0; i < LOW; ++i) near[i] = CHUNK_POINT(last + i, before);
    UNROLL for (int i = 0; i < HIGH; ++i) near[LOW + LENGTH + i] = CHUNK_POINT(i + LENGTH - tile.points, next);
    if (UNEQUAL_CHUNKS && tile.points < LENGTH) near[LOW + LENGTH - 1] = CHUNK_POINT(0, next);
#else
    // The stencil reaches beyond the adjacent chunks: the chunk of every point is looked up.
    UNROLL for (int j = -LOW; j < LENGTH + HIGH; ++j) {
        const int m = on_line(tile.first + j);
        if (j < 0 || j >= LENGTH - UNEQUAL_CHUNKS) near[LOW + j] = LINE_POINT(tile.lane, m);
    }
#endif
    FOR_EACH_POINT(j)
    {
        // NEIGHBOUR_POINT(d) is f at the point d points after point j, in registers.
#define NEIGHBOUR_POINT(d) near[LOW + j + (d)]
        b[j] = INNER_ROW(NEIGHBOUR_POINT);
    }
#if LEFT_ROWS + RIGHT_ROWS > 0
    // The rows of B at the ends of the line replace the result of the stencil there.
    if (AT_END) {
        FOR_EACH_POINT(j)
        {
            // POINT_ON_CHIP(k) is f at point k of the line, in on-chip memory.
#define POINT_ON_CHIP(k) LINE_POINT(tile.lane, k)
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
    if (UNEQUAL_CHUNKS && tile.points < LENGTH) b[LENGTH - 1] = 0;
}

DEVICE void apply(REAL *b, ON_CHIP_PTR REAL *chip, Tile tile, TABLE_SPACE const REAL *tables)
{
    // The compiler computes addresses again for every operator; otherwise it would keep them in registers between operators.
    FORGET_INT(tile.thread);
    tile.chunk = CHUNK_OF(tile.thread);
    tile.first = FIRST(tile.chunk);
    tile.points = POINTS(tile.chunk);
    publish_operand(b, chip, tile);
    __syncthreads();
    multiply(b, chip, tile);
#if P > 0
    eliminate(b, chip + LENGTH * STRIDE, tile.thread, tile.chunk, tables);
#endif
}
