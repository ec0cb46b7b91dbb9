/* A server that forgets to free the bodies of some requests: it keeps them in a history that nobody reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 20000, BODY = 20000 };

struct entry {
    char *body;
    struct entry *next;
};

static struct entry *history;

static char *read_body(int request)
{
    char *body = malloc(BODY);
    if (!body)
        abort();
    memset(body, request, BODY);
    return body;
}

static void remember(char *body)
{
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        abort();
    entry->body = body;
    entry->next = history;
    history = entry;
}

static void serve(int request)
{
    char *body = read_body(request);
    if (request % 10 == 0)
        remember(body); /* the leak */
    else
        free(body);
}

int main(void)
{
    for (int request = 0; request < REQUESTS; request++)
        serve(request);
    printf("%d requests\n", REQUESTS);
    return 0;
}
