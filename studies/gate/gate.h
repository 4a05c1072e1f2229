/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate: a suite of points is run and compared with a baseline under a policy. The
 * baseline holds integers, one a line, sorted; the policy says which of them may move; an
 * explanation splits a change of total_cycles into parts with the same sum.
 */
#ifndef VINCI_STUDIES_GATE_GATE_H
#define VINCI_STUDIES_GATE_GATE_H

#include "core/vinci_gate.h"
#include "studies/gate/rows.h"
#include "studies/gate/suite.h"

/* ---- runs (run.c, measure.c, prove.c) --------------------------------------------------- */

enum { GATE_EVENTS_MAX = 4000000, GATE_JOBS_MAX = 256, GATE_REPEAT_MAX = 100 };

/* The point with its chip and program; free both. */
VINCI_MUST_CHECK enum vinci_status gate_point_open(const struct gate_point *point,
                                                   struct chip_cache *chips, vinci_soc **soc,
                                                   vinci_trace **trace, struct vinci_diag *diag);
/* Runs a point and adds its rows; with seed not 0 with the parts of the model shuffled. */
VINCI_MUST_CHECK enum vinci_status gate_measure(const struct gate_point *point,
                                                struct chip_cache *chips,
                                                const struct model_steps *steps, uint64_t seed,
                                                struct gate_rows *rows, struct vinci_diag *diag);
/* The same of a job of several devices, or of the step of a model, which steps makes. */
VINCI_MUST_CHECK enum vinci_status
gate_measure_job(const struct gate_point *point, struct chip_cache *chips,
                 const struct model_steps *steps, struct gate_rows *rows, struct vinci_diag *diag);

/* VINCI_E_CHECK or VINCI_E_MISMATCH when the program or the values of a point are wrong. */
VINCI_MUST_CHECK enum vinci_status gate_prove(const struct gate_point *point, const vinci_soc *soc,
                                              const vinci_trace *trace, struct vinci_diag *diag);

struct gate_run {
  const struct gate_suite *suite;
  struct chip_cache *chips;
  const struct model_steps *steps; /* NULL: nobody makes steps of models */
  unsigned jobs;
  unsigned repeat;
  struct gate_rows rows;
  bool *differs;   /* by point: repetitions gave different rows */
  double *seconds; /* by point: host time */
};

/* Runs all points, each in a process of its own. */
VINCI_MUST_CHECK enum vinci_status gate_run_all(struct gate_run *run, struct vinci_diag *diag);
void gate_run_free(struct gate_run *run);

/* ---- policies (policy.c) ------------------------------------------------------------ */

enum gate_rule_kind { GATE_EXACT, GATE_REL, GATE_IGNORE, GATE_BUDGET, GATE_FLOOR };

struct gate_rule {
  const char *point; /* globs */
  const char *metric;
  enum gate_rule_kind kind;
  uint64_t value; /* REL: millionths; BUDGET, FLOOR: the limit */
  int better;     /* enum metric_better, or -1: as the metric */
  unsigned long line;
};

enum gate_improvement { GATE_IMPROVEMENT_WARN, GATE_IMPROVEMENT_FAIL, GATE_IMPROVEMENT_OK };

struct gate_policy {
  struct arena arena;
  const char *path; /* NULL: none, everything exact */
  struct gate_rule *rules;
  size_t count;
  enum gate_improvement improvement;
};

VINCI_MUST_CHECK enum vinci_status gate_policy_open(struct gate_policy *policy, const char *path,
                                                    struct vinci_diag *diag);
void gate_policy_free(struct gate_policy *policy);

/* ---- verdicts (compare.c) ------------------------------------------------------------ */

/* Word, exit code (of a crash: that of the run), whether the gate fails. Worse ones later. */
#define GATE_VERDICT_LIST(X)                                                                       \
  X(PASS, 0)                                                                                       \
  X(IMPROVED, 0)                                                                                   \
  X(DRIFTED, 0)                                                                                    \
  X(MISSING, 3)                                                                                    \
  X(NEW, 3)                                                                                        \
  X(STALE, 3)                                                                                      \
  X(REGRESSED, 1)                                                                                  \
  X(UNEXPLAINED, 1)                                                                                \
  X(UNSAFE, 5)                                                                                     \
  X(WRONG, 4)                                                                                      \
  X(CRASHED, 8)

enum gate_verdict {
#define X(id, code) GATE_##id,
  GATE_VERDICT_LIST(X)
#undef X
};
const char *gate_verdict_name(enum gate_verdict verdict);

/* One metric that moved, or that is outside a limit. */
struct gate_change {
  const char *metric;
  const char *unit;
  uint64_t old_value, new_value;
  enum gate_verdict verdict;
  bool fails;
  const char *note; /* "budget 100", NULL */
};

struct gate_outcome {
  const char *point;
  size_t index; /* in the suite; suite->count when it is only in the baseline */
  enum gate_verdict verdict;
  bool fails;
  int exit_code;
  const char *text; /* why, in a sentence; NULL when the changes say why */
  struct gate_change *changes;
  size_t change_count;
};

