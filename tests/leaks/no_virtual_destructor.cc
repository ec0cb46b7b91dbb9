// Shapes are deleted through a base class whose destructor is not virtual: the members of the derived class stay.
// run leak 40000: nothing grows, allocated in Polygon::Polygon
// run sound 40000: no suspect
// long 150000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
struct Shape { int id = 0; };
struct Polygon : Shape { std::vector<double> points; __attribute__((noinline)) Polygon() : points(200, 1.0) {} };
static bool leaks;
__attribute__((noinline)) static double draw(int i) {
  auto *polygon = new Polygon;
  double sum = polygon->points[i % 200];
  if (leaks) { Shape *shape = polygon; ::operator delete(static_cast<void *>(shape)); } else delete polygon;
  return sum;
}
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  double sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { sum += draw(i); std::vector<int> work(700, i); sum += work[5]; }
  printf("%g\n", sum);
}
