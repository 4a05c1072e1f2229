/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group run: what a job took, for people. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/group/outcome.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "devices/jobs/kernels.h"
#include "devices/results/peaks.h"

#define PS_PER_US UINT64_C(1000000)
enum { US_DIGITS = 6, RANKS_SHOWN = 16 };

/* ---- the job ----------------------------------------------------------------------------- */

static struct decimal ms(uint64_t ps) { return decimal_ratio(ps, UINT64_C(1000000000), 3); }

static struct decimal percent(uint64_t part, uint64_t whole) {
  return decimal_ratio((uint128)part * 100, whole ? whole : 1, 1);
}

static const struct sheet_column columns[] = {
    {.title = "rank", .left = true},
    {.title = "computing ms"},
    {.title = ""},
    {.title = "exposed ms"},
    {.title = ""},
    {.title = "overlapped", .rank = 1},
    {.title = "idle ms"},
    {.title = ""},
};

static void print_row(const char *name, const struct group_rank_result *rank, uint64_t end_ps,
                      struct sheet *sheet) {
  sheet_text(sheet, name);
  sheet_text(sheet, ms(rank->work_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->work_ps, end_ps).text);
  sheet_text(sheet, ms(rank->exposed_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->exposed_ps, end_ps).text);
  sheet_text(sheet, ms(rank->comm_ps - rank->exposed_ps).text);
  sheet_text(sheet, ms(rank->idle_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->idle_ps, end_ps).text);
}

/* Ranks in order; of many, the first ones and then the one that works least and that works most. */
static void print_ranks(const struct group_job *job, const struct group_result *result,
                        struct sheet *sheet) {
  uint32_t least = 0, most = 0;
  char name[32];
  for (uint32_t i = 0; i < job->ranks; i++) {
    least = result->ranks[i].work_ps < result->ranks[least].work_ps ? i : least;
    most = result->ranks[i].work_ps > result->ranks[most].work_ps ? i : most;
    snprintf(name, sizeof name, "%u", i);
    if (i < RANKS_SHOWN)
      print_row(name, &result->ranks[i], result->end_ps, sheet);
  }
  if (job->ranks <= RANKS_SHOWN)
    return;
  sheet_between(sheet, "%u more ranks; those that work least and most:\n",
                job->ranks - RANKS_SHOWN);
  snprintf(name, sizeof name, "%u least", least);
  print_row(name, &result->ranks[least], result->end_ps, sheet);
  snprintf(name, sizeof name, "%u most", most);
  print_row(name, &result->ranks[most], result->end_ps, sheet);
}

void group_outcome_print(const struct group_outcome *outcome) {
  const struct group_job *job = &outcome->job->job;
  const struct group_result *result = &outcome->result;
  struct sheet sheet;
  sheet_line(stdout, "%s on %u devices of %s: %s ms, %" PRIu64 " transfers, %s MB moved\n\n",
             *outcome->job->name ? outcome->job->name : "Job", job->ranks, job->system->name,
             ms(result->end_ps).text, result->transfers,
             decimal_ratio(result->transfer_bytes, 1000000, 1).text);
  if (result->folded)
    sheet_line(stdout,
               "%" PRIu64
               " collectives were folded (GROUP.md); --unfolded simulates all of their steps\n\n",
               result->folded);
  SHEET_BEGIN(&sheet, stdout, columns, 0, "step_trace_time.csv of --output");
  while (sheet_pass(&sheet))
    print_ranks(job, result, &sheet);
  job_memory_print(job, result, stdout);
  if (outcome->levers)
    proven_print(outcome->levers, result->end_ps, stdout);
  if (outcome->energy)
    job_energy_print(outcome->job, outcome->soc, result, outcome->energy, stdout);
  cli_summary("group run ranks=%u us=%s bytes=%" PRIu64, job->ranks,
              decimal_exact(result->end_ps, US_DIGITS).text, result->transfer_bytes);
}

/* ---- what was simulated ------------------------------------------------------------------ */

static uint64_t all_uses_ps(const struct job_kernel *kernel) {
  const struct job_kernel_time *time = &kernel->time[JOB_MODEL_DETAIL];
  return time->duration_ps * time->uses;
}

static int by_time(const void *left, const void *right) {
  const struct job_kernel *a = *(const struct job_kernel *const *)left,
                          *b = *(const struct job_kernel *const *)right;
  if (all_uses_ps(a) != all_uses_ps(b))
    return all_uses_ps(a) > all_uses_ps(b) ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

enum vinci_status group_kernels_print(struct job *job, struct vinci_diag *diag) {
  size_t count = 0;
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    count += kernel->time[JOB_MODEL_DETAIL].uses > 0;
  const struct job_kernel **kernels =
      ARENA_ARRAY(&job->arena, const struct job_kernel *, count + 1);
  if (!kernels)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  count = 0;
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    if (kernel->time[JOB_MODEL_DETAIL].uses > 0)
      kernels[count++] = kernel;
  qsort(kernels, count, sizeof *kernels, by_time);
  static const struct sheet_column kernel_columns[] = {
      {.title = "work of that rank, one program", .left = true, .fit = SHEET_SHORTEN},
      {.title = "uses"},
      {.title = "us each"},
      {.title = "us in all"},
      {.title = "blocks", .rank = 1},
      {.title = "bound", .left = true, .rank = 2}};
  struct sheet sheet;
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, kernel_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < count; i++) {
      const struct job_kernel_time *time = &kernels[i]->time[JOB_MODEL_DETAIL];
      sheet_text(&sheet, kernels[i]->net ? kernels[i]->net : kernels[i]->op);
      sheet_cell(&sheet, "%" PRIu32, time->uses);
      sheet_text(&sheet, decimal_ratio(time->duration_ps, PS_PER_US, 3).text);
      sheet_text(&sheet, decimal_ratio(all_uses_ps(kernels[i]), PS_PER_US, 3).text);
      sheet_cell(&sheet, "%" PRIu32, time->blocks);
      sheet_text(&sheet, time->bound);
    }
  return VINCI_OK;
}
