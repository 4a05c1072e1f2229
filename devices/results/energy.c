/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of energy over the ranks of a job. */
#include "devices/results/energy.h"

#include <inttypes.h>

#include "core/base/sheet.h"
#include "traces/export/report/energy.h"

enum { UJ_DIGITS = 6, RANKS_SHOWN = 16 };

static struct vinci_energy times(struct vinci_energy one, uint64_t count) {
  return (struct vinci_energy){one.pj * count, one.low_pj * count, one.high_pj * count};
}

static struct vinci_energy whole_of(const struct job_energy *energy) {
  struct vinci_energy whole = energy->work;
  energy_join(&whole, energy->links);
  energy_join(&whole, energy->time);
  return whole;
}

static uint64_t operations_of_work(const struct group_program *program) {
  uint64_t count = 0;
  for (uint32_t s = 0; s < program->stream_count; s++)
    for (uint32_t i = 0; i < program->streams[s].count; i++)
      count += program->streams[s].ops[i].kind == GROUP_WORK;
  return count;
}

/* Ranks of one program do the same. */
static void sum_rank(const struct job *job, uint32_t rank, struct job_energy *out) {
  const struct group_program *program = job->job.programs[rank];
  uint64_t simulated = 0;
  for (const struct job_use *use = job->uses; use; use = use->next) {
    if (use->program != program)
      continue;
    energy_join(&out->rank_work[rank], use->took->energy);
    simulated++;
  }
  energy_join(&out->work, out->rank_work[rank]);
  out->given += operations_of_work(program) - simulated;
}

bool job_energy_sum(struct job *job, const struct job_kernel_options *options,
                    const struct group_result *result, struct job_energy *out) {
  const vinci_soc *soc = options->soc;
  struct energy_counts links = {.of = {[ENERGY_LINK_BYTE] = result->transfer_bytes}}, time = {0};
  *out = (struct job_energy){.rank_work =
                                 ARENA_ARRAY(&job->arena, struct vinci_energy, job->job.ranks)};
  if (!out->rank_work)
    return false;
  for (uint32_t rank = 0; rank < job->job.ranks; rank++) {
    out->rank_work[rank] = (struct vinci_energy){0};
    sum_rank(job, rank, out);
  }
  energy_count_time(soc, result->end_ps, &time);
  out->rank_time = energy_total(soc->energy, &time);
  out->time = times(out->rank_time, job->job.ranks);
  out->links = energy_total(soc->energy, &links);
  return true;
}

/* ---- print ----------------------------------------------------------------------------------- */

static void print_row(const char *name, struct vinci_energy energy, uint64_t whole,
                      const char *text, FILE *out) {
  fprintf(out, "          %-8s %10s", name, energy_text(energy.pj).text);
  fprintf(out, " %5s %%", decimal_ratio((uint128)energy.pj * 100, whole ? whole : 1, 1).text);
  fprintf(out, "   %s .. ", energy_text(energy.low_pj).text);
  fprintf(out, "%s   %s\n", energy_text(energy.high_pj).text, text);
}

/* What a device takes all the time, by what it does meanwhile. */
static void print_rank(uint32_t rank, const struct group_rank_result *times_of,
                       const struct job_energy *energy, uint64_t end_ps, FILE *out) {
  uint64_t waiting_ps = times_of->exposed_ps + times_of->idle_ps;
  uint64_t waits_pj = end_ps ? (uint64_t)((uint128)energy->rank_time.pj * waiting_ps / end_ps) : 0;
  uint64_t pj = energy->rank_work[rank].pj + energy->rank_time.pj;
  fprintf(out, "%-10" PRIu32 " %12s", rank, energy_text(pj).text);
  fprintf(out, " %12s", energy_text(energy->rank_work[rank].pj).text);
  fprintf(out, " %12s", energy_text(energy->rank_time.pj).text);
  fprintf(out, " %12s", energy_text(waits_pj).text);
  fprintf(out, " %10s\n", decimal_ratio(pj, end_ps ? end_ps : 1, 1).text);
}

void job_energy_print(const struct job *job, const vinci_soc *soc,
                      const struct group_result *result, const struct job_energy *energy,
                      FILE *stream) {
  struct vinci_energy whole = whole_of(energy);
  uint64_t end_ps = result->end_ps ? result->end_ps : 1;
  uint32_t ranks = job->job.ranks, shown = ranks < RANKS_SHOWN ? ranks : RANKS_SHOWN;
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stream);
  fprintf(out, "\nEnergy    %s, between ", energy_text(whole.pj).text);
  fprintf(out, "%s and ", energy_text(whole.low_pj).text);
  fprintf(out, "%s; ", energy_text(whole.high_pj).text);
  fprintf(out, "%s W for each device, between ", decimal_ratio(whole.pj / ranks, end_ps, 1).text);
  fprintf(out, "%s and ", decimal_ratio(whole.low_pj / ranks, end_ps, 1).text);
  fprintf(out, "%s W\n", decimal_ratio(whole.high_pj / ranks, end_ps, 1).text);
  print_row("work", energy->work, whole.pj, "what was simulated", out);
  print_row("links", energy->links, whole.pj, "bytes between devices", out);
  print_row("time", energy->time, whole.pj, "devices, all the time: idle and static", out);
  fprintf(out, "          by the energies of %s; memory traffic of collectives is left out\n",
          soc->energy->name);
  if (energy->given > 0)
    fprintf(out,
            "          %" PRIu64 " operations of work have given times: what they do has no energy "
            "here\n",
            energy->given);
  fprintf(out, "\n%-10s %12s %12s %12s %12s %10s\n", "rank", "energy", "work", "all the time",
          "of it waits", "average W");
  for (uint32_t rank = 0; rank < shown; rank++)
    print_rank(rank, &result->ranks[rank], energy, result->end_ps, out);
  if (shown < ranks)
    fprintf(out, "%" PRIu32 " more ranks: summary.json has all\n", ranks - shown);
  sheet_lines_end(&lines);
}

static void put(struct json_writer *json, const char *key, struct vinci_energy energy) {
  json_object(json, key, true);
  json_decimal(json, "uj", decimal_exact(energy.pj, UJ_DIGITS));
  json_decimal(json, "low_uj", decimal_exact(energy.low_pj, UJ_DIGITS));
  json_decimal(json, "high_uj", decimal_exact(energy.high_pj, UJ_DIGITS));
  json_end(json);
}

void job_energy_put(const struct job *job, const struct group_result *result,
                    const struct job_energy *energy, FILE *out) {
  struct json_writer json;
  json_continue(&json, out);
  json_object(&json, "energy", false);
  put(&json, "whole", whole_of(energy));
  put(&json, "work", energy->work);
  put(&json, "links", energy->links);
  put(&json, "time", energy->time);
  put(&json, "time_of_a_device", energy->rank_time);
  json_decimal(&json, "average_w_of_a_device",
               decimal_exact(energy_mw(whole_of(energy).pj / job->job.ranks, result->end_ps), 3));
  json_number(&json, "operations_without_energy", energy->given);
  json_array(&json, "work_of_ranks_uj", true);
  for (uint32_t rank = 0; rank < job->job.ranks; rank++)
    json_decimal(&json, NULL, decimal_exact(energy->rank_work[rank].pj, UJ_DIGITS));
  json_end(&json);
  json_end(&json);
}
