/* Becomes itself by a function that takes the arguments one by one (l, p, e), a descriptor (f), or a folder (a, k, n),
   or by the system call (s, t). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words)
{
  char *only[] = { "ONLY=1", NULL }, *array[] = { words[0], "done", NULL };
  free(malloc(1000));
  switch (words[1][0]) {
  case 'l': execl(words[0], words[0], "done", "2", "3", "4", "5", "6", "7", "8", "9", (char *)NULL); break;
  case 'p': execlp(words[0], words[0], "done", (char *)NULL); break;
  case 'e': execle(words[0], words[0], "done", "2", (char *)NULL, only); break;
  case 'f': fexecve(open(words[0], O_RDONLY), array, only); break;
  case 'a': execveat(AT_FDCWD, words[0], array, only, 0); break;
  case 'k': execveat(open(words[0], O_RDONLY), "", array, only, AT_EMPTY_PATH); break;
  case 'n': {
    char *name = strrchr(words[0], '/');
    *name = 0;
    int folder = open(words[0], O_RDONLY);
    *name = '/';
    execveat(folder, name + 1, array, only, 0);
    break;
  }
  case 's': syscall(SYS_execve, words[0], array, only); break;
  case 't': syscall(SYS_execveat, AT_FDCWD, words[0], array, only, 0); break;
  case 'm': execl("/no such program", words[0], (char *)NULL); break;
  }
  for (int word = 1; word < count; word++) printf("%s ", words[word]);
  printf("%s\n", getenv("ONLY") ? "ONLY" : "");
  return 3;
}
