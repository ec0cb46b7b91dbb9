/* Allows itself no files, as programs do that lock themselves in. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void allocate(int count)
{
  for (int i = 0; i < count; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

int main(int count, char **arguments)
{
  rlim_t bytes = count > 1 ? (rlim_t)atol(arguments[1]) : 0;
  struct rlimit limit = {bytes, bytes};
  allocate(1000);
  if (setrlimit(RLIMIT_FSIZE, &limit)) return 1;
  allocate(400000);
  puts("done");
  return 3;
}
