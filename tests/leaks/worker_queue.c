// A thread takes jobs from a list. In "leak" three are added for each that it takes; in "sound" the adder waits.
// run leak 30000: variable first grows, allocated in submit
// run sound 30000: no suspect
// long 150000
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct job { struct job *next; char data[2000]; };
static struct job *first, *last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, done, leaks, credit;
__attribute__((noinline)) static void submit(int i) {
  struct job *j = malloc(sizeof *j);
  j->next = 0; memset(j->data, i, sizeof j->data);
  pthread_mutex_lock(&lock);
  while (!leaks && waiting > 100) pthread_cond_wait(&changed, &lock);
  if (last) last->next = j; else first = j;
  last = j; waiting++;
  if (i % 3 == 0 || !leaks) credit++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}
static void *work(void *sum) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!(first && credit) && !done) pthread_cond_wait(&changed, &lock);
    if (done && !credit) { pthread_mutex_unlock(&lock); return 0; }
    struct job *j = first;
    first = j->next; if (!first) last = 0;
    waiting--; credit--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    char *scratch = malloc(4000); memset(scratch, j->data[3], 4000); *(long *)sum += scratch[5]; free(scratch);
    free(j);
  }
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  pthread_t worker;
  pthread_create(&worker, 0, work, &sum);
  for (int i = 0; i < atoi(argv[2]); i++) submit(i);
  pthread_mutex_lock(&lock); done = 1; pthread_cond_broadcast(&changed); pthread_mutex_unlock(&lock);
  pthread_join(worker, 0);
  printf("%ld\n", sum);
}
