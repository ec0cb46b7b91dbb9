/* A server in the manner of PostgreSQL: each process writes what it does over the program's arguments. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    size_t room = arguments[count - 1] + strlen(arguments[count - 1]) - arguments[0];
    char title[] = "server: worker [local] idle";
    if (fork() == 0) {
        memset(arguments[0], 0, room);
        strncpy(arguments[0], title, room);
        for (int n = 0; n < 100; n++)
            free(malloc(4000));
        return 0;
    }
    wait(NULL);
    return 0;
}
