/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a change of total_cycles between two runs comes from. The parts of a critical path
 * (core/result/critical.h) sum to the cycles of their run, so the differences of parts sum to the
 * change: by group, which is a pipe or what lies between instructions, and inside a pipe twice, by
 * cause and by instruction. The gate and `vinci diff` explain with these functions.
 */
#ifndef VINCI_CORE_RESULT_EXPLAIN_H
#define VINCI_CORE_RESULT_EXPLAIN_H

#include "core/result/critical.h"

/* The run before and the run after. */
enum explain_side { EXPLAIN_A, EXPLAIN_B, EXPLAIN_SIDES };

enum explain_kind { EXPLAIN_REST, EXPLAIN_CAUSE, EXPLAIN_INSTRUCTION };

struct explain_item {
  enum explain_kind kind;
  char group[16];                /* "MTE2"; of a rest "launch", "idle", "end" */
  char name[48];                 /* of a cause its key, of an instruction its name, else "" */
  uint64_t count[EXPLAIN_SIDES]; /* instructions on the chain; 0 of others */
  uint64_t cycles[EXPLAIN_SIDES];
};

/* All zero before use; for explain_free(). */
struct explanation {
  uint64_t total[EXPLAIN_SIDES]; /* cycles of the runs, given by the caller */
  struct explain_item *items;
  size_t count, capacity;
  bool has_causes[EXPLAIN_SIDES]; /* a part by cause was added */
};

/* What a side spends on a part; a part that is there already grows. False when memory is short. */
bool explain_add(struct explanation *explanation, enum explain_side side,
                 const struct explain_item *like, uint64_t count, uint64_t cycles);
/* All parts of a path. */
bool explain_path(struct explanation *explanation, enum explain_side side,
                  const struct critical_path *path);
/*
 * Puts the parts in order: groups by the size of their change, in each the causes, then the
 * instructions, by the size of theirs. Causes that only one side has are left out, since they would
 * sum to nothing.
 */
void explain_order(struct explanation *explanation);

int64_t explain_change(const struct explain_item *item);
/* The change of a group, the one of an item. Causes are not added: they are the same cycles. */
int64_t explain_group_change(const struct explanation *explanation, const char *group);
uint64_t explain_group_cycles(const struct explanation *explanation, enum explain_side side,
                              const char *group);
/*
 * The change of n instructions of c cycles to n' of c' is (n' - n) (c + c') / 2 for more or fewer
 * of them, rounded towards zero, and the rest for slower or faster ones. The mean of both costs
 * makes the split of B to A the negative of that of A to B.
 */
int64_t explain_count_change(const struct explain_item *item);
/* What the parts leave of the change: 0 unless a path was given without all of its parts. */
int64_t explain_unattributed(const struct explanation *explanation);

/* What the cycles of a cause do: "move bytes at the rate of the path". */
const char *explain_cause_text(const char *name);

/* The parts in order that changed, each line after prefix, with per cent of the cycles of A. */
void explain_write(const struct explanation *explanation, const char *prefix, FILE *out);

void explain_free(struct explanation *explanation);

#endif
