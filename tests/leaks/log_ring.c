// The last messages are kept in a ring: "leak" forgets to free the one that it overwrites.
// run leak 200000: nothing grows, allocated in message
// run sound 200000: no suspect
// long 900000
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *ring[4096];
static int leaks;
__attribute__((noinline)) static char *message(int i) {
  char *text;
  if (asprintf(&text, "%d: GET /items/%d?page=%d HTTP/1.1 200 %0100d", i, i * 7, i % 13, i) < 0) abort();
  return text;
}
__attribute__((noinline)) static void record(int i) {
  char **slot = &ring[i % 4096];
  if (!leaks) free(*slot);
  *slot = message(i);
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  for (int i = 0; i < atoi(argv[2]); i++) { record(i); char *line = message(i); free(line); }
  printf("%s\n", ring[7]);
}
