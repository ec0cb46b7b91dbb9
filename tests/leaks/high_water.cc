// A vector of rows is cleared, and keeps its room; rows come and go. No suspect.
// run rows 400: no suspect
// long 2000
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
static std::vector<std::string> rows;
int main(int, char **argv) {
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    rows.clear();
    for (int k = 0; k < 2000 + i % 7 * 1500; k++) rows.push_back("a row of a result set with the number " + std::to_string(k));
    sum += rows.back().size();
  }
  printf("%zu\n", sum);
}
