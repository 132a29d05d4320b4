/* A substitute CUDA driver without a GPU. Memory is that of the host. The only known kernel, saxpy, is computed here; if
 * KOLMO_CUDA_KERNELS is set, all kernels run by OpenCL. The driver is stricter than the real one. Errors are: calls without a current
 * context, copies beyond a buffer, launches with on-chip memory that was not requested or exceeds the limit, and objects that exist
 * when the context is released. Work is done only when it is waited for or after an interval.
 *   KOLMO_CUDA_VERSION         version of the driver (default 13000)
 *   KOLMO_CUDA_INIT            result of cuInit; with 34, a stub library, cuDriverGetVersion fails as well
 *   KOLMO_CUDA_GRAPHS          0: no memory for executable graphs
 *   KOLMO_CUDA_CAPABILITY      compute capability of the device, times ten (default 90)
 *   KOLMO_CUDA_OTHER_KERNELS   1: other kernels exist, but cannot be launched; 2: they do nothing
 *   KOLMO_CUDA_KERNELS         1: images of modules are texts (nvrtc.c), and kernels run
 *                              2: as 1, but compiled without optimisation: fused kernels take seconds instead of minutes
 * The file also defines the functions of cuSPARSE that are used. The tests compile it with opencl.c. */
#include "cuda_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_MEMORY = 2, STUB = 34, NO_DEVICE = 101, NO_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL = 700, CAPTURE = 900 };
enum { MAX_ENTRIES = 4096, DEFAULT_ON_CHIP = 47 << 10 /* 48 KiB with 1 KiB of the driver */, ON_CHIP = 232448, STREAMS = 4 };
enum { ADVANCE_INTERVAL = 5000 /* microseconds */ };
static const uint64_t TOTAL = 1u << 30;

typedef struct { char *start; size_t size; } Block;
/* `kernel` is the kernel of OpenCL, or NULL. Functions without one have a module; `computed` is set for saxpy. */
typedef struct { int on_chip, carve_out; void *kernel; struct Module *module; int computed; } Function;
typedef struct Module { int loaded; Function saxpy, other; } Module;
typedef struct { Function *function; unsigned blocks[3], threads[3], on_chip; uint64_t arguments[128]; } Launch;
typedef struct { Launch launches[MAX_ENTRIES]; int count; } Graph;
typedef struct Stream Stream;
typedef struct { Stream *stream; long end; } Event;

static Block memory[MAX_ENTRIES];
static uint64_t used;
static Function function_table[MAX_ENTRIES];
static Module module_table[MAX_ENTRIES];
static Graph *capturing;
static int graphs, executables, events, contexts, pinned;
/* Several threads compile kernels. */
static _Atomic int modules, functions;
static _Thread_local void *current;
static void *pinned_memory[MAX_ENTRIES];

