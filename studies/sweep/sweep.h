/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep: a study expands to points, points run in a pool of workers, each finished
 * point is one record in a journal, and the table is made of the records.
 *
 * A point is done when a journal holds its record, and for no other reason. Its identity is
 * the digest of the resolved chip, of what runs on it, of the models and of the model
 * revision; so an edited study finds again what it has computed already.
 */
#ifndef VINCI_STUDIES_SWEEP_SWEEP_H
#define VINCI_STUDIES_SWEEP_SWEEP_H

#include "core/base/arena.h"
#include "core/base/journal.h"
#include "core/vinci_energy.h"
#include "networks/workload/workload.h"
#include "studies/job/model.h"
#include "studies/sweep/records.h"

enum { SWEEP_PARAMS_MAX = 64, SWEEP_POINTS_MAX = 10000000, SWEEP_JOBS_MAX = 256 };
/* Of the table of all points, which is held in memory. */
enum { SWEEP_CELLS_MAX = SWEEP_POINTS_MAX };

struct sweep_study {
  struct arena arena;
  const struct model_steps *steps;  /* NULL: nobody makes steps of models */
  const char *data;                 /* the folder that holds soc/, may be NULL */
  struct run_spec spec;             /* common to all points */
  struct vinci_run_options options; /* of points that do not say others */
  const char *keys[SWEEP_PARAMS_MAX];
  size_t param_count;
  const char **values; /* [point * param_count + param]; NULL: this point leaves it alone */
  size_t point_count;
  uint64_t *ids; /* by point */
};

/* As vinci_sweep_open(), with study->steps; what else was there is lost. Free in any case. */
VINCI_MUST_CHECK enum vinci_status sweep_study_open(struct sweep_study *study,
                                                    const char *const *arguments, size_t count,
                                                    const struct vinci_sweep_options *options,
                                                    struct vinci_diag *diag);
/* A study of parameters alone: what runs at its points, the caller says (list.h). Free in any case.
 */
VINCI_MUST_CHECK enum vinci_status sweep_study_open_list(struct sweep_study *study,
                                                         const struct vinci_sweep_options *options,
                                                         struct vinci_diag *diag);
void sweep_study_free(struct sweep_study *study);
/* The Lua form of a study (study_lua.c). */
VINCI_MUST_CHECK enum vinci_status sweep_study_read(struct sweep_study *study, const char *path,
                                                    struct vinci_diag *diag);
