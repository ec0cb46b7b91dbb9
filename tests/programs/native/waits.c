/* A thread reads into a block from a pipe that nobody writes to: the block's address is in no memory, but is an argument of
   the system call. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];
static volatile pid_t waiting;

#define KEPT(name, size) \
    __attribute__((noinline)) static void *name(void) { return malloc(size); }

KEPT(by_waiting, 5000)
KEPT(by_lost, 6000)

/* What was on the stack and in registers is overwritten. */
__attribute__((noinline)) static int overwrite(int depth)
{
  volatile char zeros[4096];
  memset((char *)zeros, 0, sizeof zeros);
  return depth == 0 ? zeros[1] : overwrite(depth - 1) + zeros[2];
}

/* Its complement is on the stack, and it is in a register as the thread waits. */
__attribute__((noinline)) static long hidden(void *(*allocate)(void))
{
  return ~(long)allocate();
}

static void *waits(void *unused)
{
  (void)unused;
  volatile long complement = hidden(by_waiting);
  volatile long lost = hidden(by_lost);
  lost = 0;
  overwrite(8);
  waiting = (pid_t)syscall(SYS_gettid);
  register long number __asm__("rax") = SYS_read;
  register long from __asm__("rdi") = ends[0];
  register long into __asm__("rsi") = ~complement;
  register long size __asm__("rdx") = 5000;
  __asm__ volatile("syscall" : "+r"(number) : "r"(from), "r"(into), "r"(size) : "rcx", "r11", "memory");
  return (void *)(number + lost);
}

/* Whether the thread waits in the system call. */
static int does_wait(void)
{
  char path[64], text[8] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)waiting);
  FILE *file = waiting ? fopen(path, "r") : 0;
  if (!file) return 0;
  int is_read = fgets(text, sizeof text, file) && strncmp(text, "0 ", 2) == 0;
  fclose(file);
  return is_read;
}

int main(void)
{
  if (pipe(ends)) return 1;
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  for (int tries = 0; tries < 100000 && !does_wait(); tries++) usleep(100);
  printf("%d\n", does_wait());
  return 0;
}
