// Three threads at work, each with a table of blocks whose contents are known, until the input ends. Prints its number. A line `N`
// has the main thread allocate in functions named after what they call; it prints the words of each. A line `fork` has a child do
// so. `load PATH`, `plugin N` and `unload` are about a library that allocates. The last line says that all blocks are as they were.
//
// With the argument `alone` there is one thread, which never waits: it computes with vectors and allocates until the input ends.
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>

static std::atomic<bool> stop{false};
static void *volatile last;

extern "C" {
__attribute__((noinline)) void by_malloc(int times)
{
    for (int i = 0; i < times; i++) {
        last = malloc(24);
        free(last);
    }
}

__attribute__((noinline)) void by_new(int times)
{
    for (int i = 0; i < times; i++) {
        char *block = new char[800];
        last = block;
        delete[] block;
    }
}

__attribute__((noinline)) void by_realloc(int times)
{
    for (int i = 0; i < times; i++) {
        last = malloc(4000);
        last = realloc(last, 8000);
        free(last);
    }
}
}

static void measure(int n)
{
    by_malloc(100 * n);
    by_new(10 * n);
    by_realloc(n);
    printf("by_malloc %d\nby_new %d\nby_realloc %d\nend\n", 300 * n, 1000 * n, 1500 * n);
}

static void fork_child()
{
    pid_t child = fork();
    if (child == 0) {
        by_malloc(100000);
        by_new(1000);
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("a child ended with %d\nend\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s is not as it was\n", what);
    abort();
}

struct Block {
    unsigned char *bytes;
    size_t size;
};

static unsigned char content(size_t slot, size_t size) { return (unsigned char)(slot * 31 + size); }

static void check(const Block &block, size_t slot)
{
    for (size_t i = 0; i < block.size; i++)
        if (block.bytes[i] != content(slot, block.size))
            fail("a block");
}

// One step: a block goes, another one comes, in one of several ways.
static void renew(Block &block, size_t slot, size_t round)
{
    check(block, slot);
    size_t size = 1 + (slot * 7919 + round * 104729) % 3000;
    switch (round % 3) {
    case 0:
        free(block.bytes);
        block.bytes = (unsigned char *)malloc(size);
        break;
    case 1:
        block.bytes = (unsigned char *)realloc(block.bytes, size);
        break;
    default:
        free(block.bytes);
        if (posix_memalign((void **)&block.bytes, 64, size) != 0)
            fail("memory");
    }
    block.size = size;
    memset(block.bytes, content(slot, size), size);
}

static const size_t SLOTS = 997;

static void *work(void *number)
{
    Block *table = (Block *)calloc(SLOTS, sizeof(Block));
    for (size_t round = (size_t)number; !stop; round++)
        renew(table[round * 7919 % SLOTS], round * 7919 % SLOTS, round);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        check(table[slot], slot);
        free(table[slot].bytes);
    }
    free(table);
    return NULL;
}

static bool input_has_ended()
{
    struct pollfd input = {0, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

typedef float Vector __attribute__((vector_size(32)));

// All registers of vectors are in use, and their upper halves differ from the lower ones.
#if defined(__x86_64__)
__attribute__((noinline, target("avx")))
#else
__attribute__((noinline))
#endif
static void compute()
{
    Vector a = {1, 2, 3, 4, 5, 6, 7, 8}, b = a * 2, c = a * 3, d = a * 5, e = a * 7, f = a * 11;
    for (int i = 0; i < 20000; i++) {
        asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f));
        a = a + b - b; b = b + c - c; c = c + d - d; d = d + e - e; e = e + f - f; f = f + a - a;
    }
    for (int i = 0; i < 8; i++)
        if (a[i] != i + 1 || b[i] != 2 * (i + 1) || c[i] != 3 * (i + 1) || d[i] != 5 * (i + 1) || e[i] != 7 * (i + 1)
            || f[i] != 11 * (i + 1))
            fail("a vector");
}

static int alone()
{
    Block table[SLOTS] = {};
    for (size_t round = 0; round % 64 || !input_has_ended(); round++) {
        renew(table[round * 7919 % SLOTS], round * 7919 % SLOTS, round);
        compute();
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        check(table[slot], slot);
    puts("all is as it was");
    return 0;
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%d\n", getpid());
    if (count > 1 && !strcmp(arguments[1], "alone"))
        return alone();
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    char line[4096];
    void *library = NULL;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "fork")) {
            fork_child();
        } else if (!strncmp(line, "load ", 5)) {
            library = dlopen(line + 5, RTLD_LAZY);
            puts(library ? "end" : dlerror());
        } else if (!strncmp(line, "plugin ", 7)) {
            int n = atoi(line + 7);
            ((void (*)(int))dlsym(library, "by_plugin"))(n);
            printf("by_plugin %d\nend\n", 20 * n);
        } else if (!strcmp(line, "unload")) {
            dlclose(library);
            puts("end");
        } else {
            measure(atoi(line));
        }
    }
    stop = true;
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("all is as it was");
}
