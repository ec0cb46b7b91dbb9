// A cache of weak pointers to objects of make_shared: an expired one keeps the object's memory. "sound" erases it.
// run leak 30000: variable cache grows, allocated in load or std::
// run sound 30000: no suspect
// long 120000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
struct Texture { char pixels[1500]; };
static std::map<int, std::weak_ptr<Texture>> cache;
__attribute__((noinline)) static std::shared_ptr<Texture> load(int key) {
  auto &known = cache[key];
  if (auto texture = known.lock()) return texture;
  auto texture = std::make_shared<Texture>();
  std::memset(texture->pixels, key, sizeof texture->pixels);
  known = texture;
  return texture;
}
int main(int, char **argv) {
  bool leaks = !std::strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < std::atoi(argv[2]); i++) {
    { auto texture = load(i); sum += texture->pixels[3]; }
    if (!leaks) cache.erase(i);
    std::string work(3000, char(i)); sum += work[7];
  }
  std::printf("%ld\n", sum);
}
