/* SPDX-License-Identifier: Apache-2.0 */
#include "core/machine/values_unknown.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/arith.h"
#include "core/machine/values.h"

/* ---- pages -------------------------------------------------------------------------------- */

struct unknown_pages {
  uint8_t *base;
  uint64_t page_bytes, count;
  uint64_t first, end; /* all unknown pages are between */
  bool closed;
  uint64_t bits[]; /* 1: unknown */
};

enum { WORD_BITS = 64 };

struct unknown_pages *unknown_pages_new(uint8_t *base, uint64_t bytes) {
  uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t count = ceil_div(bytes, page_bytes);
  struct unknown_pages *pages =
      calloc(1, sizeof *pages + (size_t)ceil_div(count, WORD_BITS) * sizeof(uint64_t));
  if (pages)
    *pages = (struct unknown_pages){
        .base = base, .page_bytes = page_bytes, .count = count, .first = count};
  return pages;
}

void unknown_pages_free(struct unknown_pages *pages) {
  if (pages)
    (void)unknown_pages_close(pages, false);
  free(pages);
}

static bool is_unknown(const struct unknown_pages *pages, uint64_t page) {
  return pages->bits[page / WORD_BITS] >> page % WORD_BITS & 1;
}

static bool protect(const struct unknown_pages *pages, uint64_t first, uint64_t end, int access) {
  return mprotect(pages->base + first * pages->page_bytes,
                  (size_t)((end - first) * pages->page_bytes), access) == 0;
}

bool unknown_pages_close(struct unknown_pages *pages, bool closed) {
  bool done = true;
  if (pages->closed == closed)
    return true;
  pages->closed = closed;
  if (!closed)
    return pages->first >= pages->end ||
           protect(pages, pages->first, pages->end, PROT_READ | PROT_WRITE);
  for (uint64_t page = pages->first; page < pages->end && done;) {
    uint64_t end = page;
    while (end < pages->end && is_unknown(pages, end))
      end++;
    done = end == page || protect(pages, page, end, PROT_NONE);
    page = max_u64(end, page + 1);
  }
  return done;
}

bool unknown_pages_mark(struct unknown_pages *pages, uint64_t offset, uint64_t bytes) {
  uint64_t end = min_u64(ceil_div(offset + bytes, pages->page_bytes), pages->count);
  uint64_t first = end;
  for (uint64_t page = offset / pages->page_bytes; page < end; page++) {
    if (page % WORD_BITS == 0 && end - page >= WORD_BITS &&
        pages->bits[page / WORD_BITS] == UINT64_MAX) {
      page += WORD_BITS - 1;
      continue;
    }
    if (is_unknown(pages, page))
      continue;
    pages->bits[page / WORD_BITS] |= UINT64_C(1) << page % WORD_BITS;
    first = min_u64(first, page);
  }
  if (first == end)
    return true;
  pages->first = min_u64(pages->first, first);
  pages->end = max_u64(pages->end, end);
  return !pages->closed || protect(pages, first, end, PROT_NONE);
}

void unknown_pages_clear(struct unknown_pages *pages, uint64_t offset, uint64_t bytes) {
  uint64_t end = min_u64(ceil_div(offset + bytes, pages->page_bytes), pages->end);
  for (uint64_t page = max_u64(offset / pages->page_bytes, pages->first); page < end; page++)
    pages->bits[page / WORD_BITS] &= ~(UINT64_C(1) << page % WORD_BITS);
}

bool unknown_pages_any(const struct unknown_pages *pages, uint64_t offset, uint64_t bytes) {
  uint64_t end = min_u64(ceil_div(offset + bytes, pages->page_bytes), pages->end);
  for (uint64_t page = max_u64(offset / pages->page_bytes, pages->first); page < end; page++)
    if (is_unknown(pages, page))
      return true;
  return false;
}

/* ---- a run -------------------------------------------------------------------------------- */

struct unknown *unknown_new(struct unknown_pages *gm, uint32_t core_count) {
  struct unknown *unknown = calloc(1, sizeof *unknown);
  if (!unknown)
    return NULL;
  *unknown = (struct unknown){.gm = gm,
                              .ub = calloc((size_t)core_count + 1, sizeof *unknown->ub),
                              .registers = calloc((size_t)core_count + 1, sizeof(bool)),
                              .core_count = core_count};
  if (unknown->ub && unknown->registers)
    return unknown;
  unknown_free(unknown);
  return NULL;
}

void unknown_free(struct unknown *unknown) {
  if (!unknown)
    return;
  for (uint32_t i = 0; unknown->ub && i < unknown->core_count; i++)
    unknown_pages_free(unknown->ub[i]);
  free(unknown->ub);
  free(unknown->registers);
  free(unknown);
}

/* The pages of an access; NULL: scalar code cannot read that memory, or *failed. */
static struct unknown_pages *pages_of(struct unknown *unknown, const struct vinci_values *values,
                                      const struct machine_step *step,
                                      const struct inst_access *access, bool *failed) {
  if (access->space == SPACE_GM)
    return unknown->gm;
  if (access->space != SPACE_UB)
    return NULL;
  uint32_t core = inst_access_core(values->soc, access, step->core);
  if (!unknown->ub[core]) {
    unknown->ub[core] = unknown_pages_new(values->cores[core].bytes[SPACE_UB],
                                          soc_space_bytes(values->soc, SPACE_UB));
    *failed |= !unknown->ub[core] || !unknown_pages_close(unknown->ub[core], true);
  }
  return unknown->ub[core];
}

/*
 * Copies into memory that scalar code can read are made, as long as their source is known: tiling
 * data comes on this way. Everything else is left out: sources in other buffers are never known.
 */
bool unknown_computes(struct unknown *unknown, struct vinci_values *values,
                      const struct machine_step *step, bool *failed) {
  struct inst_access access[INST_ACCESS_MAX];
  enum pipe pipe = isa_row((enum isa_op)step->inst->op)->pipe;
  unsigned count = registry_access((enum isa_op)step->inst->op)(values->soc, step->inst, access);
  if (count == 0 && pipe == PIPE_S)
    return true;
  bool known = pipe != PIPE_V && pipe != PIPE_M, writes = false;
  unknown->registers[step->core] |= pipe == PIPE_V;
  for (unsigned i = 0; i < count; i++) {
    if (access[i].bytes == 0)
      continue;
    const struct unknown_pages *pages = pages_of(unknown, values, step, &access[i], failed);
    known &= pages && !unknown_pages_any(pages, (uint64_t)access[i].address, access[i].bytes);
    writes |= access[i].write;
  }
  for (unsigned i = 0; i < count && !known; i++) {
    struct unknown_pages *pages = access[i].write && access[i].bytes
                                      ? pages_of(unknown, values, step, &access[i], failed)
                                      : NULL;
    if (pages && !unknown_pages_mark(pages, (uint64_t)access[i].address, access[i].bytes))
      *failed = true;
  }
  return known && writes;
}

static bool holds(const struct unknown_pages *pages, const void *address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)(pages ? pages->base : NULL);
  return pages && offset < pages->count * pages->page_bytes &&
         is_unknown(pages, offset / pages->page_bytes);
}

bool unknown_holds(const struct vinci_values *values, const void *address) {
  const struct unknown *unknown = values->unknown;
  if (!unknown)
    return false;
  for (uint32_t i = 0; i < unknown->core_count; i++)
    if (holds(unknown->ub[i], address))
      return true;
  return holds(unknown->gm, address);
}
