// chunked: A f' = B f, one thread a chunk of a line; the elimination is that of src/lines/chunked.rs.
//   b = B f in registers, unrolled, then eliminate.cu. TX lines a block, cut as in chunks.cu.
// Lines along x (INNER = 1) go through on-chip memory both ways, so that threads of a warp access neighbouring points;
// rows of 128 bytes are followed by one word that is left out, so that chunks of 4, 8 or 16 points do not meet in a bank.
// Other lines are loaded and stored directly: TX neighbours in x are TX neighbours in memory.
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   see eliminate.cu                                                      read
//   traffic: f once, out once = 16 bytes a point in f64 (halos come from the caches)
//   on-chip  ON_CHIP_WORDS: the larger of TX staged lines and what eliminate.cu exchanges; barriers: one, along x 4 more
#define SPAN (N + LOW + HIGH + 1) // of a staged line: points -LOW .. N + HIGH
#define PADDED(m) ((m) + (m) / BANK_ROW)
#define STAGED(lane, m) chip[(lane) * (PADDED(SPAN - 1) + 1) + PADDED((m) + LOW)]

KERNEL_OF(THREADS) void chunked(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, ON_CHIP_WORDS);
    const int thread = threadIdx.x;
    const int lane = LANE_OF(thread), chunk = CHUNK_OF(thread);
    const int64 line0 = (int64)blockIdx.x * TX;
    const int64 line = line0 + lane;
    const int64 start = START(line < LINES ? line : LINES - 1);
    const int first = FIRST(chunk), points = POINTS(chunk);

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
        UNROLL for (int j = 0; j < LENGTH + LOW + HIGH; ++j) near[j] = FETCH(first + j - LOW);
        UNROLL for (int j = 0; j < LENGTH; ++j) {
#define BESIDE(d) near[LOW + j + (d)]
            b[j] = INNER_ROW(BESIDE);
        }
    }
#if LEFT_ROWS + RIGHT_ROWS > 0
    if (first < LEFT_ROWS || first + LENGTH > N - RIGHT_ROWS) {
        UNROLL for (int j = 0; j < LENGTH; ++j) {
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

#if INNER == 1
    __syncthreads(); // all have read the staged line
#endif
    eliminate(b, chip, thread, chunk, tables);

#if INNER == 1
    __syncthreads(); // all have read the exchange
    UNROLL for (int j = 0; j < LENGTH; ++j) {
        if (j < points) STAGED(lane, first + j) = b[j];
    }
    __syncthreads();
    for (int at = thread; at < TX * N; at += THREADS) {
        const int q = at / N, m = at % N;
        if (line0 + q < LINES) out[START(line0 + q) + m] = STAGED(q, m);
    }
#else
    if (line < LINES) {
        UNROLL for (int j = 0; j < LENGTH; ++j) {
            if (j < points) out[start + (int64)(first + j) * INNER] = b[j];
        }
    }
#endif
}
