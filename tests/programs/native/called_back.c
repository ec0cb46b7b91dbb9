/* A function of the program that the C library calls back keeps what another one allocates. */
#include <stdlib.h>
#include <string.h>

static char *kept[40000];
static int count;

__attribute__((noinline)) static char *copy(const char *text)
{
    char *copied = malloc(300);
    return strcpy(copied, text);
}

static int compare(const void *one, const void *other)
{
    if (count < 40000)
        kept[count++] = copy("compared");
    return *(const int *)one - *(const int *)other;
}

int main(void)
{
    for (int round = 0; round < 50; round++) {
        int values[200];
        for (int i = 0; i < 200; i++)
            values[i] = (i * 7919 + round) % 211;
        qsort(values, 200, sizeof *values, compare);
        free(memset(malloc(3000), 1, 3000));
    }
    return count == 0;
}
