/* 200,000 blocks of each of some sizes, which are rounded up to words: 1, 2 and 3 of them. */
#include <stdlib.h>

enum { COUNT = 200000 };

#define OF(name, size)                               \
    __attribute__((noinline)) static void name(void) \
    {                                                \
        for (int n = 0; n < COUNT; n++)              \
            free(malloc(size));                      \
    }

OF(of_1_byte, 1)
OF(of_9_bytes, 9)
OF(of_23_bytes, 23)

int main(void)
{
    of_1_byte();
    of_9_bytes();
    of_23_bytes();
}
