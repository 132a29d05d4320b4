// Macros that make one text valid CUDA C and OpenCL C. The host writes REAL_IS_DOUBLE above this file if fields are in f64; below it the
// host writes the specialisation of the kernel (sizes, coefficients) and one or more kernel files.
//   REAL        type of the values of fields: double or float
//   int64       64-bit integer, for indices of points
//   KERNEL_OF(threads)  begins the declaration of a kernel that is launched with thread blocks of `threads` threads.
//               KERNEL_OF_TILE(x, y): with thread blocks of x by y threads. From the number of threads the compiler knows how many
//               registers a thread can have. In CUDA it uses at most so many that RESIDENT blocks fit on a multiprocessor at once;
//               RESIDENT is 1 unless the host defines it anew below.
//   DEVICE      begins the declaration of a function that kernels call; inlined in CUDA
//   PHASE       DEVICE for a function without a barrier: the work of a thread between two barriers. Some compilers (PoCL for CPUs)
//               turn the threads of a block into a loop. In sweeps for these the host redefines PHASE, so that the function is not
//               inlined and is compiled once, and UNROLL, so that loops marked with it are not unrolled.
//   GLOBAL      address space of a pointer into device memory
//   CONSTANT    begins the declaration of a coefficient table in constant memory, at file scope
//   ON_CHIP(name, words)  declares the on-chip array of the thread block, of `words` REALs; once per kernel. ON_CHIP_OF(type, name,
//               words): of elements of another type. In CUDA its size is set by the launch.
//   ON_CHIP_PTR address space of a pointer into this array, for parameters of functions
//   FORGET(x), FORGET_INT(x)  an asm statement that leaves x, a REAL or an int, as it is, but is declared to change it (empty, except
//               FORGET_INT from compute capability 10.0 on). The compiler cannot keep what it computed from x in registers: it
//               computes it again, which saves registers. Nothing in OpenCL.
//   COPY_ASYNC(to, from)  starts an asynchronous copy of one REAL from device memory to on-chip memory (in CUDA from compute capability 8.0
//               on; otherwise it is an assignment). COPY_COMMIT() collects the copies that the thread has started since the last call in a
//               group. COPY_WAIT(n) waits until at most the last n groups of the thread are in flight. The thread itself can then read
//               the copied values, other threads after a barrier.
//   QUOTIENT(a, b)  a / b of REALs. In CUDA b must be far from overflow and underflow, as a density is: the general division
//               branches to a slow path for other divisors, and the assembler moves no instruction across that branch.
//   UNROLL      before a loop: unroll it, so that arrays with the loop variable as index are kept in registers
//   threadIdx   index of the thread in its block        blockIdx   index of the block
//   __syncthreads()  barrier of all threads of a block; only in uniform control flow

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
// From compute capability 10.0 on the assembler recognises that an empty statement leaves x unchanged. So 1 is added to x if the upper half
// of the cycle counter is 0xffffffff. It never is, but the assembler cannot know that.
#define FORGET_INT(x) \
    asm volatile("{ .reg .u32 t; .reg .pred p; mov.u32 t, %%clock_hi; setp.eq.u32 p, t, 0xffffffff; selp.u32 t, 1, 0, p; " \
                 "add.u32 %0, %0, t; }" : "+r"(x))
#else
#define FORGET_INT(x) asm volatile("" : "+r"(x))
#endif
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define COPY_ASYNC(to, from) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" \
                 : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(REAL)) : "memory")
#define COPY_COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")
#define COPY_WAIT(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
#define COPY_ASYNC(to, from) (*(to) = *(from))
#define COPY_COMMIT()
#define COPY_WAIT(n)
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

// SEED(y, b): y = 1/b, accurate to at least 20 bits.
#ifdef __CUDA_ARCH__
#ifdef REAL_IS_DOUBLE
#define SEED(y, b) asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b))
#else
#define SEED(y, b) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b))
#endif
#endif
#ifdef SEED
// a / b: one iteration of third order improves the reciprocal, and one Newton iteration the quotient. A fused multiply-add computes the
// residual of the quotient exactly (Markstein 1990, IBM J. Res. Dev. 34).
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
