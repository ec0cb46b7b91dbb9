// Sessions in a tree of tsearch. "leak" never deletes; "sound" deletes each after 500 others.
// run leak 40000: variable sessions grows, allocated in login or main
// run sound 40000: no suspect
// long 250000
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct session { int id; char state[700]; };
static void *sessions;
static int by_id(const void *a, const void *b) { return ((const struct session *)a)->id - ((const struct session *)b)->id; }
__attribute__((noinline)) static void login(int id) {
  struct session *s = malloc(sizeof *s);
  s->id = id; memset(s->state, id, sizeof s->state);
  tsearch(s, &sessions, by_id);
}
__attribute__((noinline)) static void logout(int id) {
  struct session key = {.id = id}, **found = tfind(&key, &sessions, by_id);
  if (!found) return;
  struct session *s = *found;
  tdelete(s, &sessions, by_id);
  free(s);
}
int main(int argc, char **argv) {
  int sound = strcmp(argv[1], "leak");
  for (int i = 0; i < atoi(argv[2]); i++) {
    int id = (int)((unsigned)i * 2654435761u >> 4);
    login(id);
    if (sound && i >= 500) logout((int)((unsigned)(i - 500) * 2654435761u >> 4));
    char *page = malloc(3000); memset(page, i, 3000); free(page);
  }
  printf("%p\n", sessions ? "some" : "none");
}
