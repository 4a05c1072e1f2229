/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a job of several devices: the time of the step, what that of all ranks is made of,
 * and the bytes of links. Of more than LINKS_OF_RANKS ranks the links are told level by level, as
 * sum and largest, so that a baseline stays a text that people read. Less is better in each row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "devices/flow/text.h"
#include "scripts/systems/group_host.h"
#include "studies/gate/gate.h"

enum { TEXT_BYTES_MAX = 1 << 30, LINKS_OF_RANKS = 64, NAME_BYTES = 96 };

struct measuring {
  const struct gate_point *point;
  const char *data; /* the folder of descriptions, may be NULL */
  struct chip_cache *chips;
  const vinci_soc *simulated; /* the chip on which operators of the job ran; NULL: none did */
  struct group_description *group;
  struct gate_rows *rows;
  bool failed;
};

static const char system_key[] = "system=";

static enum vinci_status find_system(void *context, const char *name, uint32_t devices,
                                     const struct group_system **out, const vinci_soc **soc,
                                     struct vinci_diag *diag) {
  struct measuring *own = context;
  const struct run_spec *spec = &own->point->spec;
  if (spec->workload.arg_count) /* the reader has let nothing else pass */
    name = spec->workload.args[0] + sizeof system_key - 1;
  if (!name) {
    (void)diag_error(diag, VINCI_E_USAGE, "point '%s': the job names no system of devices",
                     own->point->name);
    diag_hint(diag, "give system = \"NAME\"; 'vinci group show' lists the systems");
    return VINCI_E_USAGE;
  }
  enum vinci_status status =
      group_host_open(name, own->data, spec->sets, spec->set_count, devices, &own->group, diag);
  if (status == VINCI_OK && soc)
    status = chip_cache_get(own->chips, own->group->chip, &own->simulated, diag);
  if (status == VINCI_OK)
    *out = &own->group->system;
  if (soc)
    *soc = own->simulated;
  return status;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void add(struct measuring *own, const char *metric, const char *value, const char *unit,
                const char *kind) {
  if (!gate_rows_add(own->rows, own->point->name, metric, value, unit, kind))
    own->failed = true;
}

static void add_number(struct measuring *own, const char *metric, uint64_t value,
                       const char *unit) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  add(own, metric, text, unit, "metric");
}

static void add_digest(struct measuring *own, const char *metric, uint64_t digest) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  add(own, metric, text, "fnv1a-64", "digest");
}

/* Of the system: the numbers by key, how many devices there are, and the chip if that was used. */
static uint64_t config_digest(const struct measuring *own) {
  uint64_t digest = group_host_digest(own->group);
  return own->simulated ? digest_word(digest, soc_digest(own->simulated)) : digest;
}

static void add_links(struct measuring *own, const struct group_result *result) {
  const struct group_system *system = &own->group->system;
  uint64_t sums[GROUP_LEVELS_MAX] = {0}, most[GROUP_LEVELS_MAX] = {0};
  char limit[NAME_BYTES / 2], metric[NAME_BYTES];
  for (uint32_t i = 0; i < group_limit_count(system); i++) {
    uint32_t level = 0;
    if (result->limit_bytes[i] == 0)
      continue;
    group_limit_name(system, i, limit, sizeof limit);
    while (strncmp(limit, system->levels[level].name, strcspn(limit, " ")) != 0)
      level++;
    sums[level] += result->limit_bytes[i];
    most[level] = max_u64(most[level], result->limit_bytes[i]);
    for (char *c = limit; *c; c++)
      *c = *c == ' ' ? '.' : *c;
    snprintf(metric, sizeof metric, "job.bytes.%s", limit);
    if (system->devices <= LINKS_OF_RANKS)
      add_number(own, metric, result->limit_bytes[i], "byte");
  }
  for (uint32_t i = 0; i < system->level_count; i++) {
    if (sums[i] == 0)
      continue;
    snprintf(metric, sizeof metric, "job.bytes.%s.sum", system->levels[i].name);
    add_number(own, metric, sums[i], "byte");
    snprintf(metric, sizeof metric, "job.bytes.%s.most", system->levels[i].name);
    add_number(own, metric, most[i], "byte");
  }
}

