// The tile of a thread block of a fused sweep: TX lines, cut into chunks (chunks.cu). A thread keeps the points of its chunk in
// registers, for example
//   REAL v[LENGTH]; FOR_EACH_POINT(j) v[j] = 0;
// On-chip memory holds one field of the tile. Point j of all chunks is one row of STRIDE words.
// CHUNK_POINT(j, thread) is the on-chip word for point j of a thread's chunk. The threads of a warp access consecutive words when they
// access the same j, so there is no bank conflict. If lines along x are staged in storage order, STRIDE is a few words more than the
// threads need: then neighbouring points of a line have no bank conflict either if LENGTH is a power of two, otherwise few.
#define CHUNK_POINT(j, thread) chip[(j) * STRIDE + (thread)]
// PARKED(place, j) is the on-chip word for point j of this thread's chunk at location `place`. A location holds a value that
// does not fit in registers, or a field that is prefetched (`prefetch`). Only the thread of the chunk reads it.
#define PARKED(place, j) chip[PARKED_AT + ((place) * LENGTH + (j)) * STRIDE + tile.thread]
// FOR_EACH_POINT(j) is an unrolled loop over the LENGTH points of a chunk; a shorter chunk has no point LENGTH - 1.
#define FOR_EACH_POINT(j) UNROLL for (int j = 0; j < LENGTH; ++j)
// HAS_POINT(j) is true if this thread's chunk has a point j. If all chunks have the same length, it is 1 at compile time.
#define HAS_POINT(j) (LONG_CHUNKS == CHUNKS || (j) < tile.points)

// CHUNK_AT(m) is the chunk that contains point m of a line. LINE_POINT(lane, m) is the on-chip word for point m of line `lane` of the
// tile.
#if LONG_CHUNKS == CHUNKS
#define CHUNK_AT(m) ((m) / LENGTH)
#else
#define CHUNK_AT(m) ((m) < LONG_CHUNKS * LENGTH ? (m) / LENGTH : LONG_CHUNKS + ((m) - LONG_CHUNKS * LENGTH) / (LENGTH - 1))
#endif
#define LINE_POINT(lane, m) CHUNK_POINT((m) - FIRST(CHUNK_AT(m)), THREAD_OF(lane, CHUNK_AT(m)))

// The position of a thread:
//   lane     line within the tile              chunk    chunk of that line
//   first    index of the chunk's first point within the line
//   points   number of points of the chunk
//   line0    first line of the tile            line     line of this thread, line0 + lane
//   start    index of the chunk's first point in a field (of the last line, for lines beyond it)
// The last tile may contain lines beyond the last line of the grid. Threads of such a line compute and take part in barriers, but its
// points are never stored. In registers they have the last line along y and z, and 0 along x. Along x these threads still move
// points of other lines (staging, below).
typedef struct {
    int thread, lane, chunk, first, points;
    int64 line0, line, start;
} Tile;

DEVICE Tile tile_of(int block, int thread)
{
    Tile tile;
    tile.thread = thread;
    tile.lane = LANE_OF(thread);
    tile.chunk = CHUNK_OF(thread);
    tile.first = FIRST(tile.chunk);
    tile.points = POINTS(tile.chunk);
    tile.line0 = (int64)block * TX;
    tile.line = tile.line0 + tile.lane;
    tile.start = START(tile.line < LINES ? tile.line : LINES - 1) + (int64)tile.first * INNER;
    return tile;
}

// Staging along x: a thread loads and stores points thread, thread + THREADS, ... of the tile in storage order, so that global memory
// access is coalesced. chip[STAGING_INDEX(k)] is the on-chip word (a CHUNK_POINT) for point thread + k THREADS. If all chunks have
// LENGTH points and THREADS is a multiple of LENGTH, STAGING_INDEX(k) is a simple function of the thread. Otherwise it is an entry of
// an on-chip table of 16-bit indices, STAGING_WORDS words. A thread computes its own entries once and reads no others, so no barrier
// is needed.
#if STAGING_WORDS == 0
#define STAGING_INDEX(k) (tile.thread % LENGTH * STRIDE + tile.thread / LENGTH + (k) * (THREADS / LENGTH))
#else
#define STAGING_INDEX(k) ((ON_CHIP_PTR unsigned short *)(chip + STAGING_AT))[tile.thread + (k) * THREADS]

DEVICE void compute_staging_indices(ON_CHIP_PTR REAL *chip, Tile tile)
{
    for (int k = 0; k < LENGTH; ++k) {
        const int at = tile.thread + k * THREADS, chunk = CHUNK_AT(at % N);
        STAGING_INDEX(k) = (at % N - FIRST(chunk)) * STRIDE + THREAD_OF(at / N, chunk);
    }
}
#endif

