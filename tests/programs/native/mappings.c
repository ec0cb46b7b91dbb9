/* Mappings of a program's own: unmapped whole, in part and by others, resized, of files, and without access. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, COUNT = 50 };

static char *map(void *at, size_t pages, int access, int flags, int file)
{
    char *start = mmap(at, pages * PAGE, access, MAP_PRIVATE | flags, file, 0);
    if (start == MAP_FAILED)
        abort();
    return start;
}

static void unmap(char *start, size_t pages)
{
    if (munmap(start, pages * PAGE))
        abort();
}

#define MEMORY PROT_READ | PROT_WRITE, MAP_ANONYMOUS

/* Half of them stay. */
__attribute__((noinline)) static void whole(void)
{
    for (int n = 0; n < COUNT; n++) {
        char *start = map(NULL, 10, MEMORY, -1);
        memset(start, n, 10 * PAGE);
        if (n % 2)
            unmap(start, 10);
    }
}

/* Of ten pages the first, the last and two in the middle are unmapped: six stay, of two parts. */
__attribute__((noinline)) static void in_parts(void)
{
    for (int n = 0; n < COUNT; n++) {
        char *start = map(NULL, 10, MEMORY, -1);
        unmap(start, 1);
        unmap(start + 9 * PAGE, 1);
        unmap(start + 4 * PAGE, 2);
    }
}

__attribute__((noinline)) static void covers(char *start)
{
    map(start, 3, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_FIXED, -1);
}

/* Three pages of five are covered by others. */
__attribute__((noinline)) static void covered(void)
{
    for (int n = 0; n < COUNT; n++)
        covers(map(NULL, 5, MEMORY, -1) + PAGE);
}

__attribute__((noinline)) static void grows(void)
{
    char *start = map(NULL, 1, MEMORY, -1);
    for (int pages = 1; pages < COUNT; pages++) {
        start = mremap(start, pages * PAGE, (pages + 1) * PAGE, MREMAP_MAYMOVE);
        if (start == MAP_FAILED)
            abort();
    }
}

__attribute__((noinline)) static void of_file(const char *name)
{
    FILE *file = fopen(name, "r");
    char *start = map(NULL, 2, PROT_READ, 0, fileno(file));
    printf("%d\n", start[0] == 0x7F);
    fclose(file);
}

/* Address space alone, and what is not to be had. */
__attribute__((noinline)) static void reserves(void)
{
    map(NULL, 1000000, PROT_NONE, MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (mmap(NULL, 0, MEMORY | MAP_PRIVATE, -1, 0) != MAP_FAILED || munmap((void *)1, PAGE) == 0)
        abort();
}

/* The allocator's own mapping, of a block that is recorded as such. */
__attribute__((noinline)) static char *large(void)
{
    return malloc(3 << 20);
}

int main(int count, char **arguments)
{
    whole();
    in_parts();
    covered();
    grows();
    of_file(arguments[0]);
    reserves();
    printf("%d\n", large() != NULL && count > 0);
    return 5;
}
