// stencil: out = B f, one thread per point. It is the complete operator of an explicit scheme (A = I), and the first launch of
// neato-global, cr-sorted-stepwise and cusparse, which need B f in storage order.
//   f        operand                                                               read
//   out      same layout                                                           written
//   traffic: f once (neighbours come from the caches), out once = 16 bytes per point in f64
//   no on-chip memory, no barrier
KERNEL_OF(THREADS) void stencil(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict out)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at < (int64)LINES * N) {
        const int m = (int)(at / INNER % N);
        out[at] = right_hand_side(f, at - (int64)m * INNER, m);
    }
}
