/* Allocates as fast as it can: as many millions of blocks of 24 to 1,047 bytes as the argument says, the last thousand of
   which are kept; 535.5 bytes each on average. */
#include <stdlib.h>

static void *kept[1000];

void *churn(unsigned number)
{
    return malloc(24 + number * 2654435761u % 1024);
}

int main(int argc, char **argv)
{
    unsigned blocks = 1000000u * (argc > 1 ? atoi(argv[1]) : 1);
    for (unsigned number = 0; number < blocks; number++) {
        unsigned place = number % 1000;
        free(kept[place]);
        kept[place] = churn(number);
    }
    return 0;
}
