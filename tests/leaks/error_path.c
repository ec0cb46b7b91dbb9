// One request in twenty has a bad header, and its body is not freed then. "sound" frees it.
// run leak 60000: nothing grows, allocated in read_body
// run sound 60000: no suspect
// long 300000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int leaks;
__attribute__((noinline)) static char *read_body(int i) { char *b = malloc(8192); memset(b, i, 8192); return b; }
__attribute__((noinline)) static int handle(int i) {
  char *body = read_body(i);
  if (i % 20 == 0) { if (!leaks) free(body); return -1; }
  int answer = body[100];
  free(body);
  return answer;
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) sum += handle(i);
  printf("%ld\n", sum);
}