/* Work of a stream is done in order: a copy, a launch, a wait for another stream, or messages (nccl.c). */
typedef struct { char *to, *from; size_t size; int staged; } Copy;
typedef struct { Copy copy; Launch *launch; Event wait; int (*call)(void *); void *of; } Work;
struct Stream { Work work[MAX_ENTRIES]; long queued, done; int used, busy; };
static Stream streams[STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, memory_lock = PTHREAD_MUTEX_INITIALIZER;

static int is_pinned(const void *at) {
    for (int i = 0; i < pinned; i++)
        if (pinned_memory[i] == at) return 1;
    return 0;
}
static void compute(const Launch *launch) {
    const uint64_t *a = launch->arguments;
    double *x = (double *)a[0], *y = (double *)a[1], *out = (double *)a[2], *scalars = (double *)a[3];
    for (int i = 0; i < (int)a[5] && i < 8 * (int)launch->blocks[0]; i++) out[i] = scalars[(int)a[4]] * x[i] + y[i];
}
static void advance(Stream *stream);
/* Tries to do the work; returns 0 if it cannot be done yet. */
static int try_work(Work *work) {
    if (work->call) return work->call(work->of);
    if (work->wait.stream) {
        advance(work->wait.stream);
        return work->wait.stream->done >= work->wait.end;
    }
    if (work->launch) {
        Function *function = work->launch->function;
        if (function->kernel) opencl_run(function->kernel, work->launch->blocks, work->launch->threads, work->launch->arguments);
        else compute(work->launch);
        free(work->launch);
        return 1;
    }
    memcpy(work->copy.to, work->copy.from, work->copy.size);
    if (work->copy.staged) free(work->copy.from);
    return 1;
}
/* Does all work that can be done now. */
static void advance(Stream *stream) {
    if (stream->busy) return;
    stream->busy = 1;
    while (stream->done < stream->queued && try_work(&stream->work[stream->done % MAX_ENTRIES])) stream->done++;
    stream->busy = 0;
}
/* Does the work of a stream up to the position `end`. */
static void finish_to(Stream *stream, long end) {
    for (;;) {
        pthread_mutex_lock(&lock);
        advance(stream);
        int is_done = stream->done >= end;
        pthread_mutex_unlock(&lock);
        if (is_done) return;
        usleep(100);
    }
}
static void finish(void) {
    for (int i = 0; i < STREAMS; i++) finish_to(&streams[i], streams[i].queued);
}
/* A device makes progress even if no thread waits for it. */
static void *advance_periodically(void *unused) {
    for (;;) {
        usleep(ADVANCE_INTERVAL);
        pthread_mutex_lock(&lock);
        for (int i = 0; i < STREAMS; i++) advance(&streams[i]);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void start_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, advance_periodically, NULL);
}
static int queue(Stream *stream, Work next) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_thread);
    if (stream->queued - stream->done >= MAX_ENTRIES) finish_to(stream, stream->queued - MAX_ENTRIES + 1);
    pthread_mutex_lock(&lock);
    stream->work[stream->queued++ % MAX_ENTRIES] = next;
    pthread_mutex_unlock(&lock);
    return OK;
}
int cuda_queue(void *stream, int (*call)(void *), void *of) { return queue(stream, (Work){.call = call, .of = of}); }

static int setting(const char *name, int default_value) {
    const char *text = getenv(name);
    return text && *text ? atoi(text) : default_value;
}

int opencl(void) { return setting("KOLMO_CUDA_KERNELS", 0); }

/* Returns the block that contains the bytes, or NULL. */
static Block *find_block(const char *at, size_t size) {
    for (int i = 0; i < MAX_ENTRIES; i++)
        if (memory[i].start && at >= memory[i].start && at + size <= memory[i].start + memory[i].size) return &memory[i];
    return NULL;
}

int cuda_holds(const void *at, size_t size) { return find_block(at, size) != NULL; }
int cuda_has_context(void) { return current == &contexts; }

int cuDriverGetVersion(int *version) {
    *version = setting("KOLMO_CUDA_VERSION", 13000);
    return setting("KOLMO_CUDA_INIT", OK) == STUB ? STUB : OK;
}
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
        case 16: *value = 2; break;               /* MULTIPROCESSOR_COUNT */
        case 75: *value = capability / 10; break; /* COMPUTE_CAPABILITY_MAJOR */
        case 76: *value = capability % 10; break;
        case 97: *value = ON_CHIP; break;         /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
        default: return INVALID;
    }
    return device ? NO_DEVICE : OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &contexts; contexts++; return device ? NO_DEVICE : OK; }
int cuDevicePrimaryCtxRelease_v2(int device) {
    int open = 0;
    for (int i = 0; i < STREAMS; i++) open += streams[i].used;
    int objects = open + modules + graphs + executables + events + pinned;
    if (--contexts == 0 && (objects || used)) {
        fprintf(stderr, "left over: %d streams, %d modules, %d graphs, %d executable graphs, %d events, %d pinned, %llu bytes\n",
                open, modules, graphs, executables, events, pinned, (unsigned long long)used);
        abort();
    }
    return device ? NO_DEVICE : OK;
}
int cuCtxSetCurrent(void *context) { current = context; return OK; }

#define REQUIRE_CONTEXT if (current != &contexts) return NO_CONTEXT
#define REQUIRE_STREAM REQUIRE_CONTEXT; if (!cuda_is_stream(stream)) return INVALID

