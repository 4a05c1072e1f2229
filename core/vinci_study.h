/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: many runs at once, as by `vinci sweep` and `vinci run --ops`; vinci_gate.h has gates.
 * vinci(1) describes study files. The shortest use:
 *
 *     const char *study[] = {"study.lua"};
 *     vinci_sweep *sweep = NULL;
 *     struct vinci_sweep_result result;
 *     if (vinci_sweep_open(study, 1, NULL, &sweep, &diag) != VINCI_OK ||
 *         vinci_sweep_run(sweep, "out", NULL, &result, &diag) != VINCI_OK)
 *       vinci_diag_print(&diag, stderr);
 *     vinci_sweep_free(sweep);
 *
 * Points run in processes of their own, made by fork() without exec(): a crash fails one point.
 * Call from a program with one thread. What is given may be freed after the call. Options may be
 * NULL. Errors and printing are as in vinci.h.
 */
#ifndef VINCI_STUDY_H
#define VINCI_STUDY_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is said of all points, and wins over what a file says. NULL and 0: nothing. */
struct vinci_overrides {
  const char *soc;      /* the chip: "Ascend910B4" */
  const char *data_dir; /* as of vinci_soc_load() */
  const char *memory;   /* "cycle", "flat" */
  const char *network;  /* "packet", "flit" */
  const char *l2;       /* "empty", "warm", "streaming", "used", "dirty" */
  const char *code; /* of instruction caches: "cold", "warm", "device"; of lists also "profile" */
  const char *const *sets; /* numbers of the chip, as of vinci_soc_set() */
  size_t set_count;
};

/* ---- sweeps: the points of a study become a table of their counters ------ */

typedef struct vinci_sweep vinci_sweep;

struct vinci_sweep_options {
  size_t struct_size; /* sizeof(struct vinci_sweep_options) */
  struct vinci_overrides overrides;
  /* "l2.size=96MiB,192MiB": a number of the chip, op.KEY of the operator, soc, memory, network,
   * l2 or code, with its values. All combinations run, the last one varies fastest. For no study
   * file. */
  const char *const *params;
  size_t param_count;
  uint64_t max_cycles; /* a point that takes more core cycles fails; 0: no limit */
};

/* Reads a study: one argument that ends in .lua; a trace file; or the name of an operator and its
 * arguments "key=value". The caller frees the sweep. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_sweep_open(const char *const *arguments, size_t argument_count,
                 const struct vinci_sweep_options *options, vinci_sweep **out,
                 struct vinci_diag *diag);
VINCI_API size_t vinci_sweep_point_count(const vinci_sweep *sweep);
/* What a reader of the table has to know, until vinci_sweep_free(); NULL: nothing. */
VINCI_API const char *vinci_sweep_warning(const vinci_sweep *sweep);
VINCI_API void vinci_sweep_free(vinci_sweep *sweep);

struct vinci_sweep_progress {
  size_t points; /* of this run, with those that were done before */
  size_t reused; /* done before */
  size_t done;   /* by this run */
  size_t failed; /* of those */
  double seconds;
};

struct vinci_sweep_run_options {
  size_t struct_size; /* sizeof(struct vinci_sweep_run_options) */
  unsigned jobs;      /* points that run at a time, at most 256; 0: the number of processors */
  /* With shard_count above 1: only each shard_count-th point, from shard_index. */
  uint64_t shard_index;
  uint64_t shard_count;
  uint64_t max_points; /* run no more; 0: all; without a shard VINCI_E_LIMIT when points are left */
  /* NULL or called before the first point, then five times a second; false: end, VINCI_E_LIMIT. */
  bool (*progress)(void *context, const struct vinci_sweep_progress *progress);
  void *progress_context;
};

struct vinci_sweep_result {
  size_t points; /* of the study; of a shard those that were to run */
  size_t done;   /* by this call */
  size_t failed; /* points that have a row with their error */
  size_t reused; /* were done before; 0 for a shard */
  unsigned jobs;
  /* Of this host: elapsed; in points, of CPU; of processes while others had the processors. */
  double seconds, busy_seconds, waited_seconds;
};

/* Runs the points that the folder has no result of, and writes results.csv there; a shard writes no
 * table. Each finished point is kept at once, so that the same call goes on after a run that was
 * ended in any way. SIGINT and SIGTERM are blocked meanwhile; each of them ends the run with
 * VINCI_E_LIMIT. A point that fails is no failure of the run. VINCI_E_USAGE when another process
 * runs the same shard in the folder. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_sweep_run(vinci_sweep *sweep, const char *folder,
                const struct vinci_sweep_run_options *options, struct vinci_sweep_result *out,
                struct vinci_diag *diag);

struct vinci_sweep_counts {
  size_t points, done, failed; /* failed are among done */
};
/* Counts the points of a folder. With write, makes results.csv of the results of all shards, or is
 * VINCI_E_LIMIT when points are missing. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_sweep_collect(const char *folder, bool write,
                                                                 struct vinci_sweep_counts *out,
                                                                 struct vinci_diag *diag);
/* Reads results.csv of a folder: visit gets each row, a cell per column as text, empty for counters
 * that the point has not, and returns false to end the reading. Texts live until visit returns. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_sweep_read(const char *folder,
                 bool (*visit)(void *context, const char *const *columns, const char *const *cells,
                               size_t count),
                 void *context, struct vinci_diag *diag);

/* ---- lists of operators become a table of their times -------------------- */