struct gate_verdicts {
  struct arena arena;
  struct gate_outcome *items; /* in the order of the suite, then those only in the baseline */
  size_t count;
  int exit_code;
};

VINCI_MUST_CHECK enum vinci_status gate_compare(const struct gate_run *run,
                                                const struct gate_rows *baseline,
                                                const struct gate_policy *policy, bool strict,
                                                const char *only, struct gate_verdicts *out,
                                                struct vinci_diag *diag);
void gate_verdicts_free(struct gate_verdicts *verdicts);

/* ---- explanations (explain.c, replay.c) ------------------------------------------ */

/* The row of a point that says how its operator is tiled. */
extern const char gate_tiling_row[];

/* Prints what moved and the parts of the change of total_cycles, each line after prefix. Drifts are
 * one line when there are many, unless verbose. */
void gate_explain_numbers(const struct gate_run *run, const struct gate_rows *baseline,
                          const struct gate_outcome *outcome, bool verbose, const char *prefix,
                          FILE *out);
/* The same, then what gate_replay() prints. */
void gate_explain(const struct gate_run *run, const struct gate_rows *baseline,
                  const char *baseline_path, const struct gate_outcome *outcome, bool verbose,
                  const char *prefix, FILE *out);
/* Prints the first event that differs and the parameters that differ, from the inputs that
 * bless has kept beside the baseline. */
void gate_replay(const struct gate_run *run, const struct gate_rows *baseline,
                 const char *baseline_path, const struct gate_outcome *outcome, const char *prefix,
                 FILE *out);
/* Takes the baseline and what is kept beside it for this process until *lock is closed; and gives
 * up what has not been written to. */
VINCI_MUST_CHECK enum vinci_status gate_lock_inputs(const char *baseline_path, int *lock,
                                                    struct vinci_diag *diag);
void gate_drop_inputs(const char *baseline_path);
/* Keeps chip and program of each point beside the baseline, by digest. */
VINCI_MUST_CHECK enum vinci_status gate_keep_inputs(const struct gate_run *run,
                                                    const struct gate_rows *baseline,
                                                    const char *baseline_path,
                                                    struct vinci_diag *diag);

/* ---- bless (bless.c) ----------------------------------------------------------------------- */

/* What makes a baseline of what a run gave. */
struct gate_bless {
  const struct gate_run *run;
  const struct gate_rows *baseline; /* as it is now, empty when there is none */
  const struct gate_verdicts *verdicts;
  const char *path;
  const char *reason;
  const char *only; /* glob; NULL: all points, and those not in the suite go */
  bool rebase_inputs;
};

/*
 * VINCI_E_INTERNAL when a point has no result, VINCI_E_INPUT when one has another input than
 * the baseline and rebase_inputs is not set. *changed: whether anything was to be written.
 */
VINCI_MUST_CHECK enum vinci_status gate_bless_write(const struct gate_bless *bless, bool *changed,
                                                    struct vinci_diag *diag);

/* ---- reports (report.c) ---------------------------------------------------------------- */

struct gate_report {
  const struct gate_run *run;
  const struct gate_rows *baseline;
  const char *baseline_path;
  const struct gate_verdicts *verdicts;
  bool verbose;
};

void gate_report_text(const struct gate_report *report, FILE *out);
void gate_report_junit(const struct gate_report *report, FILE *out);
void gate_report_tap(const struct gate_report *report, FILE *out);
void gate_report_markdown(const struct gate_report *report, FILE *out);
/* Annotations (annotate.c). */
void gate_report_github(const struct gate_report *report, FILE *out);
void gate_report_gitlab(const struct gate_report *report, FILE *out);

/* ---- gates (gate.c) ------------------------------------------------------------------------- */

struct vinci_gate {
  struct arena arena; /* of the texts below */
  const char *baseline_path;
  const char *only;   /* glob; NULL: all points */
  const char *policy; /* path; NULL: none */
  bool strict, rebase_inputs, verbose;
  struct gate_suite suite;
  struct chip_cache chips;
  struct gate_run run;
  struct gate_rows baseline;
  struct gate_policy rules;
  struct gate_verdicts verdicts;
};

/* Reads a suite and leaves the points that `only` of the options names; free in any case. steps:
 * who makes steps of models, NULL for nobody. */
VINCI_MUST_CHECK enum vinci_status gate_open(vinci_gate *gate, const char *suite,
                                             const char *baseline,
                                             const struct vinci_gate_options *options,
                                             const struct model_steps *steps,
                                             struct vinci_diag *diag);
/* vinci_gate_check() and vinci_gate_bless() with someone who makes steps of models, or NULL. The
 * steps are needed until the call ends. */
VINCI_MUST_CHECK enum vinci_status gate_check_with(const char *suite, const char *baseline,
                                                   const struct vinci_gate_options *options,
                                                   const struct model_steps *steps,
                                                   vinci_gate **out, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status
gate_bless_with(const char *suite, const char *baseline, const char *reason,
                const struct vinci_gate_options *options, const struct model_steps *steps,
                struct vinci_gate_blessed *out, struct vinci_diag *diag);
/* What gate_open() has taken, but not the gate itself. */
void gate_close(vinci_gate *gate);

#endif
