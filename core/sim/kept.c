/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that outlives a run. */
#include "core/sim/kept.h"

#include <stdlib.h>

#include "core/sim/device.h"

struct kept_memory {
  struct arena arena;
  const struct vinci_soc *soc;
  enum vinci_memory model;
  const struct memsys_ops *ops;
  struct memsys *tags;
};

enum vinci_status kept_create(const struct vinci_soc *soc, enum vinci_memory memory,
                              struct kept_memory **out, struct vinci_diag *diag) {
  struct kept_memory *kept = calloc(1, sizeof *kept);
  *out = kept;
  if (kept) {
    kept->soc = soc;
    kept->model = memory;
    kept->ops = registry_memory(memory, VINCI_NETWORK_PACKET).memory;
    kept->tags = kept->ops->create_tags(&kept->arena, soc, (uint64_t)soc->hbm_bytes);
  }
  if (kept && kept->tags)
    return VINCI_OK;
  kept_free(kept);
  *out = NULL;
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the L2 of %s", soc->name);
}

void kept_free(struct kept_memory *kept) {
  if (kept)
    arena_free(&kept->arena);
  free(kept);
}

struct kept_bytes kept_find(const struct kept_memory *kept, uint64_t address, uint64_t bytes) {
  struct kept_bytes found = {0};
  kept->ops->find(kept->tags, address, bytes, &found.valid, &found.dirty);
  return found;
}

void kept_pass(struct kept_memory *kept, uint64_t address, uint64_t bytes, bool write) {
  kept->ops->pass(kept->tags, address, bytes, write);
}

enum { PASS_STEPS = 64 };

void kept_pass_ranges(struct kept_memory *kept, const struct kept_range *ranges, size_t count) {
  for (uint64_t step = 0; step < PASS_STEPS; step++)
    for (size_t i = 0; i < count; i++) {
      uint64_t from = ranges[i].bytes * step / PASS_STEPS;
      uint64_t to = ranges[i].bytes * (step + 1) / PASS_STEPS;
      if (to > from)
        kept_pass(kept, ranges[i].address + from, to - from, ranges[i].write);
    }
}

void kept_clean(struct kept_memory *kept) { kept->ops->clean(kept->tags); }

enum vinci_status kept_run(struct kept_memory *kept, const struct vinci_trace *trace,
                           const uint64_t *addresses, const struct vinci_run_options *options,
                           struct vinci_result **out, struct vinci_diag *diag) {
  struct vinci_run_options own = *options;
  own.memory = kept->model;
  own.l2_start = VINCI_L2_EMPTY;
  struct device_kept memory = {.tags = kept->tags, .addresses = addresses};
  return device_run(kept->soc, trace, &own, &memory, out, diag);
}
