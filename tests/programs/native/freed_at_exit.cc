// Sessions in a global map whose destructor frees them at the exit. With the argument "bounded" the oldest is erased.
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Session { std::string user; std::vector<char> page; };
static std::map<int, std::unique_ptr<Session>> sessions;

__attribute__((noinline)) static void handle(int i, bool bounded) {
  auto session = std::make_unique<Session>();
  session->user = "user-" + std::to_string(i) + "-with-a-name-that-is-on-the-heap";
  session->page.assign(1000, 'x');
  sessions[i] = std::move(session);
  if (bounded && sessions.size() > 500) sessions.erase(sessions.begin());
}

int main(int count, char **arguments) {
  for (int i = 0; i < 5000; i++) handle(i, count > 1);
}