// TILES_ARE_FULL is true if every tile has TX lines and every thread has LENGTH points. It is a compile-time constant.
#define TILES_ARE_FULL (LINES % TX == 0 && TX * N == LENGTH * THREADS)

// Number of points of the tile, in storage order, from point `thread` on. Point thread + k THREADS exists if k THREADS is less.
DEVICE int points_left(Tile tile)
{
    const int64 left = ((int64)LINES - tile.line0) * N;
    return (left < TX * N ? (int)left : TX * N) - tile.thread;
}

#if INNER == 1
// Copies the tile from field f to on-chip memory with coalesced access; points beyond the last line become 0. If a thread has all
// its points, it issues all loads before it uses the first result, so that they are in flight together.
PHASE void load_rows(GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    GLOBAL const REAL *from = f + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    if (TILES_ARE_FULL || left > (LENGTH - 1) * THREADS) {
        REAL came[LENGTH];
        FOR_EACH_POINT(k) came[k] = from[k * THREADS];
        FOR_EACH_POINT(k) chip[STAGING_INDEX(k)] = came[k];
    } else {
        FOR_EACH_POINT(k)
        {
            if (tile.thread + k * THREADS < TX * N) chip[STAGING_INDEX(k)] = k * THREADS < left ? from[k * THREADS] : 0;
        }
    }
}

// Copies the tile from on-chip memory to field w with coalesced access.
PHASE void store_rows(GLOBAL REAL *w, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    GLOBAL REAL *to = w + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    FOR_EACH_POINT(k)
    {
        if (TILES_ARE_FULL || k * THREADS < left) to[k * THREADS] = chip[STAGING_INDEX(k)];
    }
}

// Loads v from on-chip memory.
PHASE void read_staged(REAL *v, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    FOR_EACH_POINT(j) v[j] = HAS_POINT(j) ? CHUNK_POINT(j, tile.thread) : 0;
}

// Stores v to on-chip memory.
PHASE void write_staged(const REAL *v, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FOR_EACH_POINT(j)
    {
        if (HAS_POINT(j)) CHUNK_POINT(j, tile.thread) = v[j];
    }
}

// Loads v from field f through `chip`, with one barrier. When it is called, no thread may still read the field in `chip`, its first
// LENGTH STRIDE words.
DEVICE void load(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FORGET_INT(tile.thread);
    load_rows(f, chip, tile);
    __syncthreads();
    read_staged(v, chip, tile);
}

// Stores v to field w through `chip`, with one barrier. When it is called, no thread may still read the field in `chip`.
DEVICE void store(const REAL *v, GLOBAL REAL *w, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FORGET_INT(tile.thread);
    write_staged(v, chip, tile);
    __syncthreads();
    store_rows(w, chip, tile);
}
#else
// Along y and z, `load` and `store` access a field directly, without a barrier: equal points of TX neighbouring
// lines are adjacent in memory, so access is coalesced.
PHASE void load(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FOR_EACH_POINT(j) v[j] = HAS_POINT(j) ? f[tile.start + (int64)j * INNER] : 0;
}

PHASE void store(const REAL *v, GLOBAL REAL *w, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FOR_EACH_POINT(j)
    {
        if (HAS_POINT(j) && tile.line < LINES) w[tile.start + (int64)j * INNER] = v[j];
    }
}
#endif

// Starts an asynchronous copy of field f to on-chip location `place`. After the wait for the copy, PARKED(place, j) is point j
// (a chunk that is one point short has no point LENGTH - 1). When it is called, no thread may still read the location. Along x a
// barrier must follow the wait, because other threads copy the points of a chunk.
DEVICE void prefetch(int place, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
#if INNER == 1
    FORGET_INT(tile.thread);
    GLOBAL const REAL *from = f + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    FOR_EACH_POINT(k)
    {
        ON_CHIP_PTR REAL *to = chip + PARKED_AT + place * LENGTH * STRIDE + STAGING_INDEX(k);
        if (TILES_ARE_FULL || k * THREADS < left)
            COPY_ASYNC(to, from + k * THREADS);
        else if (tile.thread + k * THREADS < TX * N)
            *to = 0;
    }
#else
    FOR_EACH_POINT(j)
    {
        if (HAS_POINT(j)) COPY_ASYNC(&PARKED(place, j), f + tile.start + (int64)j * INNER);
    }
#endif
}
