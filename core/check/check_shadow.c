/* SPDX-License-Identifier: Apache-2.0 */
/* Shadow memory: pages of cells, each cell a run of bytes with the same history. */
#include "core/check/check_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "core/check/check_shadow_fine.h"

enum { CELLS_FIRST = 4, POOL_FIRST = 64 };

bool shadow_create(struct shadow *shadow, struct shadow_pool *pool, struct arena *arena,
                   uint64_t bytes, unsigned page_shift) {
  uint64_t pages = (bytes >> page_shift) + ((bytes & ((UINT64_C(1) << page_shift) - 1)) != 0);
  *shadow = (struct shadow){
      .pool = pool, .bytes = bytes, .page_count = (uint32_t)pages, .page_shift = page_shift};
  shadow->pages = ARENA_ARRAY(arena, struct shadow_page, pages);
  return shadow->pages != NULL;
}

/* ---- others beyond those that a cell has room for ---------------------------------- */

/* A new entry, the end of its list; 0 when memory is short. */
static uint32_t new_entry(struct shadow_pool *pool, struct order_tag tag) {
  uint32_t index = pool->free;
  if (index != 0) {
    pool->free = pool->entries[index].next;
  } else {
    if (pool->count == pool->capacity) {
      uint32_t capacity = pool->capacity ? 2 * pool->capacity : POOL_FIRST;
      struct shadow_entry *grown = realloc(pool->entries, capacity * sizeof *grown);
      if (!grown) {
        pool->failed = true;
        return 0;
      }
      pool->bytes += (capacity - pool->capacity) * sizeof *grown;
      pool->failed |= pool->bytes > pool->bytes_max;
      pool->entries = grown;
      pool->capacity = capacity;
    }
    if (pool->count == 0)
      pool->count = 1; /* 0 is the end of lists */
    index = pool->count++;
  }
  pool->entries[index] = (struct shadow_entry){.tag = tag};
  return index;
}

void shadow_add_more(struct shadow_pool *pool, struct shadow_cell *cell, struct order_tag tag) {
  uint32_t index = new_entry(pool, tag);
  if (index == 0)
    return;
  pool->entries[index].next = cell->more;
  cell->more = index;
}

void shadow_drop_more(struct shadow_pool *pool, struct shadow_cell *cell) {
  while (cell->more != 0) {
    uint32_t index = cell->more;
    cell->more = pool->entries[index].next;
    pool->entries[index].next = pool->free;
    pool->free = index;
  }
}

/* Gives a copied cell a list of its own, in the same order: equal cells shall be seen as such. */
void shadow_copy_more(struct shadow_pool *pool, struct shadow_cell *cell) {
  uint32_t from = cell->more, last = 0;
  cell->more = 0;
  for (; from != 0; from = pool->entries[from].next) {
    uint32_t index = new_entry(pool, pool->entries[from].tag);
    if (last)
      pool->entries[last].next = index;
    else
      cell->more = index;
    if (index == 0)
      return;
    last = index;
  }
}

static bool same_more(const struct shadow_pool *pool, uint32_t a, uint32_t b) {
  if (a == b) /* there is none */
    return true;
  while (a != 0 && b != 0) {
    if (memcmp(&pool->entries[a].tag, &pool->entries[b].tag, sizeof(struct order_tag)) != 0)
      return false;
    a = pool->entries[a].next;
    b = pool->entries[b].next;
  }
  return a == b;
}

/* ---- cells ---------------------------------------------------------------------------- */

/* Room for `extra` more cells; false when memory is short. */
static bool grow(struct shadow *shadow, struct shadow_page *page, uint32_t extra) {
  if (page->count + extra <= page->capacity)
    return true;
  uint32_t capacity = page->capacity ? page->capacity : CELLS_FIRST;
  while (capacity < page->count + extra)
    capacity *= 2;
  struct shadow_cell *grown = realloc(page->cells, capacity * sizeof *grown);
  if (!grown) {
    shadow->pool->failed = true;
    return false;
  }
  shadow->pool->bytes += (capacity - page->capacity) * sizeof *grown;
  shadow->pool->failed |= shadow->pool->bytes > shadow->pool->bytes_max;
  page->cells = grown;
  page->capacity = capacity;
  if (page->count == 0)
    page->cells[page->count++] = (struct shadow_cell){.end = shadow_page_bytes(shadow)};
  return true;
}

