/* SPDX-License-Identifier: Apache-2.0 */
/* What the report of a run says that turning a number of the chip saves: measured or estimated. */
#ifndef VINCI_CLI_RUN_SAVINGS_H
#define VINCI_CLI_RUN_SAVINGS_H

#include "cli/support/options.h"
#include "core/vinci.h"

/* All estimated, measured within a limit, all measured. */
enum savings { SAVINGS_NONE, SAVINGS_AUTO, SAVINGS_ALL };
extern const char *const savings_words[]; /* NULL behind the last */

#define SAVINGS_OPTION_ROW(type, member)                                                           \
  OPTION_TEXT_ROW(                                                                                 \
      "savings", 0, type, member, "WHICH",                                                         \
      "what the report says that turning a number of the chip saves: none (default): "             \
      "estimated from the instructions of the run; all: measured by more runs; auto: measured "    \
      "for a tenth of a second or so, beyond that estimated")

/* What a result came from; op and args NULL unless it is an operator's. */
struct savings_run {
  const vinci_soc *soc;
  const vinci_trace *trace;
  const struct vinci_run_options *options;
  const char *op;
  const struct text_list *args;
};

/* Nothing when the run has kept no instructions, so that no cause is known. */
VINCI_MUST_CHECK enum vinci_status savings_measure(enum savings savings,
                                                   const struct savings_run *run,
                                                   vinci_result *result, struct vinci_diag *diag);

#endif
