// Widgets register a callback that captures its data, and are never unregistered. "sound" removes it.
// run leak 30000: variable observers grows, allocated in Widget::Widget or open
// run sound 30000: no suspect
// long 150000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <string>
static std::list<std::function<size_t()>> observers;
static bool leaks;
struct Widget {
  std::list<std::function<size_t()>>::iterator place;
  __attribute__((noinline)) explicit Widget(std::string data) {
    place = observers.insert(observers.end(), [data = std::move(data)] { return data.size(); });
  }
  ~Widget() { if (!leaks) observers.erase(place); }
};
__attribute__((noinline)) static size_t open(int i) { Widget widget(std::string(1500, char(i))); return observers.back()(); }
int main(int, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  size_t sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) { sum += open(i); std::string work(4000, 'x'); sum += work[7]; }
  printf("%zu\n", sum);
}
