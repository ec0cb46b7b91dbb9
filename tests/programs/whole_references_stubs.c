/* Memory from malloc, for whole_references.ml. */
#include <stdlib.h>
#include <string.h>
#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/mlvalues.h>

/* In a function of its own, whatever the compiler knows of calloc and of calls in a row. */
__attribute__((noinline)) static void *filled(size_t size)
{
  char *volatile block = malloc(size);
  memset(block, 0, size);
  return block;
}

/* Callers stay on the stack. */
#define NOT_LAST(block) __asm__ volatile("" : "+r"(block))

static void finish(value handle)
{
  void **block = *(void ***)Data_custom_val(handle);
  free(block[3]);
  free(block);
}

static struct custom_operations operations = {
  .identifier = "memtrail.handle",
  .finalize = finish,
  .compare = custom_compare_default,
  .compare_ext = custom_compare_ext_default,
  .hash = custom_hash_default,
  .serialize = custom_serialize_default,
  .deserialize = custom_deserialize_default,
  .fixed_length = custom_fixed_length_default,
};

__attribute__((noinline)) static void *of_handle(void)
{
  void *block = filled(300);
  NOT_LAST(block);
  return block;
}

/* What a custom block owns refers to more. */
__attribute__((noinline)) static void *behind_handle(void)
{
  void *block = filled(400);
  NOT_LAST(block);
  return block;
}

value references_new_handle(value unit)
{
  value handle = caml_alloc_custom(&operations, sizeof(void *), 0, 1);
  void **block = of_handle();
  block[3] = behind_handle();
  *(void **)Data_custom_val(handle) = block;
  return handle;
}

__attribute__((noinline)) static char *of_pointer(void)
{
  void *block = filled(500);
  NOT_LAST(block);
  return block;
}

/* An integer for OCaml. */
value references_new_pointer(value unit)
{
  return (value)of_pointer() | 1;
}

void *table[40];

__attribute__((noinline)) static void *of_table(void)
{
  void *block = filled(600);
  NOT_LAST(block);
  return block;
}

value references_in_table(value index)
{
  table[Long_val(index)] = of_table();
  return Val_unit;
}

__attribute__((noinline)) static void *of_nobody(void)
{
  void *block = filled(700);
  NOT_LAST(block);
  return block;
}

value references_lose(value unit)
{
  void *volatile *block = of_nobody();
  block[0] = (void *)block;
  return Val_unit;
}
