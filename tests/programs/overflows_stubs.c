/* C code for overflows.ml: calls back into OCaml, and allocates a block of the minor heap. */
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

value overflows_call_back(value f, value n) { return caml_callback(f, n); }

value overflows_allocate(value n) { return caml_alloc_string(Long_val(n)); }
