// pointwise: everything that looks at one point at a time. The host writes FIELDS (the parameters: fields that are read,
// fields that are written), POINT(at) (what is done at a point) and LENGTH (points of a field).
//   traffic: each field once; no on-chip memory, no barrier

KERNEL_OF(THREADS) void pointwise(FIELDS, GLOBAL const REAL *restrict scalars, int first)
{
    const int64 at = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (at < LENGTH) {
        POINT(at)
    }
}