/* The cell that holds a byte of the page. */
static uint32_t find(const struct shadow_page *page, uint32_t at) {
  uint32_t low = 0, high = page->count - 1;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (page->cells[middle].end > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static uint32_t start_of(const struct shadow_page *page, uint32_t index) {
  return index ? page->cells[index - 1].end : 0;
}

/* Makes `extra` more cells of one; the last of them keeps the list of others as it is. */
static void copy_cell(struct shadow *shadow, struct shadow_page *page, uint32_t index,
                      uint32_t extra) {
  struct shadow_cell *cell = &page->cells[index];
  memmove(cell + 1 + extra, cell + 1, (page->count - index - 1) * sizeof *cell);
  page->count += extra;
  for (uint32_t i = 1; i <= extra; i++) {
    cell[i] = *cell;
    if (cell->more)
      shadow_copy_more(shadow->pool, &cell[i]);
  }
  uint32_t first_more = cell[extra].more;
  cell[extra].more = cell->more;
  cell->more = first_more;
}

/* Cuts cells so that one begins at `start` and one ends at `end`; returns the index of the first
 * cell of the range, and in *last that of the first cell behind the range. */
static uint32_t isolate(struct shadow *shadow, struct shadow_page *page, uint32_t start,
                        uint32_t end, uint32_t *last) {
  uint32_t first = start ? find(page, start) : 0;
  uint32_t before = start_of(page, first) != start;
  if (end < page->cells[first].end) { /* inside of one cell, or at its start */
    copy_cell(shadow, page, first, before + 1);
    page->cells[first].end = before ? start : end;
    page->cells[first + before].end = end;
    *last = first + before + 1;
    return first + before;
  }
  if (before) {
    copy_cell(shadow, page, first, 1);
    page->cells[first++].end = start;
  }
  *last = first + 1;
  if (page->cells[first].end == end)
    return first;
  uint32_t cut = end < shadow_page_bytes(shadow) ? find(page, end) : page->count;
  if (cut < page->count && start_of(page, cut) != end) {
    copy_cell(shadow, page, cut, 1);
    page->cells[cut++].end = end;
  }
  *last = cut;
  return first;
}

bool shadow_same_history(const struct shadow_pool *pool, const struct shadow_cell *a,
                         const struct shadow_cell *b) {
  return a->write.row == b->write.row && a->other[0].row == b->other[0].row &&
         memcmp(&a->write, &b->write, sizeof a->write) == 0 &&
         memcmp(a->other, b->other, sizeof a->other) == 0 && same_more(pool, a->more, b->more);
}

/* Makes one cell of neighbours with the same history, from `first` up to `last`. */
static void merge(struct shadow_pool *pool, struct shadow_page *page, uint32_t first,
                  uint32_t last) {
  while (first < last && !shadow_same_history(pool, &page->cells[first], &page->cells[first + 1]))
    first++;
  uint32_t kept = first;
  for (uint32_t i = first + 1; i <= last; i++) {
    if (shadow_same_history(pool, &page->cells[kept], &page->cells[i])) {
      page->cells[kept].end = page->cells[i].end;
      if (page->cells[i].more)
        shadow_drop_more(pool, &page->cells[i]);
    } else {
      page->cells[++kept] = page->cells[i];
    }
  }
  uint32_t gone = last - kept;
  if (gone == 0)
    return;
  memmove(page->cells + kept + 1, page->cells + last + 1,
          (page->count - last - 1) * sizeof *page->cells);
  page->count -= gone;
}

static void change_page(struct shadow *shadow, const struct shadow_part *part, shadow_fn change,
                        void *context) {
  struct shadow_page *page = part->page;
  if (shadow_fine_ready(shadow, page)) {
    shadow_fine_change(shadow, part, change, context);
    return;
  }
  if (!grow(shadow, page, 3))
    return;
  uint32_t last, first = isolate(shadow, page, part->start, part->end, &last);
  for (uint32_t i = first; i < last; i++)
    change(context, &page->cells[i], part->base + start_of(page, i),
           part->base + page->cells[i].end);
  merge(shadow->pool, page, first ? first - 1 : 0, last < page->count ? last : page->count - 1);
}

/* Looks at the cells before they go, if `look` is given. */
static void write_page(struct shadow *shadow, const struct shadow_part *part, struct order_tag tag,
                       shadow_fn look, void *context) {
  struct shadow_page *page = part->page;
  uint32_t end = part->end;
  if (shadow_fine_ready(shadow, page)) {
    shadow_fine_write(shadow, part, tag, look, context);
    return;
  }
  if (!grow(shadow, page, 3))
    return;
  uint32_t last, first = isolate(shadow, page, part->start, end, &last);
  for (uint32_t i = first; look && i < last; i++)
    look(context, &page->cells[i], part->base + start_of(page, i), part->base + page->cells[i].end);
  for (uint32_t i = first; i < last; i++)
    shadow_drop_more(shadow->pool, &page->cells[i]);
  struct shadow_cell cell = {.end = end, .write = tag};
  page->cells[first] = cell;
  if (last - first > 1) {
    memmove(page->cells + first + 1, page->cells + last,
            (page->count - last) * sizeof *page->cells);
    page->count -= last - first - 1;
  }
  merge(shadow->pool, page, first ? first - 1 : 0,
        first + 1 < page->count ? first + 1 : page->count - 1);
}

/* ---- ranges ------------------------------------------------------------------------------ */

static bool next_part(struct shadow *shadow, uint64_t *start, uint64_t stop,
                      struct shadow_part *part) {
  if (*start >= stop || shadow->pool->failed)
    return false;
  uint64_t index = *start >> shadow->page_shift;
  part->page = &shadow->pages[index];
  part->base = index << shadow->page_shift;
  part->start = (uint32_t)(*start - part->base);
  uint64_t end = stop - part->base;
  part->end = end < shadow_page_bytes(shadow) ? (uint32_t)end : shadow_page_bytes(shadow);
  *start = part->base + part->end;
  return true;
}

void shadow_look(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn look,
                 void *context) {
  struct shadow_cell blank = {0};
  struct shadow_part part;
  for (uint64_t stop = start + bytes; next_part(shadow, &start, stop, &part);) {
    struct shadow_page *page = part.page;
    if (page->count == 0) {
      look(context, &blank, part.base + part.start, part.base + part.end);
      continue;
    }
    if (page->index) {
      shadow_fine_look(&part, look, context);
      continue;
    }
    uint32_t from = part.start;
    for (uint32_t i = find(page, from); i < page->count && from < part.end; i++) {
      uint32_t to = page->cells[i].end < part.end ? page->cells[i].end : part.end;
      look(context, &page->cells[i], part.base + from, part.base + to);
      from = to;
    }
  }
}

void shadow_change(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn change,
                   void *context) {
  struct shadow_part part;
  for (uint64_t stop = start + bytes; next_part(shadow, &start, stop, &part);)
    change_page(shadow, &part, change, context);
}

void shadow_write(struct shadow *shadow, uint64_t start, uint64_t bytes, struct order_tag tag) {
  struct shadow_part part;
  for (uint64_t stop = start + bytes; next_part(shadow, &start, stop, &part);)
    write_page(shadow, &part, tag, NULL, NULL);
}

void shadow_replace(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn look,
                    void *context, struct order_tag tag) {
  struct shadow_part part;
  for (uint64_t stop = start + bytes; next_part(shadow, &start, stop, &part);)
    write_page(shadow, &part, tag, look, context);
}

/* ---- whole shadows -------------------------------------------------------------------------- */

void shadow_clear(struct shadow *shadow) {
  shadow->holds_writers = false;
  for (uint32_t p = 0; p < shadow->page_count; p++) {
    struct shadow_page *page = &shadow->pages[p];
    if (page->index)
      shadow_fine_end(shadow, page);
    for (uint32_t i = 0; i < page->count; i++)
      shadow_drop_more(shadow->pool, &page->cells[i]);
    page->fine_at = 0;
    if (page->count > 0) {
      page->cells[0] = (struct shadow_cell){.end = shadow_page_bytes(shadow)};
      page->count = 1;
    }
  }
}

static bool is_written(const struct shadow_pool *pool, const struct shadow_cell *cell) {
  bool written = cell->write.epoch != 0;
  for (unsigned i = 0; i < SHADOW_OTHERS; i++)
    written |= cell->other[i].epoch != 0 && !(cell->other[i].flags & TAG_READ);
  for (uint32_t i = cell->more; i != 0 && !written; i = pool->entries[i].next)
    written = !(pool->entries[i].tag.flags & TAG_READ);
  return written;
}

void shadow_settle(struct shadow *shadow, struct order_tag tag) {
  shadow->holds_writers = false;
  for (uint32_t p = 0; p < shadow->page_count; p++) {
    struct shadow_page *page = &shadow->pages[p];
    if (page->index)
      shadow_fine_end(shadow, page);
    page->fine_at = 0;
    for (uint32_t i = 0; i < page->count; i++) {
      struct shadow_cell *cell = &page->cells[i];
      bool written = is_written(shadow->pool, cell);
      shadow_drop_more(shadow->pool, cell);
      memset(cell->other, 0, sizeof cell->other);
      cell->write = written ? tag : (struct order_tag){0};
    }
    if (page->count > 0)
      merge(shadow->pool, page, 0, page->count - 1);
  }
}

void shadow_free(struct shadow *shadow) {
  for (uint32_t p = 0; p < shadow->page_count; p++) {
    free(shadow->pages[p].cells);
    free(shadow->pages[p].index);
  }
  shadow->page_count = 0;
}

void shadow_pool_free(struct shadow_pool *pool) { free(pool->entries); }
