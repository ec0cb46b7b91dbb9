// Strings are interned in a set. "leak" interns one for each request; "sound" the same 5,000.
// run leak 150000: variable intern grows, allocated in intern or main
// run sound 150000: no suspect
// long 800000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>
__attribute__((noinline)) static const std::string &intern(std::string text) {
  static std::unordered_set<std::string> pool;
  return *pool.insert(std::move(text)).first;
}
int main(int, char **argv) {
  int distinct = strcmp(argv[1], "leak") ? 5000 : 1 << 30;
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) sum += intern("a symbol with a rather long name, which has the number " + std::to_string(i % distinct) + std::string(100, '_')).size();
  printf("%zu\n", sum);
}
