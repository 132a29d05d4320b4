// neato_shared: A f' = B f, A tridiagonal and near-Toeplitz, by cyclic reduction in on-chip memory with compile-time constants as
// coefficients (Srinath 2015, section 2.2.3), one team per line. The first level is reduced while the line is loaded, so only its odd rows,
// half of the line, are stored on chip. The even rows remain in registers; they are substituted while the line is stored:
//   v[j] = b[2j+1] - k1 b[2j] - k2 b[2j+2];   v[j] <- x[2j+1] on chip;   x[2j] = b[2j]/beta - a/beta v[j-1] - c/beta v[j]
// with the diagonal entry beta of row 2j; The number of rows is arbitrary. A cyclic matrix is solved through
// its open core (border.cu), of which x above is the solution y.
//   f        operand                                                               read
//   out      f'                                                                    written
//   tables   the border                                                            read
//   traffic: f once, out once = 16 bytes per point in f64 (right-hand sides of even rows are computed twice; the second
//            read of f comes from the caches)
//   on-chip words: LINE_WORDS = CORE/2 + 3 per line; barriers: 2 per level, and 1 for the border. Accesses with power-of-two strides cause
//            bank conflicts.
// V(j): v[j] of the line of this team. HALF, EVEN: number of odd and of even rows. A thread has at most ROWS_PER_THREAD even rows.
// CORRECTED(y, m): x[m] from y[m]; on an open line y itself.
#define V(j) CHIP(0, j)
#define HALF (CORE / 2)
#define EVEN ((CORE + 1) / 2)

KERNEL_OF(TEAM * TX) void neato_shared(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out, GLOBAL const REAL *restrict tables)
{
    ON_CHIP(chip, LINE_WORDS * TX);
    JOIN_TEAM
    REAL even[ROWS_PER_THREAD];
#pragma unroll
    for (int q = 0; q < ROWS_PER_THREAD; ++q) {
        const int j = member + q * TEAM;
        even[q] = 0;
        if (j < EVEN) even[q] = right_hand_side(f, start, 2 * j);
        if (j < HALF) {
            REAL v = right_hand_side(f, start, 2 * j + 1) - K(0, 2 * j + 1, 0) * even[q];
            if (2 * j + 2 < CORE)
                v -= K(0, 2 * j + 1, 1) * right_hand_side(f, start, 2 * j + 2);
            V(j) = v;
        }
    }
    __syncthreads();
    for (int level = 1; level < LEVELS; ++level) {
        const int rows = CORE >> level, s = 1 << (level - 1);
        for (int j = member; j < rows / 2; j += TEAM) {
            const int r = 2 * j + 1, i = (r + 1) * s - 1;
            REAL v = V(i) - K(level, r, 0) * V(i - s);
            if (r + 1 < rows) v -= K(level, r, 1) * V(i + s);
            V(i) = v;
        }
        __syncthreads();
    }
    if (member == 0) V((1 << (LEVELS - 1)) - 1) *= LAST;
    __syncthreads();
    for (int level = LEVELS - 1; level >= 1; --level) {
        const int rows = CORE >> level, s = 1 << (level - 1);
        for (int j = member; 2 * j < rows; j += TEAM) {
            const int r = 2 * j, i = (r + 1) * s - 1;
            REAL v = V(i) * BACK(level, r, 0);
            if (r > 0) v -= BACK(level, r, 1) * V(i - s);
            if (r + 1 < rows) v -= BACK(level, r, 2) * V(i + s);
            V(i) = v;
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < ROWS_PER_THREAD; ++q) {
        const int j = member + q * TEAM;
        if (j < EVEN) {
            even[q] *= BACK(0, 2 * j, 0);
            if (j > 0) even[q] -= BACK(0, 2 * j, 1) * V(j - 1);
            if (2 * j + 1 < CORE) even[q] -= BACK(0, 2 * j, 2) * V(j);
        }
    }
#if PERIODIC
    // y[0], y[CORE - 1] and b' for all threads of the team, behind the HALF words of v. KNOWN(m), for m = 0, CORE - 1 or
    // CORE only: one of these.
    if (member == 0) {
        V(HALF) = even[0];
        V(HALF + 2) = right_hand_side(f, start, CORE);
    }
#pragma unroll
    for (int q = 0; q < ROWS_PER_THREAD; ++q) {
        const int j = member + q * TEAM;
        if (j == EVEN - 1) V(HALF + 1) = CORE % 2 ? even[q] : V(HALF - 1);
    }
    __syncthreads();
#define KNOWN(m) V(HALF + ((m) == 0 ? 0 : (m) == CORE ? 2 : 1))
    REAL last = 0;
    ADD_UNKNOWN(last, 0, KNOWN)
#define CORRECTED(y, m) ((y)-border_correction(tables, m, last, last))
    if (inside && member == 0) out[start + (int64)CORE * INNER] = last;
#else
#define CORRECTED(y, m) (y)
#endif
#pragma unroll
    for (int q = 0; q < ROWS_PER_THREAD; ++q) {
        const int j = member + q * TEAM;
        if (inside && j < EVEN) out[start + (int64)(2 * j) * INNER] = CORRECTED(even[q], 2 * j);
        if (inside && j < HALF) out[start + (int64)(2 * j + 1) * INNER] = CORRECTED(V(j), 2 * j + 1);
    }
}
