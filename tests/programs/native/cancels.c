/* Cancels threads that allocate: `malloc` is no cancellation point, and may not become one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int cleaned;

static void clean(void *unused)
{
  (void)unused;
  cleaned++;
}

static void *allocate(void *unused)
{
  (void)unused;
  pthread_cleanup_push(clean, 0);
  for (;;) {
    void *volatile block = malloc(10000);
    free(block);
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
}

int main(void)
{
  for (int i = 0; i < 300; i++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, allocate, 0);
    usleep(500);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) return 1;
  }
  printf("%d\n", cleaned);
  return 0;
}
