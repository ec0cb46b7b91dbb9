// A compiler in three passes: each builds a structure from that of the pass before, and frees that one. No suspect.
// run three 300000: no suspect
// long 1500000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int kind; char text[72]; };
static struct node *lex(int n) { struct node *l = 0; for (int i = 0; i < n; i++) { struct node *t = malloc(sizeof *t); t->next = l; t->kind = i % 7; l = t; } return l; }
static struct node *parse(struct node *tokens) {
  struct node *l = 0;
  for (; tokens; tokens = tokens->next) { struct node *t = malloc(sizeof *t + 40); t->next = l; t->kind = tokens->kind * 2; l = t; }
  return l;
}
static struct node *emit(struct node *tree) {
  struct node *l = 0;
  for (; tree; tree = tree->next) { struct node *t = malloc(sizeof *t + 8); t->next = l; t->kind = tree->kind + 1; l = t; }
  return l;
}
static void drop(struct node *l) { while (l) { struct node *next = l->next; free(l); l = next; } }
int main(int argc, char **argv) {
  (void)argc;
  struct node *tokens = lex(atoi(argv[2])), *tree = parse(tokens);
  drop(tokens);
  struct node *code = emit(tree);
  drop(tree);
  printf("%d\n", code->kind);
  drop(code);
}
