/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of shadow memory in small pieces, as scalar code leaves them that stores here and there:
 * a number for each byte says which of the page's histories is that of the byte. What is found is
 * the same as with cells; only the time differs.
 */
#ifndef VINCI_CORE_CHECK_CHECK_SHADOW_FINE_H
#define VINCI_CORE_CHECK_CHECK_SHADOW_FINE_H

#include "core/check/check_shadow.h"

/* The part of a range that lies in one page. */
struct shadow_part {
  struct shadow_page *page;
  uint64_t base;
  uint32_t start, end;
};

/* Whether the page has numbers now, and room for what an access may add: pages of many cells get
 * them, and pages of too many histories give them up. */
bool shadow_fine_ready(struct shadow *shadow, struct shadow_page *page);
void shadow_fine_look(const struct shadow_part *part, shadow_fn look, void *context);
void shadow_fine_change(struct shadow *shadow, const struct shadow_part *part, shadow_fn change,
                        void *context);
void shadow_fine_write(struct shadow *shadow, const struct shadow_part *part, struct order_tag tag,
                       shadow_fn look, void *context);
/* The history of all bytes of a line that a mask names, where the page has numbers; NULL: there are
 * several, or cells. The line lies in one page. */
enum { SHADOW_LINE_BYTES = 64 };
struct shadow_cell *shadow_fine_same(struct shadow *shadow, uint64_t start, uint64_t mask);
/* Gives these bytes another history. */
void shadow_fine_set(struct shadow *shadow, uint64_t start, uint64_t mask,
                     struct shadow_cell *history);
/* Makes cells again; neighbours with the same history become one cell. */
void shadow_fine_end(struct shadow *shadow, struct shadow_page *page);

/* check_shadow.c */
bool shadow_same_history(const struct shadow_pool *pool, const struct shadow_cell *a,
                         const struct shadow_cell *b);
void shadow_copy_more(struct shadow_pool *pool, struct shadow_cell *cell);

static inline uint32_t shadow_page_bytes(const struct shadow *shadow) {
  return UINT32_C(1) << shadow->page_shift;
}

#endif
