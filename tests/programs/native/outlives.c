// Forks a child that runs until the file in the argument is there, and ends at once: a daemon.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (fork()) return 0;
  setsid();
  for (int i = 0; i < 6000 && access(arguments[count - 1], F_OK); i++) {
    free(malloc(100));
    usleep(10000);
  }
  return 0;
}
