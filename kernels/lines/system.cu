// A tridiagonal system on chip, as `cr` and `pcr` reduce it: a x[m-1] + b x[m] + c x[m+1] = d in row m, with the rows of A
// from `tables` and d = B f.
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
