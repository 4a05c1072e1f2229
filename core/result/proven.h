/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levers of what is larger than a kernel: passes and cuts of a network, algorithms and sums of a
 * job. Each was proven by a run with that one thing changed, so that the option of the lever gives
 * the saving again. A lever that is on is there too: without the lever the run takes longer, and
 * the saving is below 0.
 */
#ifndef VINCI_CORE_RESULT_PROVEN_H
#define VINCI_CORE_RESULT_PROVEN_H

#include <stdio.h>

#include "core/vinci_tables.h"

enum {
  PROVEN_MAX = 64,
  PROVEN_TEXT_BYTES = 256,
  PROVEN_CHANGE_BYTES = 320,
  PROVEN_REASON_BYTES = 160,
  UNPROVEN_MAX = 16
};

struct proven {
  const char *lever; /* "pass", lives as long as the program */
  char text[PROVEN_TEXT_BYTES];
  /* Options that show the saving, "--cuts", or, of a flag that is given, "without --cuts". */
  char change[PROVEN_CHANGE_BYTES];
  const char *origin; /* "measured", with what else has to be known */
  /* Of a lever whose run met a limit, in place of origin and saving: "not measured: limit: the job
   * takes longer than 80 hours". Empty: the lever was measured. */
  char reason[PROVEN_REASON_BYTES];
  int64_t saved_ps;
};

struct proven_list {
  struct proven items[PROVEN_MAX];     /* the largest saving first */
  size_t count, left_out;              /* left_out: beyond PROVEN_MAX, those that save least */
  struct proven limited[UNPROVEN_MAX]; /* with a reason, in the order of the runs */
  size_t limited_count, limited_all;   /* limited_all: with those beyond UNPROVEN_MAX */
  bool ended;                          /* by the caller, before all levers were tried */
  const char *untried; /* what would take minutes, as a part of a sentence; NULL: none */
};

/* Keeps a lever that changes the time. saved_ps of the lever is filled by the times of the run as
 * it is and of that with the change. */
void proven_add(struct proven_list *list, struct proven *lever, uint64_t base_ps, uint64_t ps);
/* Keeps a lever whose run met a limit, as the text of the limit says. */
void proven_limit(struct proven_list *list, const struct proven *lever, const char *limit);
/* A part of a summary: the key "levers", behind another key, and where there are such
 * "levers_not_measured" and "levers_untried". */
void proven_put(const struct proven_list *list, FILE *out);
/* For callers of the library, those that are not measured last: false of visit ends that. */
void proven_visit(const struct proven_list *list,
                  bool (*visit)(void *context, const struct vinci_proven *lever), void *context);
/* A paragraph for each, of a run of base_ps. */
void proven_print(const struct proven_list *list, uint64_t base_ps, FILE *out);

#endif
