/* Fills a pool, and then works with what is in it, for longer than it took to fill it. With the argument "waits" it waits instead. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 40000, SIZE = 1000 };

static char *pool[ITEMS];

static void *item(void)
{
    char *bytes = malloc(SIZE);
    /* Filling takes some time. */
    for (int i = 0; i < 20; i++)
        memset(bytes, i, SIZE);
    return bytes;
}

int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < ITEMS; i++)
        pool[i] = item();
    if (count > 1) {
        sleep(2);
        return 0;
    }
    clock_t filled = clock();
    for (size_t i = 0; clock() < 5 * filled + CLOCKS_PER_SEC / 2; i++)
        memcpy(pool[i * 7919 % ITEMS], pool[i * 104729 % ITEMS], SIZE);
    return 0;
}
