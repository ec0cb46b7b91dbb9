/* See heap_c.ml. */
#define CAML_INTERNALS
#include <stdlib.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/roots.h>
#include <caml/version.h>

value exported = Val_unit;
static value hidden = Val_unit;

value keep_in_exported(value array)
{
  exported = array;
  caml_register_generational_global_root(&exported);
  return Val_unit;
}

value keep_in_static(value array)
{
  hidden = array;
  caml_register_generational_global_root(&hidden);
  return Val_unit;
}

value keep_in_allocated(value array)
{
  value *place = malloc(sizeof *place);
  *place = array;
  caml_register_generational_global_root(place);
  return Val_unit;
}

static value hooked = Val_unit;

#if OCAML_VERSION_MAJOR >= 5
static scan_roots_hook before;
static void scan(scanning_action action, scanning_action_flags flags, void *data,
                 caml_domain_state *domain)
{
  if (before != NULL) before(action, flags, data, domain);
  action(data, hooked, &hooked);
}
#else
static void (*before)(scanning_action);
static void scan(scanning_action action)
{
  if (before != NULL) before(action);
  action(hooked, &hooked);
}
#endif

value keep_by_hook(value array)
{
  hooked = array;
  before = caml_scan_roots_hook;
  caml_scan_roots_hook = scan;
  return Val_unit;
}

value call_back(value array, value function)
{
  CAMLparam2(array, function);
  caml_callback(function, Val_unit);
  CAMLreturn(Val_long(Wosize_val(array)));
}
