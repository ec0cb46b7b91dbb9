/* Maps 256 KiB again and again and keeps them, between two buffers from malloc that are freed at the end. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COUNT = 400, SIZE = 256 * 1024, BUFFER = 3000000 };

static void *kept[COUNT];

__attribute__((noinline)) void leak_map(int i) {
  kept[i] = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(kept[i], 1, 4096);
}

__attribute__((noinline)) void free_map(void) {
  void *mapped = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(mapped, 1, 4096);
  munmap(mapped, SIZE);
}

__attribute__((noinline)) void *buffer(void) {
  char *volatile made = malloc(BUFFER);
  memset(made, 1, BUFFER);
  return made;
}

int main(void) {
  void *first = buffer();
  for (int i = 0; i < COUNT; i++) {
    leak_map(i);
    free_map();
  }
  void *last = buffer();
  free(first);
  free(last);
  return 0;
}
