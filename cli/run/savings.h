/* SPDX-License-Identifier: Apache-2.0 */
/* What the report of a run says that turning a number of the chip saves: measured or estimated. */
#ifndef VINCI_CLI_RUN_SAVINGS_H
#define VINCI_CLI_RUN_SAVINGS_H

#include "cli/support/options.h"
#include "core/vinci.h"

/* Measured within a limit, all measured, all estimated. */
enum savings { SAVINGS_AUTO, SAVINGS_ALL, SAVINGS_NONE };
extern const char *const savings_words[]; /* NULL behind the last */

#define SAVINGS_OPTION_ROW(type, member)                                                           \
  OPTION_TEXT_ROW(                                                                                 \
      "savings", 0, type, member, "WHICH",                                                         \
      "what the report says that turning a number of the chip saves: auto (default): "             \
      "measured by more runs, for a tenth of a second or so, beyond that estimated; all: "         \
      "measured; none: estimated")

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
