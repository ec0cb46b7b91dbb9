// A dictionary is read first; requests then allocate and free. Nothing grows, in one pass or in three that replace it.
// run once 60000: no suspect
// run reload 60000: no suspect
// long 300000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char **words;
static int count;
__attribute__((noinline)) static void load(int n) {
  char **new = malloc(n * sizeof *new);
  for (int i = 0; i < n; i++) { new[i] = malloc(120); snprintf(new[i], 120, "word %d", i); }
  for (int i = 0; i < count; i++) free(words[i]);
  free(words);
  words = new; count = n;
}
__attribute__((noinline)) static long request(int i) { char *volatile b = malloc(6000); memset(b, i, 6000); long c = b[5] + words[i % count][2]; free(b); return c; }
int main(int argc, char **argv) {
  int n = atoi(argv[2]), reload = !strcmp(argv[1], "reload");
  long sum = 0;
  load(200000);
  for (int i = 0; i < n; i++) { sum += request(i); if (reload && i && i % (n / 4) == 0) load(200000); }
  printf("%ld\n", sum);
}
