// eliminate: x in place of b, A x = b for lines in chunks (chunks.cu), in registers, unrolled: each chunk's interior, then its own
//   separators and those of the next chunk from what BACK chunks before and AHEAD behind say of theirs, x~ = S^-1 g, and then
//   b - left x~[k] - right x~[k+1]. P separators begin a chunk.
//   b        LENGTH points of a chunk; 0 where a shorter one has none              read and written
//   chip     2 P numbers a chunk, which nobody reads any more: what it gives to separators, as seen from chunks before it and
//            from those behind; round the end of a line once more, or zeros; where chunks differ, x of its separators, P more
//                                                                                   read and written
//   tables   where chunks differ, of each: BACK + AHEAD + 1 blocks of S^-1, then tau and sigma, P*P each, and where its class begins
//            in CLASS_TABLE; in the memory that TABLE_SPACE says                    read
//   CLASS_TABLE[]   of every class of chunks and point: inv l1 l2 | u1 u2 | left | right; then own, next        read
//   barriers: one, where chunks differ two, after which `chip` is read
#define LOW_SIDE (BACK + 1)
#define HIGH_SIDE (AHEAD + 1)
#if INNER == 1
#define BESIDE_CHUNK 1
#define PLACE_OF(thread, chunk) (LANE_OF(thread) * (CHUNKS + LOW_SIDE + HIGH_SIDE) + (chunk) + LOW_SIDE)
#else
#define BESIDE_CHUNK TX
#define PLACE_OF(thread, chunk) ((thread) + LOW_SIDE * TX)
#endif
#define EXCHANGED_SIDE ((CHUNKS + LOW_SIDE + HIGH_SIDE) * TX)
#define GIVEN(i, m) chip[(i) * EXCHANGED_SIDE + at + (m) * BESIDE_CHUNK]
#define SEPARATOR(i, thread) chip[2 * P * EXCHANGED_SIDE + (i) * THREADS + (thread)]
// Number i of a chunk, and once more beyond the end of its line where others look for it, or as often as it comes round there.
#if CHUNKS < LOW_SIDE || CHUNKS < HIGH_SIDE
#define AGAIN(condition, i, to, by, value) for (int away = to; condition; away += by) GIVEN(i, away) = value;
#else
#define AGAIN(condition, i, to, by, value) { const int away = to; if (condition) GIVEN(i, away) = value; }
#endif
#define GIVE_BEFORE(i, value) \
    GIVEN(i, 0) = value; \
    AGAIN(chunk + away < CHUNKS + HIGH_SIDE, i, CHUNKS, CHUNKS, PERIODIC ? value : 0)
#define GIVE_BEHIND(i, value) \
    GIVEN(i, 0) = value; \
    AGAIN(chunk + away >= -LOW_SIDE, i, -CHUNKS, -CHUNKS, PERIODIC ? value : 0)

#define TABLE(j, k) CLASS_TABLE[class_at + (j) * ROW + (k)]
#define ROW (1 + 4 * P)
#define INVERSE(j) TABLE(j, 0)
#define LOWER(j, step) TABLE(j, step)
#define UPPER(j, step) TABLE(j, P + (step))
#define LEFT(j, q) TABLE(j, 1 + 2 * P + (q))
#define RIGHT(j, q) TABLE(j, 1 + 3 * P + (q))
#define OWN(i, q) CLASS_TABLE[class_at + LENGTH * ROW + (i) * P + (q)]
#define NEXT(i, q) CLASS_TABLE[class_at + LENGTH * ROW + P * P + (i) * (P + 1) + (q)]

// Entry (i, q) of the block at distance m in a row of S^-1, and of tau (side 0) and sigma.
#if UNIFORM
#define OF_CHUNK(block, i, q) WEIGHTS[((block) * P + (i)) * P + (q)]
#define CLASS_AT 0
#else
#define OF_CHUNK(block, i, q) tables[(((block) * P + (i)) * P + (q)) * CHUNKS + chunk]
#define CLASS_AT ((int)OF_CHUNK(BACK + AHEAD + 3, 0, 0))
#endif
#define WEIGHT(m, i, q) OF_CHUNK((m) + BACK, i, q)
#define SEEN(side, i, q) OF_CHUNK(BACK + AHEAD + 1 + (side), i, q)

