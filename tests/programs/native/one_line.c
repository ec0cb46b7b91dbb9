// Loses two blocks in one line, which are one call site.
#include <stdlib.h>

volatile long sum;

__attribute__((noinline)) static void lose(void) {
  long *one = malloc(24), *two = malloc(4000); sum += (long)one ^ (long)two;
}

__attribute__((noinline)) static void overwrite(void) {
  volatile long stack[512];
  for (int i = 0; i < 512; i++) stack[i] = i;
}

int main(void) {
  for (int i = 0; i < 50; i++) lose();
  sum = 0;
  overwrite();
  return 0;
}
