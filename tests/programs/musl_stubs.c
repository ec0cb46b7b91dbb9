/* Functions of glibc that Debian's OCaml runtime calls, and musl does not have: formatted output that checks its arguments. */

#include <stdarg.h>
#include <stdio.h>

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
