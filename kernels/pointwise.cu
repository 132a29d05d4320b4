// pointwise: everything that looks at one point at a time. The host writes FIELDS (the parameters: fields that are read,
// fields that are written), POINT(at) (what is done at a point), LENGTH (points that are visited) and PLACE(item) (which
// they are).
//   traffic: each field once at these points; no on-chip memory, no barrier

KERNEL_OF(THREADS) void pointwise(FIELDS, GLOBAL const REAL *restrict scalars, int first)
{
    const int64 item = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (item < LENGTH) {
        const int64 at = PLACE(item);
        POINT(at)
    }
}
