/* A library without functions. Whoever loads it makes the file KOLMO_TEST_LOADED, and waits until there is a file KOLMO_TEST_GO. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    const char *mark = getenv("KOLMO_TEST_LOADED"), *go = getenv("KOLMO_TEST_GO");
    if (mark) close(creat(mark, 0600));
    while (go && access(go, F_OK)) usleep(1000);
}
