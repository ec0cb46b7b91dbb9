// A lookup by operator[] inserts what is not there. "sound" uses find.
// run leak 150000: variable limits grows, allocated in limit
// run sound 150000: no suspect
// long 700000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
static std::map<std::string, std::string> limits;
static bool leaks;
__attribute__((noinline)) static std::string limit(const std::string &user) {
  if (leaks) return limits[user];
  auto found = limits.find(user);
  return found == limits.end() ? std::string() : found->second;
}
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  for (int i = 0; i < 100; i++) limits["admin-with-a-rather-long-name-" + std::to_string(i)] = "unlimited";
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { sum += limit("user-with-a-rather-long-name-too-" + std::to_string(i)).size(); std::string work(900, 'x'); sum += work[7]; }
  printf("%zu\n", sum);
}