static uint64_t cycles_of(uint64_t ps, const vinci_soc *soc) {
  return (uint64_t)((uint128)ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

/* What the step of the rank that ends last is made of, for the words about a regression; the parts
 * lie one behind the other, so that no cycle is lost. */
static void add_parts(struct measuring *own, const struct group_result *result, uint32_t ranks,
                      const vinci_soc *soc) {
  const struct group_rank_result *last = result->ranks;
  for (uint32_t i = 1; i < ranks; i++)
    last = result->ranks[i].end_ps > last->end_ps ? &result->ranks[i] : last;
  const struct {
    const char *metric;
    uint64_t ps;
  } parts[] = {{"critical.computing.cycles", last->work_ps},
               {"critical.exposed.cycles", last->exposed_ps},
               {"critical.idle.cycles", last->idle_ps}};
  uint64_t ps = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char text[24];
    uint64_t before = cycles_of(ps, soc);
    ps += parts[i].ps;
    snprintf(text, sizeof text, "%" PRIu64, cycles_of(ps, soc) - before);
    add(own, parts[i].metric, text, "cycle", "detail");
  }
}

static void add_times(struct measuring *own, const struct group_result *result, uint32_t ranks,
                      const vinci_soc *soc) {
  struct group_rank_result sum = {0};
  for (uint32_t i = 0; i < ranks; i++) {
    sum.work_ps += result->ranks[i].work_ps;
    sum.exposed_ps += result->ranks[i].exposed_ps;
    sum.idle_ps += result->ranks[i].idle_ps;
  }
  add_number(own, "total_cycles", cycles_of(result->end_ps, soc), "cycle");
  add_parts(own, result, ranks, soc);
  add_number(own, "job.time_ps", result->end_ps, "ps");
  add_number(own, "job.computing_ps", sum.work_ps, "ps");
  add_number(own, "job.exposed_ps", sum.exposed_ps, "ps");
  add_number(own, "job.idle_ps", sum.idle_ps, "ps");
  add_number(own, "job.transfers", result->transfers, "1");
  add_number(own, "job.moved_bytes", result->transfer_bytes, "byte");
}

/* When each rank was done, and what its time was made of. */
static uint64_t event_digest(const struct group_result *result, uint32_t ranks) {
  uint64_t digest = DIGEST_SEED;
  for (uint32_t i = 0; i < ranks; i++) {
    const struct group_rank_result *rank = &result->ranks[i];
    digest = digest_word(digest_word(digest, rank->end_ps), rank->work_ps);
    digest = digest_word(digest_word(digest, rank->exposed_ps), rank->slowed_ps);
  }
  return digest;
}

enum vinci_status gate_measure_job(const struct gate_point *point, struct chip_cache *chips,
                                   struct gate_rows *rows, struct vinci_diag *diag) {
  struct measuring own = {.point = point, .data = chips->data, .chips = chips, .rows = rows};
  struct arena arena = {0};
  struct group_result result;
  const vinci_soc *soc = NULL;
  uint32_t ranks;
  size_t length;
  char *text = file_read_text(point->spec.workload.job, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = group_run_text(point->spec.workload.job, text, length, find_system,
                                            &own, NULL, &arena, &ranks, &result, diag);
  if (status == VINCI_OK)
    status = chip_cache_get(chips, own.group->chip, &soc, diag);
  if (status == VINCI_OK) {
    /* Which job it is says the name of the file: other rows of a job are what a gate is for. */
    add_digest(&own, "digest.config", config_digest(&own));
    add_digest(&own, "digest.input", digest_word(DIGEST_SEED, ranks));
    add_digest(&own, "digest.program", digest_bytes(DIGEST_SEED, text, length));
    add_digest(&own, "digest.events", event_digest(&result, ranks));
    add(&own, "model.revision", vinci_model_revision(), "1", "digest");
    add_times(&own, &result, ranks, soc);
    add_links(&own, &result);
  }
  if (status == VINCI_OK && own.failed)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  free(text);
  arena_free(&arena);
  group_host_free(own.group);
  return status;
}
