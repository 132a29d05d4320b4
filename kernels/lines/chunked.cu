// chunked: A f' = B f, one thread a chunk of a line; the elimination is that of src/lines/chunked.rs.
//   b = B f and the elimination of the interior in registers, unrolled; the separators of the CHUNKS chunks of a line by
//   parallel cyclic reduction through on-chip memory; then x = b - left x~[k] - right x~[k+1].
//   Chunks have LENGTH points (the first LONG), or one less; P separators first. TX lines a block.
// Lines along x (INNER = 1) go through on-chip memory both ways, so that threads of a warp access neighbouring points;
// rows of 128 bytes are followed by one word that is left out, so that chunks of 4, 8 or 16 points do not meet in a bank.
// Other lines are loaded and stored directly: TX neighbours in x are TX neighbours in memory.
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   blocks of the reduction where chunks differ: per level and chunk the 2 P*P of the rows before and after, and
//            then the inverse diagonal, P*P                                        read
//   CLASS_TABLE[]   of every class of chunks and point: inv l1 l2 | u1 u2 | left | right; then own, next: CLASS_WORDS
//            numbers; read
//   traffic: f once, out once = 16 bytes a point in f64 (halos come from the caches)
//   on-chip  ON_CHIP_WORDS: the larger of TX staged lines and 2 P numbers a thread; barriers: LEVELS + 2, along x 4 more
#define SPAN (N + LOW + HIGH + 1) // of a staged line: points -LOW .. N + HIGH
#define PADDED(m) ((m) + (m) / BANK_ROW)
#define STAGED(lane, m) chip[(lane) * (PADDED(SPAN - 1) + 1) + PADDED((m) + LOW)]
#define SIDE (P * THREADS)

#define TABLE(j, k) CLASS_TABLE[class_at + (j) * ROW + (k)]
#define ROW (1 + 4 * P)
#define INVERSE(j) TABLE(j, 0)
#define LOWER(j, step) TABLE(j, step)
#define UPPER(j, step) TABLE(j, P + (step))
#define LEFT(j, q) TABLE(j, 1 + 2 * P + (q))
#define RIGHT(j, q) TABLE(j, 1 + 3 * P + (q))
#define OWN(i, q) CLASS_TABLE[class_at + LENGTH * ROW + (i) * P + (q)]
#define NEXT(i, q) CLASS_TABLE[class_at + LENGTH * ROW + P * P + (i) * (P + 1) + (q)]

#if UNIFORM
#define BLOCK(level, side, i, j) BLOCKS[(((level) * 2 + (side)) * P + (i)) * P + (j)]
#define FINAL(i, j) BLOCKS[(LEVELS * 2 * P + (i)) * P + (j)]
#else
#define BLOCK(level, side, i, j) tables[(((((level) * 2 + (side)) * P + (i)) * P) + (j)) * CHUNKS + chunk]
#define FINAL(i, j) tables[((LEVELS * 2 * P + (i)) * P + (j)) * CHUNKS + chunk]
#endif

#if INNER == 1
#define THREAD_OF(lane, chunk) ((lane) * CHUNKS + (chunk))
#else
#define THREAD_OF(lane, chunk) ((chunk) * TX + (lane))
#endif

KERNEL_OF(THREADS) void chunked(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, ON_CHIP_WORDS);
    const int thread = threadIdx.x;
#if INNER == 1
    const int lane = thread / CHUNKS, chunk = thread % CHUNKS;
#else
    const int lane = thread % TX, chunk = thread / TX;
#endif
    const int64 line0 = (int64)blockIdx.x * TX;
    const int64 line = line0 + lane;
    const int64 start = START(line < LINES ? line : LINES - 1);
    const int first = chunk * LENGTH - (chunk > LONG ? chunk - LONG : 0);
    const int points = chunk < LONG ? LENGTH : LENGTH - 1;
    const int class_at = CLASS(chunk) * CLASS_WORDS;

    // b = B f.
#if INNER == 1
    for (int at = thread; at < TX * SPAN; at += THREADS) {
        const int q = at / SPAN, m = at % SPAN - LOW;
        const int64 from = START(line0 + q < LINES ? line0 + q : LINES - 1);
        STAGED(q, m) = f[from + on_line(m)];
    }
    __syncthreads();
#define LOAD(m) STAGED(lane, m)
#define FETCH(m) STAGED(lane, m)
#else
#define LOAD(m) f[start + (int64)(m) * INNER]
#define FETCH(m) LOAD(on_line(m))
#endif
    REAL b[LENGTH];
    {
        REAL near[LENGTH + LOW + HIGH]; // [LOW + j]: point j of the chunk
#pragma unroll
        for (int j = 0; j < LENGTH + LOW + HIGH; ++j) near[j] = FETCH(first + j - LOW);
#pragma unroll
        for (int j = 0; j < LENGTH; ++j) {
#define BESIDE(d) near[LOW + j + (d)]
            b[j] = INNER_ROW(BESIDE);
        }
    }
