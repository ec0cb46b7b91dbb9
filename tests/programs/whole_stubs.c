/* Memory from malloc, for whole.ml. */
#include <stdlib.h>
#include <string.h>
#include <caml/callback.h>
#include <caml/mlvalues.h>

struct entry {
  struct entry *next;
  char text[200];
};

static struct entry *first;

/* Never freed. */
__attribute__((noinline)) static struct entry *new_entry(const char *text)
{
  struct entry *entry = malloc(sizeof *entry);
  strncpy(entry->text, text, sizeof entry->text - 1);
  entry->text[sizeof entry->text - 1] = 0;
  return entry;
}

value whole_remember(value text)
{
  struct entry *entry = new_entry(String_val(text));
  entry->next = first;
  first = entry;
  return Val_unit;
}

/* Freed at once. OCaml calls it without the runtime's help. */
value whole_measure(value size)
{
  volatile char *block = malloc(Long_val(size));
  block[0] = 1;
  long result = block[0];
  free((void *)block);
  return Val_long(result);
}

/* A function with a frame of a size that only it knows, which OCaml calls and which calls OCaml. */
value whole_call_back(value f, value x)
{
  volatile char room[Long_val(x) + 1];
  room[0] = 0;
  return caml_callback(f, x + room[0]);
}
