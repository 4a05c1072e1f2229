/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group buckets: which gradients of a step are summed together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "cli/support/monitor.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "core/chip/param.h"
#include "core/vinci_group.h"
#include "traces/export/export.h"

#define PS_PER_US UINT64_C(1000000)
#define TABLE_BYTES_MAX ((size_t)1 << 28)
enum { US_DIGITS = 6, RANKS_LISTS_MAX = 64 };

struct buckets_settings {
  struct group_system_settings system;
  const char *ranks, *bucket, *output, *job;
  bool json, csv, exact, quiet;
};

static const struct option_row buckets_options[] = {
    GROUP_SYSTEM_ROWS(struct buckets_settings, system),
    OPTION_TEXT_ROW("ranks", 'n', struct buckets_settings, ranks, "LIST",
                    "devices that sum, from the first on; several numbers with commas between (8)"),
    OPTION_TEXT_ROW("bucket", 0, struct buckets_settings, bucket, "SIZE",
                    "bytes of a bucket of plan fixed (25MiB, as PyTorch's bucket_cap_mb has it)"),
    OPTION_FLAG_ROW("exact", 0, struct buckets_settings, exact,
                    "search the optimum of many gradients too: a sum of each size is simulated"),
    OPTION_TEXT_ROW("output", 'o', struct buckets_settings, output, "FILE",
                    "write a CSV table with a row for each bucket of each plan"),
    OPTION_TEXT_ROW("job", 0, struct buckets_settings, job, "FILE",
                    "write the step with the best buckets (of several numbers of ranks, of the "
                    "last), for 'vinci group run'"),
    OPTION_FLAG_ROW("json", 0, struct buckets_settings, json,
                    "print JSON, a line for each number of ranks"),
    OPTION_FLAG_ROW("csv", 0, struct buckets_settings, csv, "print the table of --output"),
    OPTION_FLAG_ROW("quiet", 'q', struct buckets_settings, quiet, "print errors only"),
};

static const char *const plan_names[] = {
#define X(id, name, text) name,
    VINCI_BUCKET_PLAN_LIST(X)
#undef X
};

/* The searches of all numbers of ranks. */
struct answers {
  unsigned ranks[RANKS_LISTS_MAX];
  vinci_buckets *buckets[RANKS_LISTS_MAX];
  size_t count;
};

/* ---- what is printed ------------------------------------------------------------------------ */

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, PS_PER_US, 1); }

static void print_plans(const struct vinci_buckets_result *result) {
  uint64_t end = result->plans[VINCI_BUCKETS_END].simulated_ps;
  printf("%-9s %8s %12s %12s %12s %10s\n", "plan", "sums", "step us", "by queue us", "exposed us",
         "saves");
  for (unsigned i = 0; i < VINCI_BUCKET_PLANS; i++) {
    const struct vinci_bucket_plan *plan = &result->plans[i];
    if (!plan->there)
      continue;
    printf("%-9s %8zu %12s %12s %12s %8s %%\n", plan_names[i], plan->count,
           us(plan->simulated_ps).text, us(plan->end_ps).text, us(plan->exposed_ps).text,
           decimal_percent((int64_t)end - (int64_t)plan->simulated_ps, end).text);
  }
}

static void print_search(const struct vinci_buckets_result *result, FILE *out) {
  const struct vinci_bucket_plan *tuned = &result->plans[VINCI_BUCKETS_TUNED];
  const struct vinci_bucket_plan *optimum = &result->plans[VINCI_BUCKETS_OPTIMUM];
  if (optimum->there)
    fprintf(
        out,
        "Search    %zu sums simulated, of each size that neighbours have; tuned is within %s %% "
        "of the optimum\n",
        result->simulated,
        decimal_ratio((uint128)(tuned->end_ps - optimum->end_ps) * 100, optimum->end_ps, 3).text);
  else
    fprintf(out, "Search    %zu sums simulated; the optimum of %zu sizes takes --exact\n",
            result->simulated, result->sizes);
  if (result->enumerated_ps > 0)
    fprintf(out, "Check     all %u groupings one by one: the best ends at %s us, %s\n",
            1U << (result->gradients - 1), us(result->enumerated_ps).text,
            result->enumerated_ps == optimum->end_ps ? "as the optimum does"
                                                     : "which is NOT the optimum");
}