// The interior, b = D^-1 b, and what it gives to the separators.
PHASE void eliminate_interior(
    REAL *b, ON_CHIP_PTR REAL *chip, int thread, int chunk, int class_at, TABLE_SPACE const REAL *tables)
{
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

    const int at = PLACE_OF(thread, chunk);
    REAL own[P], given[P];
    UNROLL for (int i = 0; i < P; ++i) {
        own[i] = b[i];
        given[i] = 0;
        UNROLL for (int q = 0; q < P; ++q) own[i] -= OWN(i, q) * b[P + q];
#if CHUNKS > 1 || PERIODIC
        UNROLL for (int q = 0; q <= P; ++q) given[i] += NEXT(i, q) * b[LENGTH - P - 1 + q];
#endif
    }
    UNROLL for (int i = 0; i < P; ++i) {
        REAL before = own[i], behind = -given[i];
        UNROLL for (int q = 0; q < P; ++q) {
            before -= SEEN(0, i, q) * given[q];
            behind += SEEN(1, i, q) * own[q];
        }
        GIVE_BEFORE(i, before)
        GIVE_BEHIND(P + i, behind)
    }
}

// x of the separators of a chunk, and where all chunks are alike of those of the next one.
PHASE void solve_separators(
    REAL *x, REAL *after, ON_CHIP_PTR const REAL *chip, int thread, int chunk, TABLE_SPACE const REAL *tables)
{
    const int at = PLACE_OF(thread, chunk);
    UNROLL for (int i = 0; i < P; ++i) x[i] = after[i] = 0;
    UNROLL for (int m = 0; m <= AHEAD; ++m) {
        UNROLL for (int q = 0; q < P; ++q) {
            UNROLL for (int i = 0; i < P; ++i) {
                x[i] += WEIGHT(m, i, q) * GIVEN(q, m);
                if (UNIFORM) after[i] += WEIGHT(m, i, q) * GIVEN(q, m + 1);
            }
        }
    }
    UNROLL for (int m = 0; m <= BACK; ++m) {
        UNROLL for (int q = 0; q < P; ++q) {
            UNROLL for (int i = 0; i < P; ++i) {
                x[i] += WEIGHT(-m, i, q) * GIVEN(P + q, -m - 1);
                if (UNIFORM) after[i] += WEIGHT(-m, i, q) * GIVEN(P + q, -m);
            }
        }
    }
}

// b - left x - right x of the next chunk; after an open end `right` is zero, whatever `after` is.
PHASE void substitute_separators(REAL *b, const REAL *x, const REAL *after, int class_at)
{
    UNROLL for (int j = P; j < LENGTH; ++j) {
        UNROLL for (int q = 0; q < P; ++q) b[j] -= LEFT(j, q) * x[q] + RIGHT(j, q) * after[q];
    }
    UNROLL for (int i = 0; i < P; ++i) b[i] = x[i];
}

DEVICE void eliminate(
    REAL *b, ON_CHIP_PTR REAL *chip, int thread, int chunk, TABLE_SPACE const REAL *tables)
{
    const int class_at = CLASS_AT;
    eliminate_interior(b, chip, thread, chunk, class_at, tables);
    __syncthreads();
    REAL x[P], after[P];
    solve_separators(x, after, chip, thread, chunk, tables);
#if !UNIFORM
    // Another chunk's weights would take as many registers again.
    UNROLL for (int i = 0; i < P; ++i) SEPARATOR(i, thread) = x[i];
    __syncthreads();
    const int next = NEIGHBOUR(thread, chunk, 1);
    UNROLL for (int i = 0; i < P; ++i) after[i] = SEPARATOR(i, next);
#endif
    substitute_separators(b, x, after, class_at);
}
