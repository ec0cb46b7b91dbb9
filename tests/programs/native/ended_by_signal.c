// Says what SIGTERM does, as the program finds it, retains a list, and has itself ended by that signal. Arguments: entries
// of the list, and seconds to wait before the end.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry { struct entry *next; char data[1000]; };
static struct entry *history;

static void remember(void) {
  struct entry *entry = malloc(sizeof *entry);
  memset(entry, 1, sizeof *entry);
  entry->next = history;
  history = entry;
}

static void handler(int number) { (void)number; }

int main(int count, char **arguments) {
  int entries = count > 1 ? atoi(arguments[1]) : 20000;
  struct sigaction found;
  sigaction(SIGTERM, NULL, &found);
  printf("default %d\n", found.sa_handler == SIG_DFL);
  printf("default %d\n", signal(SIGTERM, handler) == SIG_DFL);
  printf("ours %d\n", signal(SIGTERM, SIG_DFL) == handler);
  fflush(stdout);
  for (int i = 0; i < entries; i++) remember();
  if (count > 2) sleep(atoi(arguments[2]));
  kill(getpid(), SIGTERM);
  for (;;) pause();
}
