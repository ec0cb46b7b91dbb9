// Results of tasks stay in a vector of futures. "sound" gets and drops them when there are 100.
// run leak 30000: variable pending grows, allocated in submit or std::
// run sound 30000: no suspect
// long 120000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>
static std::vector<std::future<size_t>> pending;
__attribute__((noinline)) static void submit(int i) {
  std::string input(900, char(i));
  pending.push_back(std::async(std::launch::deferred, [input = std::move(input)] { return input.size(); }));
}
int main(int, char **argv) {
  bool leaks = !std::strcmp(argv[1], "leak");
  size_t sum = 0;
  for (int i = 0; i < std::atoi(argv[2]); i++) {
    submit(i);
    std::string work(3000, char(i)); sum += work[7];
    if (!leaks && pending.size() >= 100) { for (auto &one : pending) sum += one.get(); pending.clear(); }
  }
  std::printf("%zu\n", sum);
}
