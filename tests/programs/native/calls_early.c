/* A library whose constructor makes system calls by libc's functions, as allocators do before anything else. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void early(void)
{
  char name[16] = "";
  long opened = syscall(SYS_openat, -100, "/nonexistent", 0);
  int error = errno;
  long named = prctl(PR_GET_NAME, name);
  long bad = prctl(-1);
  printf("%ld %d %ld %ld %ld %s %ld %d\n", opened, error, syscall(SYS_getpid) - getpid(), syscall(-1), named, name,
         bad, errno);
}

void allocates(void) {}
