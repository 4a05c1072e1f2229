/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the history of a byte (struct shadow_cell) says about an access to the byte: who has no
 * order with the access, and whether anyone has written before. And how the access becomes part
 * of the history.
 *
 * Two accesses to a byte want an order unless both read, or both are atomic stores of one kind:
 * the same operation on elements of the same type at the same places. Such stores commute; all
 * others do not, since a sum of halves and a sum of floats, or a sum and a maximum, depend on
 * who was first.
 *
 * The history keeps the last plain write, and all readers and atomic stores since. Of these it
 * keeps no more than it has to: an access is forgotten for a later one of the same kind that comes
 * after the former. Whoever has an order with all that is kept has an order with all that
 * was forgotten, so a byte that anybody races on is found, whoever is walked first. But which
 * lines are named depends on who is walked first. So memory that several cores share and that is
 * raced on is looked at in a second walk, `exact`, that keeps one access of each row, pipe and
 * block, and names every pair of rows.
 */
#ifndef VINCI_CORE_CHECK_CHECK_HISTORY_H
#define VINCI_CORE_CHECK_CHECK_HISTORY_H

#include "core/check/check_run.h"

/* An access, and the shadow of its memory. */
struct target {
  const struct inst_access *access;
  struct shadow *shadow;
  uint64_t base;     /* address of the shadow's first byte */
  uint64_t elements; /* bytes in front of a tensor's tail, whose values nobody reads */
  bool tracks;       /* some access to this memory writes, so that order matters */
  bool exact;        /* every pair of rows is wanted */
  bool *raced;       /* set when the memory is found raced on; NULL: nobody wants to know */
  uint16_t atomic;   /* order_tag.atomic of the access */
  bool starts_written;
  bool records; /* of reads: the reader is kept at once, not after the writes */
};

/* What an instruction moves at a time, as far as unwritten bytes are concerned. */
enum load {
  LOAD_BYTES,
  LOAD_FRACTALS,
  LOAD_SQUARES,
  LOAD_SQUARES_INT4,
  LOAD_WINDOWS,
  LOAD_BIASES,
};

/* An instruction on its way through the shadows. */
struct visit {
  struct check_run *run;
  const struct machine_step *step;
  const struct target *target; /* the access that is looked at */
  struct order_tag tag;        /* of this access */
  uint8_t flags;               /* of all accesses of the instruction */
  enum load load;
  uint64_t run_start;
  uint64_t before; /* bytes of the access before the run */
  uint64_t piece;  /* bytes that count as written when any of them is */
  int64_t unwritten_at;
  uint64_t unwritten;
  bool written_aside;      /* some of the unwritten bytes are WRITTEN_ASIDE */
  bool passes;             /* what is unwritten goes on into the results: registry_marks */
  bool holes;              /* some of what the instruction reads is unwritten */
  uint8_t reported;        /* bits of the targets that were said to be unwritten */
  struct order_tag hollow; /* the write of the first hollow bytes that count; epoch 0: none */
};

/* Whether a byte is certainly written when an access reads it; or only by accesses that are not
 * ordered with this access. */
enum written { WRITTEN, WRITTEN_ASIDE, UNWRITTEN };

/* Tag of bytes that an earlier kernel has written: all of it comes before. */
enum { CORE_OF_EARLIER_KERNEL = UINT16_MAX };

/* order_tag.atomic of an access: 0, or the operation, the type and where in memory elements
 * begin. */
uint16_t history_atomic(const struct inst *inst, const struct inst_access *access);
/* Reports all that want an order with the access and have none. */
void history_check(const struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                   uint64_t end);
/* Reports one of them. */
void history_check_against(const struct visit *visit, struct order_tag earlier, uint64_t start,
                           uint64_t end);
/* Whether the bytes of a cell are written when the access reads them, or changes them atomically.
 * In the first walk WRITTEN_ASIDE may be wrong: a forgotten write may come before the access. */
enum written history_written(const struct visit *visit, const struct shadow_cell *cell);
/* The memory wants a second walk. */
void history_note_race(const struct visit *visit);
/* Whether neither of them would say anything. */
bool history_is_quiet(const struct visit *visit, const struct shadow_cell *cell);
/* Keeps the access among the others of a cell. */
void history_keep(const struct visit *visit, struct shadow_cell *cell);

static inline bool history_same_block(struct order_tag a, struct order_tag b) {
  return a.core == b.core && a.block == b.block;
}

static inline bool history_same_pipe(struct order_tag a, struct order_tag b) {
  return history_same_block(a, b) && a.pipe == b.pipe;
}

/* The same with a reader where no look at the order is needed: most are alone. */
static inline void history_keep_reader(const struct visit *visit, struct shadow_cell *cell) {
  struct order_tag old = cell->other[0];
  if (cell->other[1].epoch == 0 &&
      (old.epoch == 0 || (history_same_pipe(old, visit->tag) && old.flags == visit->tag.flags &&
                          !visit->target->exact)))
    cell->other[0] = visit->tag;
  else
    history_keep(visit, cell);
}

#endif
