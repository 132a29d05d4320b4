// eliminate: solves A x = b in place for lines split into chunks (chunks.cu; src/lines/chunked.rs). A chunk is in the registers of a
//   thread, in unrolled loops. Its first P points are its separators x~[k], the others its interior, where the equations are
//   D x = b - L x~[k] - R x~[k+1]: D is the banded matrix of the interior, L and R couple it to the separators of this chunk and of
//   the next. S, g, tau and sigma below are those of src/lines/chunked.rs.
//   1. Each chunk solves its interior, b <- D^-1 b (forward elimination, back substitution).
//   2. The separators of all chunks form a reduced system with the matrix S and the right-hand side g. A thread computes x~ = S^-1 g for
//      its own separators from what the chunks nearby contribute to g. It also computes those of the next chunk if UNIFORM; otherwise it
//      reads them from `chip`, where the thread of the next chunk has stored them. S^-1 decays away from its diagonal: a row has BACK
//      blocks before the diagonal and AHEAD behind it, the others are below round-off.
//   3. Back substitution in the interior: b - left x~[k] - right x~[k+1], with left = D^-1 L and right = D^-1 R.
//   b        LENGTH points of a chunk; the last is 0 if a chunk has one point less                       read and written
//   chip     its previous content is lost: no thread may still read it. Of every chunk the 2 P numbers that it contributes, P for
//            the chunks before it and itself, P for those behind it; copies of them beyond the ends of a line, or zeros if it is open;
//            if not UNIFORM, the P separators x~ of every chunk                                          read and written
//   tables   if not UNIFORM, of every chunk: the BACK + AHEAD + 1 blocks of S^-1, then tau and sigma, P*P numbers each, and the index in
//            CLASS_TABLE of its class. Number e of chunk k is at e CHUNKS + k. TABLE_SPACE is the address space of this pointer (GLOBAL or
//            ON_CHIP_PTR)                                                                              read
//   CLASS_TABLE[]   of every class of chunks and every point: inv l1 l2 | u1 u2 | left | right; then own, next     read
//   UNIFORM  1 if all chunks have the same coefficients. Then WEIGHTS[] has the blocks of `tables`, as compile-time constants.
//   barriers: one; two if not UNIFORM. `chip` is still read after the last one, so a barrier must precede its next use.
// IMAGES_BEFORE, IMAGES_AFTER: number of chunks beyond the beginning and the end of a line of which `chip` has copies.
// CHUNK_SLOT(thread, chunk): place of a chunk among those of `chip`; CHUNK_STRIDE: distance to the place of the next chunk of its line.
#define IMAGES_BEFORE (BACK + 1)
#define IMAGES_AFTER (AHEAD + 1)
#if INNER == 1
#define CHUNK_STRIDE 1
#define CHUNK_SLOT(thread, chunk) (LANE_OF(thread) * (CHUNKS + IMAGES_BEFORE + IMAGES_AFTER) + (chunk) + IMAGES_BEFORE)
#else
#define CHUNK_STRIDE TX
#define CHUNK_SLOT(thread, chunk) ((thread) + IMAGES_BEFORE * TX)
#endif
// EXCHANGE_WORDS: words of one of the 2 P numbers, for all chunks. CONTRIBUTION(i, m): number i of the chunk m chunks further; `at` is the
// place of this chunk. SEPARATOR(i, thread): separator i of the chunk of a thread.
#define EXCHANGE_WORDS ((CHUNKS + IMAGES_BEFORE + IMAGES_AFTER) * TX)
#define CONTRIBUTION(i, m) chip[(i) * EXCHANGE_WORDS + at + (m) * CHUNK_STRIDE]
#define SEPARATOR(i, thread) chip[2 * P * EXCHANGE_WORDS + (i) * THREADS + (thread)]
// STORE_FOR_PREVIOUS and STORE_FOR_NEXT store number i, for chunks before and behind this one, at the place of this chunk and at its
// periodic images that these chunks read beyond the end or the beginning of the line. On an open line zeros replace the images. STORE_IMAGE
// stores the image `to` chunks away if `condition` is true. If a line has fewer chunks than IMAGES_BEFORE or IMAGES_AFTER there may be
// several images, `by` chunks apart.
#if CHUNKS < IMAGES_BEFORE || CHUNKS < IMAGES_AFTER
#define STORE_IMAGE(condition, i, to, by, value) for (int away = to; condition; away += by) CONTRIBUTION(i, away) = value;
#else
#define STORE_IMAGE(condition, i, to, by, value) { const int away = to; if (condition) CONTRIBUTION(i, away) = value; }
#endif
#define STORE_FOR_PREVIOUS(i, value) \
    CONTRIBUTION(i, 0) = value; \
    STORE_IMAGE(chunk + away < CHUNKS + IMAGES_AFTER, i, CHUNKS, CHUNKS, PERIODIC ? value : 0)
