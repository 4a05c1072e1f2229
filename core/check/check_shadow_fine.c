/* SPDX-License-Identifier: Apache-2.0 */
/* Pages whose bytes have numbers of histories; check_shadow_fine.h says when. */
#include "core/check/check_shadow_fine.h"

#include <stdlib.h>
#include <string.h>

/* A change at most doubles the number of histories, and numbers have eight bits. */
enum {
  HISTORIES_FIRST = 16,
  HISTORIES_MAX = 1 << 8,
  HISTORIES_KEPT = 100,
  CELLS_APART = 128,
  RUNS_FEW = 8
};

/* Where the bytes of one number end. */
static uint32_t run_end(const uint8_t *index, uint32_t at, uint32_t end) {
  uint64_t word, same = index[at] * (UINT64_MAX / UINT8_MAX);
  uint8_t number = index[at];
  while (at < end && at % sizeof word != 0 && index[at] == number)
    at++;
  while (at % sizeof word == 0 && end - at >= sizeof word) {
    memcpy(&word, index + at, sizeof word);
    if (word != same)
      break;
    at += sizeof word;
  }
  while (at < end && index[at] == number)
    at++;
  return at;
}

/* ---- histories of a page ---- */

static bool more_histories(struct shadow *shadow, struct shadow_page *page) {
  uint32_t capacity = 2 * page->capacity;
  struct shadow_cell *grown =
      capacity <= HISTORIES_MAX ? realloc(page->cells, capacity * sizeof *grown) : NULL;
  shadow->pool->failed |= !grown;
  if (!grown)
    return false;
  shadow->pool->bytes += page->capacity * sizeof *grown;
  page->cells = grown;
  page->capacity = capacity;
  return true;
}

/* The number of a history, which takes over the list of others; there is room. */
static uint8_t number_of(struct shadow *shadow, struct shadow_page *page,
                         struct shadow_cell *history) {
  for (uint32_t i = page->count; i-- > 0;)
    if (shadow_same_history(shadow->pool, &page->cells[i], history)) {
      if (history->more)
        shadow_drop_more(shadow->pool, history);
      return (uint8_t)i;
    }
  if (page->count == page->capacity && !more_histories(shadow, page))
    return 0; /* memory is short, and the run ends */
  page->cells[page->count] = *history;
  return (uint8_t)page->count++;
}

/* Gives up the histories that no byte has. */
static void collect(struct shadow *shadow, struct shadow_page *page) {
  bool used[HISTORIES_MAX] = {false};
  uint8_t moved[HISTORIES_MAX] = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < shadow_page_bytes(shadow); i++)
    used[page->index[i]] = true;
  for (uint32_t i = 0; i < page->count; i++) {
    if (!used[i]) {
      shadow_drop_more(shadow->pool, &page->cells[i]);
      continue;
    }
    moved[i] = (uint8_t)kept;
    page->cells[kept++] = page->cells[i];
  }
  page->count = kept;
  for (uint32_t i = 0; i < shadow_page_bytes(shadow); i++)
    page->index[i] = moved[page->index[i]];
}

static bool begin(struct shadow *shadow, struct shadow_page *page) {
  struct shadow_page fine = {.capacity = HISTORIES_FIRST};
  uint32_t start = 0;
  fine.index = malloc(shadow_page_bytes(shadow));
  fine.cells = malloc(fine.capacity * sizeof *fine.cells);
  bool good = fine.index && fine.cells;
  shadow->pool->failed |= !good;
  for (uint32_t i = 0; good && i < page->count; i++) {
    struct shadow_cell history = page->cells[i];
    uint32_t end = history.end, other = fine.count;
    while (other > 0 && !shadow_same_history(shadow->pool, &fine.cells[other - 1], &history))
      other--;
    if (other == 0 && fine.count == fine.capacity && !more_histories(shadow, &fine))
      break;
    if (other == 0)
      fine.cells[fine.count] = history;
    memset(fine.index + start, (int)(other ? other - 1 : fine.count), end - start);
    fine.count += other == 0;
    good = fine.count <= HISTORIES_KEPT;
    start = end;
  }
  good &= !shadow->pool->failed;
  page->fine_at = 2 * page->count;
  if (!good) {
    free(fine.index);
    free(fine.cells);
    return false;
  }
  /* Lists of others belong to the histories now, once each. */
  for (uint32_t i = 0; i < fine.count; i++)
    shadow_copy_more(shadow->pool, &fine.cells[i]);
  for (uint32_t i = 0; i < page->count; i++)
    shadow_drop_more(shadow->pool, &page->cells[i]);
  shadow->pool->bytes += shadow_page_bytes(shadow) + HISTORIES_FIRST * sizeof *fine.cells -
                         page->capacity * sizeof *page->cells;
  free(page->cells);
  fine.fine_at = page->fine_at;
  *page = fine;
  return true;
}

static uint32_t runs_of(const struct shadow *shadow, const struct shadow_page *page) {
  uint32_t runs = 0, end = shadow_page_bytes(shadow);
  for (uint32_t at = 0; at < end; at = run_end(page->index, at, end))
    runs++;
  return runs;
}

