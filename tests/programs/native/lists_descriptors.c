/* Lists its descriptors as it begins, when it has allocated, in a forked child before and after that, and as a program
   that the child becomes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *when)
{
  printf("%s:", when);
  DIR *all = opendir("/proc/self/fd");
  for (struct dirent *entry; (entry = readdir(all));) {
    int number = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && number != dirfd(all)) printf(" %d", number);
  }
  closedir(all);
  puts("");
  fflush(stdout);
}

static void allocate(void)
{
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

int main(int count, char **words)
{
  if (count > 1) {
    allocate();
    show("next program");
    return 3;
  }
  show("begins");
  allocate();
  show("has allocated");
  int status = 0;
  pid_t child = fork();
  if (!child) {
    show("child");
    allocate();
    show("child has allocated");
    execl(words[0], words[0], "next", (char *)NULL);
  }
  waitpid(child, &status, 0);
  usleep(600000);
  allocate();
  show("ends");
  return WEXITSTATUS(status);
}
