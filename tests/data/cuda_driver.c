/* A CUDA driver with no GPU: memory is the host's, and the one kernel it knows, saxpy, is computed here. It is strict
 * where the real driver is not always: calls without a current context, copies beyond a buffer, launches with more
 * on-chip memory than was permitted, and anything left over when the context is given back are errors; nothing is done
 * before it is waited for.
 *   KOLMO_CUDA_VERSION      what the driver says it is (default 13000)
 *   KOLMO_CUDA_INIT         what cuInit returns
 *   KOLMO_CUDA_CAPABILITY   of the device (default 90)
 *   KOLMO_CUDA_OTHERS       1: other kernels are there, too, and cannot be launched
 * With the few functions of cuSPARSE that are used. Compiled by the tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 101, NO_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL = 700, CAPTURE = 900 };
enum { MOST = 4096, FREE_ON_CHIP = 49152, ON_CHIP = 232448 };
static const uint64_t TOTAL = 1u << 30;

typedef struct { char *start; size_t size; } Block;
typedef struct { int on_chip; } Function;
typedef struct { Function *function; unsigned blocks, on_chip; double *x, *y, *out, *scalars; int first, n; } Launch;
typedef struct { Launch launches[MOST]; int count; } Graph;

static Block memory[MOST];
static uint64_t used;
static Function saxpy, other;
static Graph *capturing;
static int streams, modules, graphs, executables, events, contexts, pinned;
static _Thread_local void *current;

/* What is queued is done when somebody waits for it, and no sooner. */
typedef struct { char *to, *from; size_t size; int staged; } Copy;
typedef struct { Copy copy; Launch launch; } Work;
static Work work[MOST];
static int queued;
static void *host[MOST];

static int is_pinned(const void *at) {
    for (int i = 0; i < pinned; i++)
        if (host[i] == at) return 1;
    return 0;
}
static void compute(const Launch *launch) {
    for (int i = 0; i < launch->n && i < 8 * (int)launch->blocks; i++)
        launch->out[i] = launch->scalars[launch->first] * launch->x[i] + launch->y[i];
}
static void finish(void) {
    for (int i = 0; i < queued; i++) {
        Copy copy = work[i].copy;
        if (work[i].launch.function) compute(&work[i].launch);
        else memcpy(copy.to, copy.from, copy.size);
        if (copy.staged) free(copy.from);
    }
    queued = 0;
}
static int queue(Work next) {
    if (queued == MOST) finish();
    work[queued++] = next;
    return OK;
}

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

static Block *holds(const char *at, size_t size) {
    for (int i = 0; i < MOST; i++)
        if (memory[i].start && at >= memory[i].start && at + size <= memory[i].start + memory[i].size) return &memory[i];
    return NULL;
}

int cuDriverGetVersion(int *version) { *version = setting("KOLMO_CUDA_VERSION", 13000); return OK; }
int cuInit(unsigned flags) { return flags ? INVALID : setting("KOLMO_CUDA_INIT", OK); }
int cuGetErrorString(int error, const char **text) {
    static char words[64];
    snprintf(words, sizeof words, "driver error %d", error);
    *text = words;
    return OK;
}
int cuDeviceGetCount(int *count) { *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal == 0 ? OK : NO_DEVICE; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "Strict %d", device); return OK; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = TOTAL; return device ? NO_DEVICE : OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    int capability = setting("KOLMO_CUDA_CAPABILITY", 90);
    switch (attribute) {
        case 1: *value = 1024; break;             /* MAX_THREADS_PER_BLOCK */
        case 75: *value = capability / 10; break; /* COMPUTE_CAPABILITY_MAJOR */
        case 76: *value = capability % 10; break;
        case 97: *value = ON_CHIP; break;         /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
        default: return INVALID;
    }
    return device ? NO_DEVICE : OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &contexts; contexts++; return device ? NO_DEVICE : OK; }
int cuDevicePrimaryCtxRelease_v2(int device) {
    int left = streams + modules + graphs + executables + events + pinned;
    if (--contexts == 0 && (left || used)) {
        fprintf(stderr, "left over: %d streams, %d modules, %d graphs, %d executable graphs, %d events, %d pinned, %llu bytes\n",
                streams, modules, graphs, executables, events, pinned, (unsigned long long)used);
        abort();
    }
    return device ? NO_DEVICE : OK;
}
int cuCtxSetCurrent(void *context) { current = context; return OK; }

