// Lines are read with getline into a new buffer each time. "sound" frees it; "leak" keeps them in an array of pointers.
// run leak 60000: variable lines grows, allocated in read_line or getline or remember
// run sound 60000: no suspect
// long 240000
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char **lines;
static size_t count, room;
__attribute__((noinline)) static char *read_line(FILE *in) {
  char *line = NULL;
  size_t size = 0;
  if (getline(&line, &size, in) < 0) { free(line); return NULL; }
  return line;
}
__attribute__((noinline)) static void remember(char *line) {
  if (count == room) { room = room ? room * 2 : 64; lines = realloc(lines, room * sizeof *lines); }
  lines[count++] = line;
}
int main(int argc, char **argv) {
  int leaks = !strcmp(argv[1], "leak");
  static char text[600];
  memset(text, 'l', 500); text[500] = '\n';
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    FILE *in = fmemopen(text, 501, "r");
    char *line = read_line(in);
    fclose(in);
    sum += line[3];
    if (leaks) remember(line); else free(line);
  }
  printf("%ld %zu\n", sum, count);
}
