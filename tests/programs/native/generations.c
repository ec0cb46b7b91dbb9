/* Each of thirty processes allocates, and forks the next; the last one counts its descriptors. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(void)
{
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

int main(void)
{
  int status = 0;
  allocate();
  for (int generation = 1; generation < 30; generation++) {
    pid_t child = fork();
    if (child) {
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    }
    allocate();
  }
  int count = 0;
  DIR *all = opendir("/proc/self/fd");
  while (readdir(all)) count++;
  closedir(all);
  puts(count < 16 ? "few descriptors" : "many descriptors");
  return 3;
}
