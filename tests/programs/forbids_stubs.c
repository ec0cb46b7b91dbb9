/* Forbids itself system calls, as the argument says, and allocates before and after. With -DMAIN a program, and else
   a function for forbids.ml, which gets a boolean and gives a unit. */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define FIRST(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define ALLOWED(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), ALLOW

/* What these programs need, and a write to the standard streams alone. Tables of OCaml's sampler need mremap as well. */
static struct sock_filter most[] = {
    CALL(), ALLOWED(brk), ALLOWED(mmap), ALLOWED(munmap), ALLOWED(madvise), ALLOWED(mprotect),
    ALLOWED(futex), ALLOWED(exit), ALLOWED(exit_group), ALLOWED(rt_sigprocmask), ALLOWED(rt_sigaction),
    ALLOWED(rt_sigreturn), ALLOWED(lseek), ALLOWED(fstat), ALLOWED(newfstatat), ALLOWED(select),
    ALLOWED(pselect6), ALLOWED(nanosleep), ALLOWED(clock_nanosleep), ALLOWED(sigaltstack), ALLOWED(rseq),
    ALLOWED(set_robust_list), ALLOWED(sched_yield),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 1, 0), KILL,
    FIRST(), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1), KILL, ALLOW,
};

/* The same, but the program is sent a signal, which it does not expect. */
static struct sock_filter traps[sizeof most / sizeof *most];

/* What hardly a program calls. */
static struct sock_filter few[] = {
    CALL(), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_acct, 0, 1), KILL, ALLOW,
};

/* What sandboxes forbid, and a program that is no debugger does not call. */
static struct sock_filter looking[] = {
    CALL(), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 0, 1), KILL, ALLOW,
};

#define OF(filter) {sizeof filter / sizeof *filter, filter}
static struct sock_fprog by_most = OF(most), by_traps = OF(traps), by_few = OF(few), by_looking = OF(looking);

static int control(struct sock_fprog *program)
{
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
}

/* OCaml's true for signals. */
long forbid(long by_signal)
{
  for (unsigned at = 0; at < by_traps.len; at++) {
    traps[at] = most[at];
    if (traps[at].code == (BPF_RET | BPF_K) && traps[at].k == SECCOMP_RET_KILL_PROCESS) traps[at].k = SECCOMP_RET_TRAP;
  }
  if (control(by_signal == 3 ? &by_traps : &by_most)) abort();
  return 1;
}

#ifdef MAIN
__attribute__((noinline)) static void before(void)
{
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(4000);
    if (i % 100) free(block);
  }
}

__attribute__((noinline)) static void after(void)
{
  for (int i = 0; i < 400000; i++) {
    void *volatile block = malloc(4000);
    free(block);
  }
}

static void *beside(void *unused)
{
  after();
  return unused;
}

int main(int count, char **arguments)
{
  const char *how = count > 1 ? arguments[1] : "";
  void *volatile kept = malloc(100 << 20);
  puts("before");
  fflush(stdout);
  before();
  pthread_t threads[3];
  int others = strcmp(how, "threads") ? 0 : 3;
  for (int i = 0; i < others; i++) pthread_create(&threads[i], NULL, beside, NULL);
  if (!strcmp(how, "child")) {
    pid_t child = fork();
    if (child) {
      int status;
      waitpid(child, &status, 0);
      printf("%d\n", status);
      after();
      return 3;
    }
  }
  if (!strcmp(how, "strict")) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)) abort();
  } else if (!strcmp(how, "call") || !strcmp(how, "threads")) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* As libseccomp asks whether there is such a call. */
    syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &by_most)) abort();
  } else if (!strcmp(how, "twice")) {
    if (control(&by_looking) || control(&by_few)) abort();
  } else if (control(strcmp(how, "few") ? &by_most : &by_few)) {
    abort();
  }
  after();
  for (int i = 0; i < others; i++) pthread_join(threads[i], NULL);
  if (strcmp(how, "strict")) free(kept);
  write(1, "after\n", 6);
  if (!strcmp(how, "strict")) syscall(__NR_exit, 3);
  return 3;
}
#endif
