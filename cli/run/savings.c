/* SPDX-License-Identifier: Apache-2.0 */
/* What turning numbers of the chip saves, for the report and the page of a run. */
#include "cli/run/savings.h"

#include "core/vinci_sensitivity.h"

/* A step of the simulation takes 0.2 to 0.8 us: less than a tenth of a second for all runs
 * together; one run for the most promising number even when that takes four times as long. Steps
 * are counted, and not seconds, so that a report is the same on every host. */
enum { AUTO_STEPS = 100000, AUTO_FIRST_STEPS = 500000 };

const char *const savings_words[] = {"none", "auto", "all", NULL};

enum vinci_status savings_measure(enum savings savings, const struct savings_run *run,
                                  vinci_result *result, struct vinci_diag *diag) {
  struct vinci_savings_options options = {.struct_size = sizeof options,
                                          .run = *run->options,
                                          .op = run->op,
                                          .max_steps = savings == SAVINGS_AUTO ? AUTO_STEPS : 0,
                                          .max_first_steps = AUTO_FIRST_STEPS};
  if (savings == SAVINGS_NONE || run->options->max_events == 0)
    return VINCI_OK;
  options.run.max_cycles = 0; /* a number may make the run longer */
  if (run->args) {
    options.args = run->args->items;
    options.arg_count = run->args->count;
  }
  return vinci_savings_measure(result, run->soc, run->trace, &options, diag);
}
