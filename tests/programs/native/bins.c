// A block that is lost lies before a chunk that is freed, to whose header glibc's list of free chunks points: the header
// begins with the last word of the block.
#include <stdlib.h>
#include <string.h>
static void *kept[64];
__attribute__((noinline)) static void *by_lost(void) { return malloc(1608); }
__attribute__((noinline)) static void *by_freed(void) { return malloc(1608); }
__attribute__((noinline)) static void *by_kept(void) { return malloc(1608); }
__attribute__((noinline)) static void fill(void) {
  for (int i = 0; i < 64; i++) {
    void *volatile lost = by_lost();
    void *volatile freed = by_freed();
    kept[i] = by_kept();
    memset(lost, 1, 1608); memset(freed, 2, 1608); memset(kept[i], 3, 1608);
    free(freed);
    lost = 0; freed = 0;
  }
}
// What is left of calls is not in use.
__attribute__((noinline)) static void clear(void) { char volatile stack[8192]; for (int i = 0; i < 8192; i++) stack[i] = 0; }
int main(void) { fill(); clear(); return 0; }