int cuda_is_stream(void *stream) { return (Stream *)stream >= streams && (Stream *)stream < streams + STREAMS && ((Stream *)stream)->used; }
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    REQUIRE_CONTEXT;
    for (int i = 0; i < STREAMS; i++)
        if (!streams[i].used) {
            streams[i].used = 1;
            *stream = &streams[i];
            return flags == 1 && priority <= 0 && priority >= -5 ? OK : INVALID;
        }
    return INVALID;
}
int cuStreamCreate(void **stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }
int cuCtxGetStreamPriorityRange(int *lowest, int *highest) { REQUIRE_CONTEXT; *lowest = 0; *highest = -5; return OK; }
int cuStreamDestroy_v2(Stream *stream) { REQUIRE_STREAM; finish_to(stream, stream->queued); stream->used = 0; return OK; }
int cuStreamSynchronize(Stream *stream) { REQUIRE_STREAM; finish_to(stream, stream->queued); return capturing ? CAPTURE : OK; }
int cuStreamWaitEvent(Stream *stream, Event *event, unsigned flags) {
    REQUIRE_STREAM;
    if (!event || capturing || flags) return INVALID;
    return event->stream ? queue(stream, (Work){.wait = *event}) : OK;
}

int cuMemGetInfo_v2(size_t *unused, size_t *total) { REQUIRE_CONTEXT; *unused = TOTAL - used; *total = TOTAL; return OK; }
int cuMemAlloc_v2(uint64_t *at, size_t size) {
    REQUIRE_CONTEXT;
    if (!size) return INVALID;
    pthread_mutex_lock(&memory_lock);
    int i = 0;
    while (i < MAX_ENTRIES && memory[i].start) i++;
    int fits = i < MAX_ENTRIES && used + size <= TOTAL;
    if (fits) {
        memory[i].size = size;
        memory[i].start = memset(opencl() ? opencl_allocate(size) : malloc(size), 0xff, size);
        used += size;
        *at = (uint64_t)(uintptr_t)memory[i].start;
    }
    pthread_mutex_unlock(&memory_lock);
    return fits ? OK : NO_MEMORY;
}
int cuMemFree_v2(uint64_t at) {
    REQUIRE_CONTEXT;
    Block *block = find_block((char *)(uintptr_t)at, 1);
    if (!block || block->start != (char *)(uintptr_t)at) return INVALID;
    finish();
    pthread_mutex_lock(&memory_lock);
    used -= block->size;
    opencl() ? opencl_free(block->start) : free(block->start);
    block->start = NULL;
    pthread_mutex_unlock(&memory_lock);
    return OK;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, Stream *stream) {
    REQUIRE_STREAM;
    if (capturing || !find_block((char *)(uintptr_t)to, size)) return ILLEGAL;
    int staged = !is_pinned(from);
    char *source = staged ? memcpy(malloc(size), from, size) : (char *)from;
    return queue(stream, (Work){.copy = {(char *)(uintptr_t)to, source, size, staged}});
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, Stream *stream) {
    REQUIRE_STREAM;
    if (capturing || !find_block((char *)(uintptr_t)from, size)) return ILLEGAL;
    memset(to, 0xee, size);         /* reveals reads before the copy is complete */
    return queue(stream, (Work){.copy = {to, (char *)(uintptr_t)from, size, 0}});
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, Stream *stream) {
    REQUIRE_STREAM;
    if (!find_block((char *)(uintptr_t)to, size) || !find_block((char *)(uintptr_t)from, size)) return ILLEGAL;
    return queue(stream, (Work){.copy = {(char *)(uintptr_t)to, (char *)(uintptr_t)from, size, 0}});
}

int cuMemHostAlloc(void **at, size_t size, unsigned flags) {
    REQUIRE_CONTEXT;
    if (flags || pinned == MAX_ENTRIES) return INVALID;
    *at = pinned_memory[pinned++] = malloc(size);
    return OK;
}
int cuMemFreeHost(void *at) {
    REQUIRE_CONTEXT;
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].done < streams[i].queued) return INVALID;
    for (int i = 0; i < pinned; i++)
        if (pinned_memory[i] == at) {
            free(at);
            pinned_memory[i] = pinned_memory[--pinned];
            return OK;
        }
    return INVALID;
}

int cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags) { REQUIRE_CONTEXT; return start && bytes && !flags ? OK : INVALID; }
int cuMemHostUnregister(void *start) { REQUIRE_CONTEXT; return start ? OK : INVALID; }

