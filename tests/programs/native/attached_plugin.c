/* A library that is loaded while its program is recorded. */
#include <stdlib.h>

static void *volatile last;

void by_plugin(int times)
{
    for (int i = 0; i < times; i++) {
        last = malloc(160);
        free(last);
    }
}
