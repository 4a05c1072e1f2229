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

enum { PROVEN_MAX = 64, PROVEN_TEXT_BYTES = 256, PROVEN_CHANGE_BYTES = 320 };

struct proven {
  const char *lever; /* "pass", lives as long as the program */
  char text[PROVEN_TEXT_BYTES];
  char change[PROVEN_CHANGE_BYTES]; /* options that show the saving */
  const char *origin;               /* "measured", with what else has to be known */
  int64_t saved_ps;
};

struct proven_list {
  struct proven items[PROVEN_MAX]; /* the largest saving first */
  size_t count, left_out;          /* left_out: beyond PROVEN_MAX, those that save least */
  const char *untried; /* what would take minutes, as a part of a sentence; NULL: none */
};

/* Keeps a lever that changes the time. saved_ps of the lever is filled by the times of the run as
 * it is and of that with the change. */
void proven_add(struct proven_list *list, struct proven *lever, uint64_t base_ps, uint64_t ps);
/* A part of a summary: the key "levers", behind another key, and "levers_untried" where there are
 * such. */
void proven_put(const struct proven_list *list, FILE *out);
/* For callers of the library: false of visit ends that. */
void proven_visit(const struct proven_list *list,
                  bool (*visit)(void *context, const struct vinci_proven *lever), void *context);
/* A paragraph for each, of a run of base_ps. */
void proven_print(const struct proven_list *list, uint64_t base_ps, FILE *out);

#endif