int cuModuleLoadData(void **module, const char *image) {
    REQUIRE_CONTEXT;
    if (opencl()) {
        *module = opencl_program(image);
        if (!*module) return INVALID;
    } else {
        static _Atomic int count;
        Module *next = &module_table[count++ % MAX_ENTRIES];
        if (memcmp(image, "\177ELF", 4) || next->loaded) return INVALID;
        *next = (Module){.loaded = 1, .saxpy = {.module = next, .computed = 1}, .other = {.module = next}};
        *module = next;
    }
    modules++;
    return OK;
}
static int is_loaded(const Module *module) { return module >= module_table && module < module_table + MAX_ENTRIES && module->loaded; }
static int is_function(const Function *function) { return function->kernel || is_loaded(function->module); }
int cuModuleUnload(void *module) {
    REQUIRE_CONTEXT;
    modules--;
    if (opencl()) return OK;
    if (!is_loaded(module)) return INVALID;
    ((Module *)module)->loaded = 0;
    return OK;
}
int cuModuleGetFunction(Function **function, void *module, const char *name) {
    REQUIRE_CONTEXT;
    if (opencl()) {
        *function = &function_table[functions++ % MAX_ENTRIES];
        **function = (Function){.kernel = opencl_kernel(module, name)};
        return (*function)->kernel ? OK : NOT_FOUND;
    }
    int known = !strcmp(name, "saxpy");
    if (!is_loaded(module) || !(known || setting("KOLMO_CUDA_OTHER_KERNELS", 0))) return NOT_FOUND;
    *function = known ? &((Module *)module)->saxpy : &((Module *)module)->other;
    return OK;
}
int cuFuncGetAttribute(int *value, int attribute, Function *function) {
    REQUIRE_CONTEXT;
    if (function->kernel) {
        *value = attribute == 1 ? 1024 : attribute == 4 ? 254 : 0; /* static on-chip memory, registers */
        return OK;
    }
    *value = attribute == 1 ? 1024 : function->computed ? 24 : 0; /* static on-chip memory reserved by some architectures; spilled bytes per thread */
    return (attribute == 1 || attribute == 3) && is_function(function) ? OK : INVALID;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *function, int threads, size_t on_chip) {
    REQUIRE_CONTEXT;
    if (!is_function(function) || threads < 1 || threads > 1024) return INVALID;
    int count = (int)((ON_CHIP + 1024) / (on_chip + 1024)); /* each block takes 1 KiB more */
    *blocks = count < 2048 / threads ? count : 2048 / threads;
    return OK;
}
int cuFuncGetModule(void **module, Function *function) {
    REQUIRE_CONTEXT;
    *module = function->kernel ? opencl_program_of(function->kernel) : function->module;
    return is_function(function) ? OK : INVALID;
}
int cuFuncSetAttribute(Function *function, int attribute, int value) {
    REQUIRE_CONTEXT;
    if (!is_function(function)) return INVALID;
    if (attribute == 9) {                         /* PREFERRED_SHARED_MEMORY_CARVEOUT, in per cent */
        function->carve_out = value;
        return value == 100 ? OK : INVALID;
    }
    if (attribute != 8 || value > ON_CHIP - 1024) return INVALID;
    function->on_chip = value;
    return OK;
}

