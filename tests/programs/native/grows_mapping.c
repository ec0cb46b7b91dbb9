/* Makes one mapping 64 KiB larger 400 times, by mremap, and maps memory for a moment in between. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

enum { COUNT = 400, STEP = 64 * 1024 };

static char *log_of_all;
static size_t size;

__attribute__((noinline)) static void grow(void)
{
    log_of_all = size ? mremap(log_of_all, size, size + STEP, MREMAP_MAYMOVE)
                      : mmap(0, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size += STEP;
    memset(log_of_all + size - STEP, 1, 4096);
}

__attribute__((noinline)) static void use_for_a_moment(void)
{
    char *mapped = mmap(0, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, 4096);
    munmap(mapped, STEP);
}

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        grow();
        use_for_a_moment();
    }
    return 0;
}
