/* Cancels threads that start programs: `posix_spawn` is no cancellation point. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *spawn(void *started)
{
  char *arguments[] = {"true", 0};
  pid_t child;
  pthread_cancel(pthread_self());
  *(int *)started = posix_spawn(&child, "/bin/true", 0, 0, arguments, environ) == 0;
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  waitpid(child, 0, 0);
  pthread_setcancelstate(state, 0);
  pthread_testcancel();
  return 0;
}

int main(void)
{
  int all = 0;
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    int started = 0;
    void *result;
    pthread_create(&thread, 0, spawn, &started);
    pthread_join(thread, &result);
    all += started && result == PTHREAD_CANCELED;
  }
  printf("%d\n", all);
  return 0;
}
