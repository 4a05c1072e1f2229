/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci tune` prints: of one operator all that is known, of several a table. */
#include <inttypes.h>
#include <string.h>

#include "cli/tune/cmd_tune.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "traces/export/export.h"

/* "-10.9" per cent. */
static struct decimal change(uint64_t before, uint64_t after) {
  struct decimal text, amount;
  uint64_t difference = after > before ? after - before : before - after;
  amount = decimal_ratio((uint128)difference * 100, before, 1);
  snprintf(text.text, sizeof text.text, "%s%.40s",
           after > before   ? "+"
           : after < before ? "-"
                            : "",
           amount.text);
  return text;
}

/* What one takes longer than the other, of the other; 0 when that is not so. */
static struct decimal regret(uint64_t usual, uint64_t best) {
  return decimal_ratio((uint128)(usual > best ? usual - best : 0) * 100, best, 2);
}

static void print_name(const struct tune_problem *problem, FILE *out) {
  fputs(problem->op, out);
  for (size_t i = 0; i < problem->arg_count; i++)
    fprintf(out, " %s", problem->args[i]);
}

/* The word at *text, whose end moves on; false behind the last. */
static bool next_word(const char **text, const char **word, size_t *length) {
  *word = *text + strspn(*text, " ");
  *length = strcspn(*word, " ");
  *text = *word + *length;
  return *length > 0;
}

/* The keys whose values differ: "tile 64x64x128 -> 128x64x128". */
static void print_changes(const struct vinci_tuned *tuned, FILE *out) {
  const char *old = tuned->default_schedule, *new = tuned->schedule, *separator = "";
  const char *a, *b;
  size_t a_length, b_length;
  fputs("Changed   ", out);
  while (next_word(&old, &a, &a_length) && next_word(&new, &b, &b_length)) {
    const char *a_value = memchr(a, '=', a_length), *b_value = memchr(b, '=', b_length);
    if ((a_length == b_length && memcmp(a, b, a_length) == 0) || !a_value || !b_value)
      continue;
    fprintf(out, "%s%.*s %.*s -> %.*s", separator, (int)(a_value - a), a,
            (int)(a + a_length - a_value - 1), a_value + 1, (int)(b + b_length - b_value - 1),
            b_value + 1);
    separator = ", ";
  }
  fprintf(out, "%s\n", *separator ? "" : "nothing: the default is the best that was found");
}

static void print_robust(const struct vinci_tuned *tuned, FILE *out) {
  if (tuned->neighbours == 0)
    return;
  fprintf(
      out,
      "Robust    of the best %u on %u neighbours of the chip (a number +-10 %%, or L2 in another "
      "state) it loses at most %s %%",
      tuned->contenders, tuned->neighbours, decimal_ratio(tuned->worst_permille, 10, 1).text);
  if (tuned->cycles != tuned->fastest_cycles ||
      tuned->worst_permille != tuned->fastest_worst_permille)
    fprintf(out, "; the fastest here, %" PRIu64 " cycles, would lose %s %%", tuned->fastest_cycles,
            decimal_ratio(tuned->fastest_worst_permille, 10, 1).text);
  fputc('\n', out);
}

static void print_search(const vinci_soc *soc, const struct tune_problem *problem, FILE *out) {
  const struct vinci_tuned *tuned = &problem->tuned;
  print_name(problem, out);
  fprintf(out, " on %s\n", vinci_soc_name(soc));
  fprintf(out, "Space     %zu schedules, %s; %zu evaluations", tuned->schedules,
          tuned->closed ? "all that a change of one knob reaches"
                        : "the cheapest by estimate of more",
          tuned->evaluations);
  if (tuned->known > 0)
    fprintf(out, ", %zu answers from the journal", tuned->known);
  if (tuned->failed > 0)
    fprintf(out, ", %zu without an answer", tuned->failed);
  fprintf(out, "%s\n", tuned->ended_early ? ", ended early" : "");
  fprintf(out, "Default   %10" PRIu64 " cycles           %s\n", tuned->default_cycles,
          tuned->default_schedule);
  fprintf(out, "Best      %10" PRIu64 " cycles  %6s %%  %s\n", tuned->cycles,
          change(tuned->default_cycles, tuned->cycles).text, tuned->schedule);
  fprintf(out, "Regret    of the default against the best that was found: %s %%\n",
          regret(tuned->default_cycles, tuned->fastest_cycles).text);
  print_changes(tuned, out);
  print_robust(tuned, out);
}

static enum vinci_status report_one(const vinci_soc *soc, const struct tune_settings *settings,
                                    const struct vinci_tune_options *options,
                                    const struct tune_problem *problem, struct vinci_diag *diag) {
  const struct vinci_tuned *tuned = &problem->tuned;
  struct sheet_lines lines;
  uint64_t bound = 0;
  const char *what = "";
  print_search(soc, problem, sheet_lines_begin(&lines, stdout));
  sheet_lines_end(&lines);
  enum vinci_status status = tune_bound(soc, options, problem, &bound, &what, diag);
  if (status != VINCI_OK)
    return status;
  sheet_line(stdout,
             "Bound     %10" PRIu64
             " cycles: launch, start and %s; the best takes %s times as long\n",
             bound, what, decimal_ratio(tuned->cycles, bound, 2).text);
  if (tuned->cycles != tuned->default_cycles) {
    puts("Why       ");
    tune_explain(settings, problem);
  }
  cli_summary("tune default=%" PRIu64 " cycles=%" PRIu64 " evaluations=%zu failed=%zu",
              tuned->default_cycles, tuned->cycles, tuned->evaluations, tuned->failed);
  return VINCI_OK;
}

static enum vinci_status report_many(const vinci_soc *soc, const struct vinci_tune_options *options,
                                     const struct tune_problems *problems,
                                     struct vinci_diag *diag) {
  uint64_t before = 0, after = 0, least = 0;
  size_t tuned_count = 0, without = 0, times = 0;
  struct sheet_lines lines;
  enum vinci_status status = VINCI_OK;
  printf("%10s %10s %8s %10s %6s  operator\n", "default", "best", "change", "bound", "times");
  for (size_t i = 0; status == VINCI_OK && i < problems->count; i++) {
    const struct tune_problem *problem = &problems->item[i];
    const struct vinci_tuned *tuned = &problem->tuned;
    uint64_t bound = 0;
    const char *what;
    without += problem->status != VINCI_OK;
    if (problem->status != VINCI_OK || tuned->cycles == 0)
      continue;
    status = tune_bound(soc, options, problem, &bound, &what, diag);
    if (status != VINCI_OK)
      break;
    FILE *out = sheet_lines_begin(&lines, stdout);
    fprintf(out, "%10" PRIu64 " %10" PRIu64 " %6s %% %10" PRIu64 " %6zu  ", tuned->default_cycles,
            tuned->cycles, change(tuned->default_cycles, tuned->cycles).text, bound,
            problem->times);
    print_name(problem, out);
    fprintf(out, "\n%50s%s\n", "", tuned->schedule);
    sheet_lines_end(&lines);
    before += tuned->default_cycles * problem->times;
    after += tuned->cycles * problem->times;
    least += bound * problem->times;
    times += problem->times;
    tuned_count++;
  }
  if (status == VINCI_OK && tuned_count > 0) {
    sheet_line(stdout,
               "\nTotal     %zu operators, %zu calls: %" PRIu64 " -> %" PRIu64
               " cycles, %s times as "
               "fast; %s times the bound\n",
               tuned_count, times, before, after, decimal_ratio(before, after, 3).text,
               decimal_ratio(after, least, 3).text);
    printf("Regret    of the defaults, by cycles: %s %%\n", regret(before, after).text);
  }
  if (without + problems->left_out > 0)
    sheet_line(
        stdout,
        "Left out  %zu operators without a choice of schedules, %zu rows that cannot be lowered\n",
        without, problems->left_out);
  if (status == VINCI_OK)
    cli_summary("tune operators=%zu default=%" PRIu64 " cycles=%" PRIu64 " left_out=%zu",
                tuned_count, before, after, without + problems->left_out);
  return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static enum vinci_status put_problem(struct json_writer *json, const vinci_soc *soc,
                                     const struct vinci_tune_options *options,
                                     const struct tune_problem *problem, struct vinci_diag *diag) {
  const struct vinci_tuned *tuned = &problem->tuned;
  uint64_t bound = 0;
  const char *what;
  json_object(json, NULL, false);
  json_text(json, "op", problem->op);
  json_array(json, "args", true);
  for (size_t i = 0; i < problem->arg_count; i++)
    json_text(json, NULL, problem->args[i]);
  json_end(json);
  json_number(json, "times", problem->times);
  if (problem->status != VINCI_OK || tuned->cycles == 0) {
    json_text(json, "reason", problem->reason);
    json_end(json);
    return VINCI_OK;
  }
  enum vinci_status status = tune_bound(soc, options, problem, &bound, &what, diag);
  json_number(json, "default_cycles", tuned->default_cycles);
  json_number(json, "cycles", tuned->cycles);
  json_number(json, "fastest_cycles", tuned->fastest_cycles);
  json_number(json, "bound_cycles", bound);
  json_text(json, "default_schedule", tuned->default_schedule);
  json_text(json, "schedule", tuned->schedule);
  json_number(json, "schedules", tuned->schedules);
  json_number(json, "evaluations", tuned->evaluations);
  json_number(json, "failed", tuned->failed);
  json_end(json);
  return status;
}

static enum vinci_status put_json(const vinci_soc *soc, const struct vinci_tune_options *options,
                                  const struct tune_problems *problems, struct vinci_diag *diag) {
  struct json_writer json;
  enum vinci_status status = VINCI_OK;
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  json_number(&json, "schema", 1);
  json_text(&json, "soc", vinci_soc_name(soc));
  json_array(&json, "operators", false);
  for (size_t i = 0; status == VINCI_OK && i < problems->count; i++)
    status = put_problem(&json, soc, options, &problems->item[i], diag);
  json_end(&json);
  json_number(&json, "left_out", problems->left_out);
  json_end(&json);
  return status;
}

enum vinci_status tune_report(const vinci_soc *soc, const struct tune_settings *settings,
                              const struct vinci_tune_options *options,
                              const struct tune_problems *problems, struct vinci_diag *diag) {
  const struct tune_problem *first = &problems->item[0];
  if (settings->json)
    return put_json(soc, options, problems, diag);
  if (problems->count > 1 || settings->ops)
    return report_many(soc, options, problems, diag);
  return first->tuned.cycles > 0 ? report_one(soc, settings, options, first, diag) : VINCI_OK;
}