static int start(Stream *stream, const Launch *launch) {
    const uint64_t *a = launch->arguments;
    size_t bytes = a[5] * sizeof(double);
    if (!launch->function->kernel) {
        if (!find_block((char *)a[0], bytes) || !find_block((char *)a[1], bytes) || !find_block((char *)a[2], bytes) ||
            !find_block((char *)(a[3] + a[4] * sizeof(double)), sizeof(double)))
            return ILLEGAL;
    } else if (!opencl_takes(launch->function->kernel, a)) {
        return ILLEGAL;
    }
    return queue(stream, (Work){.launch = memcpy(malloc(sizeof *launch), launch, sizeof *launch)});
}
int cuLaunchKernel(Function *function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                   unsigned on_chip, Stream *stream, void **arguments, void **extra) {
    REQUIRE_STREAM;
    unsigned max_on_chip = function->on_chip > DEFAULT_ON_CHIP ? function->on_chip : DEFAULT_ON_CHIP;
    if (on_chip > max_on_chip || (on_chip && !function->carve_out) || extra || !bx || !by || !bz || tx * ty * tz > 1024) return INVALID;
    if (!function->kernel && !function->computed && is_function(function) && setting("KOLMO_CUDA_OTHER_KERNELS", 0) == 2) return OK;
    if (!function->kernel && (!function->computed || !is_function(function) || by * bz != 1 || tx * ty * tz != 8)) return INVALID;
    Launch launch = {function, {bx, by, bz}, {tx, ty, tz}, on_chip, {0}};
    int count = function->kernel ? opencl_arguments(function->kernel) : 6;
    for (int i = 0; i < count; i++) {
        int is_pointer = function->kernel ? opencl_is_pointer(function->kernel, i) : i < 4;
        int is_long = is_pointer || (function->kernel && opencl_size(function->kernel, i) == 8);
        launch.arguments[i] = is_long ? *(uint64_t *)arguments[i] : (uint64_t)*(unsigned *)arguments[i];
    }
    if (!capturing) return start(stream, &launch);
    capturing->launches[capturing->count++] = launch;
    return OK;
}
int cuStreamBeginCapture_v2(Stream *stream, int mode) {
    REQUIRE_STREAM;
    if (capturing || mode != 2) return INVALID;
    capturing = calloc(1, sizeof(Graph));
    graphs++;
    return OK;
}
int cuStreamEndCapture(Stream *stream, Graph **graph) { REQUIRE_STREAM; *graph = capturing; capturing = NULL; return *graph ? OK : INVALID; }
int cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long flags) {
    REQUIRE_CONTEXT;
    if (!setting("KOLMO_CUDA_GRAPHS", 1)) return NO_MEMORY;
    *executable = memcpy(malloc(sizeof(Graph)), graph, sizeof(Graph));
    executables++;
    return flags ? INVALID : OK;
}
int cuGraphDestroy(Graph *graph) { REQUIRE_CONTEXT; free(graph); graphs--; return OK; }
int cuGraphExecDestroy(Graph *graph) { REQUIRE_CONTEXT; free(graph); executables--; return OK; }
int cuGraphLaunch(Graph *graph, Stream *stream) {
    REQUIRE_STREAM;
    int result = OK;
    for (int i = 0; i < graph->count && !result; i++) result = start(stream, &graph->launches[i]);
    if (!opencl()) fprintf(stderr, "graph of %d launches\n", graph->count);
    return result;
}

int cuEventCreate(Event **event, unsigned flags) { REQUIRE_CONTEXT; *event = calloc(1, sizeof(Event)); events++; return flags & ~2u ? INVALID : OK; }
int cuEventRecord(Event *event, Stream *stream) { REQUIRE_STREAM; *event = (Event){stream, stream->queued}; return OK; }
int cuEventSynchronize(Event *event) { REQUIRE_CONTEXT; if (event->stream) finish_to(event->stream, event->end); return OK; }
int cuEventQuery(Event *event) { REQUIRE_CONTEXT; return !event ? INVALID : event->stream && event->stream->done < event->end ? NOT_READY : OK; }
int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) { REQUIRE_CONTEXT; *milliseconds = 1500; return from && to ? OK : INVALID; }
int cuEventDestroy_v2(void *event) { REQUIRE_CONTEXT; free(event); events--; return OK; }

const char *cusparseGetErrorString(int status) { (void)status; return "a status"; }
int cusparseCreate(void **handle) { *handle = malloc(1); return OK; }
int cusparseDestroy(void *handle) { free(handle); return OK; }
int cusparseSetStream(void *handle, void *stream) { return handle && stream ? OK : INVALID; }
#define GTSV2(TYPE, NAME) \
    int NAME##_bufferSizeExt(void *handle, int n, const TYPE *lower, const TYPE *diagonal, const TYPE *upper, const TYPE *x, int batches, \
                             int stride, size_t *bytes) { \
        *bytes = n * sizeof(TYPE); \
        return handle && lower && diagonal && upper && x && batches && stride ? OK : INVALID; \
    } \
    int NAME(void *handle, int n, const TYPE *lower, const TYPE *diagonal, const TYPE *upper, TYPE *x, int batches, int stride, \
             TYPE *workspace) { \
        if (!handle || !workspace) return INVALID; \
        finish(); \
        for (int b = 0; b < batches; b++, lower += stride, diagonal += stride, upper += stride, x += stride) { \
            for (int i = 0; i < n; i++) { \
                TYPE before = i ? lower[i] : 0, pivot = diagonal[i] - (i ? before * workspace[i - 1] : 0); \
                workspace[i] = upper[i] / pivot; \
                x[i] = (x[i] - (i ? before * x[i - 1] : 0)) / pivot; \
            } \
            for (int i = n - 2; i >= 0; i--) x[i] -= workspace[i] * x[i + 1]; \
        } \
        return OK; \
    }
GTSV2(double, cusparseDgtsv2StridedBatch)
GTSV2(float, cusparseSgtsv2StridedBatch)
