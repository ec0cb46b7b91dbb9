// A deque of work: in "leak" four items arrive for three that are done; in "sound" bursts come and are worked off.
// run leak 60000: variable backlog grows, allocated in arrive
// run sound 60000: no suspect
// long 300000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
static std::deque<std::string> backlog;
__attribute__((noinline)) static void arrive(int i) { backlog.push_back(std::string(2000, char(i))); }
static size_t done() { if (backlog.empty()) return 0; size_t n = backlog.front().size(); backlog.pop_front(); return n; }
int main(int, char **argv) {
  bool leaks = !strcmp(argv[1], "leak");
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    if (leaks) { arrive(i); if (i % 4) sum += done(); }
    else if (i % 2000 < 1000) arrive(i); else sum += done();
  }
  printf("%zu\n", sum);
}
