/* Allocates at its start, and then nothing until its input ends. Prints a line in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 300, SIZE = 100000 };

static char *blocks[BLOCKS];

static void *at_start(void)
{
    char *bytes = malloc(SIZE);
    memset(bytes, 1, SIZE);
    return bytes;
}

int main(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = at_start();
    puts("allocated");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}
