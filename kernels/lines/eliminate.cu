// eliminate: x in place of b, A x = b for lines in chunks (chunks.cu), in registers, unrolled; the separators of the chunks
//   of a line by parallel cyclic reduction through on-chip memory; then x = b - left x~[k] - right x~[k+1]. P separators
//   begin a chunk.
//   b        LENGTH points of a chunk; 0 where a shorter one has none              read and written
//   chip     2 P numbers a thread, which nobody reads any more                     read and written
//   tables   blocks of the reduction where chunks differ: per level and chunk the 2 P*P of the rows before and after, and
//            then the inverse diagonal, P*P                                        read
//   CLASS_TABLE[]   of every class of chunks and point: inv l1 l2 | u1 u2 | left | right; then own, next: CLASS_WORDS
//            numbers; read
//   barriers: LEVELS + 2; after the last one `chip` is read
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

DEVICE void eliminate(
    REAL *b, ON_CHIP_PTR REAL *chip, int thread, int chunk, GLOBAL const REAL *restrict tables)
{
    const int class_at = CLASS(chunk) * CLASS_WORDS;

    // The interior, b = D^-1 b.
    UNROLL for (int j = P; j < LENGTH; ++j) {
        b[j] *= INVERSE(j);
        if (j > P) b[j] -= LOWER(j, 1) * b[j - 1];
#if P > 1
        if (j > P + 1) b[j] -= LOWER(j, 2) * b[j - 2];
#endif
    }
    UNROLL for (int j = LENGTH - 2; j >= P; --j) {
        b[j] -= UPPER(j, 1) * b[j + 1];
#if P > 1
        if (j < LENGTH - 2) b[j] -= UPPER(j, 2) * b[j + 2];
#endif
    }

    // The separators. What the next chunk's read of this chunk goes through the upper half of the exchange.
    REAL r[P];
    int side = SIDE;
    UNROLL for (int i = 0; i < P; ++i) {
        REAL given = 0;
        r[i] = b[i];
        UNROLL for (int q = 0; q < P; ++q) r[i] -= OWN(i, q) * b[P + q];
#if CHUNKS > 1 || PERIODIC
        UNROLL for (int q = 0; q <= P; ++q) given += NEXT(i, q) * b[LENGTH - P - 1 + q];
#endif
        chip[side + i * THREADS + thread] = given;
    }
    __syncthreads();
    if (PERIODIC || chunk > 0) {
        const int before = NEIGHBOUR(thread, chunk, -1);
        UNROLL for (int i = 0; i < P; ++i) r[i] -= chip[side + i * THREADS + before];
    }
#if LEVELS > 0
    UNROLL for (int level = 0; level < LEVELS; ++level) {
        side = SIDE - side;
        UNROLL for (int i = 0; i < P; ++i) chip[side + i * THREADS + thread] = r[i];
        __syncthreads();
        const int shift = (1 << level) % CHUNKS; // where an open line has no neighbour its block is zero
        const int low = NEIGHBOUR(thread, chunk, -shift), high = NEIGHBOUR(thread, chunk, shift);
        UNROLL for (int i = 0; i < P; ++i) {
            UNROLL for (int q = 0; q < P; ++q) {
                r[i] -= BLOCK(level, 0, i, q) * chip[side + q * THREADS + low];
                r[i] -= BLOCK(level, 1, i, q) * chip[side + q * THREADS + high];
            }
        }
    }
#endif
    side = SIDE - side;
    REAL x[P], after[P];
    UNROLL for (int i = 0; i < P; ++i) {
        x[i] = 0;
        UNROLL for (int q = 0; q < P; ++q) x[i] += FINAL(i, q) * r[q];
        chip[side + i * THREADS + thread] = x[i];
    }
    __syncthreads();
    const int next = NEIGHBOUR(thread, chunk, 1); // after an open end `right` is zero
    UNROLL for (int i = 0; i < P; ++i) after[i] = chip[side + i * THREADS + next];

    UNROLL for (int j = P; j < LENGTH; ++j) {
        UNROLL for (int q = 0; q < P; ++q) b[j] -= LEFT(j, q) * x[q] + RIGHT(j, q) * after[q];
    }
    UNROLL for (int i = 0; i < P; ++i) b[i] = x[i];
}
