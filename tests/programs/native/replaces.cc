/* Replaces some of C++'s operators by its own, which one the macros say, and says how often each was called. With LIBRARY
   it is the library alone that has them, with PROGRAM the program alone that uses them. */
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

extern "C" {
extern int calls[6];
}

#ifndef PROGRAM
extern "C" {
int calls[6];
}
#ifdef NEW
void *operator new(std::size_t size) { calls[0]++; return malloc(size ? size : 1); }
#endif
#ifdef NEW_ARRAY
void *operator new[](std::size_t size) { calls[1]++; return malloc(size ? size : 1); }
#endif
#ifdef DELETE
void operator delete(void *block) noexcept { calls[2]++; free(block); }
#endif
#ifdef DELETE_ARRAY
void operator delete[](void *block) noexcept { calls[3]++; free(block); }
#endif
#ifdef DELETE_SIZED
void operator delete(void *block, std::size_t) noexcept { calls[4]++; free(block); }
#endif
#ifdef NEW_NOTHROW
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { calls[5]++; return malloc(size ? size : 1); }
#endif
#endif

#ifndef LIBRARY
struct Large {
  std::string name = std::string(100, 'x');
  long numbers[10];
};

/* So that the compiler leaves no block out. */
static char *volatile last;

__attribute__((noinline)) static void use()
{
  std::vector<Large *> kept;
  for (int i = 0; i < 1000; i++) {
    kept.push_back(new Large);
    delete new Large;
    delete[] new Large[2];
    last = new char[50];
    delete[] last;
    delete new (std::nothrow) Large;
    delete[] new (std::nothrow) char[70];
    operator delete(operator new(0));
  }
  for (Large *large : kept) delete large;
}

static int handled;

static void handler()
{
  handled++;
  std::set_new_handler(nullptr);
}

int main()
{
  use();
  std::set_new_handler(handler);
#ifndef NEW
  try {
    printf("%p\n", operator new((std::size_t)1 << 60));
  } catch (const std::bad_alloc &) {
    handled += 10;
  }
#endif
  printf("%d %d %d %d %d %d, %d\n", calls[0], calls[1], calls[2], calls[3], calls[4], calls[5], handled);
  return 0;
}
#endif
