// A field is set to a new string at each update. "leak" forgets the old one without freeing it.
// run leak 60000: nothing grows, allocated in rename_user or asprintf or vasprintf
// run sound 60000: no suspect
// long 240000
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user { int id; char *name; };
static struct user users[100];
__attribute__((noinline)) static void rename_user(struct user *user, int i, int leaks) {
  char *name;
  if (asprintf(&name, "user %d in round %d, %s", user->id, i, "who has a rather long description of what happened to the account before it was closed and after it was opened again by somebody else, three times at least, if the log is to be believed, and four times otherwise") < 0) abort();
  if (!leaks) free(user->name);
  user->name = name;
}
int main(int argc, char **argv) {
  int leaks = !strcmp(argv[1], "leak");
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    struct user *user = &users[i % 100];
    user->id = i % 100;
    rename_user(user, i, leaks);
    char *work = malloc(3000); memset(work, i, 3000); sum += work[7]; free(work);
    sum += user->name[5];
  }
  printf("%ld\n", sum);
}
