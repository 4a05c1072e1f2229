/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The insides of a search: what is known of a space, the strategies that ask for more, and the
 * journal of evaluations. A strategy is a function that proposes the next schedules from what is
 * known; the engine (search.c) simulates these, so that results depend on neither jobs nor kills.
 */
#ifndef VINCI_TUNE_TUNE_H
#define VINCI_TUNE_TUNE_H

#include "core/base/journal.h"
#include "core/vinci_tune.h"
#include "lower/plan/space.h"

/* Schedules that are simulated before the strategy is asked again. */
enum { TUNE_BATCH = 8 };
/* An evaluation with flat memory counts as this part of one with requests. */
enum { TUNE_QUICK_PARTS = 4 };
#define TUNE_FAILED UINT64_MAX

struct tune_search {
  const struct vinci_space *space;
  size_t count;               /* schedules */
  uint64_t *cycles;           /* by schedule; 0: not known, TUNE_FAILED: none */
  uint64_t *quick;            /* the same with flat memory */
  uint64_t *programs;         /* digests */
  bool *taken;                /* by schedule: known or asked for */
  uint32_t *cheapest;         /* schedules by estimate */
  uint32_t *sorted;           /* schedules by the values of their knobs, the first knob first */
  size_t known;               /* schedules with cycles */
  size_t best;                /* of these, the fastest; the first of equal ones */
  bool has_quick;             /* flat memory is cheaper than what is asked for */
  size_t parts, budget_parts; /* spent and allowed, in parts of an evaluation */
  uint64_t draws, seed;
};

/* Proposes a schedule unless the batch is full. */
struct tune_batch {
  uint32_t point[TUNE_BATCH];
  size_t count;
  bool quick; /* with flat memory */
};
void tune_propose(struct tune_search *search, struct tune_batch *batch, size_t point);
/* A number below `below`, the next of the seed's sequence. */
uint64_t tune_draw(struct tune_search *search, uint64_t below);

struct tune_strategy {
  const char *name, *text;
  /* Fills a batch; an empty one ends the search. */
  void (*ask)(struct tune_search *search, struct tune_batch *batch);
};
/* NULL behind the last. */
const struct tune_strategy *tune_strategy(size_t index);

/* ---- the journal (journal.c) ---- */

/* Evaluations that a search, and others before, have made. */
struct tune_journal;
struct tune_fact {
  uint64_t cycles; /* TUNE_FAILED: none */
  uint64_t program_digest;
};
/* NULL path: facts are kept in memory alone. The caller closes the journal. */
VINCI_MUST_CHECK enum vinci_status tune_journal_open(const char *path, struct tune_journal **out,
                                                     struct vinci_diag *diag);
void tune_journal_close(struct tune_journal *journal);
/* Holds the file of a journal, which several processes may do, so that nobody removes the file. The
 * last to drop the file removes the file. *file is for tune_journal_drop(), -1 after an error. */
VINCI_MUST_CHECK enum vinci_status tune_journal_hold(const char *path, struct journal *file,
                                                     struct vinci_diag *diag);
bool tune_journal_find(const struct tune_journal *journal, uint64_t question,
                       struct tune_fact *out);
VINCI_MUST_CHECK enum vinci_status tune_journal_add(struct tune_journal *journal, uint64_t question,
                                                    struct tune_fact fact, struct vinci_diag *diag);

/* ---- the engine ---- */

/* What schedules are simulated on. */
struct tune_setting {
  const vinci_soc *soc;
  const char *op;
  const char *const *args;
  size_t arg_count;
  struct vinci_evaluate_options evaluate;
  struct tune_journal *journal;
  size_t known; /* answers that the journal had */
};
/* Answers for schedules given as arguments, from the journal where that has them. */
VINCI_MUST_CHECK enum vinci_status tune_ask(struct tune_setting *setting,
                                            const char *const *schedules, size_t count,
                                            struct tune_fact *facts, struct vinci_diag *diag);

/* Runs schedules again on neighbours of the chip and chooses; *winner is an index among them. */
VINCI_MUST_CHECK enum vinci_status tune_robust(const struct tune_setting *setting,
                                               const char *const *schedules, size_t count,
                                               size_t *winner, struct vinci_tuned *out,
                                               struct vinci_diag *diag);

#endif