#define NEED_CONTEXT if (current != &contexts) return NO_CONTEXT
#define NEED_STREAM NEED_CONTEXT; if (stream != &streams) return INVALID

int cuStreamCreate(void **stream, unsigned flags) { NEED_CONTEXT; *stream = &streams; streams++; return flags == 1 ? OK : INVALID; }
int cuStreamDestroy_v2(void *stream) { NEED_STREAM; streams--; return OK; }
int cuStreamSynchronize(void *stream) { NEED_STREAM; finish(); return capturing ? CAPTURE : OK; }

int cuMemGetInfo_v2(size_t *unused, size_t *total) { NEED_CONTEXT; *unused = TOTAL - used; *total = TOTAL; return OK; }
int cuMemAlloc_v2(uint64_t *at, size_t size) {
    NEED_CONTEXT;
    if (!size) return INVALID;
    if (used + size > TOTAL) return NO_MEMORY;
    for (int i = 0; i < MOST; i++)
        if (!memory[i].start) {
            memory[i].start = memset(malloc(size), 0xff, size);
            memory[i].size = size;
            used += size;
            *at = (uint64_t)(uintptr_t)memory[i].start;
            return OK;
        }
    return NO_MEMORY;
}
int cuMemFree_v2(uint64_t at) {
    NEED_CONTEXT;
    Block *block = holds((char *)(uintptr_t)at, 1);
    if (!block || block->start != (char *)(uintptr_t)at) return INVALID;
    finish();
    used -= block->size;
    free(block->start);
    block->start = NULL;
    return OK;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    NEED_STREAM;
    if (capturing || !holds((char *)(uintptr_t)to, size)) return ILLEGAL;
    int staged = !is_pinned(from);
    char *source = staged ? memcpy(malloc(size), from, size) : (char *)from;
    return queue((Work){.copy = {(char *)(uintptr_t)to, source, size, staged}});
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    NEED_STREAM;
    if (capturing || !holds((char *)(uintptr_t)from, size)) return ILLEGAL;
    memset(to, 0xee, size);         /* found by whoever reads it before it has come */
    return queue((Work){.copy = {to, (char *)(uintptr_t)from, size, 0}});
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    NEED_STREAM;
    if (!holds((char *)(uintptr_t)to, size) || !holds((char *)(uintptr_t)from, size)) return ILLEGAL;
    return queue((Work){.copy = {(char *)(uintptr_t)to, (char *)(uintptr_t)from, size, 0}});
}

int cuMemHostAlloc(void **at, size_t size, unsigned flags) {
    NEED_CONTEXT;
    if (flags || pinned == MOST) return INVALID;
    *at = host[pinned++] = malloc(size);
    return OK;
}
int cuMemFreeHost(void *at) {
    NEED_CONTEXT;
    if (queued) return INVALID;
    for (int i = 0; i < pinned; i++)
        if (host[i] == at) {
            free(at);
            host[i] = host[--pinned];
            return OK;
        }
    return INVALID;
}

int cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags) { NEED_CONTEXT; return start && bytes && !flags ? OK : INVALID; }
int cuMemHostUnregister(void *start) { NEED_CONTEXT; return start ? OK : INVALID; }

int cuModuleLoadData(void **module, const char *image) {
    NEED_CONTEXT;
    *module = &modules;
    if (memcmp(image, "\177ELF", 4)) return INVALID;
    modules++;
    return OK;
}
int cuModuleUnload(void *module) { NEED_CONTEXT; modules--; return module == &modules ? OK : INVALID; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    NEED_CONTEXT;
    int known = !strcmp(name, "saxpy");
    *function = known ? &saxpy : &other;
    return module == &modules && (known || setting("KOLMO_CUDA_OTHERS", 0)) ? OK : NOT_FOUND;
}
int cuFuncGetAttribute(int *value, int attribute, Function *function) {
    NEED_CONTEXT;
    *value = attribute == 1 ? 1024 : 24;          /* what some architectures keep for themselves; what a thread spills */
    return (attribute == 1 || attribute == 3) && (function == &saxpy || function == &other) ? OK : INVALID;
}
int cuFuncGetModule(void **module, Function *function) {
    NEED_CONTEXT;
    *module = &modules;
    return function == &saxpy ? OK : INVALID;
}
int cuFuncSetAttribute(Function *function, int attribute, int value) {
    NEED_CONTEXT;
    if (attribute != 8 || function != &saxpy || value > ON_CHIP - 1024) return INVALID;
    function->on_chip = value;
    return OK;
}

