// border: the NB unknowns of each of COUNT rows that go to other ranks, from x to the border, or of columns that come, back (BACK).
//   places   where the unknowns stand in x                                              read
//   x        NB numbers a row, f64                                                  read, or written
//   numbers  the same of these rows from number `first` on, REAL                    written, or read
//   traffic: 4 bytes and NB numbers of both a row; no on-chip memory, no barrier
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
