/* A tool between a program and its MPI library, to be preloaded: it has the names of calls that the library has by other names, too.
 *   KOLMO_TOOL_AWARE    set: the library takes addresses of devices
 *   KOLMO_TOOL_SPOILS   what arrives wrong of messages with tag 0: "short", "long", "all-to-all"; "calls": they fail
 * Handles are passed on as they are, ints or pointers: `long` has room for both. Compiled by the tests. */
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char *text, int *length);
int PMPI_Isend(const char *data, int count, long datatype, int to, int tag, long group, void *request);
int PMPI_Ialltoallw(const char *from, const int *counts, const int *starts, const void *types, char *to, const int *counts_in,
                    const int *starts_in, const void *types_in, long group, void *request);

static int spoils(const char *what) {
    const char *asked = getenv("KOLMO_TOOL_SPOILS");
    return asked && strcmp(asked, what) == 0;
}

int MPI_Get_library_version(char *text, int *length) {
    static const char watched[] = "Watched ";
    int code = PMPI_Get_library_version(text, length), before = sizeof watched - 1;
    memmove(text + before, text, *length + 1);
    memcpy(text, watched, before);
    *length += before;
    return code;
}

int MPIX_Query_cuda_support(void) { return getenv("KOLMO_TOOL_AWARE") != NULL; }
int MPIX_GPU_query_support(int kind, int *answer) {
    *answer = kind == 0 && MPIX_Query_cuda_support();
    return 0;
}

/* What is sent from one byte farther on arrives wrong. */
int MPI_Isend(const char *data, int count, long datatype, int to, int tag, long group, void *request) {
    int is_long = count > 1 << 20;
    if (tag == 0 && spoils("calls")) return 1;
    if (tag == 0 && spoils(is_long ? "long" : "short")) data++;
    return PMPI_Isend(data, count, datatype, to, tag, group, request);
}

int MPI_Ialltoallw(const char *from, const int *counts, const int *starts, const void *types, char *to, const int *counts_in,
                   const int *starts_in, const void *types_in, long group, void *request) {
    if (spoils("all-to-all")) from++;
    return PMPI_Ialltoallw(from, counts, starts, types, to, counts_in, starts_in, types_in, group, request);
}
