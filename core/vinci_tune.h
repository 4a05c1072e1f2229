/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: which schedule of an operator is the fastest? The legal schedules of an operator as data,
 * searches among them, and a file that keeps what was found:
 *
 *     const char *args[] = {"m=509", "k=331", "n=1031"};
 *     struct vinci_tune_options options = {.struct_size = sizeof options, .evaluations = 60};
 *     struct vinci_tuned best;
 *     if (vinci_tune(soc, "matmul", args, 3, &options, &best, &diag) == VINCI_OK)
 *       printf("%s: %" PRIu64 " cycles\n", best.schedule, best.cycles);
 *
 * Evaluations run in threads, as those of vinci_evaluate().
 */
#ifndef VINCI_TUNE_H
#define VINCI_TUNE_H

#include "vinci_evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the schedules of an operator -------------------------------------------------------- */

/*
 * A space is the list of legal schedules of an operator, each once. A schedule is a value for each
 * knob; knobs are the operator's tiling keys and, of keys that are shapes, their extents. The space
 * starts with all schedules that vinci_compile() chooses from, each also with the words that no
 * default takes. From the cheapest by the closed-form estimate on, each knob alone takes each of
 * its other values, and what is legal joins the space, until there is nothing new or the space has
 * the size that was asked for.
 */
typedef struct vinci_space vinci_space;

/* args: as of vinci_compile(); tiling keys among these are no knobs. most: schedules, 0 for 2000;
 * those that vinci_compile() chooses from are always in, and half of `most` others at least.
 * VINCI_E_USAGE: unknown operator, wrong arguments, no legal schedule, or an operator without
 * tiling keys. The chip has to outlive the space. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_space_open(const vinci_soc *soc, const char *op, const char *const *args, size_t arg_count,
                 size_t most, vinci_space **out, struct vinci_diag *diag);
VINCI_API void vinci_space_free(vinci_space *space);

VINCI_API size_t vinci_space_knob_count(const vinci_space *space);
/* "tile.0" is the first extent of the key tile, "cores" a key of one number or word. */
VINCI_API const char *vinci_space_knob_name(const vinci_space *space, size_t knob);
VINCI_API size_t vinci_space_value_count(const vinci_space *space, size_t knob);
/* The value as arguments have the value; text is at least 64 bytes. */
VINCI_API void vinci_space_value(const vinci_space *space, size_t knob, size_t value, char *text,
                                 size_t size);

VINCI_API size_t vinci_space_count(const vinci_space *space);
/* Whether a change of one knob leads to no legal schedule outside. */
VINCI_API bool vinci_space_is_closed(const vinci_space *space);
/* The schedule that vinci_compile() takes. */
VINCI_API size_t vinci_space_default(const vinci_space *space);
/* The value of a knob in a schedule, as an index below vinci_space_value_count(). */
VINCI_API size_t vinci_space_choice(const vinci_space *space, size_t index, size_t knob);
/* Closed-form estimate, in cycles of the core clock. */
VINCI_API uint64_t vinci_space_estimate(const vinci_space *space, size_t index);
/* Arguments that ask for a schedule, "tile=64x64x128 panel=128x128 cores=20"; text is at least 512
 * bytes. */
VINCI_API void vinci_space_schedule(const vinci_space *space, size_t index, char *text,
                                    size_t size);

/* ---- searches ---------------------------------------------------------------------------- */

/* Name and one sentence of a strategy; false behind the last. */
VINCI_API bool vinci_tune_strategy(size_t index, const char **name, const char **text);

struct vinci_tune_progress {
  size_t evaluations, budget; /* simulations so far, those that are left in the journal included */
  size_t known;               /* of these, from the journal */
  uint64_t default_cycles, best_cycles; /* 0: not known yet */
};

struct vinci_tune_options {
  size_t struct_size;   /* sizeof(struct vinci_tune_options) */
  const char *strategy; /* NULL: genetic for operators of the cube, tree for others */
  size_t evaluations;   /* at most; 0: a tenth of the space, at least 24 and at most 200 */
  size_t schedules;     /* of the space, as of vinci_space_open() */
  uint64_t seed;
  unsigned robust; /* the best N run again on neighbours of the chip; 0: none */
  unsigned jobs;   /* as of vinci_evaluate() */
  enum vinci_memory memory;
  enum vinci_network network;
  enum vinci_l2 l2_start;
  /* A file that keeps each evaluation as soon as it is known. The same search goes on there after
   * an end of whatever kind. NULL: none. */
  const char *journal;
  /* Called between batches; false ends the search, whose best so far is the answer. */
  bool (*progress)(void *context, const struct vinci_tune_progress *progress);
  void *progress_context;
};

