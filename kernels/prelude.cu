// What lets one text be CUDA C and OpenCL C. The host puts the precision (REAL_IS_DOUBLE) above; the specialisation
// (sizes, coefficients) and one kernel file below.
//   REAL        the format of fields
//   KERNEL_OF(threads)  an entry point launched with blocks of so many threads, so that it gets registers enough, and no
//               more than so many that a multiprocessor holds RESIDENT blocks, 1 where the host does not say;
//               KERNEL_OF_TILE(x, y) with blocks of x by y
//   DEVICE      a function called by kernels
//   PHASE       one without a barrier: all that a thread does between two. What makes a loop of the threads of a block compiles it
//               once, and by itself
//   GLOBAL      a pointer into device memory      CONSTANT     a table of coefficients, at file scope
//   ON_CHIP     the block's on-chip array: ON_CHIP(name, words) declares `words` REALs, once a kernel; ON_CHIP_OF(type,
//               name, words) of another type
//   ON_CHIP_PTR a pointer into it, as a parameter
//   FORGET(x), FORGET_INT(x)  a REAL or an int stays what it is, but what the compiler has worked out from it is not kept in
//               registers any longer
//   COPY(to, from)  a REAL of device memory to an on-chip one, while the thread goes on, where the device can (compute capability 8.0);
//               COPIES_END() makes a group of those before it, COPIES_WAIT(n) waits until all groups of the thread but the
//               last n are there: for the thread itself, and behind a barrier for others
//   QUOTIENT(a, b)  a / b of REALs where b is far from the ends of what REALs hold, as a density is: without the branch for those that
//               are not, across which an assembler moves nothing
//   UNROLL      before a loop that is to be unrolled, so that arrays become registers
//   threads of a block: threadIdx, blockDim; blocks: blockIdx; all wait: __syncthreads(), in uniform control flow only

#ifdef __OPENCL_VERSION__
#ifdef REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef long int64;
#define KERNEL_OF_TILE(x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1)))
#define GLOBAL __global
#define CONSTANT __constant
#define ON_CHIP_OF(type, name, words) __local type name[words]
#define ON_CHIP_PTR __local
#define DEVICE
#define FORGET(x)
#define FORGET_INT(x)
#define threadIdx ((int3)(get_local_id(0), get_local_id(1), get_local_id(2)))
#define blockIdx ((int3)(get_group_id(0), get_group_id(1), get_group_id(2)))
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
typedef long long int64;
#ifndef RESIDENT
#define RESIDENT 1
#endif
#define KERNEL_OF_TILE(x, y) extern "C" __global__ __launch_bounds__((x) * (y), RESIDENT)
#define GLOBAL
#define CONSTANT static __device__ __constant__
#define ON_CHIP_OF(type, name, words) extern __shared__ type name[]
#define ON_CHIP_PTR
#define DEVICE static __device__ __forceinline__
#define restrict __restrict__
#ifdef REAL_IS_DOUBLE
#define FORGET(x) asm volatile("" : "+d"(x))
#else
#define FORGET(x) asm volatile("" : "+f"(x))
#endif
#if __CUDA_ARCH__ >= 1000
// The assembler for these looks through an empty statement. The upper half of a counter of cycles never gets there.
#define FORGET_INT(x) \
    asm volatile("{ .reg .u32 t; .reg .pred p; mov.u32 t, %%clock_hi; setp.eq.u32 p, t, 0xffffffff; selp.u32 t, 1, 0, p; " \
                 "add.u32 %0, %0, t; }" : "+r"(x))
#else
#define FORGET_INT(x) asm volatile("" : "+r"(x))
#endif
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define COPY(to, from) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" \
                 : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(REAL)) : "memory")
#define COPIES_END() asm volatile("cp.async.commit_group;" : : : "memory")
#define COPIES_WAIT(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
#define COPY(to, from) (*(to) = *(from))
#define COPIES_END()
#define COPIES_WAIT(n)
#endif

#ifdef REAL_IS_DOUBLE
#define REAL double
#else
#define REAL float
#endif
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif
#define PHASE DEVICE
#define ON_CHIP(name, words) ON_CHIP_OF(REAL, name, words)
#define KERNEL_OF(threads) KERNEL_OF_TILE(threads, 1)

// y = 1/b, of which the first 20 bits are right.
#ifdef __CUDA_ARCH__
#ifdef REAL_IS_DOUBLE
#define SEED(y, b) asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b))
#else
#define SEED(y, b) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b))
#endif
#endif
#ifdef SEED
// One step of third order for the reciprocal, one of Newton's for the quotient, whose residual a fused product has exactly
// (Markstein 1990, IBM J. Res. Dev. 34).
PHASE REAL quotient(REAL a, REAL b)
{
    REAL y;
    SEED(y, b);
    const REAL e = fma(-b, y, (REAL)1);
    y = fma(y, fma(e, e, e), y);
    const REAL q = a * y;
    return fma(fma(-b, q, a), y, q);
}
#define QUOTIENT(a, b) quotient(a, b)
#else
#define QUOTIENT(a, b) ((a) / (b))
#endif
