/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of vinci_ops_run(): what is known of a row, its line of the table, the journal. */
#ifndef VINCI_STUDIES_OPS_OPS_H
#define VINCI_STUDIES_OPS_OPS_H

#include <stdatomic.h>
#include <stdio.h>

#include "core/base/journal.h"
#include "lower/calls/calls.h"
#include "networks/workload/workload.h"
#include "studies/ops/operators.h"
#include "traces/export/report/expected.h"

enum {
  OPS_STATUS_BYTES = 240,
  OPS_ARGS_BYTES = 512,
  OPS_SOC_BYTES = 256,
  OPS_FROM_BYTES = 768,
  OPS_PROGRAM_BYTES = 300,
  OPS_JOBS_MAX = 256
};

/* How a row ended. */
enum ops_end {
  OPS_OPEN,
  OPS_OK,
  OPS_UNSUPPORTED,
  OPS_FAILED,
  OPS_LIMIT,   /* failed by the limit of cycles */
  OPS_CRASHED, /* failed: its process died, or memory was short */
  OPS_ENDS,
};

/* What is known of a row after its run. */
struct ops_outcome {
  enum ops_end end;
  char status[OPS_STATUS_BYTES]; /* "ok", "unsupported: reason", "failed: reason" */
  char soc[OPS_SOC_BYTES];
  char args[OPS_ARGS_BYTES];       /* "matmul m=4 ..." */
  bool of_library;                 /* its program is a kernel of the user's library */
  uint64_t program_digest;         /* of the text of the trace that was simulated */
  char program[OPS_PROGRAM_BYTES]; /* "library", "lowering", "lowering: why not of the library" */
  struct call_times times;
  uint64_t low_ps, high_ps; /* duration in the cheapest and the dearest state, when asked for */
  struct expected_error expected;
  enum vinci_l2 l2_start;
  uint64_t l2_owed_bytes; /* at the start */
  uint32_t code_found_ppm;
  bool stored;         /* the result was kept by another run */
  unsigned other_type; /* number, from 1, of a result whose type the operator does not give */
  /* Of a sequence: */
  uint64_t start_ps;             /* since the start of the first row */
  uint64_t l2_input_bytes;       /* of what the row reads, */
  uint64_t l2_found_bytes;       /* and what of these L2 held at the start */
  uint64_t l2_overwritten_bytes; /* of the memory of its results, what L2 held */
  char l2_from[OPS_FROM_BYTES];
};

/* ---- one row (row.c) ---- */
/* What is asked for. */
struct ops_request {
  struct run_spec spec;        /* chip of rows that name none, its overrides, limit of cycles */
  const struct vinci_soc *soc; /* the caller's, of all rows; NULL: by name */
  const char *data;            /* the folder that holds soc/, may be NULL */
  enum vinci_memory memory;
  enum vinci_network network;
  const struct ops_library *library; /* NULL: all rows are lowered */
  bool sequence;                     /* one chip, rows in their order */
  uint32_t repeat;     /* of each row, of a sequence the list in whole: the last counts */
  bool interval;       /* other states too, for the range of durations */
  const char *results; /* folder of kept results; NULL: none */
  bool exact;          /* simulates all the same, and compares */
  bool l2_given;       /* else by operator */
  enum vinci_l2 l2_start;
  uint32_t code_found_ppm;
  bool code_profile; /* as the miss rate of the row says, in place of the former */
};
/* Takes what a caller asks for, but the library; text into the arena. An error: options that do not
 * go together, or out of their range. (options.c) */
VINCI_MUST_CHECK enum vinci_status ops_take_options(const struct vinci_ops_options *options,
                                                    struct arena *arena, struct ops_request *out,
                                                    struct vinci_diag *diag);
/* How often a sequence runs its list in whole. */
uint32_t ops_repeats(const struct ops_request *request);

