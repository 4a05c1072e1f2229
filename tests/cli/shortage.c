/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded before a program: allocation number SHORTAGE_AT, counted from the start of main(),
 * finds no memory. Without that number, the count goes to the file SHORTAGE_COUNT. What SystemC and
 * the readers of debug information ask for themselves is served: these libraries do not look at
 * what malloc() returns.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool counting;
static unsigned long count, fails;
static pid_t process;

static bool is_of_others(const void *caller) {
  static const char *const libraries[] = {"libsystemc", "libdw", "libelf", "ld-linux"};
  Dl_info at;
  if (dladdr(caller, &at) == 0 || !at.dli_fname)
    return false;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (strstr(at.dli_fname, libraries[i]))
      return true;
  return false;
}

static bool fail(const void *caller) {
  if (!counting || __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != fails || is_of_others(caller))
    return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size) { return fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) {
  return fail(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t size) {
  return fail(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *mmap(void *address, size_t bytes, int access, int flags, int file, off_t offset) {
  static void *(*real)(void *, size_t, int, int, int, off_t);
  if (!real)
    real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  return flags & MAP_ANONYMOUS && fail(__builtin_return_address(0))
             ? MAP_FAILED
             : real(address, bytes, access, flags, file, offset);
}

static void tell(void) {
  const char *path = getenv("SHORTAGE_COUNT");
  unsigned long all = count;
  counting = false;
  FILE *out = path && getpid() == process ? fopen(path, "w") : NULL;
  if (out) {
    fprintf(out, "%lu\n", all);
    fclose(out);
  }
}

static int (*program_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **environment) {
  const char *at = getenv("SHORTAGE_AT");
  fails = at ? strtoul(at, NULL, 10) : 0;
  process = getpid();
  atexit(tell);
  counting = true;
  return program_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
              void (*)(void), void *) = dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return real(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
