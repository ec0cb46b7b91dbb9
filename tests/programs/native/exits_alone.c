/* Its main thread ends by the system call alone: its own, or that of a child made by clone, as the argument says. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noinline)) static void allocates(void)
{
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

static int begins(void *unused)
{
  (void)unused;
  allocates();
  return 4;
}

int main(int count, char **arguments)
{
  const char *how = count > 1 ? arguments[1] : "";
  allocates();
  puts("before");
  fflush(stdout);
  if (!strcmp(how, "child")) {
    int status;
    pid_t child = clone(begins, stack + sizeof stack, SIGCHLD, NULL);
    if (waitpid(child, &status, 0) != child) return 1;
    printf("%d\n", WEXITSTATUS(status));
    return 3;
  }
  if (!strcmp(how, "unseen")) {
#ifdef __x86_64__
    __asm__ volatile("syscall" : : "a"(__NR_exit), "D"(3));
#endif
  }
  syscall(__NR_exit, 3);
  return 1;
}
