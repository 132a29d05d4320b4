/* A library without functions. Loading it creates the file KOLMO_TEST_LOADED and waits until the file KOLMO_TEST_PROCEED exists. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    const char *created = getenv("KOLMO_TEST_LOADED"), *proceed = getenv("KOLMO_TEST_PROCEED");
    if (created) close(creat(created, 0600));
    while (proceed && access(proceed, F_OK)) usleep(1000);
}
