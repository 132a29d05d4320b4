// pointwise: evaluates a formula at every visited point, one thread per point. It reads a field at this point, at a fixed offset from it,
// or, if the field is one plane, at index `at` modulo the points of a plane. A written field that has only the visited points is stored
// at [item]. The host writes:
//   FIELDS        the parameters: coefficients k0, k1, ..., fields f0, f1, ... (read), fields w0, w1, ... (written; some are also read)
//   POINT(at)     the statements for the point with index `at`
//   LENGTH        number of visited points
//   PLACE(item)   index of visited point number `item`
//   scalars       parameters of the launch, from scalars[first] on                     read
//   traffic: each field once at the visited points; no on-chip memory, no barrier

KERNEL_OF(THREADS) void pointwise(FIELDS, GLOBAL const REAL *restrict scalars, int first)
{
    const int64 item = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (item < LENGTH) {
        const int64 at = PLACE(item);
        POINT(at)
    }
}
