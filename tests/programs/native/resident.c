/* Memory that is in use, that malloc keeps, of a mapped file and of a stack; then, if wanted, malloc_trim (`trim`) or an
   end in a handler. */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 40000, SIZE = 1000, LAST = 64 << 20 };

static char *kept[BLOCKS], *freed[BLOCKS];

__attribute__((noinline)) static char *keep(void)
{
  char *block = malloc(SIZE);
  memset(block, 1, SIZE);
  return block;
}

__attribute__((noinline)) static char *give_back(void)
{
  char *block = malloc(SIZE);
  memset(block, 2, SIZE);
  return block;
}

/* What it maps tells the figures of the end from those before. */
static void leave(int number)
{
  (void)number;
  char *last = mmap(NULL, LAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (last != MAP_FAILED) for (size_t i = 0; i < LAST; i += 4096) last[i] = 3;
  exit(3);
}

static void *wait_forever(void *nothing)
{
  for (;;) pause();
  return nothing;
}

int main(int count, char **arguments)
{
  volatile char room[2 << 20];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
  for (int i = 0; i < BLOCKS; i++) {
    freed[i] = give_back();
    kept[i] = keep();
  }
  for (int i = 0; i < BLOCKS; i++) free(freed[i]);
  int file = open(arguments[0], O_RDONLY);
  if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) return 1;
  if (count > 1 && strcmp(arguments[1], "trim") == 0) {
    malloc_trim(0);
    return 0;
  }
  if (count > 1) {
    sigset_t alarms;
    pthread_t waiting;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    /* malloc takes locks in programs with several threads only. */
    pthread_create(&waiting, NULL, wait_forever, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    signal(SIGALRM, leave);
    alarm(1);
    for (;;) free(keep());
  }
  return 0;
}
