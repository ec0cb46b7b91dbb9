// Measurements in an array that doubles. "leak" keeps all; "sound" empties it each 5,000, and keeps the room.
// run leak 2000000: variable samples grows, allocated in add
// run sound 2000000: no suspect
// long 12000000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double *samples;
static size_t count, room;
__attribute__((noinline)) static void add(double x) {
  if (count == room) { room = room ? room * 2 : 16; samples = realloc(samples, room * sizeof *samples); }
  samples[count++] = x;
}
int main(int argc, char **argv) {
  int sound = strcmp(argv[1], "leak");
  double sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    add(i * 0.5);
    if (sound && count == 5000) count = 0;
    if (i % 100 == 0) { char *line = malloc(2000); memset(line, i, 2000); sum += line[3]; free(line); }
  }
  printf("%g\n", sum + samples[7]);
}
