/* SPDX-License-Identifier: Apache-2.0 */
/* What a study or a suite runs. */
#include "cli/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"
#include "core/digest.h"
#include "core/mem.h"
#include "core/soc.h"

/* ---- chips --------------------------------------------------------------------------- */

void chip_cache_free(struct chip_cache *cache) {
  for (size_t i = 0; i < cache->count; i++)
    vinci_soc_free(cache->soc[i]);
  cache->count = 0;
}

enum vinci_status chip_cache_get(struct chip_cache *cache, const char *name, const vinci_soc **out,
                                 struct vinci_diag *diag) {
  *out = NULL;
  for (size_t i = 0; i < cache->count; i++)
    if (strcmp(vinci_soc_name(cache->soc[i]), name) == 0)
      *out = cache->soc[i];
  if (*out)
    return VINCI_OK;
  if (cache->count == CHIPS_MAX)
    return diag_error(diag, VINCI_E_LIMIT, "more than %d chips in one study", CHIPS_MAX);
  enum vinci_status status = vinci_soc_load(name, cache->data, &cache->soc[cache->count], diag);
  if (status == VINCI_OK)
    *out = cache->soc[cache->count++];
  return status;
}

enum vinci_status workload_check_key(const vinci_soc *soc, const char *key,
                                     struct vinci_diag *diag) {
  static const char memory_prefix[] = "memory.";
  if (soc_param_find(key) < soc_param_count())
    return VINCI_OK;
  if (soc->memory && strncmp(key, memory_prefix, strlen(memory_prefix)) == 0)
    for (size_t i = 0; i < mem_param_count(); i++)
      if (strcmp(mem_param(i)->key, key + strlen(memory_prefix)) == 0)
        return VINCI_OK;
  const char *nearest = soc_param_nearest(key);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown parameter '%s'", key);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "`vinci soc show %s` lists all parameters; op.KEY is one of the operator",
              vinci_soc_name(soc));
  return VINCI_E_USAGE;
}

/* ---- operators and traces ------------------------------------------------------------ */

static const char *operator_at(const void *context, size_t index) {
  struct vinci_op op;
  (void)context;
  return vinci_op_info(index, &op) ? op.name : NULL;
}

enum vinci_status workload_check_operator(const struct workload *workload, const char *key,
                                          struct vinci_diag *diag) {
  struct vinci_op_key info;
  size_t index = 0;
  while (index < vinci_op_count() && strcmp(operator_at(NULL, index), workload->op) != 0)
    index++;
  if (index == vinci_op_count()) {
    const char *nearest = diag_nearest(workload->op, index, operator_at, NULL);
    (void)diag_error(diag, VINCI_E_USAGE, "unknown operator '%s'", workload->op);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else
      diag_hint(diag, "'vinci compile --list' shows them all; a trace ends in .csv");
    return VINCI_E_USAGE;
  }
  for (size_t i = 0; key && vinci_op_key(index, i, &info); i++)
    if (strcmp(info.name, key) == 0)
      return VINCI_OK;
  if (!key)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "%s has no argument '%s'", workload->op, key);
  diag_hint(diag, "'vinci compile --list %s' shows them all", workload->op);
  return VINCI_E_USAGE;
}

enum vinci_status workload_open(const struct workload *workload, const vinci_soc *soc,
                                vinci_trace **out, struct vinci_diag *diag) {
  return workload->op
             ? vinci_compile(soc, workload->op, workload->args, workload->arg_count, out, diag)
             : vinci_trace_load(workload->trace, soc, out, diag);
}

static uint64_t digest_text(uint64_t digest, const char *text) {
  return digest_bytes(digest, text, strlen(text) + 1);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static enum vinci_status digest_operator(const struct workload *workload, uint64_t *out,
                                         struct vinci_diag *diag) {
  const char **sorted = calloc(workload->arg_count + 1, sizeof *sorted);
  if (!sorted)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (workload->arg_count > 0)
    memcpy(sorted, workload->args, workload->arg_count * sizeof *sorted);
  qsort(sorted, workload->arg_count, sizeof *sorted, compare_texts);
  *out = digest_text(DIGEST_SEED, workload->op);
  for (size_t i = 0; i < workload->arg_count; i++)
    *out = digest_text(*out, sorted[i]);
  free(sorted);
  return VINCI_OK;
}

static enum vinci_status digest_file(const char *path, uint64_t *out, struct vinci_diag *diag) {
  struct diag_position position = {.path = path};
  char block[8192];
  size_t count;
  FILE *in = fopen(path, "r");
  if (!in)
    return diag_error_at(diag, VINCI_E_IO, position, "cannot open: %s", strerror(errno));
  *out = DIGEST_SEED;
  while ((count = fread(block, 1, sizeof block, in)) > 0)
    *out = digest_bytes(*out, block, count);
  bool failed = ferror(in);
  fclose(in);
  return failed ? diag_error_at(diag, VINCI_E_IO, position, "cannot read") : VINCI_OK;
}

enum vinci_status workload_digest(const struct workload *workload, uint64_t *out,
                                  struct vinci_diag *diag) {
  return workload->op ? digest_operator(workload, out, diag)
                      : digest_file(workload->trace, out, diag);
}

char *workload_text(const struct workload *workload, struct arena *arena) {
  const char *name = workload->op ? workload->op : workload->trace;
  size_t length = strlen(name) + 1;
  for (size_t i = 0; i < workload->arg_count; i++)
    length += strlen(workload->args[i]) + 1;
  char *text = arena_alloc(arena, length, 1);
  if (!text)
    return NULL;
  char *end = stpcpy(text, name);
  for (size_t i = 0; i < workload->arg_count; i++)
    end = stpcpy(stpcpy(end, " "), workload->args[i]);
  return text;
}

/* ---- models ---------------------------------------------------------------------------- */

enum vinci_status workload_models(const char *memory, const char *network,
                                  struct vinci_run_options *options, struct vinci_diag *diag) {
  if (memory && strcmp(memory, "flat") == 0)
    options->memory = VINCI_MEMORY_FLAT;
  else if (memory && strcmp(memory, "cycle") == 0)
    options->memory = VINCI_MEMORY_CYCLE;
  else if (memory)
    return diag_error(diag, VINCI_E_USAGE, "memory is cycle or flat, not '%s'", memory);
  if (network && strcmp(network, "packet") == 0)
    options->network = VINCI_NETWORK_PACKET;
  else if (network && strcmp(network, "flit") == 0)
    options->network = VINCI_NETWORK_FLIT;
  else if (network)
    return diag_error(diag, VINCI_E_USAGE, "network is packet or flit, not '%s'", network);
  return VINCI_OK;
}

void workload_models_text(const struct vinci_run_options *options, char *buffer, size_t size) {
  bool cycle = options->memory == VINCI_MEMORY_CYCLE;
  snprintf(buffer, size, "%s %s %llu", cycle ? "cycle" : "flat",
           options->network == VINCI_NETWORK_FLIT ? "flit" : "packet",
           (unsigned long long)options->max_cycles);
}
