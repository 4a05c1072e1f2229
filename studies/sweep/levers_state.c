/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch finds is a cause too: code that is not in the instruction caches, inputs that are
 * not in L2. The same program runs with both there, as behind a launch of itself and right behind
 * the kernels that have written its inputs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "studies/sweep/measure.h"

static enum vinci_status measure_code(struct measuring *measuring) {
  const vinci_result *result = measuring->result;
  struct vinci_run_options options = measuring->options->run;
  struct lever lever = {.kind = LEVER_CODE, .origin = "measured", .change = "--code=warm"};
  uint64_t lines = 0, missing = 0, cycles;
  for (uint32_t i = 0; i < result->core_count; i++) {
    lines += result->cores[i].code_lines;
    missing += result->cores[i].code_missing_lines;
  }
  if (missing == 0 || options.code_found_ppm == VINCI_CODE_WARM)
    return VINCI_OK;
  snprintf(lever.text, sizeof lever.text,
           "%" PRIu64 " of %" PRIu64 " lines of code are not in the instruction caches; launched "
           "again before others push it out",
           missing, lines);
  options.code_found_ppm = VINCI_CODE_WARM;
  enum vinci_status status =
      measure_run_as(measuring, measuring->soc, measuring->trace, options, &cycles);
  return status == VINCI_OK ? measure_keep(measuring, &lever, cycles) : status;
}

static enum vinci_status measure_l2(struct measuring *measuring) {
  const vinci_result *result = measuring->result;
  struct vinci_run_options options = measuring->options->run;
  struct lever lever = {.kind = LEVER_L2, .origin = "measured", .change = "--l2=warm"};
  uint64_t cycles;
  if (options.l2_start != VINCI_L2_EMPTY || options.l2_written_given || result->l2.read_misses == 0)
    return VINCI_OK;
  snprintf(
      lever.text, sizeof lever.text,
      "inputs come from device memory; launched right behind the kernels that write them, with "
      "what fits in L2");
  options.l2_start = VINCI_L2_WARM;
  enum vinci_status status =
      measure_run_as(measuring, measuring->soc, measuring->trace, options, &cycles);
  return status == VINCI_OK ? measure_keep(measuring, &lever, cycles) : status;
}

enum vinci_status measure_states(struct measuring *measuring) {
  enum vinci_status status = VINCI_OK;
  if (measuring->options->run.repeat > 1)
    return VINCI_OK;
  if (measure_has_steps_left(measuring))
    status = measure_code(measuring);
  if (status == VINCI_OK && measure_has_steps_left(measuring))
    status = measure_l2(measuring);
  return status;
}
