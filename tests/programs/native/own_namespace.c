/* Moves to a user namespace of its own, which the kernel refuses a process with several threads; then allocates. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

__attribute__((noinline)) static void after(void)
{
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

int main(void)
{
  puts(unshare(CLONE_NEWUSER) ? strerror(errno) : "moved");
  after();
  return 3;
}