enum { VINCI_TUNE_SCHEDULE_BYTES = 512, VINCI_TUNE_NEIGHBOURS_MAX = 16 };

struct vinci_tuned {
  char schedule[VINCI_TUNE_SCHEDULE_BYTES];         /* the winner, as arguments */
  char default_schedule[VINCI_TUNE_SCHEDULE_BYTES]; /* what vinci_compile() takes */
  uint64_t cycles, default_cycles;
  uint64_t program_digest, default_program_digest;
  size_t schedules;   /* in the space */
  bool closed;        /* vinci_space_is_closed() */
  size_t evaluations; /* simulations, of flat memory as a quarter each where cycles are asked for */
  size_t known;       /* of these, from the journal */
  size_t failed;      /* schedules without an answer */
  bool ended_early;   /* by progress */
  /* Of the neighbours of the chip: how many; the most that the winner and that the fastest schedule
   * take longer than the best of those that were run, in thousandths. */
  unsigned neighbours, contenders;
  uint64_t worst_permille, fastest_worst_permille;
  uint64_t
      fastest_cycles; /* of the fastest schedule on the chip itself; the winner may be another */
};

/* Searches the space of an operator. The answer depends on the chip, the operator and the options,
 * not on jobs, journal or host; an end by progress is the exception. A failure of single schedules
 * is counted, of the default it is the answer. VINCI_E_USAGE also for an unknown strategy. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_tune(const vinci_soc *soc, const char *op,
                                                        const char *const *args, size_t arg_count,
                                                        const struct vinci_tune_options *options,
                                                        struct vinci_tuned *out,
                                                        struct vinci_diag *diag);

/* ---- what was found ---------------------------------------------------------------------- */

/*
 * Tunings that outlive a run: a text file with a record for each chip, operator, problem and
 * models, sorted, one a line. Lines of several files may be put into one file in any order, by
 * sort(1) or a version control system: of records of the same key the one of the newer model
 * revision counts, then the faster.
 */
typedef struct vinci_tunings vinci_tunings;

/* A file that does not exist has no records. VINCI_E_INPUT for another text. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_tunings_open(const char *path, vinci_tunings **out, struct vinci_diag *diag);
VINCI_API void vinci_tunings_free(vinci_tunings *tunings);
VINCI_API size_t vinci_tunings_count(const vinci_tunings *tunings);
/* Adds the records of another file. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_tunings_merge(vinci_tunings *tunings, const char *path, struct vinci_diag *diag);
/* Adds what a search has found, with the models of its options. A record of the same key stays if
 * that is faster and its program is lowered today. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_tunings_add(vinci_tunings *tunings, const vinci_soc *soc, const char *op,
                  const char *const *args, size_t arg_count,
                  const struct vinci_tune_options *options, const struct vinci_tuned *tuned,
                  struct vinci_diag *diag);
/* Replaces the file, together with the records that others have kept there meanwhile. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_tunings_save(vinci_tunings *tunings, const char *path, struct vinci_diag *diag);

enum vinci_advice_origin {
  VINCI_ADVICE_NONE,  /* no record: the schedule is that of vinci_compile() */
  VINCI_ADVICE_KEPT,  /* a record of this problem, whose program is what is lowered today */
  VINCI_ADVICE_STALE, /* a record of an older model or lowering: measured again */
  VINCI_ADVICE_NEAR,  /* a record of another shape or other models: measured on these */
};
struct vinci_advice {
  enum vinci_advice_origin origin;
  bool is_default; /* of STALE and NEAR: the default turned out to be as fast */
  char schedule[VINCI_TUNE_SCHEDULE_BYTES]; /* arguments to add; "": the default */
  uint64_t cycles, default_cycles;          /* of that record, or measured now; 0 without record */
  char from[VINCI_TUNE_SCHEDULE_BYTES];     /* of NEAR: the problem of the record */
};
/*
 * The schedule for a problem. A record counts as it stands only when the model revision and the
 * program are those of today; else its schedule and the default are simulated, and the faster of
 * the two is the answer. options: models and jobs, NULL for the usual. VINCI_E_USAGE as of
 * vinci_compile().
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_tunings_advise(const vinci_tunings *tunings, const vinci_soc *soc, const char *op,
                     const char *const *args, size_t arg_count,
                     const struct vinci_evaluate_options *options, struct vinci_advice *out,
                     struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
