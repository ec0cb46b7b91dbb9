/* Each function of the allocator, called from a function of its own: 100 blocks of 1000 bytes, half of them freed. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, SIZE = 1000 };

static void *kept[10 * COUNT];
static int count;

static void keep_or_free(int n, void *block)
{
    memset(block, n, SIZE);
    if (n % 2 == 0)
        kept[count++] = block;
    else
        free(block);
}

#define ENTRY(name, call)                            \
    __attribute__((noinline)) static void name(int n) \
    {                                                \
        void *block = NULL;                          \
        call;                                        \
        keep_or_free(n, block);                      \
    }

ENTRY(by_malloc, block = malloc(SIZE))
ENTRY(by_calloc, block = calloc(SIZE / 8, 8))
ENTRY(by_realloc, block = realloc(NULL, SIZE))
ENTRY(by_reallocarray, block = reallocarray(NULL, SIZE / 8, 8))
ENTRY(by_memalign, block = memalign(64, SIZE))
ENTRY(by_aligned_alloc, block = aligned_alloc(128, SIZE))
ENTRY(by_posix_memalign, if (posix_memalign(&block, 256, SIZE)) abort())
ENTRY(by_valloc, block = valloc(SIZE))
ENTRY(by_pvalloc, block = pvalloc(SIZE))

/* The block before is freed, whether it moves or not; so is the last one, by the size 0. */
__attribute__((noinline)) static void grows(void)
{
    char *block = NULL;
    for (int n = 1; n <= COUNT; n++)
        block = realloc(block, n * SIZE);
    if (realloc(block, 0) != NULL)
        abort();
}

/* What cannot be had is not counted, and the block stays. */
__attribute__((noinline)) static void fails(void)
{
    char *block = malloc(SIZE);
    volatile size_t too_much = (size_t)-1 / 2 + 1;
    if (malloc(too_much) || calloc(too_much, 2) || calloc(too_much, 3) || realloc(block, too_much)
        || malloc(too_much + too_much / 2))
        abort();
    kept[count++] = block;
}

int main(void)
{
    for (int n = 0; n < COUNT; n++) {
        by_malloc(n);
        by_calloc(n);
        by_realloc(n);
        by_reallocarray(n);
        by_memalign(n);
        by_aligned_alloc(n);
        by_posix_memalign(n);
        by_valloc(n);
        by_pvalloc(n);
    }
    grows();
    fails();
    printf("%d blocks kept\n", count);
    return 7;
}
