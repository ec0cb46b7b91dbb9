// Objects of C++: static ones, arrays, over-aligned ones, exceptions, and threads that free what others allocated.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct alignas(256) Wide {
    char data[768];
};

namespace cache {
struct Table {
    std::vector<std::unique_ptr<Wide>> wide;
    std::vector<std::string> names;
    __attribute__((noinline)) void add(int n) { wide.push_back(std::make_unique<Wide>()); names.push_back(std::string(992 + n % 2, 'x')); }
};
}

static std::map<int, std::string> at_start = {{1, std::string(2000, 'a')}, {2, std::string(3000, 'b')}};
static cache::Table table;

__attribute__((noinline)) static void throws(int depth)
{
    std::string held(500, 'x');
    if (depth == 0)
        throw std::runtime_error(held);
    throws(depth - 1);
    std::puts(held.c_str());
}

int main()
{
    int caught = 0;
    for (int n = 0; n < 200; n++)
        try {
            throws(n % 10);
        } catch (const std::exception &) {
            caught++;
        }
    for (int n = 0; n < 100; n++)
        table.add(n);
    std::vector<std::string *> passed(800);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            for (int n = 0; n < 100; n++)
                passed[t * 100 + n] = new std::string(1000 + n, 'y');
        });
    for (auto &thread : threads)
        thread.join();
    for (auto *string : passed)
        delete string;
    std::printf("%d caught, %zu kept, %zu at start\n", caught, table.wide.size(), at_start.size());
}
