/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: several devices. Which gradients of a data parallel step are summed together? The backward
 * pass makes gradients one after another; sums over all devices run beside it, one at a time.
 *
 *     struct vinci_buckets_options options = {
 *         .struct_size = sizeof options, .system = "atlas_a2_910b4", .ranks = 8};
 *     vinci_buckets *buckets = NULL;
 *     if (vinci_buckets_open("step.csv", text, length, &options, &buckets, &diag) == VINCI_OK) {
 *       const struct vinci_buckets_result *result = vinci_buckets_result(buckets);
 *       printf("%zu sums\n", result->plans[result->best].count);
 *     }
 *     vinci_buckets_free(buckets);
 */
#ifndef VINCI_GROUP_H
#define VINCI_GROUP_H

#include "vinci_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(id, name, text): which gradients are summed together. */
#define VINCI_BUCKET_PLAN_LIST(X)                                                                  \
  X(END, "end", "one sum of all gradients, behind the last")                                       \
  X(EACH, "each", "a sum for each gradient")                                                       \
  X(FIXED, "fixed", "a sum once the gradients have the bytes of a bucket")                         \
  X(TUNED, "tuned", "the best by a few simulated sums, with straight lines between them")          \
  X(OPTIMUM, "optimum",                                                                            \
    "the best of all, by the simulated sum of each size; of these the fewest sums")

enum vinci_bucket_plan_id {
#define X(id, name, text) VINCI_BUCKETS_##id,
  VINCI_BUCKET_PLAN_LIST(X)
#undef X
      VINCI_BUCKET_PLANS
};

/* Gradients that are summed together. Times count from the start of the step. */
struct vinci_bucket {
  size_t first, count; /* gradients, in the order in which the backward pass makes them */
  uint64_t bytes;
  uint64_t ready_ps, start_ps, end_ps; /* the last gradient is there; the sum begins and ends */
};

struct vinci_bucket_plan {
  bool there; /* false: not asked for, as OPTIMUM of many sizes */
  size_t count;
  const struct vinci_bucket *buckets;
  uint64_t end_ps;       /* of the step, by the queue of sums */
  uint64_t simulated_ps; /* of the step, by a run of the job (vinci_buckets_job()) */
  uint64_t exposed_ps;   /* of that, behind the end of the work */
  uint64_t moved_bytes;  /* that all devices sent in that run */
};

struct vinci_buckets_result {
  unsigned ranks;
  size_t gradients;
  const char *const *names; /* of gradients */
  uint64_t gradient_bytes, work_ps;
  uint64_t closed_bytes; /* what sums of all gradients move at least: 2 (ranks - 1) x bytes */
  struct vinci_bucket_plan plans[VINCI_BUCKET_PLANS];
  enum vinci_bucket_plan_id best; /* shortest by the run; of equals that with fewest sums */
  size_t sizes, simulated; /* different sizes of neighbours that could be summed; simulated sums */
  uint64_t enumerated_ps;  /* the best of all groupings, one by one, of up to 14; 0: more */
};

struct vinci_buckets_options {
  size_t struct_size;      /* sizeof(struct vinci_buckets_options) */
  const char *system;      /* as `vinci group show` lists them */
  const char *data;        /* the folder of hardware descriptions; NULL: the usual */
  const char *const *sets; /* "hccs.copy=25GB/s" */
  size_t set_count;
  unsigned ranks;       /* devices, from the first on; at least 2 */
  uint64_t fixed_bytes; /* of FIXED; 0: 25 MiB */
  /* OPTIMUM also of more than a million sums x ranks. */
  bool exact;
  bool (*progress)(void *context, size_t done, size_t all); /* false: VINCI_E_LIMIT; may be NULL */
  void *progress_context;
};

typedef struct vinci_buckets vinci_buckets;

/*
 * Reads a step, a CSV table with the columns name, backward_us and gradient_bytes (GROUP.md), and
 * searches buckets. `name` is for messages. The caller frees *out; NULL after errors. Errors:
 * VINCI_E_INPUT with line and column; VINCI_E_USAGE for an unknown system, and ranks that it lacks.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_buckets_open(const char *name, const char *text, size_t length,
                   const struct vinci_buckets_options *options, vinci_buckets **out,
                   struct vinci_diag *diag);
/* What was found; lives as long as the buckets. */
VINCI_API const struct vinci_buckets_result *vinci_buckets_result(const vinci_buckets *buckets);
/* The step with the buckets of a plan, as text for `vinci group run`; NULL: the plan is not there.
 */
