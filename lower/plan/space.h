/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of a space: the legal schedules of an operator, as values of knobs. */
#ifndef VINCI_LOWER_PLAN_SPACE_H
#define VINCI_LOWER_PLAN_SPACE_H

#include "core/base/lookup.h"
#include "core/vinci_tune.h"
#include "lower/kernel/lower.h"

enum { SPACE_KNOBS_MAX = 16, SPACE_VALUES_MAX = 512, SPACE_TEXT_BYTES = 512 };

struct space_knob {
  char name[32];
  size_t key;                       /* in the operator's keys */
  unsigned part;                    /* of a key that is a shape: which extent */
  uint64_t value[SPACE_VALUES_MAX]; /* ascending; of words their index */
  size_t count;
};

struct space_point {
  uint64_t estimate;
  uint64_t cost;    /* digest of the whole closed-form cost */
  uint64_t program; /* digest of the program; 0: not asked for so far */
  uint16_t choice[SPACE_KNOBS_MAX];
};

struct vinci_space {
  struct arena arena;
  struct lower_job job; /* value[]: the given arguments and the first schedule */
  struct space_knob knob[SPACE_KNOBS_MAX];
  size_t knob_count;
  struct space_point *point;
  size_t count, room;
  size_t chosen; /* the schedule that vinci_compile() takes */
  bool closed;
  struct lookup known; /* points by their choices */
  bool no_memory;
};

#endif
