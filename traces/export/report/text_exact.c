/* SPDX-License-Identifier: Apache-2.0 */
/* How exact the duration of a report is: by the model of memory, and by measured rows. */
#include <inttypes.h>

#include "core/base/decimal.h"
#include "core/vinci_auto.h"
#include "traces/export/report/expected.h"
#include "traces/export/report/text.h"

/* Of a run that chose its model of memory by itself: how exact the duration is, and what of the
 * rest of the report is exact. */
static void print_automatic(const struct vinci_result *result, FILE *out) {
  struct vinci_auto_bar bar;
  if (!vinci_result_auto(result, &bar))
    return;
  if (bar.from == VINCI_AUTO_CYCLE) {
    fputs("Memory    auto: all in cycle memory, whose numbers these are\n", out);
    return;
  }
  fprintf(out, "Memory    auto: the duration in cycle memory is this one, give or take %s %%",
          decimal_ratio((uint128)bar.error_bar_ppm, 10000, 1).text);
  if (bar.from == VINCI_AUTO_PREFIX)
    fprintf(out, ", by the first %s %% of the traffic there",
            decimal_ratio((uint128)bar.simulated_ppm, 10000, 0).text);
  fprintf(out,
          "\n          pipes, cores, causes, L2 and device memory below are of flat memory, whose "
          "duration is %" PRIu64 " cycles;\n"
          "          instructions and bytes between cores and L2 are exact; --memory=cycle counts "
          "all\n",
          bar.flat_cycles);
}

/* How far the duration may be off, by what measured rows of the same class have shown. */
static void print_expected(const struct vinci_result *result, FILE *out) {
  struct expected_error error =
      expected_error(result->soc, result->op, result->op_dtype, result->total_ps);
  if (error.rows > 0)
    fprintf(
        out,
        "Expected  error of the duration: median %s %%, 9 of 10 within %s %% (%u measured rows, "
        "%s)\n",
        decimal_ratio(error.median_permille, 10, 1).text,
        decimal_ratio(error.p90_permille, 10, 1).text, error.rows, error.class);
  if (*error.outside)
    fprintf(out, "%s not calibrated: %s\n", error.rows > 0 ? "         " : "Expected ",
            error.outside);
}

void text_exactness(const struct vinci_result *result, FILE *out) {
  print_automatic(result, out);
  print_expected(result, out);
}
