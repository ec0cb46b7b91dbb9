/* A C program that looks for itself, as programs that can be moved do, before it starts the OCaml runtime
 * (embedded.ml), and after. */
#include <stdio.h>
#include <unistd.h>
#include <caml/callback.h>
#include <caml/mlvalues.h>

static void look(void) {
  char path[4096];
  printf("%d\n", readlink("/proc/self/exe", path, sizeof path) > 0);
  fflush(stdout);
}

int main(int argc, char **argv) {
  (void)argc;
  look();
  look();
  caml_startup(argv);
  look();
  const value *grow = caml_named_value("grow");
  printf("total %ld\n", (long)Long_val(caml_callback(*grow, Val_long(100000))));
  return 0;
}
