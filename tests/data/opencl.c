/* Kernels of the substitute CUDA driver. OpenCL compiles and runs them on the host, whose memory is that of the device. */
#define _GNU_SOURCE
#include "cuda_driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { CPU = 1 << 1, READ_WRITE = 1, ARGUMENTS = 0x1191, PROGRAM = 0x1194, ADDRESS = 0x1196, TYPE = 0x1198, GLOBAL = 0x119B, LOG = 0x1183 };
int clGetPlatformIDs(unsigned, void **, unsigned *);
int clGetDeviceIDs(void *, uint64_t, unsigned, void **, unsigned *);
void *clCreateContext(const intptr_t *, unsigned, void *const *, void *, void *, int *);
void *clCreateCommandQueue(void *, void *, uint64_t, int *);
void *clSVMAlloc(void *, uint64_t, size_t, unsigned);
void clSVMFree(void *, void *);
void *clCreateProgramWithSource(void *, unsigned, const char **, const size_t *, int *);
int clBuildProgram(void *, unsigned, void *const *, const char *, void *, void *);
int clGetProgramBuildInfo(void *, void *, unsigned, size_t, void *, size_t *);
void *clCreateKernel(void *, const char *, int *);
int clGetKernelInfo(void *, unsigned, size_t, void *, size_t *);
int clGetKernelArgInfo(void *, unsigned, unsigned, size_t, void *, size_t *);
int clSetKernelArg(void *, unsigned, size_t, const void *);
int clSetKernelArgSVMPointer(void *, unsigned, const void *);
int clEnqueueNDRangeKernel(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, void *, void *);
int clFinish(void *);

static void *device, *context, *work;

static void open_device(void) {
    void *platforms[8];
    unsigned count = 0;
    clGetPlatformIDs(8, platforms, &count);
    for (unsigned i = 0; i < count && !device; i++) clGetDeviceIDs(platforms[i], CPU, 1, &device, NULL);
    context = device ? clCreateContext(NULL, 1, &device, NULL, NULL, NULL) : NULL;
    work = context ? clCreateCommandQueue(context, device, 0, NULL) : NULL;
    if (!work) {
        fprintf(stderr, "OpenCL has no device for kernels\n");
        abort();
    }
}
static void require_device(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_device);
}

void *opencl_allocate(size_t size) { require_device(); return clSVMAlloc(context, READ_WRITE, size, 0); }
void opencl_free(void *memory) { clSVMFree(context, memory); }

/* Returns the declarations that the program passes to PoCL in place of those of all functions. */
static const char *declarations(void) {
    static char text[4096], path[4096];
    snprintf(path, sizeof path, "%.*s/../../kernels/pocl.h", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = 0;
    return text;
}

/* PoCL cannot build a program in two processes at once (pocl issue 1480). */
void *opencl_program(const char *text) {
    require_device();
    char name[4096];
    snprintf(name, sizeof name, "%s/opencl.lock", getenv("XDG_CACHE_HOME"));
    int lock_file = open(name, O_CREAT | O_RDWR, 0600);
    flock(lock_file, LOCK_EX);
    const char *parts[2] = {declarations(), text};
    void *program = clCreateProgramWithSource(context, 2, parts, NULL, NULL);
    char options[] = "-cl-std=CL1.2 -D_OPENCL_H_ -cl-kernel-arg-info -cl-opt-disable";
    if (opencl() != 2) *strstr(options, " -cl-opt-disable") = 0;
    int code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    close(lock_file);
    if (code) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    return code ? NULL : program;
}
void *opencl_kernel(void *program, const char *name) { return clCreateKernel(program, name, NULL); }
void *opencl_program_of(void *kernel) {
    void *program = NULL;
    clGetKernelInfo(kernel, PROGRAM, sizeof program, &program, NULL);
    return program;
}
int opencl_arguments(void *kernel) {
    unsigned count = 0;
    clGetKernelInfo(kernel, ARGUMENTS, sizeof count, &count, NULL);
    return (int)count;
}
int opencl_is_pointer(void *kernel, int argument) {
    unsigned address = 0;
    clGetKernelArgInfo(kernel, argument, ADDRESS, sizeof address, &address, NULL);
    return address == GLOBAL;
}
/* Returns the bytes of an argument that is not a pointer: an int, a float or a double. */
size_t opencl_size(void *kernel, int argument) {
    char type[16] = "";
    clGetKernelArgInfo(kernel, argument, TYPE, sizeof type, type, NULL);
    return strcmp(type, "double") ? 4 : 8;
}
int opencl_takes(void *kernel, const uint64_t *arguments) {
    for (int i = 0; i < opencl_arguments(kernel); i++)
        if (opencl_is_pointer(kernel, i) && !cuda_holds((void *)arguments[i], 1)) return 0;
    return 1;
}
void opencl_run(void *kernel, const unsigned *blocks, const unsigned *threads, const uint64_t *arguments) {
    int code = 0;
    for (int i = 0; i < opencl_arguments(kernel); i++)
        code |= opencl_is_pointer(kernel, i) ? clSetKernelArgSVMPointer(kernel, i, (void *)arguments[i])
                                             : clSetKernelArg(kernel, i, opencl_size(kernel, i), &arguments[i]);
    size_t local[3], global[3];
    for (int a = 0; a < 3; a++) global[a] = (local[a] = threads[a]) * blocks[a];
    code |= clEnqueueNDRangeKernel(work, kernel, 3, NULL, global, local, 0, NULL, NULL);
    if (code | clFinish(work)) {
        fprintf(stderr, "OpenCL could not run a kernel\n");
        abort();
    }
}
