/* Says where its blocks are in their pages, and whether the dynamic linker has an error to tell. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  const char *error = dlerror();
  void *blocks[5];
  for (int i = 0; i < 5; i++) blocks[i] = malloc(40 + 48 * i);
  for (int i = 0; i < 5; i++) printf("%d ", (int)((uintptr_t)blocks[i] % 4096));
  puts(error ? error : "no error");
  return 0;
}
