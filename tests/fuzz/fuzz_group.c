/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of what describes jobs of devices: jobs as text, rank tables, tables of gradients and
 * the nodes of Chakra traces. Any bytes are read by each of the readers without harm. Each rank of
 * an accepted job has a program, groups have ranks of the job, and a small job runs to its end or
 * is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "devices/exchange/chakra.h"
#include "devices/exchange/rank_table.h"
#include "devices/jobs/job.h"
#include "devices/jobs/steps.h"
#include "tests/support/devices.h"

enum { RUN_RANKS_MAX = 8, RUN_OPS_MAX = 64, RUN_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- jobs ------------------------------------------------------------------------------------ */

static void check_families(const struct group_job *job) {
  for (uint32_t f = 0; f < job->family_count; f++)
    for (uint32_t g = 0; g < job->families[f].count; g++)
      for (uint32_t i = 0; i < job->families[f].groups[g].count; i++)
        if (job->families[f].groups[g].ranks[i] >= job->ranks)
          vinci_bug("family %s has a rank that is not there", job->families[f].name);
}

/* Whether a run of a rank's program takes no time worth speaking of. */
static bool is_short(const struct group_program *program) {
  uint32_t ops = 0;
  for (uint32_t s = 0; s < program->stream_count; s++)
    for (uint32_t i = 0; i < program->streams[s].count; i++, ops++)
      if (program->streams[s].ops[i].call.bytes > RUN_BYTES_MAX)
        return false;
  return ops <= RUN_OPS_MAX;
}

/* A peak is the sum of what is held then, which is at most the most of each name. */
static void check_memory(const struct group_job *job, const struct group_result *result) {
  for (uint32_t rank = 0; rank < job->ranks; rank++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < result->memory_count; i++) {
      size_t at = (size_t)rank * result->memory_count + i;
      sum += result->peak_held[at];
      if (result->peak_held[at] > result->most_held[at])
        vinci_bug("rank %u holds more of %s at its peak than at most", rank, result->memories[i]);
    }
    if (sum != result->ranks[rank].peak_bytes)
      vinci_bug("the peak of rank %u is not the sum of its names", rank);
  }
}

static void run_job(struct job *job) {
  struct group_system system = simple_system(RUN_RANKS_MAX);
  struct group_result result;
  struct vinci_diag diag = {0};
  bool small = job->job.ranks <= RUN_RANKS_MAX && !job->kernels;
  for (uint32_t i = 0; small && i < job->job.ranks; i++)
    small = is_short(job->job.programs[i]);
  if (!small)
    return;
  job->job.system = &system;
  enum vinci_status status = group_run(&job->job, NULL, &job->arena, &result, &diag);
  if (status != VINCI_OK && status != VINCI_E_INPUT && status != VINCI_E_DEADLOCK &&
      status != VINCI_E_LIMIT)
    vinci_bug("status %d of a job: %s", (int)status, diag.text);
  if (status == VINCI_OK)
    check_memory(&job->job, &result);
}

static void read_job(const char *text, size_t size) {
  struct vinci_diag diag = {0};
  struct job job;
  enum vinci_status status = job_read("fuzz", text, size, &job, &diag);
  if (status != VINCI_OK && status != VINCI_E_INPUT)
    vinci_bug("status %d of a job: %s", (int)status, diag.text);
  if (status != VINCI_OK)
    return;
  for (uint32_t i = 0; i < job.job.ranks; i++)
    if (!job.job.programs[i])
      vinci_bug("rank %u has no program", i);
  check_families(&job.job);
  run_job(&job);
  job_free(&job);
}

/* ---- the others ------------------------------------------------------------------------------ */

static void read_rank_table(const char *text, size_t size) {
  const struct group_system system = simple_system(RANKS_MAX);
  struct rank_table table;
  uint32_t needed;
  if (size == 0 || *text != '{') /* a table makes room for all servers that there may be */
    return;
  if (rank_table_read("fuzz", text, size, &table, NULL) != VINCI_OK)
    return;
  uint32_t *devices = calloc((size_t)table.ranks + 1, sizeof *devices);
  if (devices && rank_table_place(&table, &system, table.ranks, devices, &needed, NULL) == VINCI_OK)
    for (uint32_t i = 0; i < table.ranks; i++)
      if (devices[i] >= needed)
        vinci_bug("rank %u is device %u of %u", i, devices[i], needed);
  free(devices);
  rank_table_free(&table);
}

static void read_chakra(const void *bytes, size_t size) {
  struct chakra_trace trace;
  if (chakra_decode("fuzz", bytes, size, &trace, NULL) == VINCI_OK)
    chakra_trace_free(&trace);
}

static void read_steps(const char *text, size_t size) {
  struct arena arena = {0};
  struct step_table table;
  if (step_read("fuzz", text, size, &arena, &table, NULL) == VINCI_OK &&
      (table.count == 0 || table.gradients > table.count))
    vinci_bug("%zu rows and %zu gradients", table.count, table.gradients);
  arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_job((const char *)data, size);
  read_rank_table((const char *)data, size);
  read_steps((const char *)data, size);
  read_chakra(data, size);
  return 0;
}
