/* Waits for children of every kind, of which it has none, or one made by clone, and has none again. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[1 << 16] __attribute__((aligned(16)));

static int ends(void *unused)
{
  (void)unused;
  usleep(100000);
  return 4;
}

static long milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For a part of a second, in which copies come and go: each wait is to fail. */
static int has_none(int options)
{
  long end = milliseconds() + 600;
  int wrong = 0;
  while (milliseconds() < end) {
    void *volatile block = malloc(4000);
    free(block);
    int status;
    siginfo_t info;
    struct rusage usage;
    wrong += waitpid(-1, &status, options) != -1 || errno != ECHILD;
    wrong += waitpid(0, &status, options) != -1 || errno != ECHILD;
    wrong += wait4(-1, NULL, options, &usage) != -1 || errno != ECHILD;
    wrong += waitid(P_ALL, 0, &info, WEXITED | options) != -1 || errno != ECHILD;
  }
  return wrong;
}

int main(void)
{
  for (int i = 0; i < 200000; i++) *(void *volatile *)malloc(100) = NULL;
  printf("%d\n", has_none(__WALL | WNOHANG));
  printf("%d\n", has_none(__WCLONE | WNOHANG));
  printf("%d\n", has_none(__WALL));
  int status = 0;
  pid_t child = clone(ends, stack + sizeof stack, 0, NULL);
  if (waitpid(-1, &status, __WALL) != child) return 1;
  printf("%d\n%d\n", WEXITSTATUS(status), has_none(__WALL | WNOHANG));
  return 3;
}
