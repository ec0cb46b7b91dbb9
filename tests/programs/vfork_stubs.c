/* C code for vfork.ml. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <caml/mlvalues.h>

extern char **environ;

value vfork_and(value how) {
  char *arguments[] = {"true", NULL};
  int status = 0;
  pid_t child = vfork();
  if (child == 0) {
    if (strcmp(String_val(how), "exec") == 0) execve("/bin/true", arguments, environ);
    if (strcmp(String_val(how), "exec-fails") == 0) execve("/no/such/program", arguments, environ);
    _exit(127);
  }
  waitpid(child, &status, 0);
  return Val_long(WEXITSTATUS(status));
}
