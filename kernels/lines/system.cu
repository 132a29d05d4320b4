// The tridiagonal system of a line on chip, for `cr` and `pcr`: a x[m-1] + b x[m] + c x[m+1] = d in row m. A(m), B(m), C(m) and D(m) are
// a, b, c and d of row m of the line of this team. LOAD_SYSTEM fills them: [a, b, c] from `tables`, and d = B f. From row CORE on there is
// only d, the right-hand side of the border. LOAD_SYSTEM ends with a barrier.
#define A(m) CHIP(0, m)
#define B(m) CHIP(1, m)
#define C(m) CHIP(2, m)
#define D(m) CHIP(3, m)

#define LOAD_SYSTEM \
    for (int m = member; m < N; m += TEAM) { \
        D(m) = right_hand_side(f, start, m); \
        if (m < CORE) { \
            A(m) = tables[3 * m]; \
            B(m) = tables[3 * m + 1]; \
            C(m) = tables[3 * m + 2]; \
        } \
    } \
    __syncthreads();
