/* C code for handler_exits.ml. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <caml/mlvalues.h>

static volatile long left;

static void leave(int signal) {
  (void)signal;
  _exit(3);
}

static void leave_at_last(int signal) {
  (void)signal;
  if (left-- == 0) exit(3);
}

value handler_exits_after(value microseconds) {
  struct itimerval time = {{0, 0}, {0, Long_val(microseconds)}};
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &time, NULL);
  return Val_unit;
}

/* A signal every 100 microseconds, the last of which ends the process in an orderly way. */
value handler_exits_in_a_storm(value signals) {
  struct itimerval time = {{0, 100}, {0, 100}};
  left = Long_val(signals);
  signal(SIGALRM, leave_at_last);
  setitimer(ITIMER_REAL, &time, NULL);
  return Val_unit;
}
