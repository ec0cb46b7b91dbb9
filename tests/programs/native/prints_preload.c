/* Whether the dynamic linker is told to load anything. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  const char *value = getenv("LD_PRELOAD");
  printf("%s\n", value != NULL ? value : "no LD_PRELOAD");
  return 0;
}
