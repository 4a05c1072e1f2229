/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a job's run. */
#include "devices/results/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "devices/results/peaks.h"
#include "traces/export/export.h"

enum { US_DIGITS = 6 };

void job_keep_moment(void *context, const struct group_moment *moment) {
  struct job_moments *moments = context;
  if (moment->op->kind == GROUP_RECORD || moment->op->kind == GROUP_WAIT)
    return;
  if (moments->count == moments->capacity) {
    size_t capacity = moments->capacity ? 2 * moments->capacity : 1024;
    struct group_moment *items = realloc(moments->items, capacity * sizeof *items);
    if (!items) {
      moments->short_of_memory = true;
      return;
    }
    moments->items = items;
    moments->capacity = capacity;
  }
  moments->items[moments->count++] = *moment;
}

#define US(ps) decimal_exact(ps, US_DIGITS).text

void job_put_step(const struct group_rank_result *rank, uint64_t end_ps, FILE *out) {
  fprintf(out, "%s,%s,%s,%s,%s,%s,%s,%s", US(rank->work_ps), US(rank->exposed_ps),
          US(rank->comm_ps - rank->exposed_ps), US(rank->comm_ps), US(rank->idle_ps),
          US(end_ps - rank->bubble_ps), US(rank->bubble_ps),
          US(rank->exposed_ps - rank->bubble_ps));
}

void job_put_step_trace(const struct group_job *job, const struct group_result *result, FILE *out) {
  fputs("Device_id,Step," JOB_STEP_COLUMNS "\n", out);
  for (uint32_t i = 0; i < job->ranks; i++) {
    fprintf(out, "%" PRIu32 ",0,", i);
    job_put_step(&result->ranks[i], result->end_ps, out);
    fputc('\n', out);
  }
}

/* Names and order of the tracks: viewers sort processes by what they last did otherwise. */
static void put_tracks(const struct group_job *job, FILE *out) {
  for (uint32_t i = 0; i < job->ranks; i++) {
    fprintf(out,
            "%s\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %" PRIu32
            ", \"args\": {\"name\": \"rank %" PRIu32 "\"}},\n{\"name\": \"process_sort_index\", "
            "\"ph\": \"M\", \"pid\": %" PRIu32 ", \"args\": {\"sort_index\": %" PRIu32 "}}",
            i ? "," : "", i, i, i, i);
    for (uint32_t s = 0; s < job->programs[i]->stream_count; s++)
      if (job->programs[i]->streams[s].count)
        fprintf(out,
                ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %" PRIu32
                ", \"tid\": %" PRIu32 ", \"args\": {\"name\": \"stream %" PRIu32 "\"}}",
                i, s, s);
  }
}

void job_put_timeline(const struct group_job *job, const struct job_moments *moments, FILE *out) {
  static const char *const categories[] = {
      [GROUP_WORK] = "work", [GROUP_COLLECTIVE] = "collective", [GROUP_HOST] = "host"};
  fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", out);
  put_tracks(job, out);
  for (size_t i = 0; i < moments->count; i++) {
    const struct group_moment *moment = &moments->items[i];
    fputs(",\n{\"name\": ", out);
    json_string(out, moment->op->name);
    fprintf(out,
            ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
            ", \"ts\": %s, \"dur\": %s",
            categories[moment->op->kind], moment->rank, moment->stream, US(moment->start_ps),
            US(moment->end_ps - moment->start_ps));
    if (moment->op->kind == GROUP_COLLECTIVE)
      fprintf(out, ", \"args\": {\"op\": \"%s\", \"bytes\": %" PRIu64 "}",
              collective_op_name(moment->op->call.op), moment->op->call.bytes);
    fputc('}', out);
  }
  fputs("\n]}\n", out);
}

void job_put_collectives(const struct job_moments *moments, FILE *out) {
  fputs("rank,stream,name,op,algorithm,bytes,start_us,duration_us\n", out);
  for (size_t i = 0; i < moments->count; i++) {
    const struct group_moment *moment = &moments->items[i];
    const struct collective_call *call = &moment->op->call;
    if (moment->op->kind != GROUP_COLLECTIVE)
      continue;
    fprintf(out, "%" PRIu32 ",%" PRIu32 ",", moment->rank, moment->stream);
    cell_write(out, moment->op->name);
    fprintf(out, ",%s,%s,%" PRIu64 ",%s,%s\n", collective_op_name(call->op),
            moment->algorithm->name, call->bytes, US(moment->start_ps),
            US(moment->end_ps - moment->start_ps));
  }
}

void job_put_summary(const struct job *whole, const struct group_result *result,
                     const struct job_energy *energy, const struct proven_list *levers, FILE *out) {
  const struct group_job *job = &whole->job;
  fputs("{\n  \"schema\": 1,\n  \"job\": ", out);
  json_string(out, whole->name);
  fprintf(out,
          ",\n  \"system\": \"%s\",\n  \"time_us\": %s,\n  \"transfers\": %" PRIu64
          ",\n  \"moved_bytes\": %" PRIu64 ",\n  \"ranks\": [",
          job->system->name, US(result->end_ps), result->transfers, result->transfer_bytes);
  for (uint32_t i = 0; i < job->ranks; i++) {
    const struct group_rank_result *rank = &result->ranks[i];
    fprintf(out,
            "%s\n    {\"rank\": %" PRIu32 ", \"computing_us\": %s, \"exposed_us\": %s, "
            "\"overlapped_us\": %s, \"idle_us\": %s, \"slowed_us\": %s, \"end_us\": %s",
            i ? "," : "", i, US(rank->work_ps), US(rank->exposed_ps),
            US(rank->comm_ps - rank->exposed_ps), US(rank->idle_ps), US(rank->slowed_ps),
            US(rank->end_ps));
    if (result->memory_count)
      fprintf(out, ", \"peak_memory_bytes\": %" PRIu64 ", \"peak_memory_us\": %s", rank->peak_bytes,
              US(rank->peak_ps));
    fputc('}', out);
  }
  fputs("\n  ]", out);
  if (result->memory_count)
    job_memory_put(job, result, out);
  if (energy)
    job_energy_put(whole, result, energy, out);
  if (levers)
    proven_put(levers, out);
  fputs("\n}\n", out);
}