static void print_buckets(const struct vinci_buckets_result *result) {
  const struct vinci_bucket_plan *plan = &result->plans[result->best];
  const struct sheet_column columns[] = {
      {.title = plan_names[result->best]},
      {.title = "first gradient", .left = true, .fit = SHEET_SHORTEN},
      {.title = "last gradient", .left = true, .fit = SHEET_SHORTEN},
      {.title = "count", .rank = 2},
      {.title = "bytes", .rank = 1},
      {.title = "ready us", .rank = 3},
      {.title = "start us"},
      {.title = "end us"},
  };
  struct sheet sheet;
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, columns, 0, "the table of --csv");
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < plan->count; i++) {
      const struct vinci_bucket *bucket = &plan->buckets[i];
      sheet_cell(&sheet, "%zu", i + 1);
      sheet_text(&sheet, result->names[bucket->first]);
      sheet_text(&sheet, result->names[bucket->first + bucket->count - 1]);
      sheet_cell(&sheet, "%zu", bucket->count);
      sheet_cell(&sheet, "%" PRIu64, bucket->bytes);
      sheet_text(&sheet, us(bucket->ready_ps).text);
      sheet_text(&sheet, us(bucket->start_ps).text);
      sheet_text(&sheet, us(bucket->end_ps).text);
    }
}

static void print_report(const char *path, const char *system,
                         const struct vinci_buckets_result *result) {
  const struct vinci_bucket_plan *best = &result->plans[result->best];
  struct sheet_lines lines;
  sheet_line(stdout, "%s on %u devices of %s: %zu gradients, %s MB, %s us of work\n", path,
             result->ranks, system, result->gradients,
             decimal_ratio(result->gradient_bytes, 1000000, 1).text, us(result->work_ps).text);
  print_plans(result);
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out,
          "Bytes     %" PRIu64 " moved by the best, %" PRIu64 " by 2 (ranks - 1) x gradients\n",
          best->moved_bytes, result->closed_bytes);
  print_search(result, out);
  sheet_lines_end(&lines);
  print_buckets(result);
  cli_summary("group buckets ranks=%u plan=%s sums=%zu us=%s", result->ranks,
              plan_names[result->best], best->count,
              decimal_exact(best->simulated_ps, US_DIGITS).text);
}

static void put_plan(struct json_writer *json, unsigned id, const struct vinci_bucket_plan *plan) {
  json_object(json, NULL, true);
  json_text(json, "plan", plan_names[id]);
  json_number(json, "sums", plan->count);
  json_decimal(json, "us", decimal_exact(plan->simulated_ps, US_DIGITS));
  json_decimal(json, "queue_us", decimal_exact(plan->end_ps, US_DIGITS));
  json_decimal(json, "exposed_us", decimal_exact(plan->exposed_ps, US_DIGITS));
  json_number(json, "moved_bytes", plan->moved_bytes);
  json_array(json, "last", true);
  for (size_t i = 0; i < plan->count; i++)
    json_number(json, NULL, plan->buckets[i].first + plan->buckets[i].count);
  json_end(json);
  json_end(json);
}

