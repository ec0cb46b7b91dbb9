/* A C program with OCaml inside: caml_startup, callbacks from C, atexit of both, and its own
 * exit code. Built from `ocamlopt -output-complete-obj embedded.ml`. */
#include <stdio.h>
#include <stdlib.h>
#include <caml/callback.h>
#include <caml/mlvalues.h>

static void c_exit(void) { puts("c atexit"); }

int main(int argc, char **argv) {
  (void)argc;
  atexit(c_exit);
  puts("c started");
  fflush(stdout);
  caml_startup(argv);
  const value *grow = caml_named_value("grow");
  long total = 0;
  for (int i = 0; i < 100; i++) total += Long_val(caml_callback(*grow, Val_long(1000)));
  printf("total %ld\n", total);
  fflush(stdout);
  return 12;
}