VINCI_API const char *vinci_buckets_job(const vinci_buckets *buckets,
                                        enum vinci_bucket_plan_id plan);
VINCI_API void vinci_buckets_free(vinci_buckets *buckets);

/* ---- jobs --------------------------------------------------------------------------------- */

struct vinci_group_options {
  size_t struct_size;      /* sizeof(struct vinci_group_options) */
  const char *system;      /* as `vinci group show` lists them; NULL: the one that the job names */
  const char *data;        /* the folder of hardware descriptions; NULL: the usual */
  const char *const *sets; /* "hccs.copy=25GB/s" */
  size_t set_count;
  const char *const *algorithms; /* "all_reduce@dp=ring", as --algorithm of vinci group run */
  size_t algorithm_count;
  uint64_t bucket_bytes; /* neighbouring sums are made together up to this; 0: as they are */
  /* Operators of a program run in their order on one chip, as --sequence of vinci group run; false:
   * each alone on a fresh chip. */
  bool sequence;
  /* Folders of a user's library, "DIR:DIR": its kernels run where it has the operator. NULL: those
   * of $VINCI_LIBRARY, for operators that vinci does not have. */
  const char *library;
};
/* Memory of a name (rows allocate and free of GROUP.md): bytes at the peak of the rank, and the
 * most. */
struct vinci_group_held {
  const char *name;
  uint64_t peak_bytes, most_bytes;
};
/* What the time of a rank is made of: computing, exposed and idle add up to the time of the job. */
struct vinci_group_rank {
  uint64_t computing_ps, exposed_ps, idle_ps;
  uint64_t overlapped_ps; /* communication beside work */
  uint64_t slowed_ps;     /* of computing_ps, because of communication */
  /* The most that it holds of all memory, when that is so first, and of what; none: the job does
   * not say. They live as long as the visit. */
  uint64_t peak_bytes, peak_ps;
  const struct vinci_group_held *held;
  size_t held_count;
  uint64_t device_bytes; /* the memory of its device */
};
struct vinci_group_result {
  uint64_t end_ps, transfers, moved_bytes;
  unsigned ranks;
};
/*
 * Runs a job as text (GROUP.md), as `vinci group run`. Files that the job names lie in the working
 * folder. visit gets the ranks from 0 on, may be NULL, and returns false to stop. VINCI_E_INPUT
 * with line and column; VINCI_E_USAGE for an unknown system, or none.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_group_run(const char *name, const char *text, size_t length,
                const struct vinci_group_options *options,
                bool (*visit)(void *context, const struct vinci_group_rank *rank), void *context,
                struct vinci_group_result *result, struct vinci_diag *diag);

/* What of a job can be turned, algorithms of collectives and sums that are made together, as
 * vinci_net_levers(): a run for each. Errors as of vinci_group_run(). */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_group_levers(const char *name, const char *text, size_t length,
                   const struct vinci_group_options *options,
                   bool (*visit)(void *context, const struct vinci_proven *lever), void *context,
                   struct vinci_diag *diag);

/* ---- trainings whose units fail ------------------------------------------------------------- */

struct vinci_training {
  size_t struct_size; /* sizeof(struct vinci_training) */
  /* Nanoseconds: of all steps without failures; between checkpoints; that a checkpoint keeps units
   * from work, and then until a restart can use it; between failures of a unit (0: none fails). */
  uint64_t work_ns, interval_ns, blocking_ns, writing_ns, mtbf_ns;
  uint64_t detect_ns, restart_ns, repair_ns; /* from a failure; from there to work; to a spare */
  uint32_t units, spares;
  uint32_t runs; /* that are simulated; 0: 1000 */
  bool shrinks;  /* without a spare, fewer units go on */
  uint64_t seed;
  const char *checkpoint; /* NULL, or a file that keeps what has been simulated */
};
/* Of the runs: the mean time with half its 95 % interval, percentiles, and what the mean is made
 * of. */
struct vinci_trained {
  uint32_t runs;
  uint64_t failures; /* of all runs */
  uint64_t time_ns, half_ns, p5_ns, median_ns, p95_ns;
  uint64_t young_ns; /* Young's interval; 0: nothing fails */
  uint64_t work_ns, slower_ns, checkpoint_ns, lost_ns, detect_ns, wait_ns, restart_ns;
};
/* As `vinci group train`. VINCI_E_USAGE for settings that no training has, VINCI_E_INPUT for a
 * checkpoint of other settings. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_group_train(const struct vinci_training *training, struct vinci_trained *out,
                  struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
