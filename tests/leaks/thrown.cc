// A parser throws for one document in four. "leak" has allocated its buffer by new[] before; "sound" holds it by unique_ptr.
// run leak 40000: nothing grows, allocated in parse
// run sound 40000: no suspect
// long 200000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
static void check(int i) { if (i % 4 == 0) throw std::runtime_error("bad document " + std::to_string(i) + std::string(300, '.')); }
static bool leaks;
__attribute__((noinline)) static int parse(int i) {
  std::unique_ptr<char[]> owner;
  char *buffer = new char[4096];
  if (!leaks) owner.reset(buffer);
  memset(buffer, i, 4096);
  check(i);
  int c = buffer[7];
  if (leaks) delete[] buffer;
  return c;
}
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) try { sum += parse(i); } catch (const std::exception &e) { sum += e.what()[0]; }
  printf("%ld\n", sum);
}
