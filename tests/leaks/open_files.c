// A stream that is opened for each document is not closed if the document is empty; "sound" closes it.
// run leak 900: variable grows, allocated in parse
// run sound 900: no suspect
// long 900
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static int leaks;
__attribute__((noinline)) static int parse(int i) {
  FILE *stream = fopen("/dev/null", "r");
  if (!stream) return 0;
  char *own = malloc(65536); memset(own, i, 65536);
  setvbuf(stream, own, _IOFBF, 65536);
  int c = fgetc(stream);
  if (leaks && c == EOF) return 0;
  fclose(stream); free(own);
  return 1;
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  struct rlimit files = {1000, 1000};
  setrlimit(RLIMIT_NOFILE, &files);
  int sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { sum += parse(i); char *w = malloc(200000); memset(w, 1, 200000); sum += w[5]; free(w); }
  printf("%d\n", sum);
}
