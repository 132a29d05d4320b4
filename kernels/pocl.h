// Declarations of the OpenCL C functions that kernels call, as in PoCL. They replace the declarations of all functions of the language,
// which PoCL would otherwise read before every program: 18,000 lines, which take ten times as long to compile as most programs
// (-D_OPENCL_H_; if that fails, a program is compiled without this file).
#define OVERLOADED __attribute__((overloadable))
#define PURE __attribute__((const))
size_t OVERLOADED PURE get_local_id(uint);
size_t OVERLOADED PURE get_group_id(uint);
void OVERLOADED __attribute__((convergent)) barrier(cl_mem_fence_flags flags);
float OVERLOADED PURE fabs(float);
float OVERLOADED PURE sqrt(float);
float OVERLOADED PURE pow(float, float);
float OVERLOADED PURE fma(float, float, float);
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
double OVERLOADED PURE fabs(double);
double OVERLOADED PURE sqrt(double);
double OVERLOADED PURE pow(double, double);
double OVERLOADED PURE fma(double, double, double);
#endif
#undef OVERLOADED
#undef PURE
#line 1
