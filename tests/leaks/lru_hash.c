// A cache of the last 500 objects: a list by use, and a table by key. "leak" evicts from the list alone.
// run leak 40000: variable table grows, allocated in fetch
// run sound 40000: no suspect
// long 160000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct object { struct object *newer, *older, *chain; int key; char body[800]; };
static struct object *table[4096], *newest, *oldest;
static int listed, leaks;
static void unchain(struct object *o) {
  struct object **at = &table[o->key & 4095];
  while (*at != o) at = &(*at)->chain;
  *at = o->chain;
}
static void evict(void) {
  struct object *o = oldest;
  oldest = o->newer; oldest->older = 0; listed--;
  if (!leaks) { unchain(o); free(o); }
}
__attribute__((noinline)) static struct object *fetch(int key) {
  for (struct object *o = table[key & 4095]; o; o = o->chain) if (o->key == key) return o;
  struct object *o = malloc(sizeof *o);
  memset(o->body, key, sizeof o->body);
  o->key = key; o->chain = table[key & 4095]; table[key & 4095] = o;
  o->newer = 0; o->older = newest;
  if (newest) newest->newer = o; else oldest = o;
  newest = o;
  if (++listed > 500) evict();
  return o;
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    sum += fetch(i)->body[5];
    if (i > 20) sum += fetch(i - 20)->body[5];
    char *work = malloc(2000); memset(work, i, 2000); sum += work[7]; free(work);
  }
  printf("%ld\n", sum);
}
