// Parents and children refer to each other by shared_ptr; "sound" uses weak_ptr for the way back.
// run leak 40000: nothing grows, allocated in build
// run sound 40000: no suspect
// long 200000
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
struct Node { std::vector<std::shared_ptr<Node>> children; std::shared_ptr<Node> up; std::weak_ptr<Node> weak; char text[300]; };
static bool leaks;
__attribute__((noinline)) static std::shared_ptr<Node> build() {
  auto root = std::make_shared<Node>();
  for (int i = 0; i < 3; i++) {
    auto child = std::make_shared<Node>();
    if (leaks) child->up = root; else child->weak = root;
    root->children.push_back(child);
  }
  return root;
}
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { auto page = build(); sum += page->children.size(); std::string work(3000, 'x'); sum += work[7]; }
  printf("%ld\n", sum);
}
