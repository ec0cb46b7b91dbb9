/* Maps 64 parts of 1 MiB, writes into each of their pages, and keeps them. */
#include <string.h>
#include <sys/mman.h>

static char *kept[64];

int main(void)
{
    for (int part = 0; part < 64; part++) {
        kept[part] = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(kept[part], part, 1 << 20);
    }
    return 0;
}
