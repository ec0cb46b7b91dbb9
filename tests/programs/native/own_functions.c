/* Calls functions of allocators by names of their own, as programs do that are linked with jemalloc or mimalloc; and
   asks, as programs do, whether jemalloc is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef JEMALLOC
void *mallocx(size_t size, int flags);
void dallocx(void *block, int flags);
#define ALLOCATE(size) mallocx(size, 0)
#define FREE(block) dallocx(block, 0)
#elif defined MIMALLOC
void *mi_malloc(size_t size);
void mi_free(void *block);
#define ALLOCATE(size) mi_malloc(size)
#define FREE(block) mi_free(block)
#elif defined OWN
static char memory[1 << 16];
__attribute__((noinline)) void *mi_malloc(size_t size)
{
  static size_t used;
  return memory + (used += size);
}
#define ALLOCATE(size) mi_malloc(size)
#define FREE(block) (void)(block)
#else
__attribute__((weak)) void *mallocx(size_t size, int flags);
#define ALLOCATE(size) (mallocx ? mallocx(size, 0) : malloc(size))
#define FREE(block) free(block)
#endif

int main(void)
{
  char *own = ALLOCATE(1000), *other = malloc(2000);
  memset(own, 1, 1000);
  memset(other, 2, 2000);
  printf("%d\n", own[999] + other[1999]);
  FREE(own);
  free(other);
  return 0;
}
