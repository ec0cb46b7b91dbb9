/* Forks a child that gives up its privileges before it allocates anything, and keeps what it allocates. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *kept[20000];

void keep(int number)
{
    kept[number] = malloc(100);
}

int main(void)
{
    if (fork() == 0) {
        if (setgid(65534) || setuid(65534))
            exit(1);
        for (int number = 0; number < 20000; number++)
            keep(number);
        printf("%d\n", (int)getuid());
        exit(0);
    }
    wait(NULL);
    return 0;
}