/* What a process needs to simulate rows. */
struct ops_worker {
  const struct ops_request *request;
  const struct call_list *list;  /* of a sequence its launches */
  const size_t *row;             /* of a sequence: which row of the list asked for a launch is */
  const atomic_bool *stop;       /* the run shall end */
  atomic_uint *done_permille;    /* of the row, while it runs; else 0 */
  atomic_size_t *launched;       /* of a sequence: launches that are over */
  atomic_size_t *running;        /* of a sequence: the row of the list whose launch runs */
  struct ops_sequence *sequence; /* NULL: each row on a fresh chip */
  struct vinci_result **result;  /* takes the result of a row, for the caller to free; NULL: none */
  struct vinci_diag *refusal;    /* takes why a row's kernel of the library does not run; or NULL */
  const vinci_soc *soc;
  char soc_name[OPS_SOC_BYTES];
};

/* The chip for the rows to come. */
VINCI_MUST_CHECK enum vinci_status ops_take_soc(struct ops_worker *worker, const char *name,
                                                struct vinci_diag *diag);
/* Frees the chip, if it is the worker's own. */
void ops_drop_soc(struct ops_worker *worker);
const char *ops_soc_of(const struct ops_request *request, const struct call_row *row);
/* Leaves the row open when the run shall end. */
void ops_run_row(struct ops_worker *worker, const struct call_row *row,
                 struct ops_outcome *outcome);
void ops_end_row(struct ops_outcome *outcome, enum ops_end end, const char *reason);

/* The trace of a row by the kernel of the library; NULL when the library does not have the operator
 * or, with an error, when the call does not run. (library.c) */
VINCI_MUST_CHECK enum vinci_status ops_library_load(const struct ops_worker *worker,
                                                    const struct call_row *row,
                                                    struct ops_outcome *outcome,
                                                    vinci_trace **trace, struct vinci_diag *diag);
void ops_library_refuse(struct ops_outcome *outcome, const char *reason, const char *why);

/* ---- results that are kept from run to run (results.c) ---- */
/* Of all that the result of a row depends on. */
uint64_t ops_result_digest(const struct vinci_soc *soc, const struct vinci_trace *trace,
                           const struct vinci_run_options *options, const struct call_row *row);
/* Times and L2 state at the start; false when the folder has no whole result of the digest. */
bool ops_result_find(const char *folder, uint64_t digest, struct ops_outcome *outcome);
VINCI_MUST_CHECK enum vinci_status ops_result_keep(const char *folder, uint64_t digest,
                                                   const struct ops_outcome *outcome,
                                                   struct vinci_diag *diag);
/* Whether two rows had the same times and L2 state. */
bool ops_result_equals(const struct ops_outcome *one, const struct ops_outcome *other);

/* ---- rows that ask for the same (equal.c) ---- */
#define OPS_NO_ROW SIZE_MAX
struct ops_equal {
  size_t first; /* row that is simulated for all of them */
  size_t next;  /* equal row behind; OPS_NO_ROW: none */
  size_t last;  /* of the first: the last of its equal rows */
};
/* Rows of the same chip, call and L2 state, for a list without order; those that are done stay
 * alone. False when memory is short. */
VINCI_MUST_CHECK bool ops_find_equal(struct ops_worker *worker, const bool *done,
                                     struct ops_equal *equal);

/* ---- what a sequence launches (launches.c) ---- */
/* Of a row: launch number `launch + turn x rows + row - first`, in each turn of its loop. */
struct ops_place {
  size_t launch, first, rows; /* the first launch, row and number of rows of the loop */
};
struct ops_launches {
  struct call_list list;   /* a row for each launch */
  size_t *row;             /* by launch: of the list that was asked for */
  struct ops_place *place; /* by row of that list */
  size_t row_count;
};
/* Finds tensors for the rows of a list that has no shapes; for ops_launches_free(), also when it
 * fails. */
VINCI_MUST_CHECK enum vinci_status ops_launches_create(const struct ops_request *request,
                                                       struct call_list *list, const char *path,
                                                       struct ops_launches *out,
                                                       struct vinci_diag *diag);
