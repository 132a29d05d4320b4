/* A preloaded MPI tool between a program and its MPI library: it intercepts calls and forwards them through PMPI.
 *   KOLMO_TOOL_AWARE      set: the library accepts device addresses
 *   KOLMO_TOOL_CORRUPTS   corrupted messages with tag 0: "short", "long", "all-to-all"; "calls": sends with tag 0 fail
 * Handles are ints or pointers and are forwarded unchanged: a `long` can hold both. The tests compile this file. */
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char *text, int *length);
int PMPI_Isend(const char *data, int count, long datatype, int to, int tag, long group, void *request);
int PMPI_Ialltoallw(const char *from, const int *counts, const int *starts, const void *types, char *to, const int *counts_in,
                    const int *starts_in, const void *types_in, long group, void *request);

static int corrupts(const char *what) {
    const char *value = getenv("KOLMO_TOOL_CORRUPTS");
    return value && strcmp(value, what) == 0;
}

int MPI_Get_library_version(char *text, int *length) {
    static const char prefix[] = "Watched ";
    int code = PMPI_Get_library_version(text, length), length_of_prefix = sizeof prefix - 1;
    memmove(text + length_of_prefix, text, *length + 1);
    memcpy(text, prefix, length_of_prefix);
    *length += length_of_prefix;
    return code;
}

int MPIX_Query_cuda_support(void) { return getenv("KOLMO_TOOL_AWARE") != NULL; }
int MPIX_GPU_query_support(int kind, int *answer) {
    *answer = kind == 0 && MPIX_Query_cuda_support();
    return 0;
}

/* A message that starts one byte later arrives corrupted. */
int MPI_Isend(const char *data, int count, long datatype, int to, int tag, long group, void *request) {
    int is_long = count > 1 << 20;
    if (tag == 0 && corrupts("calls")) return 1;
    if (tag == 0 && corrupts(is_long ? "long" : "short")) data++;
    return PMPI_Isend(data, count, datatype, to, tag, group, request);
}

int MPI_Ialltoallw(const char *from, const int *counts, const int *starts, const void *types, char *to, const int *counts_in,
                   const int *starts_in, const void *types_in, long group, void *request) {
    if (corrupts("all-to-all")) from++;
    return PMPI_Ialltoallw(from, counts, starts, types, to, counts_in, starts_in, types_in, group, request);
}
