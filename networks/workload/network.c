/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as workloads. */
#include "networks/workload/network.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/chip/soc.h"

enum { HEAD_BYTES = 4096, TEXT_BYTES_MAX = 1 << 30, REASON_BYTES = 256 };
enum { DEPTH_MAX = 65535, REPEAT_MAX = 1000, BATCH_MAX = 1 << 20 };

/* ---- files ---------------------------------------------------------------------------------- */

/* Whether the first line that is no comment begins with a word. */
static bool begins_with(const char *path, const char *word) {
  char head[HEAD_BYTES + 1];
  FILE *in = fopen(path, "r");
  size_t length = in ? fread(head, 1, HEAD_BYTES, in) : 0;
  if (in)
    fclose(in);
  head[length] = '\0';
  const char *line = head;
  while (*line == '#' || *line == '\n' || *line == '\r') {
    const char *end = strchr(line, '\n');
    line = end ? end + 1 : head + length;
  }
  return strncmp(line, word, strlen(word)) == 0;
}

bool network_is_graph(const char *path) { return begins_with(path, "graph,"); }

bool network_is_job(const char *path) { return begins_with(path, "job,"); }

/* ---- arguments ------------------------------------------------------------------------------ */

static const char *const keys[] = {"plan", "host", "depth", "repeat", "batch"};
enum { PLAN, HOST, DEPTH, REPEAT, BATCH, KEYS };

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return keys[index];
}

bool network_has_key(const char *key) {
  for (size_t i = 0; i < KEYS; i++)
    if (strcmp(keys[i], key) == 0)
      return true;
  return false;
}

enum vinci_status network_check_key(const char *key, struct vinci_diag *diag) {
  if (network_has_key(key))
    return VINCI_OK;
  const char *nearest = diag_nearest(key, KEYS, key_at, NULL);
  (void)diag_error(diag, VINCI_E_USAGE, "a network has no argument '%s'", key);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "plan, host, depth, repeat, and batch of a family");
  return VINCI_E_USAGE;
}

static enum vinci_status take_whole(const char *text, const char *key, double most, unsigned *out,
                                    struct vinci_diag *diag) {
  double value;
  if (!decimal_parse(text, &value) || value < 0 || value > most || value != (double)(unsigned)value)
    return diag_error(diag, VINCI_E_USAGE, "%s is a whole number up to %.0f, not '%s'", key, most,
                      text);
  *out = (unsigned)value;
  return VINCI_OK;
}

static enum vinci_status take_argument(const char *argument, struct vinci_net_options *out,
                                       struct vinci_diag *diag) {
  const char *value = strchr(argument, '=') + 1;
  char key[32];
  snprintf(key, sizeof key, "%.*s", (int)(value - argument - 1), argument);
  enum vinci_status status = network_check_key(key, diag);
  if (status != VINCI_OK)
    return status;
  switch (key[0]) {
  case 'p':
    out->plan = value;
    return VINCI_OK;
  case 'h':
    out->host = value;
    return VINCI_OK;
  case 'd':
    return take_whole(value, key, DEPTH_MAX, &out->depth, diag);
  case 'r':
    return take_whole(value, key, REPEAT_MAX, &out->repeat, diag);
  default:
    return take_whole(value, key, BATCH_MAX, &out->batch, diag);
  }
}

/* ---- the run -------------------------------------------------------------------------------- */

struct visit {
  const struct network_watch *watch;
  uint64_t digest;
  char refused[REASON_BYTES];
};

static bool visit_node(void *context, const struct vinci_net_node *node) {
  struct visit *visit = context;
  visit->digest = digest_word(digest_word(visit->digest, node->start_ps), node->duration_ps);
  if (*node->reason && !*visit->refused)
    snprintf(visit->refused, sizeof visit->refused, "node %.60s (%.40s): %.120s", node->name,
             node->op, node->reason);
  return !visit->watch || !visit->watch->visit || visit->watch->visit(visit->watch->context, node);
}

enum vinci_status network_run(const struct workload *workload, const vinci_soc *soc,
                              const struct vinci_run_options *models,
                              const struct network_watch *watch, struct vinci_net_result *out,
                              uint64_t *events, struct vinci_diag *diag) {
  struct vinci_net_options options = {.struct_size = sizeof options,
                                      .memory = models->memory,
                                      .network = models->network,
                                      .progress = watch ? watch->progress : NULL,
                                      .progress_context = watch ? watch->context : NULL};
  struct visit visit = {.watch = watch, .digest = DIGEST_SEED};
  size_t length;
  enum vinci_status status = VINCI_OK;
  *out = (struct vinci_net_result){0};
  for (size_t i = 0; i < workload->arg_count && status == VINCI_OK; i++)
    status = take_argument(workload->args[i], &options, diag);
  if (status != VINCI_OK)
    return status;
  char *text = file_read_text(workload->net, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  status = vinci_net_run(soc, workload->net, text, length, &options, visit_node, &visit, out, diag);
  free(text);
  if (status == VINCI_OK && out->refused > 0)
    status = diag_error(diag, VINCI_E_INPUT, "%zu of %zu nodes could not be lowered; %s",
                        out->refused, out->nodes, visit.refused);
  if (events)
    *events = visit.digest;
  return status;
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Edges of the parts laid one behind the other, so that no cycle is lost. */
void network_parts(const struct vinci_net_result *result, const vinci_soc *soc,
                   struct network_part parts[static NETWORK_PARTS], uint64_t *total) {
  const struct {
    const char *name;
    uint64_t ps;
  } rows[NETWORK_PARTS] = {{"cube", result->cube_ps},       {"vector", result->vector_ps},
                           {"memory", result->memory_ps},   {"latency", result->latency_ps},
                           {"scalar", result->scalar_ps},   {"task", result->task_ps},
                           {"host", result->host_bound_ps}, {"gap", result->gap_ps},
                           {"wait", result->wait_ps},       {"tail", result->tail_ps}};
  uint64_t ps = 0, before = 0;
  for (size_t i = 0; i < NETWORK_PARTS; i++) {
    ps += rows[i].ps;
    uint64_t cycles = (uint64_t)((uint128)ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
    parts[i] = (struct network_part){rows[i].name, cycles - before};
    before = cycles;
  }
  *total = before;
}
