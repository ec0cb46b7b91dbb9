/* The way from the library to memtrail's agent, a shared library that is in the process when
   `memtrail run` has started it. The agent is asked for its functions once; without one, everything
   here returns at once. The table's layout is the agent's (crates/agent/src/program/mod.rs), and never
   changes under its version. */

#define _GNU_SOURCE
#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#define VERSION 1

typedef void (*each_global)(void *data, const char *name, size_t length, value block, size_t fields);
typedef void (*each_frame)(void *data, const char *function, size_t function_length,
                           const char *file, size_t file_length, uint32_t line,
                           const value *const *slots, size_t count);

struct agent {
  int (*snapshot)(const char *label, size_t length, int insist);
  void (*sample)(int on);
  int (*is_sampling)(void);
  value (*external_alloc)(size_t bytes);
  void (*external_free)(value token);
  value (*label)(const char *name, size_t length);
  int (*learn_label_frame)(value probe);
  void (*globals)(each_global each, void *data);
  void (*frames)(each_frame each, void *data);
};

/* Set when the module starts, before any other thread or domain can be. */
static const struct agent *agent = NULL;

CAMLprim value memtrail_is_recorded(value unit)
{
#ifdef __linux__
  static int looked = 0;
  if (!looked) {
    const struct agent *(*find)(uint32_t);
    looked = 1;
    *(void **)&find = dlsym(RTLD_DEFAULT, "memtrail_agent");
    if (find != NULL) agent = find(VERSION);
  }
#endif
  (void)unit;
  return Val_bool(agent != NULL);
}

/* Waits while too many snapshots are being written, but no longer than a minute. */
CAMLprim value memtrail_dump(value label)
{
  CAMLparam1(label);
#ifdef __linux__
  int waited = 0;
  while (agent != NULL
         && !agent->snapshot(String_val(label), caml_string_length(label), waited >= 60000)) {
    caml_enter_blocking_section();
    usleep(1000);
    caml_leave_blocking_section();
    waited++;
  }
#endif
  CAMLreturn(Val_unit);
}

CAMLprim value memtrail_sample(value on)
{
  if (agent != NULL) agent->sample(Bool_val(on));
  return Val_unit;
}

CAMLprim value memtrail_is_sampling(value unit)
{
  (void)unit;
  return Val_bool(agent != NULL && agent->is_sampling());
}

CAMLprim value memtrail_label(value name)
{
  if (agent == NULL) return Val_unit;
  return agent->label(String_val(name), caml_string_length(name));
}

/* Called from [learn], which is called from the function that keeps labels. */
CAMLprim value memtrail_learn_label_frame(value unit)
{
  (void)unit;
  if (agent != NULL) agent->learn_label_frame(Val_long(0x6d7472));
  return Val_unit;
}

CAMLprim value memtrail_keep(value label)
{
  (void)label;
  return Val_unit;
}

CAMLprim value memtrail_external_alloc(value bytes)
{
  value token, some;
  if (agent == NULL || Long_val(bytes) <= 0) return Val_int(0);
  token = agent->external_alloc(Long_val(bytes));
  if (token == 0) return Val_int(0);
  /* The token is an integer. */
  some = caml_alloc_small(1, 0);
  Field(some, 0) = token;
  return some;
}

CAMLprim value memtrail_external_free(value token)
{
  if (agent != NULL) agent->external_free(token);
  return Val_unit;
}

/* A list that grows, outside the OCaml heap. It stays as it is when there is no memory. */

struct list {
  char *items;
  size_t size, count, room;
};

static void *add(struct list *list)
{
  if (list->count == list->room) {
    size_t room = 2 * list->room + 64;
    char *items = realloc(list->items, room * list->size);
    if (items == NULL) return NULL;
    list->items = items;
    list->room = room;
  }
  return list->items + list->size * list->count++;
}

#define AT(list, type, index) ((type *)(list).items + (index))

/* Modules' blocks are static data: they do not move. */

struct global {
  char name[256];
  value block;
};

static void note_global(void *data, const char *name, size_t length, value block, size_t fields)
{
  struct global *global = add(data);
  (void)fields;
  if (global == NULL) return;
  snprintf(global->name, sizeof global->name, "%.*s", (int)length, name);
  global->block = block;
}

CAMLprim value memtrail_globals(value unit)
{
  CAMLparam1(unit);
  CAMLlocal3(all, pair, name);
  struct list list = {NULL, sizeof(struct global), 0, 0};
  size_t i;
  if (agent != NULL) agent->globals(note_global, &list);
  all = caml_alloc(list.count, 0);
  for (i = 0; i < list.count; i++) {
    name = caml_copy_string(AT(list, struct global, i)->name);
    pair = caml_alloc_small(2, 0);
    Field(pair, 0) = name;
    Field(pair, 1) = AT(list, struct global, i)->block;
    Store_field(all, i, pair);
  }
  free(list.items);
  CAMLreturn(all);
}

/* Values on the stack move when memory is allocated, but not the slots that they stand in: the frames
   below this call hold still until it returns. All are copied at once all the same, before anything else
   is allocated. */

struct frame {
  char place[600];
  size_t first, count;
};

struct stack {
  struct list frames, slots;
};