#define STORE_FOR_NEXT(i, value) \
    CONTRIBUTION(i, 0) = value; \
    STORE_IMAGE(chunk + away >= -IMAGES_BEFORE, i, -CHUNKS, -CHUNKS, PERIODIC ? value : 0)

// The numbers of the class of this chunk, ROW of them per point j. INVERSE, LOWER, UPPER: 1 / pivot, l and u of the LU decomposition of D;
// LEFT, RIGHT: rows of D^-1 L and D^-1 R. Then OWN(i, q): weight of point P + q in row i of the chunk's own separators; NEXT(i, q): weight
// of point LENGTH - P - 1 + q in row i of the separators of the next chunk.
#define TABLE(j, k) CLASS_TABLE[class_at + (j) * ROW + (k)]
#define ROW (1 + 4 * P)
#define INVERSE(j) TABLE(j, 0)
#define LOWER(j, step) TABLE(j, step)
#define UPPER(j, step) TABLE(j, P + (step))
#define LEFT(j, q) TABLE(j, 1 + 2 * P + (q))
#define RIGHT(j, q) TABLE(j, 1 + 3 * P + (q))
#define OWN(i, q) CLASS_TABLE[class_at + LENGTH * ROW + (i) * P + (q)]
#define NEXT(i, q) CLASS_TABLE[class_at + LENGTH * ROW + P * P + (i) * (P + 1) + (q)]

// WEIGHT(m, i, q): entry (i, q) of block S^-1[k, k + m] of this chunk k. TAU_SIGMA(side, i, q): entry (i, q) of tau (side 0) or sigma (side
// 1).
// OF_CHUNK(block, i, q): entry (i, q) of a block in the order of `tables`. CLASS_AT: index in CLASS_TABLE of the class of this chunk.
#if UNIFORM
#define OF_CHUNK(block, i, q) WEIGHTS[((block) * P + (i)) * P + (q)]
#define CLASS_AT 0
#else
#define OF_CHUNK(block, i, q) tables[(((block) * P + (i)) * P + (q)) * CHUNKS + chunk]
#define CLASS_AT ((int)OF_CHUNK(BACK + AHEAD + 3, 0, 0))
#endif
#define WEIGHT(m, i, q) OF_CHUNK((m) + BACK, i, q)
#define TAU_SIGMA(side, i, q) OF_CHUNK(BACK + AHEAD + 1 + (side), i, q)

// Step 1: b = D^-1 b in the interior. Then the contributions of this chunk j to g: o = b~ - OWN b (`own`) for its own separators b~, and
// -h, h = NEXT b (`given`), for the next ones. Chunks k <= j multiply o - tau h by S^-1[k,j], chunks k > j multiply sigma o - h by
// S^-1[k,j+1].
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

    const int at = CHUNK_SLOT(thread, chunk);
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
            before -= TAU_SIGMA(0, i, q) * given[q];
            behind += TAU_SIGMA(1, i, q) * own[q];
        }
        STORE_FOR_PREVIOUS(i, before)
        STORE_FOR_NEXT(P + i, behind)
    }
}

// Step 2: `x`, the separators of this chunk. If UNIFORM also `after`, those of the next chunk.
PHASE void solve_separators(
    REAL *x, REAL *after, ON_CHIP_PTR const REAL *chip, int thread, int chunk, TABLE_SPACE const REAL *tables)
{
    const int at = CHUNK_SLOT(thread, chunk);
    UNROLL for (int i = 0; i < P; ++i) x[i] = after[i] = 0;
    UNROLL for (int m = 0; m <= AHEAD; ++m) {
        UNROLL for (int q = 0; q < P; ++q) {
            UNROLL for (int i = 0; i < P; ++i) {
                x[i] += WEIGHT(m, i, q) * CONTRIBUTION(q, m);
                if (UNIFORM) after[i] += WEIGHT(m, i, q) * CONTRIBUTION(q, m + 1);
            }
        }
    }
    UNROLL for (int m = 0; m <= BACK; ++m) {
        UNROLL for (int q = 0; q < P; ++q) {
            UNROLL for (int i = 0; i < P; ++i) {
                x[i] += WEIGHT(-m, i, q) * CONTRIBUTION(P + q, -m - 1);
                if (UNIFORM) after[i] += WEIGHT(-m, i, q) * CONTRIBUTION(P + q, -m);
            }
        }
    }
}

// Step 3: b - left x - right after. At an open end of a line `right` is zero, so `after` has no effect.
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
    // The next chunk's thread stores its separators: to compute them here would need as many registers again for its weights.
    UNROLL for (int i = 0; i < P; ++i) SEPARATOR(i, thread) = x[i];
    __syncthreads();
    const int next = NEIGHBOUR(thread, chunk, 1);
    UNROLL for (int i = 0; i < P; ++i) after[i] = SEPARATOR(i, next);
#endif
    substitute_separators(b, x, after, class_at);
}
