/* Forks a child that keeps each tenth of 200,000 blocks in a list, and ends. What `brk` gives the child is a mapping of its
   own beside the heap that it has from its parent. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct request {
    struct request *next;
    char header[200];
};

struct request *pending;

void receive(unsigned number)
{
    struct request *request = malloc(sizeof *request);
    request->next = pending;
    if (number % 10)
        free(request);
    else
        pending = request;
}

int main(void)
{
    if (fork() == 0) {
        for (unsigned number = 0; number < 200000; number++)
            receive(number);
        exit(0);
    }
    wait(NULL);
    return 0;
}
