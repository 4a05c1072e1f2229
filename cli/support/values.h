/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `vinci run` that concern values, and what they do to one trace. */
#ifndef VINCI_CLI_SUPPORT_VALUES_H
#define VINCI_CLI_SUPPORT_VALUES_H

#include <stddef.h>

#include "cli/support/monitor.h"
#include "cli/support/options.h"

struct values_settings {
  bool keep; /* --values */
  struct text_list inputs;
  struct text_list expected;
  const char *atol;
  const char *rtol;
  const char *fill;
  double atol_number; /* what the texts say */
  double rtol_number;
  bool fills;
  uint64_t fill_seed;
};

/* Rows of the option table; type and field of the settings that hold a struct values_settings. */
/* clang-format off */
#define VALUES_OPTION_ROWS(type, field)                                                            \
  {"values", 0, OPTION_FLAG, offsetof(type, field.keep), NULL,                                     \
   "execute the program with real bytes; tensors come from the .npy files of the trace", 0, 0},    \
  {"input", 0, OPTION_LIST, offsetof(type, field.inputs), "NAME=FILE",                             \
   "values of a tensor, a .npy file; may be repeated", 0, 0},                                      \
  {"fill", 0, OPTION_TEXT, offsetof(type, field.fill), "HOW",                                      \
   "values of inputs without a file: zero, or random:SEED", 0, 0},                                 \
  {"expect", 0, OPTION_LIST, offsetof(type, field.expected), "NAME=FILE",                          \
   "compare a tensor with a .npy file, exit code 4 when they differ; may be repeated", 0, 0},      \
  {"atol", 0, OPTION_TEXT, offsetof(type, field.atol), "X",                                        \
   "largest error that --expect allows (default 0), plus", 0, 0},                                  \
  {"rtol", 0, OPTION_TEXT, offsetof(type, field.rtol), "X",                                        \
   "this share of the expected number (default 0)", 0, 0}
/* clang-format on */

/* Reads the texts; --input, --expect and --fill ask for values, too, and the first two belong to
 * a single trace. */
VINCI_MUST_CHECK enum vinci_status values_check(struct values_settings *settings,
                                                size_t trace_count, struct vinci_diag *diag);
/* The values of inputs that the settings give; an input without values is an error. */
VINCI_MUST_CHECK enum vinci_status values_give(const struct values_settings *settings,
                                               vinci_values *values, struct vinci_diag *diag);
/* Memory of a trace with its inputs; *out is NULL when no values are asked for. */
VINCI_MUST_CHECK enum vinci_status values_prepare(const struct values_settings *settings,
                                                  const vinci_soc *soc, const vinci_trace *trace,
                                                  vinci_values **out, struct vinci_diag *diag);
/*
 * Executes while the monitor lets it, then finishes. closing: see monitor_begin_reading().
 */
VINCI_MUST_CHECK enum vinci_status values_execute(const struct values_settings *settings,
                                                  vinci_values *values, const char *folder,
                                                  FILE *report, struct monitor *monitor,
                                                  const char *closing, struct vinci_diag *diag);
/*
 * Stores the outputs in tensors/ of the result folder (NULL: nowhere), and compares. report (may be
 * NULL) gets a line per comparison. A comparison that fails does not keep the others from being
 * made.
 */
VINCI_MUST_CHECK enum vinci_status values_finish(const struct values_settings *settings,
                                                 const vinci_values *values, const char *folder,
                                                 FILE *report, struct monitor *monitor,
                                                 const char *closing, struct vinci_diag *diag);
void values_settings_free(struct values_settings *settings);

#endif
