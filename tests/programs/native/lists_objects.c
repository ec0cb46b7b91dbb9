/* A thread is in the dynamic linker, with its lock, most of the time; meanwhile the process forks children that allocate, and
   one that becomes another program. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
  (void)info, (void)size, (void)unused;
  for (volatile int i = 0; i < 20000; i++);
  return 0;
}

static void *list(void *unused)
{
  for (;;) dl_iterate_phdr(look, unused);
}

int main(void)
{
  pthread_t thread;
  int ended = 0;
  pthread_create(&thread, 0, list, 0);
  for (int i = 0; i < 30; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int block = 0; block < 20000; block++) {
        void *volatile allocated = malloc(1000);
        free(allocated);
      }
      if (i % 2) execl("/bin/true", "true", (char *)0);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    ended += status == 0;
  }
  printf("%d\n", ended);
  return 0;
}