void ops_launches_free(struct ops_launches *launches);
/* Runs the loop of a row: outcomes, by row, of all rows of the loop that are open. They stay open,
 * and it is false, when the run shall end or memory is short. */
VINCI_MUST_CHECK bool ops_launches_run(struct ops_worker *worker,
                                       const struct ops_launches *launches, size_t row,
                                       struct ops_outcome *outcomes);
/* The launches before the loop of a row, which another process has run. */
VINCI_MUST_CHECK bool ops_launches_skip(struct ops_worker *worker,
                                        const struct ops_launches *launches, size_t row);

/* ---- rows in their order on one chip (sequence.c) ---- */
/* Whether the list says what a sequence needs, if one is asked for. */
VINCI_MUST_CHECK enum vinci_status ops_sequence_check(const struct ops_request *request,
                                                      const struct call_list *list,
                                                      const char *path, struct vinci_diag *diag);
/* Into worker->sequence, also when it fails. */
VINCI_MUST_CHECK enum vinci_status ops_sequence_create(struct ops_worker *worker,
                                                       struct vinci_diag *diag);
void ops_sequence_free(struct ops_sequence *sequence);
/* Communication between two rows: L2 writes back what is dirty, and keeps that. */
void ops_sequence_communicate(struct ops_sequence *sequence);
/* Of the chip now, as of kept_state(). */
uint64_t ops_sequence_state(struct ops_sequence *sequence);
/* Back to the first row, with the same tensors at the same places; the chip keeps its state. */
VINCI_MUST_CHECK bool ops_sequence_again(struct ops_sequence *sequence);
/* Places the tensors of the next row and tells what L2 holds of them; false when memory is short.
 */
VINCI_MUST_CHECK bool ops_sequence_begin(struct ops_sequence *sequence, const struct call_row *row,
                                         struct ops_outcome *outcome);
VINCI_MUST_CHECK enum vinci_status
ops_sequence_run(struct ops_sequence *sequence, const struct call_row *call,
                 const struct vinci_trace *trace, const struct vinci_run_options *options,
                 struct vinci_result **result, struct vinci_diag *diag);
/* A row that was not simulated leaves its tensors in L2 all the same. */
void ops_sequence_end(struct ops_sequence *sequence, const struct call_row *row,
                      const struct ops_outcome *outcome);
/* A whole row that another process has run. */
VINCI_MUST_CHECK bool ops_sequence_skip(struct ops_sequence *sequence, const struct call_row *row);

/* ---- the table (table.c) ---- */
void ops_put_header(FILE *out, const struct ops_request *request);
void ops_put_row(FILE *out, const struct call_row *row, const struct ops_outcome *outcome,
                 const struct ops_request *request);

/* ---- list.json (summary.c) ---- */
struct ops_summary {
  const struct call_list *list;
  const struct unread *types; /* of results, which operators do not give */
  const size_t *ends;         /* OPS_ENDS of them */
};
VINCI_MUST_CHECK enum vinci_status
ops_write_summary(const char *folder, const struct ops_summary *summary, struct vinci_diag *diag);

/*
 * ---- the journal (journal.c) ----
 * op_summary.journal keeps the finished lines of a table that is not complete, in the order in
 * which they were finished, so that the same command continues after the last finished line.
 * Whoever has it open has the folder for itself. A table that is complete needs none.
 */

/* A finished line. */
struct ops_record {
  size_t row;
  enum ops_end end;
  unsigned other_type; /* as of struct ops_outcome */
  char *text;          /* owned by the caller */
};

/* Opens the journal of a run with this identity; `known` gets what an earlier one with the same
 * identity has left. What is of another identity is given up. */
VINCI_MUST_CHECK enum vinci_status
ops_journal_open(struct journal *journal, const char *folder, uint64_t identity,
                 void (*known)(void *context, struct ops_record record), void *context,
                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status ops_journal_add(const struct journal *journal,
                                                   const struct ops_record *record,
                                                   struct vinci_diag *diag);

#endif
