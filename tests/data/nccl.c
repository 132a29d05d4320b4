/* NCCL without GPUs: messages are files in a directory that is named by the number of the group. It is strict: calls outside a group of
 * calls, with memory that is no device's, on what is no stream, or before a group is ready are errors, and so are messages of a
 * length that the receiver does not expect. What takes a while is in progress until it was asked for some times. A thread waits for the
 * ranks from the number of a group on until they join: a library that is unloaded before ends the process.
 *   KOLMO_NCCL_VERSION   what it says it is (default 22703)
 *   KOLMO_NCCL_FAILS     "init": no group can be joined; "messages": they fail; "wrong": they arrive wrong; "never": they do not */
#define _GNU_SOURCE
#include "cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE = 5, IN_PROGRESS = 7, ASKED = 3, MOST_RANKS = 64, MOST_MESSAGES = 256 };
typedef struct { char internal[128]; } UniqueId;
typedef struct { size_t size; unsigned magic; int version, blocking; } Config;
typedef struct { char directory[128]; int rank, size, asked, ends; _Atomic int open, is_aborted; long sent[MOST_RANKS], received[MOST_RANKS]; } Comm;
typedef struct { Comm *comm; int is_send, peer; char *data; size_t size; long number; } Message;
/* The messages of a group of calls, which are done together. */
typedef struct { Message messages[MOST_MESSAGES]; int count, done; void *stream; Comm *comm; } Group;

static Group *group;
static int depth;
static char last[256];
static _Atomic int waiting;

static int fails(const char *what) {
    const char *asked = getenv("KOLMO_NCCL_FAILS");
    return asked && !strcmp(asked, what);
}
static int refuse(const char *why) {
    snprintf(last, sizeof last, "%s", why);
    return USAGE;
}
static void name(const Message *message, int from, int to, char *path, const char *suffix) {
    sprintf(path, "%s/%d-%d-%ld%s", message->comm->directory, from, to, message->number, suffix);
}
static void send_now(const Message *message) {
    char path[256], ready[256];
    name(message, message->comm->rank, message->peer, path, ".part");
    name(message, message->comm->rank, message->peer, ready, "");
    FILE *file = fopen(path, "w");
    /* What is wrong is the last byte. */
    int wrong = fails("wrong") && message->size > 0;
    fwrite(message->data, 1, message->size - wrong, file);
    if (wrong) fputc(0x7f, file);
    fclose(file);
    rename(path, ready);
}
static int receive_now(const Message *message) {
    char path[256];
    name(message, message->peer, message->comm->rank, path, "");
    FILE *file = fopen(path, "r");
    if (!file || fails("never")) return file ? (fclose(file), 0) : 0;
    size_t came = fread(message->data, 1, message->size, file);
    if (came != message->size || fgetc(file) != EOF) {
        fprintf(stderr, "a message of another length than %zu bytes\n", message->size);
        abort();
    }
    fclose(file);
    unlink(path);
    return 1;
}
/* First everything is sent; then what has come is taken, in order. */
static int carry_out(void *of) {
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
    const char *asked = getenv("KOLMO_NCCL_VERSION");
    *version = asked ? atoi(asked) : 22703;
    return OK;
}
int ncclGetUniqueId(UniqueId *id) {
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "%s/nccl-XXXXXX", getenv("XDG_CACHE_HOME"));
    waiting = 1;
    return mkdtemp(id->internal) ? OK : refuse("no directory");
}
__attribute__((destructor)) static void unload(void) {
    if (!waiting) return;
    fprintf(stderr, "NCCL was unloaded while its thread waits for the ranks\n");
    abort();
}
int ncclCommInitRankConfig(Comm **comm, int size, UniqueId id, int rank, Config *config) {
    if (config->magic != 0xcafebeef || config->blocking || config->version < 21400 || config->size < sizeof *config) return refuse("wrong configuration");
    waiting = 0;
    if (!cuda_has_context() || size > MOST_RANKS || rank >= size) return refuse("wrong rank");
    if (fails("init")) return refuse("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0");
    *comm = calloc(1, sizeof **comm);
    memcpy((*comm)->directory, id.internal, sizeof id.internal);
    (*comm)->rank = rank;
    (*comm)->size = size;
    (*comm)->asked = ASKED;
    return IN_PROGRESS;
}
int ncclCommGetAsyncError(Comm *comm, int *code) {
    if (comm->asked > 0) comm->asked--;
    *code = comm->asked || (comm->ends && comm->open) ? IN_PROGRESS : OK;
    return OK;
}
const char *ncclGetErrorString(int code) { return code == USAGE ? "invalid usage" : "no error"; }
const char *ncclGetLastError(Comm *comm) { return comm ? last : last; }
int ncclGroupStart(void) {
    if (!depth++) group = calloc(1, sizeof *group);
    return OK;
}
static int add(Message message, int type, void *stream) {
    Comm *comm = message.comm;
    if (comm->is_aborted) abort();
    if (depth != 1 || type != 0 || !comm || comm->asked) return refuse("the group is not ready, or no group of calls was begun");
    if (!cuda_is_stream(stream) || !cuda_has_context() || !cuda_holds(message.data, message.size) || !message.size) return refuse("no memory of a device");
    if (message.peer < 0 || message.peer >= comm->size || group->count == MOST_MESSAGES) return refuse("no such rank");
    message.number = (message.is_send ? comm->sent : comm->received)[message.peer]++;
    /* Messages to others go first. */
    int at = group->count++;
    for (; message.is_send && at > 0 && !group->messages[at - 1].is_send; at--) group->messages[at] = group->messages[at - 1];
    group->messages[at] = message;
    group->stream = stream;
    group->comm = comm;
    return OK;
}
int ncclSend(const void *data, size_t size, int type, int peer, Comm *comm, void *stream) {
    if (fails("messages")) return refuse("the network is down");
    return add((Message){comm, 1, peer, (char *)data, size, 0}, type, stream);
}
int ncclRecv(void *data, size_t size, int type, int peer, Comm *comm, void *stream) {
    return add((Message){comm, 0, peer, data, size, 0}, type, stream);
}
int ncclGroupEnd(void) {
    if (--depth) return refuse("no group of calls was begun");
    if (!group->count) return free(group), OK;
    group->comm->asked = ASKED;
    group->comm->open++;
    return cuda_queue(group->stream, carry_out, group) ? refuse("no stream") : IN_PROGRESS;
}
int ncclCommFinalize(Comm *comm) { comm->ends = comm->asked = ASKED; return IN_PROGRESS; }
int ncclCommDestroy(Comm *comm) { return comm->ends && !comm->open ? free(comm), OK : refuse("not finalized"); }
/* Its messages may still be on a stream. */
int ncclCommAbort(Comm *comm) { comm->is_aborted = 1; return OK; }
