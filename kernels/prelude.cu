// What lets one text be CUDA C and OpenCL C. The host puts the precision (REAL_IS_DOUBLE) above; the specialisation
// (sizes, coefficients) and one kernel file below.
//   REAL        the format of fields
//   KERNEL_OF(threads)  an entry point launched with blocks of so many threads, so that it gets registers enough;
//               KERNEL_OF_TILE(x, y) with blocks of x by y
//   DEVICE      a function called by kernels
//   GLOBAL      a pointer into device memory      CONSTANT     a table of coefficients, at file scope
//   ON_CHIP     the block's on-chip array: ON_CHIP(name, words) declares `words` REALs, once a kernel; ON_CHIP_OF(type,
//               name, words) of another type
//   ON_CHIP_PTR a pointer into it, as a parameter
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
#define threadIdx ((int3)(get_local_id(0), get_local_id(1), get_local_id(2)))
#define blockIdx ((int3)(get_group_id(0), get_group_id(1), get_group_id(2)))
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
typedef long long int64;
#define KERNEL_OF_TILE(x, y) extern "C" __global__ __launch_bounds__((x) * (y), 1)
#define GLOBAL
#define CONSTANT static __device__ __constant__
#define ON_CHIP_OF(type, name, words) extern __shared__ type name[]
#define ON_CHIP_PTR
#define DEVICE static __device__ __forceinline__
#define restrict __restrict__
#endif

#ifdef REAL_IS_DOUBLE
#define REAL double
#else
#define REAL float
#endif
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif
#define ON_CHIP(name, words) ON_CHIP_OF(REAL, name, words)
#define KERNEL_OF(threads) KERNEL_OF_TILE(threads, 1)
