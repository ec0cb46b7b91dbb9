/* Blocks that are referred to in each way there is, and blocks that nothing refers to. Each has a function of its own
   that allocates it. Between them, other calls change what is left on the stack and in registers. */

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct node {
    struct node *next;
    char rest[56];
};

static struct node *list;
static void *volatile table[8];
static char *volatile inside;
static __thread void *volatile local;
static sem_t ready, never;

#define KEPT(name, size) \
    __attribute__((noinline)) static void *name(void) { return malloc(size); }

KEPT(by_lost, 1000)
KEPT(by_list, sizeof(struct node))
KEPT(by_table, 2000)
KEPT(by_inside, 3000)
KEPT(by_local, 4000)
KEPT(by_stack, 5000)
KEPT(by_lost_head, sizeof(struct node))
KEPT(by_lost_tail, sizeof(struct node))
KEPT(by_large, 1 << 20)
KEPT(by_large_lost, 1 << 20)
KEPT(by_thread_lost, 600)
KEPT(by_thread_table, 700)

__attribute__((noinline)) static void leak(void) {
    for (int i = 0; i < 100; i++) {
        char *volatile lost = by_lost();
        lost[0] = 1;
    }
    for (int i = 0; i < 10; i++) {
        struct node *volatile head = by_lost_head();
        head->next = by_lost_tail();
        head->next->next = 0;
    }
    char *volatile large = by_large_lost();
    memset((char *)large, 1, 1 << 20);
}

/* What was on the stack and in registers is overwritten. */
__attribute__((noinline)) static int overwrite(int depth) {
    volatile char zeros[4096];
    memset((char *)zeros, 0, sizeof zeros);
    return depth == 0 ? zeros[1] : overwrite(depth - 1) + zeros[2];
}

static void *waits(void *unused) {
    (void)unused;
    void *volatile on_stack = by_stack();
    local = by_local();
    for (int i = 0; i < 50; i++) {
        char *volatile lost = by_thread_lost();
        lost[0] = 1;
    }
    table[2] = by_thread_table();
    overwrite(8);
    sem_post(&ready);
    sem_wait(&never);
    return on_stack;
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    leak();
    for (int i = 0; i < 100; i++) {
        struct node *node = by_list();
        node->next = list;
        list = node;
    }
    table[3] = by_table();
    table[4] = by_large();
    inside = (char *)by_inside() + 1500;
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    sem_wait(&ready);
    /* Freed blocks still have what was in them: nothing of it counts. */
    for (int i = 0; i < 20; i++) {
        void **block = malloc(200);
        block[10] = table[3];
        free(block);
    }
    printf("%d\n", overwrite(8));
#ifdef SECONDS
    sleep(SECONDS);
#endif
#ifdef WITHOUT_EXIT
    fflush(stdout);
    syscall(SYS_exit_group, 0);
#endif
    return 0;
}