#if LEFT_ROWS + RIGHT_ROWS > 0
    if (first < LEFT_ROWS || first + LENGTH > N - RIGHT_ROWS) {
#pragma unroll
        for (int j = 0; j < LENGTH; ++j) {
            const int m = first + j;
            REAL sum = 0;
            if (m < LEFT_ROWS) {
                ADD_LEFT_END(sum, m, LOAD);
                b[j] = sum;
            } else if (m >= N - RIGHT_ROWS && m < N) {
                ADD_RIGHT_END(sum, m - (N - RIGHT_ROWS), LOAD);
                b[j] = sum;
            }
        }
    }
#endif
#if LONG < CHUNKS
    if (points < LENGTH) b[LENGTH - 1] = 0;
#endif

    // The interior, b = D^-1 b.
#pragma unroll
    for (int j = P; j < LENGTH; ++j) {
        b[j] *= INVERSE(j);
        if (j > P) b[j] -= LOWER(j, 1) * b[j - 1];
#if P > 1
        if (j > P + 1) b[j] -= LOWER(j, 2) * b[j - 2];
#endif
    }
#pragma unroll
    for (int j = LENGTH - 2; j >= P; --j) {
        b[j] -= UPPER(j, 1) * b[j + 1];
#if P > 1
        if (j < LENGTH - 2) b[j] -= UPPER(j, 2) * b[j + 2];
#endif
    }

    // The separators. What the next chunk's read of this chunk goes through the upper half of the exchange.
    REAL r[P];
    int side = SIDE;
#if INNER == 1
    __syncthreads(); // all have read the staged line
#endif
#pragma unroll
    for (int i = 0; i < P; ++i) {
        REAL given = 0;
        r[i] = b[i];
#pragma unroll
        for (int q = 0; q < P; ++q) r[i] -= OWN(i, q) * b[P + q];
#if CHUNKS > 1 || PERIODIC
#pragma unroll
        for (int q = 0; q <= P; ++q) given += NEXT(i, q) * b[LENGTH - P - 1 + q];
#endif
        chip[side + i * THREADS + thread] = given;
    }
    __syncthreads();
    if (PERIODIC || chunk > 0) {
        const int before = THREAD_OF(lane, chunk > 0 ? chunk - 1 : CHUNKS - 1);
#pragma unroll
        for (int i = 0; i < P; ++i) r[i] -= chip[side + i * THREADS + before];
    }
#if LEVELS > 0
#pragma unroll
    for (int level = 0; level < LEVELS; ++level) {
        side = SIDE - side;
#pragma unroll
        for (int i = 0; i < P; ++i) chip[side + i * THREADS + thread] = r[i];
        __syncthreads();
#if PERIODIC
        const int shift = (1 << level) % CHUNKS;
        const int low = THREAD_OF(lane, chunk >= shift ? chunk - shift : chunk - shift + CHUNKS);
        const int high = THREAD_OF(lane, chunk + shift < CHUNKS ? chunk + shift : chunk + shift - CHUNKS);
#else
        const int shift = 1 << level; // where there is no neighbour its block is zero
        const int low = THREAD_OF(lane, chunk >= shift ? chunk - shift : chunk);
        const int high = THREAD_OF(lane, chunk + shift < CHUNKS ? chunk + shift : chunk);
#endif
#pragma unroll
        for (int i = 0; i < P; ++i) {
#pragma unroll
            for (int q = 0; q < P; ++q) {
                r[i] -= BLOCK(level, 0, i, q) * chip[side + q * THREADS + low];
                r[i] -= BLOCK(level, 1, i, q) * chip[side + q * THREADS + high];
            }
        }
    }
#endif
    side = SIDE - side;
    REAL x[P], after[P];
#pragma unroll
    for (int i = 0; i < P; ++i) {
        x[i] = 0;
#pragma unroll
        for (int q = 0; q < P; ++q) x[i] += FINAL(i, q) * r[q];
        chip[side + i * THREADS + thread] = x[i];
    }
    __syncthreads();
    const int next = THREAD_OF(lane, chunk < CHUNKS - 1 ? chunk + 1 : 0); // after an open end `right` is zero
#pragma unroll
    for (int i = 0; i < P; ++i) after[i] = chip[side + i * THREADS + next];

#pragma unroll
    for (int j = P; j < LENGTH; ++j) {
#pragma unroll
        for (int q = 0; q < P; ++q) b[j] -= LEFT(j, q) * x[q] + RIGHT(j, q) * after[q];
    }
#pragma unroll
    for (int i = 0; i < P; ++i) b[i] = x[i];

#if INNER == 1
    __syncthreads(); // all have read the exchange
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        if (j < points) STAGED(lane, first + j) = b[j];
    }
    __syncthreads();
    for (int at = thread; at < TX * N; at += THREADS) {
        const int q = at / N, m = at % N;
        if (line0 + q < LINES) out[START(line0 + q) + m] = STAGED(q, m);
    }
#else
    if (line < LINES) {
#pragma unroll
        for (int j = 0; j < LENGTH; ++j) {
            if (j < points) out[start + (int64)(first + j) * INNER] = b[j];
        }
    }
#endif
}
