// What a block of a fused sweep holds: a tile of TX lines cut into chunks (chunks.cu), the points of a chunk in registers
// of its thread, as in
//   REAL v[LENGTH]; EACH(j) v[j] = 0;
// One field of the tile fits on chip: SPOT(j, thread) is point j of a thread's chunk. Threads of a warp that take the same
// point meet no bank twice; rows of STRIDE words are a few words longer than the threads need where lines along x are
// gathered, so that neighbouring points of a line do not either. PARKED(place, j) is point j of a value for which there are no
// registers, or that comes (bring); only its own thread reads it.
#define SPOT(j, thread) chip[(j) * STRIDE + (thread)]
#define PARKED(place, j) chip[PARKED_AT + ((place) * LENGTH + (j)) * STRIDE + tile.thread]
#define EACH(j) UNROLL for (int j = 0; j < LENGTH; ++j)
// True where a thread has a point j.
#define HAS(j) (LONG == CHUNKS || (j) < tile.points)

// The chunk that point m of a line lies in, and the point on chip.
#if LONG == CHUNKS
#define CHUNK_AT(m) ((m) / LENGTH)
#else
#define CHUNK_AT(m) ((m) < LONG * LENGTH ? (m) / LENGTH : LONG + ((m) - LONG * LENGTH) / (LENGTH - 1))
#endif
#define STAGED(lane, m) SPOT((m) - FIRST(CHUNK_AT(m)), THREAD_OF(lane, CHUNK_AT(m)))

// A thread's place: the first of its `points` points and the place of that in fields; lines of the tile begin with line0.
// Beyond the last line a thread works on the last one and stores nothing.
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

// Number thread + k THREADS of the points of the tile along x, in their order, is staged at chip[PLACE(k)]. Where that is no plain
// function of the thread, each thread works it out once, on chip.
#if PLACES == 0
#define PLACE(k) (tile.thread % LENGTH * STRIDE + tile.thread / LENGTH + (k) * (THREADS / LENGTH))
#else
#define PLACE(k) ((ON_CHIP_PTR unsigned short *)(chip + PLACES_AT))[tile.thread + (k) * THREADS]

DEVICE void work_out_places(ON_CHIP_PTR REAL *chip, Tile tile)
{
    for (int k = 0; k < LENGTH; ++k) {
        const int at = tile.thread + k * THREADS, chunk = CHUNK_AT(at % N);
        PLACE(k) = (at % N - FIRST(chunk)) * STRIDE + THREAD_OF(at / N, chunk);
    }
}
#endif

// Whether every tile has all its lines, and every thread all its points of them: known when this is compiled.
#define WHOLE (LINES % TX == 0 && TX * N == LENGTH * THREADS)

// How many points of the tile's lines come from this thread's first on.
DEVICE int points_left(Tile tile)
{
    const int64 left = ((int64)LINES - tile.line0) * N;
    return (left < TX * N ? (int)left : TX * N) - tile.thread;
}

#if INNER == 1
// The tile on chip from field f. Where a thread has all its points, no load waits for another.
PHASE void load_rows(GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    GLOBAL const REAL *from = f + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    if (WHOLE || left > (LENGTH - 1) * THREADS) {
        REAL came[LENGTH];
        EACH(k) came[k] = from[k * THREADS];
        EACH(k) chip[PLACE(k)] = came[k];
    } else {
        EACH(k)
        {
            if (tile.thread + k * THREADS < TX * N) chip[PLACE(k)] = k * THREADS < left ? from[k * THREADS] : 0;
        }
    }
}

// The tile on chip to field w.
PHASE void store_rows(GLOBAL REAL *w, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    GLOBAL REAL *to = w + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    EACH(k)
    {
        if (WHOLE || k * THREADS < left) to[k * THREADS] = chip[PLACE(k)];
    }
}

PHASE void take_staged(REAL *v, ON_CHIP_PTR const REAL *chip, Tile tile)
{
    EACH(j) v[j] = HAS(j) ? SPOT(j, tile.thread) : 0;
}

PHASE void stage(const REAL *v, ON_CHIP_PTR REAL *chip, Tile tile)
{
    EACH(j)
    {
        if (HAS(j)) SPOT(j, tile.thread) = v[j];
    }
}

// v from field f through `chip`, which nobody reads any more, with one barrier.
DEVICE void load(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FORGET_INT(tile.thread);
    load_rows(f, chip, tile);
    __syncthreads();
    take_staged(v, chip, tile);
}

// v to field w, as above.
DEVICE void store(const REAL *v, GLOBAL REAL *w, ON_CHIP_PTR REAL *chip, Tile tile)
{
    FORGET_INT(tile.thread);
    stage(v, chip, tile);
    __syncthreads();
    store_rows(w, chip, tile);
}
#else
PHASE void load(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
    EACH(j) v[j] = HAS(j) ? f[tile.start + (int64)j * INNER] : 0;
}

PHASE void store(const REAL *v, GLOBAL REAL *w, ON_CHIP_PTR REAL *chip, Tile tile)
{
    EACH(j)
    {
        if (HAS(j) && tile.line < LINES) w[tile.start + (int64)j * INNER] = v[j];
    }
}
#endif

// Field f to a place on chip, where it is PARKED once it has come; along x behind a barrier too, for it is other threads that ask for it.
DEVICE void bring(int place, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
#if INNER == 1
    FORGET_INT(tile.thread);
    GLOBAL const REAL *from = f + tile.line0 * N + tile.thread;
    const int left = points_left(tile);
    EACH(k)
    {
        ON_CHIP_PTR REAL *to = chip + PARKED_AT + place * LENGTH * STRIDE + PLACE(k);
        if (WHOLE || k * THREADS < left)
            COPY(to, from + k * THREADS);
        else if (tile.thread + k * THREADS < TX * N)
            *to = 0;
    }
#else
    EACH(j)
    {
        if (HAS(j)) COPY(&PARKED(place, j), f + tile.start + (int64)j * INNER);
    }
#endif
}
