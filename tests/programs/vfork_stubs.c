/* C code for vfork.ml. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <caml/mlvalues.h>

extern char **environ;

/* So many children that become another program, with an environment of 10,000 variables. */
value vfork_often(value times) {
  static char *many[10001];
  char *arguments[] = {"true", NULL};
  int status;
  for (int i = 0; i < 10000; i++) many[i] = "VARIABLE=value";
  for (long i = 0; i < Long_val(times); i++) {
    pid_t child = vfork();
    if (child == 0) {
      execve("/bin/true", arguments, many);
      _exit(127);
    }
    waitpid(child, &status, 0);
  }
  return Val_unit;
}

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
