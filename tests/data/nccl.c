/* A substitute NCCL without GPUs. Messages are files in a directory, whose name is the unique identifier of the group. The library is
 * strict. Errors are: calls outside a group of calls, memory that is not of a device, an invalid stream, calls before a communicator is
 * ready, and messages of unexpected length. Asynchronous operations are in progress until they were polled several times. The process
 * is aborted if the library is unloaded between the creation of the identifier and the joining of the ranks, while a thread of the real
 * library waits for them.
 *   KOLMO_NCCL_VERSION   version of the library (default 22703)
 *   KOLMO_NCCL_FAULT     "init": no group can be joined; "messages": sends fail; "wrong": messages arrive corrupted; "never": they do
 *                        not arrive */
#define _GNU_SOURCE
#include "cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE = 5, IN_PROGRESS = 7, POLLS = 3, MAX_RANKS = 64, MAX_MESSAGES = 256 };
typedef struct { char internal[128]; } UniqueId;
typedef struct { size_t size; unsigned magic; int version, blocking; } Config;
typedef struct { char directory[128]; int rank, size, polls, ends; _Atomic int open, is_aborted; long sent[MAX_RANKS], received[MAX_RANKS]; } Comm;
typedef struct { Comm *comm; int is_send, peer; char *data; size_t size; long number; } Message;
/* The messages of a group of calls, which are executed together. */
typedef struct { Message messages[MAX_MESSAGES]; int count, done; void *stream; Comm *comm; } Group;

static Group *group;
static int depth;
static char last_error[256];
static _Atomic int waiting;

static int has_fault(const char *what) {
    const char *fault = getenv("KOLMO_NCCL_FAULT");
    return fault && !strcmp(fault, what);
}
static int usage_error(const char *why) {
    snprintf(last_error, sizeof last_error, "%s", why);
    return USAGE;
}
static void file_name(const Message *message, int from, int to, char *path, const char *suffix) {
    sprintf(path, "%s/%d-%d-%ld%s", message->comm->directory, from, to, message->number, suffix);
}
static void send_now(const Message *message) {
    char path[256], ready[256];
    file_name(message, message->comm->rank, message->peer, path, ".part");
    file_name(message, message->comm->rank, message->peer, ready, "");
    FILE *file = fopen(path, "w");
    /* The last byte is corrupted. */
    int corrupted = has_fault("wrong") && message->size > 0;
    fwrite(message->data, 1, message->size - corrupted, file);
    if (corrupted) fputc(0x7f, file);
    fclose(file);
    rename(path, ready);
}
static int receive_now(const Message *message) {
    char path[256];
    file_name(message, message->peer, message->comm->rank, path, "");
    FILE *file = fopen(path, "r");
    if (!file || has_fault("never")) return file ? (fclose(file), 0) : 0;
    size_t length = fread(message->data, 1, message->size, file);
    if (length != message->size || fgetc(file) != EOF) {
        fprintf(stderr, "a message of another length than %zu bytes\n", message->size);
        abort();
    }
    fclose(file);
    unlink(path);
    return 1;
}
/* Everything is sent first; then received messages are delivered in order. */
static int execute(void *of) {
    Group *all = of;
    for (; all->done < all->count && !all->comm->is_aborted; all->done++) {
        Message *message = &all->messages[all->done];
        if (message->is_send) send_now(message);
        else if (!receive_now(message)) return 0;
    }
    all->comm->open--;
    free(all);
    return 1;
}

int ncclGetVersion(int *version) {
    const char *text = getenv("KOLMO_NCCL_VERSION");
    *version = text ? atoi(text) : 22703;
    return OK;
}
int ncclGetUniqueId(UniqueId *id) {
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "%s/nccl-XXXXXX", getenv("XDG_CACHE_HOME"));
    waiting = 1;
    return mkdtemp(id->internal) ? OK : usage_error("no directory");
}
__attribute__((destructor)) static void unload(void) {
    if (!waiting) return;
    fprintf(stderr, "NCCL was unloaded while its thread waits for the ranks\n");
    abort();
}
int ncclCommInitRankConfig(Comm **comm, int size, UniqueId id, int rank, Config *config) {
    if (config->magic != 0xcafebeef || config->blocking || config->version < 21400 || config->size < sizeof *config) return usage_error("wrong configuration");
    waiting = 0;
    if (!cuda_has_context() || size > MAX_RANKS || rank >= size) return usage_error("wrong rank");
    if (has_fault("init")) return usage_error("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0");
    *comm = calloc(1, sizeof **comm);
    memcpy((*comm)->directory, id.internal, sizeof id.internal);
    (*comm)->rank = rank;
    (*comm)->size = size;
    (*comm)->polls = POLLS;
    return IN_PROGRESS;
}
int ncclCommGetAsyncError(Comm *comm, int *code) {
    if (comm->polls > 0) comm->polls--;
    *code = comm->polls || (comm->ends && comm->open) ? IN_PROGRESS : OK;
    return OK;
}
const char *ncclGetErrorString(int code) { return code == USAGE ? "invalid usage" : "no error"; }
const char *ncclGetLastError(Comm *comm) { return comm ? last_error : last_error; }
int ncclGroupStart(void) {
    if (!depth++) group = calloc(1, sizeof *group);
    return OK;
}
static int add(Message message, int type, void *stream) {
    Comm *comm = message.comm;
    if (comm->is_aborted) abort();
    if (depth != 1 || type != 0 || !comm || comm->polls) return usage_error("the group is not ready, or no group of calls was begun");
    if (!cuda_is_stream(stream) || !cuda_has_context() || !cuda_holds(message.data, message.size) || !message.size) return usage_error("no memory of a device");
    if (message.peer < 0 || message.peer >= comm->size || group->count == MAX_MESSAGES) return usage_error("no such rank");
    message.number = (message.is_send ? comm->sent : comm->received)[message.peer]++;
    /* Sends precede receives. */
    int at = group->count++;
    for (; message.is_send && at > 0 && !group->messages[at - 1].is_send; at--) group->messages[at] = group->messages[at - 1];
    group->messages[at] = message;
    group->stream = stream;
    group->comm = comm;
    return OK;
}
int ncclSend(const void *data, size_t size, int type, int peer, Comm *comm, void *stream) {
    if (has_fault("messages")) return usage_error("the network is down");
    return add((Message){comm, 1, peer, (char *)data, size, 0}, type, stream);
}
int ncclRecv(void *data, size_t size, int type, int peer, Comm *comm, void *stream) {
    return add((Message){comm, 0, peer, data, size, 0}, type, stream);
}
int ncclGroupEnd(void) {
    if (--depth) return usage_error("no group of calls was begun");
    if (!group->count) return free(group), OK;
    group->comm->polls = POLLS;
    group->comm->open++;
    return cuda_queue(group->stream, execute, group) ? usage_error("no stream") : IN_PROGRESS;
}
int ncclCommFinalize(Comm *comm) { comm->ends = comm->polls = POLLS; return IN_PROGRESS; }
int ncclCommDestroy(Comm *comm) { return comm->ends && !comm->open ? free(comm), OK : usage_error("not finalized"); }
/* Messages of the communicator may still be on a stream, so its memory is not freed. */
int ncclCommAbort(Comm *comm) { comm->is_aborted = 1; return OK; }
