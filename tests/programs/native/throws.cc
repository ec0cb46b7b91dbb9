/* Asks for more memory than there is, again and again, and allocates in between. */
#include <cstdio>
#include <new>

__attribute__((noinline)) static void usual()
{
  for (int i = 0; i < 100; i++) {
    int *volatile numbers = new int[25];
    delete[] numbers;
  }
}

int main(int, char **)
{
  int caught = 0;
  volatile std::size_t much = (std::size_t)1 << 62;
  for (int i = 0; i < 100; i++) {
    usual();
    try {
      char *volatile block = new char[much];
      delete[] block;
    } catch (const std::bad_alloc &) {
      caught++;
    }
  }
  printf("%d\n", caught);
  return 0;
}
