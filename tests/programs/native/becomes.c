// A program that becomes itself, as launchers become the program that they start. Each letter of the first argument is
// one image: `w` works, which allocates 20 MB and keeps them, `n` does nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *kept[20000];

__attribute__((noinline)) static void work(void) {
  for (int block = 0; block < 20000; block++) {
    kept[block] = malloc(1000);
    memset(kept[block], 'x', 1000);
  }
}

int main(int argc, char **argv) {
  const char *images = argc > 1 ? argv[1] : "";
  if (*images == 'w') work();
  if (*images && images[1]) {
    char *next[] = {argv[0], (char *)images + 1, NULL};
    execv("/proc/self/exe", next);
    return 1;
  }
  return 7;
}
