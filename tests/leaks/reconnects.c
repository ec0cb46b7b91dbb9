// Each reconnection appends a listener to a list; "sound" removes the old one first.
// run leak 40000: variable listeners grows, allocated in subscribe
// run sound 40000: no suspect
// long 200000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct listener { struct listener *next; void (*call)(void *); char buffer[1000]; };
static struct listener *listeners;
static long calls;
static void on_message(void *p) { calls += *(char *)p; }
__attribute__((noinline)) static struct listener *subscribe(void) {
  struct listener *l = malloc(sizeof *l);
  l->call = on_message; memset(l->buffer, 1, sizeof l->buffer);
  l->next = listeners; return listeners = l;
}
static void unsubscribe(void) { struct listener *l = listeners; if (l) { listeners = l->next; free(l); } }
__attribute__((noinline)) static void connection(int i) {
  char *tls = malloc(16384); memset(tls, i, 16384);
  subscribe()->call(tls);
  free(tls);
}
int main(int argc, char **argv) {
  int sound = strcmp(argv[1], "leak");
  for (int i = 0; i < atoi(argv[2]); i++) { connection(i); if (sound) unsubscribe(); }
  printf("%ld\n", calls);
}
