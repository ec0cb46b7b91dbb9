// Requests allocate from an arena. "leak" uses one for all; "sound" releases it after each.
// run leak 60000: variable arena grows, allocated in request
// run sound 60000: no suspect
// long 300000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <string>
static std::pmr::monotonic_buffer_resource arena;
static bool leaks;
__attribute__((noinline)) static size_t request(int i) {
  std::pmr::string a(700, char(i), &arena), b(a, &arena);
  size_t n = a.size() + b.size();
  return n;
}
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { sum += request(i); if (!leaks) arena.release(); std::string work(3000, 'x'); sum += work[7]; }
  printf("%zu\n", sum);
}
