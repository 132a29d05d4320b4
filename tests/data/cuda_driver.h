/* Functions shared by the parts of the substitute CUDA driver. */
#include <stddef.h>
#include <stdint.h>

enum { OK = 0, INVALID = 1 };

/* cuda_driver.c */

/* Queues `call` on a stream. It is called with `of` after the preceding work is done, repeatedly until it returns 1. */
int cuda_queue(void *stream, int (*call)(void *), void *of);
int cuda_is_stream(void *stream);
int cuda_holds(const void *at, size_t size);
int cuda_has_context(void);

/* opencl.c */

/* Returns 0 if kernels do not run by OpenCL, otherwise the value of KOLMO_CUDA_KERNELS. */
int opencl(void);
void *opencl_allocate(size_t size);
void opencl_free(void *memory);
void *opencl_program(const char *text);
void *opencl_kernel(void *program, const char *name);
void *opencl_program_of(void *kernel);
int opencl_arguments(void *kernel);
int opencl_is_pointer(void *kernel, int argument);
size_t opencl_size(void *kernel, int argument);
/* Returns whether all pointers among the arguments are device addresses. */
int opencl_takes(void *kernel, const uint64_t *arguments);
void opencl_run(void *kernel, const unsigned *blocks, const unsigned *threads, const uint64_t *arguments);
