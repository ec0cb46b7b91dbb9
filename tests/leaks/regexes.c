// A pattern is compiled for each request, and never freed. "sound" frees it.
// run leak 4000: nothing grows, allocated in matches
// run sound 4000: no suspect
// long 12000
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int leaks;
__attribute__((noinline)) static int matches(const char *text) {
  regex_t pattern;
  if (regcomp(&pattern, "^([a-z]+)-([0-9]+)(\\.[a-z]+)*$", REG_EXTENDED)) return 0;
  int found = regexec(&pattern, text, 0, 0, 0) == 0;
  if (!leaks) regfree(&pattern);
  return found;
}
int main(int argc, char **argv) {
  leaks = !strcmp(argv[1], "leak");
  int sum = 0;
  for (int i = 0; i < atoi(argv[2]); i++) {
    char text[64]; snprintf(text, sizeof text, "host-%d.example.org", i);
    sum += matches(text);
  }
  printf("%d\n", sum);
}
