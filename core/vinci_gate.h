/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: gates, which compare the counters of a suite's points with a baseline, as by `vinci gate`.
 * vinci(1) describes suite and policy files. The shortest use:
 *
 *     vinci_gate *gate = NULL;
 *     enum vinci_status status = vinci_gate_check("suite.lua", "base.csv", NULL, &gate, &diag);
 *     if (gate)
 *       status = vinci_gate_write(gate, VINCI_GATE_TEXT, stdout, &diag);
 *     vinci_gate_free(gate);
 *
 * Points run in processes of their own, as those of a sweep (vinci_study.h).
 */
#ifndef VINCI_GATE_H
#define VINCI_GATE_H

#include "vinci_study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vinci_gate vinci_gate;

struct vinci_gate_options {
  size_t struct_size; /* sizeof(struct vinci_gate_options) */
  struct vinci_overrides overrides;
  const char *only;   /* points whose names match, such as "mm*"; NULL: all */
  const char *policy; /* file that says what may move how far; NULL: nothing may get worse */
  bool strict;        /* what is better, or neither better nor worse, fails as well */
  bool rebase_inputs; /* bless: also points whose input is another than that of the baseline */
  bool allow_ci;      /* bless: also in continuous integration, where the variable CI is set */
  bool verbose;       /* reports name each metric that is neither better nor worse */
  unsigned jobs;      /* points that run at a time, at most 256; 0: the number of processors */
  unsigned repeat;    /* run every point so often, at most 100; results that differ fail; 0: once */
};

/* Runs a suite and compares it with a baseline, which vinci_gate_bless() has made. VINCI_OK when
 * the gate passes and VINCI_E_GATE when it fails, both with what was found in *out; on other
 * failures *out is NULL. The caller frees *out. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_gate_check(const char *suite, const char *baseline, const struct vinci_gate_options *options,
                 vinci_gate **out, struct vinci_diag *diag);
/* 0, or the exit code of the worst point, as `vinci gate check --help` lists them. */
VINCI_API int vinci_gate_exit_code(const vinci_gate *gate);

/* Texts of the next two live until vinci_gate_free(). */
struct vinci_gate_point {
  const char *name;
  const char *verdict;                    /* "PASS", "REGRESSED" ... */
  int exit_code;                          /* 0: passes */
  const char *text;                       /* why, in a sentence; NULL when the changes say why */
  uint64_t baseline_cycles, total_cycles; /* 0 when there are none */
  size_t change_count;
};
/* A counter that moved, or that is outside a limit of the policy. */
struct vinci_gate_change {
  const char *metric;
  const char *unit;
  uint64_t baseline_value, value;
  const char *verdict;
  bool fails;
  const char *note; /* "budget 100, policy:3"; NULL */
};
VINCI_API size_t vinci_gate_point_count(const vinci_gate *gate);
/* By index, in the order of the suite, then points that only the baseline has; false at the end. */
VINCI_API bool vinci_gate_point_info(const vinci_gate *gate, size_t index,
                                     struct vinci_gate_point *out);
VINCI_API bool vinci_gate_change_info(const vinci_gate *gate, size_t index, size_t change_index,
                                      struct vinci_gate_change *out);

enum vinci_gate_format {
  VINCI_GATE_TEXT,
  VINCI_GATE_JUNIT,
  VINCI_GATE_TAP,
  VINCI_GATE_MARKDOWN,
  VINCI_GATE_GITHUB, /* workflow commands that annotate a change on GitHub */
  VINCI_GATE_GITLAB, /* the code quality report of GitLab, JSON */
};
/* A report that explains each change of total_cycles; in this process, runs again what moved. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_gate_write(const vinci_gate *gate,
                                                              enum vinci_gate_format format,
                                                              FILE *out, struct vinci_diag *diag);
VINCI_API void vinci_gate_free(vinci_gate *gate);

struct vinci_gate_blessed {
  size_t points;
  bool changed;  /* false: the baseline has these numbers already */
  int exit_code; /* of the call; of the worst point when one has no result */
};
/* Runs a suite and makes its counters the baseline. reason says why they are right and goes to
 * BASELINE.changes with what moved; BASELINE.inputs/ gets chips and programs for explanations.
 * VINCI_E_USAGE without a reason, with policy or strict, or in continuous integration. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_gate_bless(const char *suite, const char *baseline, const char *reason,
                 const struct vinci_gate_options *options, struct vinci_gate_blessed *out,
                 struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
