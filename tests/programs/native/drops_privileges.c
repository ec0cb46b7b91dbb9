/* Gives up its privileges, with an argument also its root folder for that one, and allocates before and afterwards. Of the
   latter it loses all but one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 20000, SIZE = 100 };

/* Not static: the compiler would leave out what nobody reads. */
void *kept[2];

static void lose(void)
{
    for (int i = 0; i < BLOCKS; i++)
        memset(malloc(SIZE), 1, SIZE);
}

int main(int count, char **arguments)
{
    kept[0] = malloc(SIZE);
    if (count > 1 && (chroot(arguments[1]) || chdir("/")))
        return 1;
    if (setgid(65534) || setuid(65534))
        return 1;
    lose();
    kept[1] = malloc(SIZE);
    /* The last address is not to stay in a register, nor on the stack. */
    memset(kept[1], 0, SIZE);
    printf("%d\n", (int)getuid());
    return 0;
}