static int start(const Launch *launch) {
    size_t bytes = launch->n * sizeof(double);
    if (!holds((char *)launch->x, bytes) || !holds((char *)launch->y, bytes) || !holds((char *)launch->out, bytes) ||
        !holds((char *)(launch->scalars + launch->first), sizeof(double)))
        return ILLEGAL;
    return queue((Work){.launch = *launch});
}
int cuLaunchKernel(Function *function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                   unsigned on_chip, void *stream, void **arguments, void **extra) {
    NEED_STREAM;
    unsigned permitted = function->on_chip > FREE_ON_CHIP ? function->on_chip : FREE_ON_CHIP;
    if (function != &saxpy || by * bz != 1 || tx * ty * tz != 8 || on_chip > permitted || extra) return INVALID;
    Launch launch = {function, bx, on_chip, *(double **)arguments[0], *(double **)arguments[1], *(double **)arguments[2],
                     *(double **)arguments[3], *(int *)arguments[4], *(int *)arguments[5]};
    if (!capturing) return start(&launch);
    capturing->launches[capturing->count++] = launch;
    return OK;
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
    NEED_STREAM;
    if (capturing || mode != 2) return INVALID;
    capturing = calloc(1, sizeof(Graph));
    graphs++;
    return OK;
}
int cuStreamEndCapture(void *stream, Graph **graph) { NEED_STREAM; *graph = capturing; capturing = NULL; return *graph ? OK : INVALID; }
int cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long flags) {
    NEED_CONTEXT;
    *executable = memcpy(malloc(sizeof(Graph)), graph, sizeof(Graph));
    executables++;
    return flags ? INVALID : OK;
}
int cuGraphDestroy(Graph *graph) { NEED_CONTEXT; free(graph); graphs--; return OK; }
int cuGraphExecDestroy(Graph *graph) { NEED_CONTEXT; free(graph); executables--; return OK; }
int cuGraphLaunch(Graph *graph, void *stream) {
    NEED_STREAM;
    int result = OK;
    for (int i = 0; i < graph->count && !result; i++) result = start(&graph->launches[i]);
    fprintf(stderr, "graph of %d launches\n", graph->count);
    return result;
}

int cuEventCreate(void **event, unsigned flags) { NEED_CONTEXT; *event = malloc(1); events++; return flags & ~2u ? INVALID : OK; }
int cuEventRecord(void *event, void *stream) { NEED_STREAM; return event ? OK : INVALID; }
int cuEventSynchronize(void *event) { NEED_CONTEXT; finish(); return event ? OK : INVALID; }
int cuEventQuery(void *event) { NEED_CONTEXT; return !event ? INVALID : queued ? NOT_READY : OK; }
int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) { NEED_CONTEXT; *milliseconds = 1500; return from && to ? OK : INVALID; }
int cuEventDestroy_v2(void *event) { NEED_CONTEXT; free(event); events--; return OK; }

int cusparseCreate(void **handle) { *handle = malloc(1); return OK; }
int cusparseDestroy(void *handle) { free(handle); return OK; }
int cusparseSetStream(void *handle, void *stream) { return handle && stream ? OK : INVALID; }
int cusparseDgtsv2StridedBatch_bufferSizeExt(void *handle, int n, const double *lower, const double *diagonal,
                                             const double *upper, const double *x, int batches, int stride, size_t *bytes) {
    *bytes = n * sizeof(double);
    return handle && lower && diagonal && upper && x && batches && stride ? OK : INVALID;
}
int cusparseDgtsv2StridedBatch(void *handle, int n, const double *lower, const double *diagonal, const double *upper,
                               double *x, int batches, int stride, double *workspace) {
    if (!handle || !workspace) return INVALID;
    finish();
    for (int b = 0; b < batches; b++, lower += stride, diagonal += stride, upper += stride, x += stride) {
        for (int i = 0; i < n; i++) {
            double before = i ? lower[i] : 0, pivot = diagonal[i] - (i ? before * workspace[i - 1] : 0);
            workspace[i] = upper[i] / pivot;
            x[i] = (x[i] - (i ? before * x[i - 1] : 0)) / pivot;
        }
        for (int i = n - 2; i >= 0; i--) x[i] -= workspace[i] * x[i + 1];
    }
    return OK;
}
/* Of single precision there are the names only. */
int cusparseSgtsv2StridedBatch_bufferSizeExt(void) { return INVALID; }
int cusparseSgtsv2StridedBatch(void) { return INVALID; }
