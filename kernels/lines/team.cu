// A team of TEAM threads solves a line in on-chip memory; a block has TX teams, one line each. LANE is the number of the line in its block,
// MEMBER that of the thread in its team. Lines along x (INNER = 1) are stored one after another on chip, and neighbouring threads process
// neighbouring points. Lines along y or z are interleaved, and neighbouring threads process neighbouring lines. In both cases this is the
// order of device memory, so accesses are coalesced. CHIP(array, m) is word m of on-chip array 0, 1, ... of the line of this team. An array
// has LINE_WORDS words per line.
#if INNER == 1
#define LANE ((int)threadIdx.x / TEAM)
#define MEMBER ((int)threadIdx.x % TEAM)
#define CHIP(array, m) chip[((array) * TX + lane) * LINE_WORDS + (m)]
#else
#define LANE ((int)threadIdx.x % TX)
#define MEMBER ((int)threadIdx.x / TX)
#define CHIP(array, m) chip[((array) * LINE_WORDS + (m)) * TX + lane]
#endif

// JOIN_TEAM declares lane, member, line, inside and start of this thread. A team beyond the last line (inside = 0) solves the last line
// again, so that it reaches every barrier, and stores nothing.
#define JOIN_TEAM \
    const int lane = LANE, member = MEMBER; \
    const int64 line = (int64)blockIdx.x * TX + lane; \
    const int inside = line < LINES; \
    const int64 start = START(inside ? line : LINES - 1);
// STORE_LINE(Y): every team with inside = 1 stores the solution x of its line. On chip Y(m) is x[m] if the line is open. If it is periodic
// Y(m) is y[m], or b' from row CORE on; every thread computes the border unknowns (border.cu).
#if PERIODIC
#define STORE_LINE(Y) \
    REAL last[P]; \
    for (int r = 0; r < P; ++r) { \
        last[r] = 0; \
        ADD_UNKNOWN(last[r], r, Y) \
    } \
    for (int m = member; inside && m < N; m += TEAM) \
        out[start + (int64)m * INNER] = \
            m < CORE ? Y(m) - border_correction(tables, m, last[0], last[P - 1]) \
                     : m == CORE ? last[0] : last[P - 1];
#else
#define STORE_LINE(Y) \
    for (int m = member; inside && m < N; m += TEAM) out[start + (int64)m * INNER] = Y(m);
#endif
