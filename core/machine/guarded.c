/* SPDX-License-Identifier: Apache-2.0 */
/* Memory between closed pages, which take addresses and nothing else. */
#include "core/machine/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

/* An index that is too large by a few million is caught as one too many is. */
#define GUARD_BYTES ((size_t)1 << 26)

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

uint8_t *guarded_new(size_t bytes) {
  size_t used = round_up(bytes, GUARDED_ALIGNMENT), open = round_up(used, page_bytes());
  if (used < bytes || open < used || open > SIZE_MAX - 2 * GUARD_BYTES)
    return NULL;
  uint8_t *all = mmap(NULL, open + 2 * GUARD_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return NULL;
  if (open > 0 && mprotect(all + GUARD_BYTES, open, PROT_READ | PROT_WRITE) != 0) {
    munmap(all, open + 2 * GUARD_BYTES);
    return NULL;
  }
  return all + GUARD_BYTES + (open - used);
}

void guarded_free(uint8_t *memory, size_t bytes) {
  if (!memory)
    return;
  size_t used = round_up(bytes, GUARDED_ALIGNMENT), open = round_up(used, page_bytes());
  munmap(memory - (open - used) - GUARD_BYTES, open + 2 * GUARD_BYTES);
}
