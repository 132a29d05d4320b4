// border: packs the unknowns of COUNT block rows that are sent to other ranks, from x to the border. With BACK = 1 it unpacks
// received unknowns instead, from the border to the columns of x that they belong to. A block row has NB unknowns.
//   places   position in x, in block rows, of each of the COUNT block rows or columns read
//   x        NB numbers per block row, f64                                          read, or written with BACK
//   numbers  the border: these unknowns from number `first` on, REAL                written, or read with BACK
//   traffic: per block row, 4 bytes of `places`, NB numbers of x and NB of `numbers`; no on-chip memory, no barrier
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

KERNEL_OF(THREADS) void border(
    GLOBAL const unsigned int *restrict places, GLOBAL double *restrict x, GLOBAL REAL *restrict numbers, int first)
{
    const int64 item = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (item >= (int64)COUNT * NB) return;
    const int64 at = (int64)places[item / NB] * NB + item % NB;
#if BACK
    x[at] = numbers[first + item];
#else
    numbers[first + item] = x[at];
#endif
}