/* For the readers of both forms. */
struct sweep_axis {
  const char *key;
  const char **values;
  size_t count;
};
enum vinci_status sweep_too_many_cells(struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status sweep_expand(struct sweep_study *study,
                                                const struct sweep_axis *axes, size_t count,
                                                struct vinci_diag *diag);

/* The workload of one point, its op.* parameters put in; lives in the arena. */
bool sweep_workload(const struct sweep_study *study, size_t point, struct arena *arena,
                    struct workload *out);
/* Its models; a word that names none is an error. */
VINCI_MUST_CHECK enum vinci_status sweep_options(const struct sweep_study *study, size_t point,
                                                 struct vinci_run_options *out,
                                                 struct vinci_diag *diag);
/* The chip of one point; owned by the caller. */
VINCI_MUST_CHECK enum vinci_status sweep_resolve(const struct sweep_study *study,
                                                 struct chip_cache *chips, size_t point,
                                                 vinci_soc **out, struct vinci_diag *diag);
/* Whether points are jobs of several devices. */
bool sweep_is_of_jobs(const struct sweep_study *study);
/* Computes the ids of all points. */
VINCI_MUST_CHECK enum vinci_status
sweep_identify(struct sweep_study *study, struct chip_cache *chips, struct vinci_diag *diag);

/* The value of a parameter at a point; NULL: the point leaves the parameter alone. */
const char *sweep_value(const struct sweep_study *study, size_t point, size_t param);
/* The argument of operator, network or job that a parameter is; NULL: none. */
const char *sweep_argument(const char *key);
/* Whether a parameter is one of memory, network, l2 and code. */
bool sweep_is_model(const char *key);

/* ---- jobs of several devices (job.c) ------------------------------------------------ */

/* Where the arguments of jobs begin among parameters. */
#define SWEEP_JOB_PREFIX "job."
/* Checks system, job and names of parameters. */
VINCI_MUST_CHECK enum vinci_status
sweep_check_job(const struct sweep_study *study, struct chip_cache *chips, struct vinci_diag *diag);
/* Of what a point runs on: numbers of system and chip. */
VINCI_MUST_CHECK enum vinci_status sweep_job_digest(const struct sweep_study *study,
                                                    struct chip_cache *chips, size_t point,
                                                    uint64_t *out, struct vinci_diag *diag);
/* What a point gave: times and bytes of all ranks, but for the time of the job. */
struct sweep_job_result {
  uint64_t time_ps, computing_ps, exposed_ps, bubble_ps, idle_ps, overlapped_ps, slowed_ps;
  uint64_t ranks, transfers, moved_bytes;
  uint64_t memory_bytes;      /* most that a device holds; 0: a job does not say */
  uint64_t device_bytes;      /* memory of a device */
  struct vinci_energy energy; /* all zero when nobody has asked */
};
VINCI_MUST_CHECK enum vinci_status
sweep_run_job(const struct sweep_study *study, struct chip_cache *chips, size_t point,
              bool (*progress)(void *context, size_t done, size_t all), void *context,
              struct sweep_job_result *out, struct vinci_diag *diag);
/* ",job.time_ps,..." and the cells below. result NULL: empty cells. */
void sweep_job_header(FILE *out);
void sweep_job_cells(const struct sweep_job_result *result, FILE *out);

/* ---- records (record.c) --------------------------------------------------------- */

/* Which columns the record of a point has: those of a kernel, a network or a job, and of energy. */
struct sweep_columns {
  bool networks, jobs, energy;
};
/* The last column of a manifest whose points run networks, or jobs. */
#define SWEEP_NETWORK_COLUMN "network"
#define SWEEP_JOB_COLUMN "job"
/* By the first line of a manifest: a parameter energy or energy.KEY asks for energy. */
struct sweep_columns sweep_columns_of(const char *manifest);
/* The header of the part of a row that comes from the record: status to hbm; of networks their own
 * metrics. */
void sweep_record_header(struct sweep_columns columns, FILE *out);
/*
 * Runs one point and writes its cells "ok,0,,..." without line end. Returns false when
 * stop() ended the run.
 */
bool sweep_run_point(const struct sweep_study *study, struct chip_cache *chips, size_t point,
                     bool (*stop)(void *context), void *context, char *cells, size_t size);
/* The cells of a point whose worker died. */
void sweep_crash_cells(const struct sweep_study *study, int signal_number, char *cells,
                       size_t size);

/* ---- journals (journal.c) ------------------------------------------------------- */

/* A journal that one process appends to. */
VINCI_MUST_CHECK enum vinci_status sweep_journal_open(struct journal *journal, const char *folder,
                                                      const char *name, struct vinci_diag *diag);
/* One record; false when it failed (errno says why). */
bool sweep_journal_add(const struct journal *journal, uint64_t id, const char *cells);
/* Takes DIR/journal/NAME.lock, so that no two processes run the same shard. */
VINCI_MUST_CHECK enum vinci_status sweep_lock(const char *folder, const char *name,
                                              struct journal *lock, struct vinci_diag *diag);

/* ---- the pool (pool.c) ---------------------------------------------------------- */

struct sweep_pool {
  const struct sweep_study *study;
  struct chip_cache *chips;
  const uint32_t *todo; /* points, in order */
  size_t todo_count;
  size_t reused; /* points of the study that are not to run */
  unsigned jobs;
  const char *folder;
  const char *shard; /* first part of the names of journals */
  bool (*progress)(void *context, const struct vinci_sweep_progress *progress); /* may be NULL */
  void *progress_context;
  bool interrupted; /* out */
  size_t failed;    /* out: points that ended with an error */
  size_t done;      /* out: points that have a record now */
  /* Out, of this host: elapsed; in points, of CPU; of workers while others had the processors. */
  double seconds, busy_seconds, waited_seconds;
};

VINCI_MUST_CHECK enum vinci_status sweep_pool_run(struct sweep_pool *pool, struct vinci_diag *diag);

/* ---- tables (table.c) ------------------------------------------------------------ */

/* Writes DIR/manifest.csv, the cells of points that come from the study: id, parameters, workload.
 * shared: others may write the same file at the same time. */
VINCI_MUST_CHECK enum vinci_status sweep_write_manifest(const struct sweep_study *study,
                                                        const char *folder, bool shared,
                                                        struct vinci_diag *diag);
/* Writes DIR/study.json: chip, models and changed numbers that all points share. list NULL: none.
 */
VINCI_MUST_CHECK enum vinci_status sweep_write_about(const struct sweep_study *study,
                                                     const char *list, const char *folder,
                                                     struct vinci_diag *diag);
/* ---- sweeps (sweep.c) ------------------------------------------------------------------ */

/* vinci_sweep_open() with someone who makes steps of models, or NULL. */
VINCI_MUST_CHECK enum vinci_status sweep_open_with(const char *const *arguments,
                                                   size_t argument_count,
                                                   const struct vinci_sweep_options *options,
                                                   const struct model_steps *steps,
                                                   vinci_sweep **out, struct vinci_diag *diag);

struct vinci_sweep {
  struct sweep_study study;
  struct chip_cache chips;
  char warning[WORKLOAD_WARNING_MAX];
};

#endif
