/* What the parts of the driver without a GPU know of each other. */
#include <stddef.h>
#include <stdint.h>

enum { OK = 0, INVALID = 1 };

/* cuda_driver.c */

/* Let `call` be made when all before it on the stream is done, and again until it returns 1. */
int cuda_queue(void *stream, int (*call)(void *), void *of);
int cuda_is_stream(void *stream);
int cuda_holds(const void *at, size_t size);
int cuda_has_context(void);

/* opencl.c */

/* Whether kernels are run by it. */
int opencl(void);
void *opencl_allocate(size_t size);
void opencl_free(void *memory);
void *opencl_program(const char *text);
void *opencl_kernel(void *program, const char *name);
void *opencl_program_of(void *kernel);
int opencl_arguments(void *kernel);
int opencl_is_pointer(void *kernel, int argument);
size_t opencl_size(void *kernel, int argument);
/* Whether all pointers among the arguments are of the device. */
int opencl_takes(void *kernel, const uint64_t *arguments);
void opencl_run(void *kernel, const unsigned *blocks, const unsigned *threads, const uint64_t *arguments);
