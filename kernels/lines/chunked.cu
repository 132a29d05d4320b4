// chunked: A f' = B f, one thread per chunk of a line (chunks.cu). A thread computes b = B f for its chunk in registers, in unrolled loops;
// the elimination follows (eliminate.cu, src/lines/chunked.rs). A block has TX lines.
// Lines along x (INNER = 1) pass through on-chip memory, when they are loaded and when they are stored, so that accesses to device memory
// are coalesced. On chip, one unused word follows every 128 bytes, so that chunks of 4, 8 or 16 points cause no bank conflicts. Lines along
// y or z are loaded and stored directly: point m of TX neighbouring lines is contiguous in memory, except between lines INNER - 1 and
// INNER.
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   see eliminate.cu                                                      read
//   traffic: f once, out once = 16 bytes per point in f64 (halos come from the caches)
//   on-chip words: ON_CHIP_WORDS, the larger of TX lines along x and of the exchange of eliminate.cu
//   barriers: those of eliminate.cu, and 4 more along x
// LINE_WORDS: points of a line that are stored on chip, -LOW .. N + HIGH. With the unused words a line takes PADDED(LINE_WORDS - 1) + 1
// words. BANK_ROW: words of 128 bytes. LINE_POINT(lane, m): point m of a line on chip.
// LOAD(m): the operand at point m; OPERAND(m): the same for -LOW <= m <= N + HIGH, continued beyond the ends of the line by on_line.
#define LINE_WORDS (N + LOW + HIGH + 1)
#define PADDED(m) ((m) + (m) / BANK_ROW)
#define LINE_POINT(lane, m) chip[(lane) * (PADDED(LINE_WORDS - 1) + 1) + PADDED((m) + LOW)]

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
    for (int at = thread; at < TX * LINE_WORDS; at += THREADS) {
        const int q = at / LINE_WORDS, m = at % LINE_WORDS - LOW;
        const int64 from = START(line0 + q < LINES ? line0 + q : LINES - 1);
        LINE_POINT(q, m) = f[from + on_line(m)];
    }
    __syncthreads();
#define LOAD(m) LINE_POINT(lane, m)
#define OPERAND(m) LINE_POINT(lane, m)
#else
#define LOAD(m) f[start + (int64)(m) * INNER]
#define OPERAND(m) LOAD(on_line(m))
#endif
    REAL b[LENGTH];
    {
        REAL near[LENGTH + LOW + HIGH]; // near[LOW + j]: point j of the chunk
        UNROLL for (int j = 0; j < LENGTH + LOW + HIGH; ++j) near[j] = OPERAND(first + j - LOW);
        UNROLL for (int j = 0; j < LENGTH; ++j) {
#define NEIGHBOUR_POINT(d) near[LOW + j + (d)]
            b[j] = INNER_ROW(NEIGHBOUR_POINT);
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
#if LONG_CHUNKS < CHUNKS
    if (points < LENGTH) b[LENGTH - 1] = 0;
#endif

#if INNER == 1
    __syncthreads(); // all threads have read the line on chip
#endif
    eliminate(b, chip, thread, chunk, tables);

#if INNER == 1
    __syncthreads(); // all threads have read the exchanged values
    UNROLL for (int j = 0; j < LENGTH; ++j) {
        if (j < points) LINE_POINT(lane, first + j) = b[j];
    }
    __syncthreads();
    for (int at = thread; at < TX * N; at += THREADS) {
        const int q = at / N, m = at % N;
        if (line0 + q < LINES) out[START(line0 + q) + m] = LINE_POINT(q, m);
    }
#else
    if (line < LINES) {
        UNROLL for (int j = 0; j < LENGTH; ++j) {
            if (j < points) out[start + (int64)(first + j) * INNER] = b[j];
        }
    }
#endif
}
