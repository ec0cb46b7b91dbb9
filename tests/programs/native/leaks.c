/* A server whose function `xmalloc` allocates for all others. With an argument, it never removes sessions;
   otherwise it has a hundred of them at most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 4000, SESSION = 2000, ANSWER = 3000, SESSIONS = 100 };

static char *sessions[REQUESTS];

static void *xmalloc(size_t size)
{
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

static void remember(int request, int limit)
{
    sessions[request] = xmalloc(SESSION);
    memset(sessions[request], request, SESSION);
    if (request >= limit) {
        free(sessions[request - limit]);
        sessions[request - limit] = NULL;
    }
}

static void answer(int request)
{
    char *text = xmalloc(ANSWER);
    memset(text, request, ANSWER);
    free(text);
}

int main(int count, char **arguments)
{
    (void)arguments;
    int limit = count > 1 ? REQUESTS : SESSIONS;
    for (int request = 0; request < REQUESTS; request++) {
        remember(request, limit);
        answer(request);
    }
    printf("%d requests\n", REQUESTS);
    return 0;
}
