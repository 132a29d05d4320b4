// stencil: out = B f, one thread a point, for explicit operators.
//   f        operand                                                               read
//   out      same layout                                                           written
//   traffic: every field once (neighbours come from the caches), out once = 16 bytes a point in f64 and one field
//   no on-chip memory, no barrier
KERNEL_OF(THREADS) void stencil(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at < (int64)LINES * N) {
        const int m = (int)(at / INNER % N);
        out[at] = right_hand_side(f, at - (int64)m * INNER, m);
    }
}
