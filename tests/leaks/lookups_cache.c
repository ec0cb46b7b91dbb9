// A cache of host names in a table of chains. "leak" never evicts; "sound" keeps the newest 2,000 entries.
// run leak 60000: variable table grows, allocated in cache_put
// run sound 60000: no suspect
// long 400000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct entry { struct entry *next, *newer; char *answer; char name[40]; };
static struct entry *table[4096], *oldest, *newest;
static int held, limit;
static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 + (unsigned char)*s++; return h % 4096; }
static void evict(void) {
  struct entry *e = oldest, **p = &table[hash(e->name)];
  while (*p != e) p = &(*p)->next;
  *p = e->next; oldest = e->newer; held--;
  free(e->answer); free(e);
}
__attribute__((noinline)) static void cache_put(const char *name) {
  struct entry *e = calloc(1, sizeof *e);
  unsigned h = hash(name);
  strcpy(e->name, name);
  e->answer = malloc(400); memset(e->answer, 'a', 400);
  e->next = table[h]; table[h] = e;
  if (newest) newest->newer = e; else oldest = e;
  newest = e;
  if (++held > limit) evict();
}
__attribute__((noinline)) static long resolve(int i) {
  char name[40]; snprintf(name, sizeof name, "host-%d.example.org", i);
  cache_put(name);
  long sum = 0;
  for (int k = 0; k < 4; k++) { char *packet = malloc(1500); memset(packet, k, 1500); sum += packet[7]; free(packet); }
  return sum;
}
int main(int argc, char **argv) {
  limit = strcmp(argv[1], "leak") ? 2000 : 1 << 30;
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) sum += resolve(i);
  printf("%ld\n", sum);
}
