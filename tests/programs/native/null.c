/* Frees and reallocates the null pointer while many blocks are alive, as programs and libraries do. */
#include <stdlib.h>

#define BLOCKS 100000

static char *blocks[BLOCKS];

int main(void)
{
    for (int round = 0; round < 4; round++) {
        for (int n = 0; n < BLOCKS; n++) {
            blocks[n] = malloc(24);
            free(NULL);
            if (n % 100 == 0)
                blocks[n] = realloc(realloc(NULL, 40), 0) ? NULL : blocks[n];
        }
        for (int n = 0; n < BLOCKS; n++) {
            free(blocks[n]);
            free(NULL);
        }
    }
    return 0;
}
