/* Copies names by `strdup`, and keeps them in one function and frees them in another. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

void *kept[20000];

__attribute__((noinline)) static void keep(int number)
{
    kept[number] = strdup("a name that is kept for as long as the program runs");
}

__attribute__((noinline)) static void use(void)
{
    free(strdup("a name that is used for a moment"));
}

int main(void)
{
    for (int number = 0; number < 20000; number++) {
        keep(number);
        use();
    }
    return 0;
}
