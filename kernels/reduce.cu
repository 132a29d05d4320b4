// Sums or maxima of formulas over all points. The order of operations is fixed, so results are reproducible. In `over_points` each thread
// combines the points thread, thread + BLOCKS * THREADS, ..., and each block combines the values of its threads in a binary tree. One block
// then does the same with the results of the blocks, in `over_blocks`. The type is WIDE, f64 if the device supports it, for fields of
// either precision.
//   FIELDS      the parameters: coefficients k0, k1, ..., fields f0, f1, ... (read)
//   RESULTS     number of results
//   POINT(at)   statements that compute r[0], r[1], ... at the point with index `at`
//   LENGTH      number of points
//   scalars     parameters of the launch, from scalars[first] on                                  read
//   partials    result k of every block, at k * BLOCKS + block                                     written, read
//   results     RESULTS values                                                                     written
//   traffic: each field once; on-chip words (of WIDE): THREADS; barriers: 2 + log2 THREADS per result

#if WIDE_IS_DOUBLE
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define WIDE double
#else
#define WIDE float
#endif

#if MAXIMUM
// IDENTITY is the start of a reduction, COMBINE(a, b) one step: here the larger value. NaN counts as infinity.
#define IDENTITY (-(WIDE)1 / (WIDE)0)
#define COMBINE(a, b) ((b) != (b) ? (WIDE)1 / (WIDE)0 : (a) < (b) ? (b) : (a))
#else
#define IDENTITY ((WIDE)0)
#define COMBINE(a, b) ((a) + (b))
#endif

// Returns the combined values of all threads of the block.
DEVICE WIDE over_block(ON_CHIP_PTR WIDE *values, WIDE value)
{
    const int thread = threadIdx.x;
    __syncthreads();
    values[thread] = value;
    __syncthreads();
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        if (thread < apart)
            values[thread] = COMBINE(values[thread], values[thread + apart]);
        __syncthreads();
    }
    return values[0];
}

KERNEL_OF(THREADS) void over_points(FIELDS, GLOBAL WIDE *restrict partials, GLOBAL const REAL *restrict scalars, int first)
{
    ON_CHIP_OF(WIDE, values, THREADS);
    WIDE a[RESULTS];
    for (int k = 0; k < RESULTS; k++)
        a[k] = IDENTITY;
    for (int64 at = (int64)blockIdx.x * THREADS + threadIdx.x; at < LENGTH; at += (int64)BLOCKS * THREADS) {
        WIDE r[RESULTS];
        POINT(at)
        for (int k = 0; k < RESULTS; k++)
            a[k] = COMBINE(a[k], r[k]);
    }
    for (int k = 0; k < RESULTS; k++) {
        const WIDE total = over_block(values, a[k]);
        if (threadIdx.x == 0)
            partials[k * BLOCKS + blockIdx.x] = total;
    }
}

KERNEL_OF(THREADS) void over_blocks(GLOBAL const WIDE *restrict partials, GLOBAL WIDE *restrict results)
{
    ON_CHIP_OF(WIDE, values, THREADS);
    for (int k = 0; k < RESULTS; k++) {
        WIDE a = IDENTITY;
        for (int block = threadIdx.x; block < BLOCKS; block += THREADS)
            a = COMBINE(a, partials[k * BLOCKS + block]);
        const WIDE total = over_block(values, a);
        if (threadIdx.x == 0)
            results[k] = total;
    }
}
