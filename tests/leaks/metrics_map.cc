// Histograms by label. "leak" has the request's number in the label, "sound" its route.
// run leak 20000: variable histograms grows, allocated in observe or std:: or __gnu_cxx
// run sound 20000: no suspect
// long 80000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>
static std::unordered_map<std::string, std::vector<double>> histograms;
__attribute__((noinline)) static void observe(const std::string &label, double took) {
  auto &histogram = histograms[label];
  if (histogram.empty()) histogram.resize(100);
  histogram[size_t(took) % 100] += 1;
}
int main(int, char **argv) {
  bool leaks = !std::strcmp(argv[1], "leak");
  size_t sum = 0;
  for (int i = 0; i < std::atoi(argv[2]); i++) {
    observe("http_request_seconds{route=\"" + std::to_string(leaks ? i : i % 40) + "\"}", i);
    std::string work(3000, char(i)); sum += work[7];
  }
  std::printf("%zu %zu\n", sum, histograms.size());
}