static void print_json(const char *system, const struct vinci_buckets_result *result) {
  struct json_writer json;
  json_start(&json, stdout);
  json_object(&json, NULL, true);
  json_number(&json, "schema", 1);
  json_text(&json, "system", system);
  json_number(&json, "ranks", result->ranks);
  json_number(&json, "gradients", result->gradients);
  json_number(&json, "gradient_bytes", result->gradient_bytes);
  json_decimal(&json, "work_us", decimal_exact(result->work_ps, US_DIGITS));
  json_number(&json, "closed_bytes", result->closed_bytes);
  json_number(&json, "sizes", result->sizes);
  json_number(&json, "simulated", result->simulated);
  json_decimal(&json, "enumerated_us", decimal_exact(result->enumerated_ps, US_DIGITS));
  json_text(&json, "best", plan_names[result->best]);
  json_array(&json, "plans", false);
  for (unsigned i = 0; i < VINCI_BUCKET_PLANS; i++)
    if (result->plans[i].there)
      put_plan(&json, i, &result->plans[i]);
  json_end(&json);
  json_end(&json);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_plan(FILE *out, const struct vinci_buckets_result *result, unsigned id) {
  const struct vinci_bucket_plan *plan = &result->plans[id];
  for (size_t i = 0; i < plan->count; i++) {
    const struct vinci_bucket *bucket = &plan->buckets[i];
    fprintf(out, "%u,%s,%zu,", result->ranks, plan_names[id], i + 1);
    cell_write(out, result->names[bucket->first]);
    fputc(',', out);
    cell_write(out, result->names[bucket->first + bucket->count - 1]);
    fprintf(out, ",%zu,%" PRIu64, bucket->count, bucket->bytes);
    fprintf(out, ",%s", decimal_exact(bucket->ready_ps, US_DIGITS).text);
    fprintf(out, ",%s", decimal_exact(bucket->start_ps, US_DIGITS).text);
    fprintf(out, ",%s\n", decimal_exact(bucket->end_ps, US_DIGITS).text);
  }
}

static void write_table(void *context, FILE *out) {
  const struct answers *answers = context;
  fputs("ranks,plan,bucket,first,last,gradients,bytes,ready_us,start_us,end_us\n", out);
  for (size_t i = 0; i < answers->count; i++)
    for (unsigned id = 0; id < VINCI_BUCKET_PLANS; id++)
      write_plan(out, vinci_buckets_result(answers->buckets[i]), id);
}

struct job_text {
  const char *text, *system;
};

/* With the system, so that the job runs as it stands. */
static void write_job(void *context, FILE *out) {
  static const char head[] = "job,version=1";
  const struct job_text *job = context;
  fprintf(out, "%s,\"system=", head);
  cell_put(out, job->system);
  fprintf(out, "\"%s", job->text + sizeof head - 1);
}

static enum vinci_status write_files(const struct buckets_settings *settings,
                                     struct answers *answers, struct vinci_diag *diag) {
  const vinci_buckets *last = answers->buckets[answers->count - 1];
  const char *job = vinci_buckets_job(last, vinci_buckets_result(last)->best);
  enum vinci_status status = VINCI_OK;
  if (settings->output)
    status = file_replace(settings->output, write_table, answers, diag);
  if (status == VINCI_OK && settings->job)
    status = file_replace(settings->job, write_job, &(struct job_text){job, settings->system.name},
                          diag);
  return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static enum vinci_status read_ranks(const char *list, struct answers *out,
                                    struct vinci_diag *diag) {
  for (const char *at = list; *at; at += *at == ',') {
    uint64_t ranks;
    const char *end = decimal_digits(at, &ranks);
    if (!end || (*end && *end != ',') || ranks < 2 || ranks > GROUP_DEVICES_MAX)
      return diag_error(diag, VINCI_E_USAGE, "--ranks=%s: numbers from 2 to %u with commas between",
                        list, (unsigned)GROUP_DEVICES_MAX);
    if (out->count == RANKS_LISTS_MAX)
      return diag_error(diag, VINCI_E_USAGE, "--ranks has at most %d numbers", RANKS_LISTS_MAX);
    out->ranks[out->count++] = (unsigned)ranks;
    at = end;
  }
  return out->count > 0 ? VINCI_OK : diag_error(diag, VINCI_E_USAGE, "--ranks is empty");
}

static bool watch(void *context, size_t done, size_t all) {
  return monitor_items(context, &(struct monitor_count){.done_permille = 1000 * done, .all = all});
}

static enum vinci_status search(const struct buckets_settings *settings, const char *path,
                                const char *text, size_t length, struct answers *answers,
                                struct vinci_diag *diag) {
  struct monitor monitor;
  int64_t fixed = 0;
  enum vinci_status status = VINCI_OK;
  if (settings->bucket)
    status = soc_parse_value(settings->bucket, SOC_KIND_BYTES, &fixed, diag);
  if (status == VINCI_OK && settings->bucket && fixed < 1)
    status = diag_error(diag, VINCI_E_USAGE, "--bucket=%s: a bucket has at least 1 byte",
                        settings->bucket);
  struct vinci_buckets_options options = {.struct_size = sizeof options,
                                          .system = settings->system.name,
                                          .data = settings->system.data,
                                          .sets = settings->system.sets.items,
                                          .set_count = settings->system.sets.count,
                                          .fixed_bytes = (uint64_t)fixed,
                                          .exact = settings->exact,
                                          .progress = watch,
                                          .progress_context = &monitor};
  monitor_catch_interrupt();
  for (size_t i = 0; status == VINCI_OK && i < answers->count; i++) {
    options.ranks = answers->ranks[i];
    monitor_start(&monitor, path, 0, settings->quiet);
    status = vinci_buckets_open(path, text, length, &options, &answers->buckets[i], diag);
    monitor_clear(&monitor);
    if (status != VINCI_OK || settings->quiet || settings->csv)
      continue;
    if (settings->json)
      print_json(settings->system.name, vinci_buckets_result(answers->buckets[i]));
    else
      print_report(path, settings->system.name, vinci_buckets_result(answers->buckets[i]));
    if (!settings->json && i + 1 < answers->count)
      putchar('\n');
  }
  if (status == VINCI_OK)
    status = write_files(settings, answers, diag);
  if (status == VINCI_OK && settings->csv && !settings->quiet)
    write_table(answers, stdout);
  return status;
}

static enum vinci_status buckets(const struct buckets_settings *settings,
                                 const struct text_list *words, struct vinci_diag *diag) {
  struct answers answers = {0};
  size_t length = 0;
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one table of a step, not %zu", words->count);
  const char *form;
  enum vinci_status status = cli_form(settings->json, settings->csv, NULL, &form, diag);
  if (status == VINCI_OK)
    status = read_ranks(settings->ranks, &answers, diag);
  if (status != VINCI_OK)
    return status;
  const char *path = words->items[0];
  char *text =
      file_read_text(strcmp(path, "-") == 0 ? "/dev/stdin" : path, TABLE_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  status = search(settings, path, text, length, &answers, diag);
  for (size_t i = 0; i < answers.count; i++)
    vinci_buckets_free(answers.buckets[i]);
  free(text);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct buckets_settings settings = {.ranks = "8"};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = buckets(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.system.sets);
  text_list_free(&words);
  return exit_code;
}

#define X(id, name, text) "  " name ": " text "\n"
const struct cli_verb cli_group_buckets = {
    .name = "group buckets",
    .arguments = "STEP.csv",
    .summary = "Find which gradients of a data parallel step are summed together",
    .details =
        "STEP.csv has a row for each layer in the order of the backward pass, behind the row\n"
        "name,backward_us,gradient_bytes; GROUP.md says more. '-' is standard input. Plans\n"
        "are\n" VINCI_BUCKET_PLAN_LIST(
            X) "Each sum is simulated on the system, and each plan is run as a job. 'By queue' is "
               "the\nstep without that run: sums alone, one at a time.\n\n"
               "Examples:\n"
               "  vinci group buckets traces/examples/step.buckets.csv -s atlas_a2_910b4 "
               "-n 2,4,8\n"
               "  vinci group buckets step.csv -s atlas_a2_910b4 -n 8 --bucket=8MiB "
               "--job=best.job.csv\n",
    .options = {buckets_options, sizeof buckets_options / sizeof *buckets_options},
    .run = run,
};
#undef X
