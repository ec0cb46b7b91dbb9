/* C code for handler_exits.ml. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include <caml/mlvalues.h>

static void leave(int signal) {
  (void)signal;
  _exit(3);
}

value handler_exits_after(value microseconds) {
  struct itimerval time = {{0, 0}, {0, Long_val(microseconds)}};
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &time, NULL);
  return Val_unit;
}
