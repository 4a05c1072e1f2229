/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci run --output` writes: the result folder with its timelines, and the trace that an
 * operator was lowered to. */
#ifndef VINCI_CLI_RUN_OUTPUT_H
#define VINCI_CLI_RUN_OUTPUT_H

#include "cli/support/options.h"
#include "core/vinci_timeline.h"

struct output_settings {
  struct vinci_timeline_options timeline;
  const char *kernel_name; /* of timelines: "add|mat*" as the vendor's simulator takes; NULL: all */
  uint64_t launch_count;   /* the first N of those; 0: all */
};

/* clang-format off */
#define OUTPUT_OPTION_ROWS(type, field)                                                            \
  {"timeline", 0, OPTION_TEXT, offsetof(type, field.timeline.formats), "FORMATS",                  \
   "timelines of --output, with commas: perfetto (default; trace.pftrace), chrome (trace.json), "  \
   "msprof (a folder OPPROF_* for MindStudio Insight), vcd (trace.vcd for GTKWave), or none",      \
   0, 0},                                                                                          \
  {"core-id", 0, OPTION_TEXT, offsetof(type, field.timeline.core_id), "N|N...",                    \
   "only these cores in timelines, such as '0|31'", 0, 0},                                         \
  {"kernel-name", 0, OPTION_TEXT, offsetof(type, field.kernel_name), "NAME|NAME...",               \
   "only kernels whose names begin so in timelines; * stands for any letters", 0, 0},              \
  {"launch-count", 0, OPTION_NUMBER, offsetof(type, field.launch_count), "N",                      \
   "only the first N of these kernels in timelines", 1, 5000},                                     \
  {"window", 0, OPTION_TEXT, offsetof(type, field.timeline.window), "FIRST:LAST",                  \
   "only what reaches into these cycles in timelines", 0, 0},                                      \
  {"min-cycles", 0, OPTION_NUMBER, offsetof(type, field.timeline.min_cycles), "N",                 \
   "leave instructions of fewer cycles out of timelines", 1, UINT64_MAX}
/* clang-format on */

/* An operator that was lowered; op is NULL for a trace that was given. */
struct output_operator {
  const vinci_soc *soc;
  const char *op;
  const struct text_list *args;
};

/* Whether the options can be read and go together; before anything is simulated. */
VINCI_MUST_CHECK enum vinci_status output_check(const struct output_settings *settings,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status output_write(const struct output_settings *settings,
                                                const vinci_result *result,
                                                const struct output_operator *lowered,
                                                const char *folder, struct vinci_diag *diag);
/* The line of the report that says what the folder holds. */
void output_print(const struct output_settings *settings, const struct output_operator *lowered,
                  const char *folder);

/* Says of an operator that is run without a folder what the lines of its hot spots are. */
void output_tell_lines(const vinci_result *result, const char *op);

/* The line of the report that scripts may rely on. */
void output_sum_up(const vinci_result *result);

#endif
