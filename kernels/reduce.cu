// Sums and maxima over all points, in an order that is always the same: every thread goes through the points
// thread, thread + BLOCKS THREADS, ..., a block adds up its threads in pairs, and one block does the same with the blocks'
// results. Computed in WIDE, f64 where the device has it, whatever the fields are.
//   FIELDS      the parameters: fields that are read
//   RESULTS     how many quantities
//   POINT(at)   makes r0, r1, ... of the fields at a point
//   GATHER      a0 = COMBINE(a0, r0); ... with COMBINE a sum or the larger one
//   traffic: each field once; on chip THREADS WIDE words; 1 + log2 THREADS barriers a quantity

#if WIDE_IS_DOUBLE
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define WIDE double
#else
#define WIDE float
#endif

#if MAXIMUM
// Not a number counts as infinitely large.
#define IDENTITY (-(WIDE)1 / (WIDE)0)
#define COMBINE(a, b) ((b) != (b) ? (WIDE)1 / (WIDE)0 : (a) < (b) ? (b) : (a))
#else
#define IDENTITY ((WIDE)0)
#define COMBINE(a, b) ((a) + (b))
#endif

// The result of all threads' values, in thread 0.
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
