/* Functions of glibc that Debian's OCaml runtimes call, and musl does not have: those that check their arguments, and those
   for large files. */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
  (void)flag;
  return vfprintf(file, format, arguments);
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int written = __vfprintf_chk(file, flag, format, arguments);
  va_end(arguments);
  return written;
}

int __vsnprintf_chk(char *into, size_t size, int flag, size_t known, const char *format, va_list arguments)
{
  (void)flag;
  (void)known;
  return vsnprintf(into, size, format, arguments);
}

int __snprintf_chk(char *into, size_t size, int flag, size_t known, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int written = __vsnprintf_chk(into, size, flag, known, format, arguments);
  va_end(arguments);
  return written;
}

#undef fcntl64
int fcntl64(int descriptor, int command, ...)
{
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return fcntl(descriptor, command, argument);
}

void *__memcpy_chk(void *into, const void *from, size_t size, size_t known)
{
  (void)known;
  return memcpy(into, from, size);
}

void *__memmove_chk(void *into, const void *from, size_t size, size_t known)
{
  (void)known;
  return memmove(into, from, size);
}

ssize_t __read_chk(int descriptor, void *into, size_t size, size_t known)
{
  (void)known;
  return read(descriptor, into, size);
}

ssize_t __recv_chk(int descriptor, void *into, size_t size, size_t known, int flags)
{
  (void)known;
  return recv(descriptor, into, size, flags);
}

ssize_t __recvfrom_chk(int descriptor, void *into, size_t size, size_t known, int flags, struct sockaddr *from,
                       socklen_t *length)
{
  (void)known;
  return recvfrom(descriptor, into, size, flags, from, length);
}

long __fdelt_chk(long descriptor)
{
  return descriptor / (8 * (long)sizeof(long));
}
