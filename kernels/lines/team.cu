// A team of TEAM threads solves a line through on-chip memory, TX lines a block. Lines along x lie one after another on
// chip, neighbouring threads on neighbouring points; other lines lie side by side, neighbouring threads on neighbouring
// lines, as in device memory. CHIP(array, m) is word m of array 0, 1, ... of SPAN words a line.
#if INNER == 1
#define LANE ((int)threadIdx.x / TEAM)
#define MEMBER ((int)threadIdx.x % TEAM)
#define CHIP(array, m) chip[((array) * TX + lane) * SPAN + (m)]
#else
#define LANE ((int)threadIdx.x % TX)
#define MEMBER ((int)threadIdx.x / TX)
#define CHIP(array, m) chip[((array) * SPAN + (m)) * TX + lane]
#endif

// lane, member, inside and start of this thread; a team beyond the last line works on the last one and stores nothing.
#define JOIN_TEAM \
    const int lane = LANE, member = MEMBER; \
    const int64 line = (int64)blockIdx.x * TX + lane; \
    const int inside = line < LINES; \
    const int64 start = START(inside ? line : LINES - 1);
// x from y and b' on chip: Y(m), stored by every team for its line.
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
