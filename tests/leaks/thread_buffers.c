// Each thread allocates a buffer for itself by pthread_setspecific. In "leak" the key has no destructor.
// run leak 3000: nothing grows, allocated in buffer
// run sound 3000: no suspect
// long 8000
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_key_t key;
__attribute__((noinline)) static char *buffer(void) {
  char *b = pthread_getspecific(key);
  if (!b) { b = malloc(16384); memset(b, 1, 16384); pthread_setspecific(key, b); }
  return b;
}
static void *request(void *sum) { *(long *)sum += buffer()[9]; char *w = malloc(30000); memset(w, 2, 30000); *(long *)sum += w[1]; free(w); return 0; }
int main(int argc, char **argv) {
  long sum = 0;
  pthread_key_create(&key, strcmp(argv[1], "leak") ? free : 0);
  for (int i = 0; i < atoi(argv[2]); i++) { pthread_t t; pthread_create(&t, 0, request, &sum); pthread_join(t, 0); }
  printf("%ld\n", sum);
}