static void note_frame(void *data, const char *function, size_t function_length, const char *file,
                       size_t file_length, uint32_t line, const value *const *slots, size_t count)
{
  struct stack *stack = data;
  struct frame *frame;
  size_t i;
  /* Ours are none of the program's. */
  if (stack->frames.count == 0 && function_length > 9 && memcmp(function, "Memtrail.", 9) == 0) return;
  frame = add(&stack->frames);
  if (frame == NULL) return;
  if (line > 0)
    snprintf(frame->place, sizeof frame->place, "%.*s (%.*s:%u)", (int)function_length, function,
             (int)file_length, file, (unsigned)line);
  else
    snprintf(frame->place, sizeof frame->place, "%.*s", (int)function_length, function);
  frame->first = stack->slots.count;
  frame->count = 0;
  for (i = 0; i < count; i++) {
    const value **slot = add(&stack->slots);
    if (slot == NULL) return;
    *slot = slots[i];
    frame->count++;
  }
}

CAMLprim value memtrail_frames(value unit)
{
  CAMLparam1(unit);
  CAMLlocal5(all, pair, place, values, every);
  struct stack stack = {{NULL, sizeof(struct frame), 0, 0}, {NULL, sizeof(value *), 0, 0}};
  size_t i, j;
  if (agent != NULL) agent->frames(note_frame, &stack);
  every = caml_alloc(stack.slots.count, 0);
  for (i = 0; i < stack.slots.count; i++)
    Store_field(every, i, **AT(stack.slots, const value *, i));
  all = caml_alloc(stack.frames.count, 0);
  for (i = 0; i < stack.frames.count; i++) {
    const struct frame *frame = AT(stack.frames, struct frame, i);
    place = caml_copy_string(frame->place);
    values = caml_alloc(frame->count, 0);
    for (j = 0; j < frame->count; j++)
      Store_field(values, j, Field(every, frame->first + j));
    pair = caml_alloc_small(2, 0);
    Field(pair, 0) = place;
    Field(pair, 1) = values;
    Store_field(all, i, pair);
  }
  free(stack.frames.items);
  free(stack.slots.items);
  CAMLreturn(all);
}

/* In place of memtrace. */

CAMLprim value memtrail_set_memtrace(value to)
{
#ifdef __linux__
  setenv("MEMTRACE", String_val(to), 1);
#else
  (void)to;
#endif
  return Val_unit;
}

#ifdef __linux__

/* The arguments of this process, each ended by a zero byte; NULL if they cannot be read. */
static char *own_arguments(size_t *length)
{
  size_t room = 0;
  char *text = NULL;
  FILE *file = fopen("/proc/self/cmdline", "rb");
  *length = 0;
  if (file == NULL) return NULL;
  for (;;) {
    size_t got;
    char *more = realloc(text, room + 4097);
    if (more == NULL) break;
    text = more;
    got = fread(text + room, 1, 4096, file);
    room += got;
    if (got == 0) break;
  }
  fclose(file);
  if (text != NULL) text[room] = 0;
  *length = room;
  return text;
}

/* Makes `file` a link to the trace in `folder`, which stands beside it. As memtrace would have begun a
   file anew, one that is there gives way. */
static void link_to_trace(const char *file, const char *folder)
{
  char target[4200];
  const char *name = strrchr(folder, '/');
  name = name == NULL ? folder : name + 1;
  unlink(file);
  snprintf(target, sizeof target, "%s/trace.ctf", name);
  /* The recording is there without it. */
  if (symlink(target, file) != 0) return;
}

/* Finds memtrail on the PATH. */
static int find_memtrail(char *into, size_t room)
{
  const char *path = getenv("PATH");
  while (path != NULL && *path != 0) {
    size_t length = strcspn(path, ":");
    int written = snprintf(into, room, "%.*s%smemtrail", (int)length, path, length > 0 ? "/" : "");
    if (written > 0 && (size_t)written < room && access(into, X_OK) == 0) return 1;
    path += length;
    if (*path == ':') path++;
  }
  return 0;
}

/* Becomes `memtrail run` on this program. Why not, if it returns. */
static const char *become_recorded(const char *folder, const char *file, const char *rate,
                                   const char *context)
{
  static char program[4096], memtrail[4096];
  struct stat status;
  size_t length, count = 0, i;
  char **words, **word;
  char *arguments;
  ssize_t end = readlink("/proc/self/exe", program, sizeof program - 1);
  if (stat(file, &status) == 0 && !S_ISREG(status.st_mode)) return "MEMTRACE names no file";
  if (!find_memtrail(memtrail, sizeof memtrail)) return "there is no memtrail on the PATH";
  arguments = own_arguments(&length);
  if (arguments == NULL || length == 0 || end <= 0) {
    free(arguments);
    return "/proc cannot be read";
  }
  program[end] = 0;
  for (i = 0; i < length; i++) count += arguments[i] == 0;
  words = calloc(count + 12, sizeof *words);
  if (words == NULL) {
    free(arguments);
    return strerror(ENOMEM);
  }
  word = words;
  *word++ = "memtrail";
  *word++ = "run";
  *word++ = "-o";
  *word++ = (char *)folder;
  *word++ = "--rate";
  *word++ = (char *)rate;
  if (context != NULL) {
    *word++ = "--context";
    *word++ = (char *)context;
  }
  *word++ = "--";
  *word++ = program;
  /* All but the first, the name that the program was called by. */
  for (i = strlen(arguments) + 1; i < length; i += strlen(arguments + i) + 1)
    *word++ = arguments + i;
  link_to_trace(file, folder);
  execv(memtrail, words);
  i = errno;
  free(words);
  free(arguments);
  return strerror((int)i);
}

#endif

CAMLprim value memtrail_record(value folder, value file, value rate, value context)
{
#ifdef __linux__
  const char *note = Is_block(context) ? String_val(Field(context, 0)) : NULL;
  return caml_copy_string(
      become_recorded(String_val(folder), String_val(file), String_val(rate), note));
#else
  (void)folder, (void)file, (void)rate, (void)context;
  return caml_copy_string("memtrail runs on Linux");
#endif
}
