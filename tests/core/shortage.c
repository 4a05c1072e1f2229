/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/core/shortage.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OWN_ALLOCATIONS 0
#elif defined __has_feature
#define OWN_ALLOCATIONS (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#elif defined __GLIBC__
#define OWN_ALLOCATIONS 1
#else
#define OWN_ALLOCATIONS 0
#endif

/* Callers that make a place, and as many places as there is room for: the longest case has some
 * thousand. */
enum { CALLERS = 10, PLACES_MAX = 1 << 14 };

static struct {
  bool counting, all, tells, keeps_places;
  unsigned long count, first;
  long live;
  pid_t process; /* that began: children of a pool have what they ask for */
  size_t places;
  unsigned long place[PLACES_MAX];
  uint64_t known[2 * PLACES_MAX]; /* digests of callers, by themselves; 0: none */
} shortage;

bool shortage_possible(void) { return OWN_ALLOCATIONS; }

void shortage_begin(unsigned long first, bool all) {
  void *callers[CALLERS];
  backtrace(callers, CALLERS); /* loads what it needs */
  shortage.process = getpid();
  shortage.count = 0;
  shortage.first = first;
  shortage.all = all;
  shortage.counting = true;
}

void shortage_begin_places(void) {
  shortage_begin(0, false);
  shortage.keeps_places = true;
  shortage.places = 0;
  for (size_t i = 0; i < sizeof shortage.known / sizeof *shortage.known; i++)
    shortage.known[i] = 0;
}

unsigned long shortage_end(void) {
  shortage.counting = shortage.keeps_places = false;
  return shortage.count;
}

size_t shortage_place_count(void) { return shortage.places; }
unsigned long shortage_place(size_t index) { return shortage.place[index]; }
/* The message of a symbol that was not found belongs to dlerror() until it is asked for twice. */
long shortage_live(void) {
  (void)dlerror();
  (void)dlerror();
  return shortage.live;
}

void shortage_tell(void) { shortage.tells = true; }

#if OWN_ALLOCATIONS
#define PUBLIC __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* A place that is new gets the number of the allocation. One thread. */
static void keep_place(unsigned long number) {
  void *callers[CALLERS];
  int count = backtrace(callers, CALLERS);
  uint64_t digest = 14695981039346656037u;
  for (int i = 2; i < count; i++)
    digest = (digest ^ (uintptr_t)callers[i]) * 1099511628211u;
  size_t at = digest % (2 * PLACES_MAX);
  while (shortage.known[at] != 0 && shortage.known[at] != digest)
    at = (at + 1) % (2 * PLACES_MAX);
  if (shortage.known[at] == digest || shortage.places == PLACES_MAX)
    return;
  shortage.known[at] = digest;
  shortage.place[shortage.places++] = number;
}

static bool fails(void) {
  if (!shortage.counting || getpid() != shortage.process)
    return false;
  unsigned long number = __atomic_add_fetch(&shortage.count, 1, __ATOMIC_RELAXED);
  if (shortage.keeps_places) {
    shortage.keeps_places = false;
    keep_place(number);
    shortage.keeps_places = true;
  }
  if (shortage.first == 0 || number < shortage.first || (number > shortage.first && !shortage.all))
    return false;
  if (shortage.tells) {
    void *callers[4 * CALLERS];
    shortage.tells = false;
    backtrace_symbols_fd(callers, backtrace(callers, 4 * CALLERS), STDERR_FILENO);
  }
  errno = ENOMEM;
  return true;
}

static void *counted(void *block) {
  if (block)
    __atomic_add_fetch(&shortage.live, 1, __ATOMIC_RELAXED);
  return block;
}

PUBLIC void *malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }
PUBLIC void *calloc(size_t count, size_t size) {
  return fails() ? NULL : counted(__libc_calloc(count, size));
}
PUBLIC void *aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__libc_memalign(alignment, size));
}
PUBLIC int posix_memalign(void **out, size_t alignment, size_t size) {
  void *block = aligned_alloc(alignment, size);
  if (!block)
    return ENOMEM;
  *out = block;
  return 0;
}

PUBLIC void free(void *block) {
  if (block)
    __atomic_sub_fetch(&shortage.live, 1, __ATOMIC_RELAXED);
  __libc_free(block);
}

PUBLIC void *realloc(void *old, size_t size) {
  if (fails())
    return NULL;
  void *block = __libc_realloc(old, size);
  if (!old)
    return counted(block);
  if (!block && size == 0)
    __atomic_sub_fetch(&shortage.live, 1, __ATOMIC_RELAXED);
  return block;
}
#endif
