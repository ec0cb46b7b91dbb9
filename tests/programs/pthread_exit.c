/* A C program with OCaml inside (embedded.ml), whose main thread ends by pthread_exit. With an argument
 * another thread prints a line, and after so many tenths of a second another one; without, there is no
 * other thread. The process ends with its last thread: exit code 0, functions of atexit run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <caml/callback.h>
#include <caml/mlvalues.h>

static void c_exit(void) { puts("c atexit"); }

static void *last(void *tenths) {
  puts("last begins");
  fflush(stdout);
  usleep(atoi(tenths) * 100000);
  puts("last ends");
  return NULL;
}

int main(int argc, char **argv) {
  atexit(c_exit);
  caml_startup(argv);
  const value *grow = caml_named_value("grow");
  printf("total %ld\n", (long)Long_val(caml_callback(*grow, Val_long(100000))));
  fflush(stdout);
  pthread_t thread;
  if (argc > 1 && pthread_create(&thread, NULL, last, argv[1]) != 0) return 1;
  pthread_exit(NULL);
}