struct vinci_ops_progress {
  uint64_t done_permille; /* 1000 for each operator that is done, less for those that run */
  size_t known;           /* done by an earlier run */
  size_t operators;
};

struct vinci_ops_options {
  size_t struct_size; /* sizeof(struct vinci_ops_options) */
  /* soc is for rows that name no chip; without memory it is "flat", without l2 it is chosen by the
   * kind of operator. */
  struct vinci_overrides overrides;
  uint64_t max_cycles; /* an operator that takes more core cycles fails; 0: no limit */
  unsigned jobs;       /* operators that run at a time, at most 256; 0: the number of processors */
  /* As many as column Block Dim says, or of the vector unit as many as there are tiles for; else
   * chosen, as without a profile. */
  bool profile_blocks;
  /* A list in its order on one chip: each row finds in L2 what the rows before have left, gaps are
   * kept. Rows of one weight above 1 behind each other are launched in turns, as often as that; the
   * table has their means. Needs of profiles the tensors of results, one chip, no l2, one job;
   * starts over when ended. */
  bool sequence;
  /* Launches in a row of each row, of a sequence of the whole list: the table has the last. 0 is 1.
   * Each row starts on a chip of its own with an empty L2, without code: no l2, no code. */
  unsigned repeat;
  /* Also the durations of the cheapest and the dearest state of L2 and code, in two columns more.
   * Needs rows without order, l2 and code. */
  bool interval;
  /* NULL, or the device whose rows are taken from a profile of several ("0"). A sequence of rows of
   * several devices is refused. */
  const char *device;
  const char *results; /* NULL, or a folder that keeps results from run to run; no sequence */
  /* With results: simulates all the same; another result than there fails the row. Of a sequence
   * that repeats: simulates its list also when the chip is as before an earlier time. */
  bool exact;
  /* NULL, or folders of an operator library, "DIR:DIR", as of `vinci run --library`: rows whose
   * operator it has run its kernel, and column program says which do. */
  const char *library;
  /* NULL or called after the list is read, then five times a second; false: end, VINCI_E_LIMIT. */
  bool (*progress)(void *context, const struct vinci_ops_progress *progress);
  void *progress_context;
};

/* Rows that this run has simulated, by what their program is; times count with their weight. */
enum { VINCI_OPS_LOWERED, VINCI_OPS_OF_LIBRARY, VINCI_OPS_ORIGINS };
struct vinci_ops_origin {
  size_t rows;
  uint64_t simulated_ps, measured_ps;
};

struct vinci_ops_result {
  size_t operators; /* of the list */
  size_t done;      /* have a row in the table, those below */
  size_t known;     /* of an earlier run */
  size_t equal,
      stored; /* have the result of a row that asks for the same; of the folder of results */
  size_t ok, unsupported, failed;
  size_t limited, crashed; /* have reached max_cycles; their process died or had no memory */
  /* Of a sequence: what all rows read, and what of that L2 held when they started; the durations of
   * the rows that are ok and were measured. */
  uint64_t input_bytes, found_bytes;
  uint64_t simulated_ps, measured_ps;
  struct vinci_ops_origin origins[VINCI_OPS_ORIGINS];
  /* Of a sequence: launches of all rows, and those among them that were not simulated again. */
  size_t launches, skipped;
};

/* Simulates the operators of a list, such as the op_summary.csv of a profiler ("-" is standard
 * input), and writes FOLDER/op_summary.csv and FOLDER/list.json: counts, and columns that have no
 * effect. Each finished operator is kept at once, as by vinci_sweep_run(). Failures of operators
 * are in the table; VINCI_E_INPUT when none is supported, VINCI_E_INTERNAL when some crashed,
 * VINCI_E_LIMIT when the run was ended. In these three cases, too, *out says what the table has; on
 * other failures all of it is 0. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_ops_run(const char *list, const char *folder,
                                                           const struct vinci_ops_options *options,
                                                           struct vinci_ops_result *out,
                                                           struct vinci_diag *diag);

/* ---- a list of operators at each point of a study ------------------------ */

struct vinci_sweep_list {
  size_t struct_size; /* sizeof(struct vinci_sweep_list) */
  const char *list; /* as of vinci_ops_run(); a column weight says how often each operator counts */
  const char *folder;
  unsigned jobs; /* operators that run at a time, at most 256; 0: the number of processors */
};

struct vinci_sweep_list_result {
  size_t points, operators; /* operators of the list */
  size_t failed;            /* points of which an operator has no time */
  size_t best;              /* the point with the least time of those that have all, from 0 */
  uint64_t best_ps;         /* 0: there is none */
};

/* Runs the points one after the other, each in FOLDER/points/N, where a run that was ended goes on.
 * FOLDER/results.csv has a row for each point: its parameters, status, operators, failed, and
 * total_us, the sum of the times by their weights; FOLDER/operators.csv has a row for each operator
 * of each point. Parameters are numbers of the chip, soc, memory, network and l2. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_sweep_list_run(const struct vinci_sweep_list *list, const struct vinci_sweep_options *options,
                     struct vinci_sweep_list_result *out, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
