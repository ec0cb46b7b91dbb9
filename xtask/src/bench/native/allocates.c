/* Allocates and frees, and does nothing else: as many blocks as the argument says, lists of 10,000. */
#include <stdlib.h>

struct node {
  struct node *next;
};

static struct node *push(struct node *list, long i)
{
  struct node *node = malloc(sizeof *node + 40 + i % 7 * 64);
  node->next = list;
  return node;
}

static struct node *build(long count)
{
  struct node *list = 0;
  for (long i = 0; i < count; i++) list = push(list, i);
  return list;
}

int main(int count, char **arguments)
{
  long blocks = count > 1 ? atol(arguments[1]) : 1000000;
  for (long done = 0; done < blocks; done += 10000) {
    struct node *list = build(10000);
    while (list) {
      struct node *next = list->next;
      free(list);
      list = next;
    }
  }
  return 0;
}