void shadow_fine_end(struct shadow *shadow, struct shadow_page *page) {
  struct shadow_page cells = {.fine_at = page->fine_at};
  uint32_t end = shadow_page_bytes(shadow);
  cells.capacity = runs_of(shadow, page) + 1;
  cells.cells = malloc(cells.capacity * sizeof *cells.cells);
  shadow->pool->failed |= !cells.cells;
  if (!cells.cells)
    return;
  for (uint32_t at = 0; at < end;) {
    struct shadow_cell *cell = &cells.cells[cells.count];
    *cell = page->cells[page->index[at]];
    at = cell->end = run_end(page->index, at, end);
    if (cells.count > 0 && shadow_same_history(shadow->pool, cell - 1, cell)) {
      cell[-1].end = at;
      continue;
    }
    shadow_copy_more(shadow->pool, cell);
    cells.count++;
  }
  for (uint32_t i = 0; i < page->count; i++)
    shadow_drop_more(shadow->pool, &page->cells[i]);
  shadow->pool->bytes +=
      cells.capacity * sizeof *cells.cells - page->capacity * sizeof *page->cells - end;
  free(page->cells);
  free(page->index);
  *page = cells;
}

bool shadow_fine_ready(struct shadow *shadow, struct shadow_page *page) {
  uint32_t many = shadow_page_bytes(shadow) / CELLS_APART;
  if (!page->index)
    return page->count > many && page->count > page->fine_at && begin(shadow, page);
  if (page->count > HISTORIES_KEPT)
    collect(shadow, page);
  if (page->count <= HISTORIES_KEPT)
    return true;
  shadow_fine_end(shadow, page);
  page->fine_at = 2 * page->count;
  return page->index != NULL;
}

/* ---- accesses ---- */

void shadow_fine_look(const struct shadow_part *part, shadow_fn look, void *context) {
  struct shadow_page *page = part->page;
  for (uint32_t at = part->start; at < part->end;) {
    uint32_t start = at;
    at = run_end(page->index, at, part->end);
    look(context, &page->cells[page->index[start]], part->base + start, part->base + at);
  }
}

/* Bytes of all ones where bits are set. */
static uint64_t spread(uint64_t bits) {
  const uint64_t ones = UINT64_MAX / UINT8_MAX;
  uint64_t apart = (bits & UINT8_MAX) * ones & UINT64_C(0x8040201008040201);
  return (((apart + ones * INT8_MAX) | apart) >> 7 & ones) * UINT8_MAX;
}

struct shadow_cell *shadow_fine_same(struct shadow *shadow, uint64_t start, uint64_t mask) {
  struct shadow_page *page = &shadow->pages[start >> shadow->page_shift];
  if (page->count <= 1 ? !page->index : !shadow_fine_ready(shadow, page))
    return NULL;
  const uint8_t *index = page->index + (start & (shadow_page_bytes(shadow) - 1));
  uint8_t number = index[__builtin_ctzll(mask)];
  uint64_t word, differs = 0, same = number * (UINT64_MAX / UINT8_MAX);
  for (unsigned at = 0; at < SHADOW_LINE_BYTES && mask >> at != 0; at += sizeof word) {
    if ((mask >> at & UINT8_MAX) == 0)
      continue;
    memcpy(&word, index + at, sizeof word);
    differs |= (word ^ same) & spread(mask >> at);
  }
  return differs == 0 ? &page->cells[number] : NULL;
}

void shadow_fine_set(struct shadow *shadow, uint64_t start, uint64_t mask,
                     struct shadow_cell *history) {
  struct shadow_page *page = &shadow->pages[start >> shadow->page_shift];
  uint8_t *index = page->index + (start & (shadow_page_bytes(shadow) - 1));
  uint64_t word, number = number_of(shadow, page, history) * (UINT64_MAX / UINT8_MAX);
  for (unsigned at = 0; at < SHADOW_LINE_BYTES && mask >> at != 0; at += sizeof word) {
    uint64_t bytes = spread(mask >> at);
    if (bytes == 0)
      continue;
    memcpy(&word, index + at, sizeof word);
    word = (word & ~bytes) | (number & bytes);
    memcpy(index + at, &word, sizeof word);
  }
}

void shadow_fine_change(struct shadow *shadow, const struct shadow_part *part, shadow_fn change,
                        void *context) {
  struct shadow_page *page = part->page;
  for (uint32_t at = part->start; at < part->end;) {
    uint32_t start = at;
    struct shadow_cell history = page->cells[page->index[at]];
    at = run_end(page->index, at, part->end);
    if (history.more)
      shadow_copy_more(shadow->pool, &history);
    change(context, &history, part->base + start, part->base + at);
    memset(page->index + start, number_of(shadow, page, &history), at - start);
  }
}

void shadow_fine_write(struct shadow *shadow, const struct shadow_part *part, struct order_tag tag,
                       shadow_fn look, void *context) {
  struct shadow_page *page = part->page;
  struct shadow_cell history = {.write = tag};
  if (look)
    shadow_fine_look(part, look, context);
  memset(page->index + part->start, number_of(shadow, page, &history), part->end - part->start);
  if (part->end - part->start >= shadow_page_bytes(shadow) / 2 && runs_of(shadow, page) <= RUNS_FEW)
    shadow_fine_end(shadow, page);
}
