#include <caml/mlvalues.h>
#include <time.h>

/* Works for so many seconds, and keeps the runtime's lock. A signal does not shorten it. */
value keeps_lock(value seconds)
{
  time_t end = time(NULL) + Int_val(seconds);
  while (time(NULL) < end) {}
  return Val_unit;
}
