/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory: for every byte of a buffer or tensor the instruction that wrote it last and
 * the others that count since: readers, and atomic stores. Kept as runs of bytes with the same
 * history (cells), in pages that exist once they are touched, so that its size follows the
 * number of different runs, not of bytes.
 */
#ifndef VINCI_CORE_CHECK_CHECK_SHADOW_H
#define VINCI_CORE_CHECK_CHECK_SHADOW_H

#include "core/check/check_order.h"

enum { SHADOW_OTHERS = 2 };

/* Flags of order_tag. */
enum {
  TAG_READ = 1 << 0,         /* else a write, atomic or not */
  TAG_UNIT_FLAG = 1 << 1,    /* ordered between M and FIX by the hardware, block by block */
  TAG_BACK_TO_BACK = 1 << 2, /* a mad with enough tiles that the next may follow at once */
  TAG_UNIT_TURN = 1 << 3,    /* unit_flag=3: what it has used has changed sides */
  TAG_FIRST = 1 << 4,        /* second walk: the first write of its row, pipe and block */
  TAG_HOLLOW = 1 << 5,       /* written, but from what nobody wrote (check_flow.c) */
  TAG_LEFT = 1 << 6,         /* hollow because the write left the bytes as they were */
  TAG_PADS = 1 << 7,         /* lanes without a value (check_pads.c) */
};

struct shadow_cell {
  uint32_t end;  /* in its page, one past the last byte */
  uint32_t more; /* others that have no room here: index in the pool, 0 = none */
  struct order_tag write;
  struct order_tag other[SHADOW_OTHERS];
};

struct shadow_page {
  struct shadow_cell *cells; /* NULL: one cell without history */
  uint32_t count, capacity;
  uint8_t *index;   /* check_shadow_fine.h: the cell of each byte; NULL: cells are runs of bytes */
  uint32_t fine_at; /* more cells than that are worth another look */
};

/* One of the others, and the next. */
struct shadow_entry {
  struct order_tag tag;
  uint32_t next;
};

/* What all shadows of a run share. */
struct shadow_pool {
  struct shadow_entry *entries;
  uint32_t count, capacity, free;
  uint64_t bytes; /* allocated for cells and entries */
  uint64_t bytes_max;
  bool failed; /* no memory, or more than bytes_max */
};

struct shadow {
  struct shadow_pool *pool;
  struct shadow_page *pages;
  uint64_t bytes;
  uint32_t page_count;
  unsigned page_shift;
  bool holds_writers; /* some of the others have been writes */
};

/* Called with a cell and the part of it, in bytes of the buffer, that is meant. */
typedef void (*shadow_fn)(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end);

bool shadow_create(struct shadow *shadow, struct shadow_pool *pool, struct arena *arena,
                   uint64_t bytes, unsigned page_shift);
/* Forgets all history. */
void shadow_clear(struct shadow *shadow);
/* Keeps only that bytes have been written, by `tag`. */
void shadow_settle(struct shadow *shadow, struct order_tag tag);
void shadow_free(struct shadow *shadow);
void shadow_pool_free(struct shadow_pool *pool);

/* Shows the cells of a range; `look` does not change them. */
void shadow_look(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn look,
                 void *context);
/* Cuts cells at the ends of a range and lets `change` have those inside. */
void shadow_change(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn change,
                   void *context);
/* Makes a range one that `tag` has written and nobody touched since. */
void shadow_write(struct shadow *shadow, uint64_t start, uint64_t bytes, struct order_tag tag);
/* shadow_look and shadow_write at once. */
void shadow_replace(struct shadow *shadow, uint64_t start, uint64_t bytes, shadow_fn look,
                    void *context, struct order_tag tag);

/* Adds to the list behind a cell; empties the list. */
void shadow_add_more(struct shadow_pool *pool, struct shadow_cell *cell, struct order_tag tag);
void shadow_drop_more(struct shadow_pool *pool, struct shadow_cell *cell);

#endif
