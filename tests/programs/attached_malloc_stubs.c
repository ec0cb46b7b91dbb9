/* Blocks of malloc that come and go, for attached_malloc.ml. Loads the library that the environment names first. */
#include <caml/mlvalues.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 64

static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS];
static unsigned long next = 1;

__attribute__((constructor)) static void load(void) {
  const char *library = getenv("ATTACHED_LIBRARY");
  if (library != NULL && dlopen(library, RTLD_NOW) == NULL) abort();
}

/* Replaces so many blocks, and gives the number of those that were as they had been written. */
value attached_churn(value count) {
  long same = 0;
  for (long i = 0; i < Long_val(count); i++) {
    next = next * 6364136223846793005ul + 1442695040888963407ul;
    unsigned at = (next >> 33) % BLOCKS;
    unsigned char *old = blocks[at];
    same += old == NULL || (old[0] == (unsigned char)at && old[sizes[at] - 1] == (unsigned char)at);
    free(old);
    sizes[at] = 1 + (next >> 40) % 4000;
    blocks[at] = malloc(sizes[at]);
    memset(blocks[at], (int)at, sizes[at]);
  }
  return Val_long(same);
}
