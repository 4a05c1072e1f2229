/* SPDX-License-Identifier: Apache-2.0 */
/* Cores of a trace and units of a kernel. */
#include "core/control/placement.h"

static bool uses_kind(const struct vinci_trace *trace, enum core_kind kind) {
  for (uint32_t k = 0; k < trace->kernel_count; k++)
    if (trace->kernels[k].stream[kind].present)
      return true;
  return false;
}

void placement_count(struct placement *placement, const struct vinci_soc *soc,
                     const struct vinci_trace *trace) {
  *placement = (struct placement){.soc = soc, .trace = trace};
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    placement->first_core[kind] = placement->core_count;
    if (uses_kind(trace, (enum core_kind)kind))
      placement->kind_count[kind] = soc_core_count(soc, (enum core_kind)kind);
    placement->core_count += placement->kind_count[kind];
  }
}

enum vinci_status placement_create(struct placement *placement, struct arena *arena,
                                   const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   struct vinci_diag *diag) {
  placement_count(placement, soc, trace);
  if (trace->soc_digest != soc_digest(soc))
    return diag_error(diag, VINCI_E_USAGE, "%s was loaded for another SoC than this %s",
                      trace->path, soc->name);
  if (placement->core_count == 0)
    return diag_error(diag, VINCI_E_INPUT, "%s: no core of %s can run this trace", trace->path,
                      soc->name);
  placement->units = ARENA_ARRAY(arena, struct placement_unit, placement->core_count);
  placement->unit_of = ARENA_ARRAY(arena, uint32_t, placement->core_count);
  if (!placement->units || !placement->unit_of)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the cores of %s", soc->name);
  return VINCI_OK;
}

enum core_kind placement_kind(const struct placement *placement, uint32_t core) {
  enum core_kind kind = CORE_AIC;
  while (core - placement->first_core[kind] >= placement->kind_count[kind])
    kind++;
  return kind;
}

void placement_core_name(const struct placement *placement, uint32_t core, char *buffer,
                         size_t size) {
  enum core_kind kind = placement_kind(placement, core);
  uint32_t cluster, member;
  soc_core_place(placement->soc, kind, core - placement->first_core[kind], &cluster, &member);
  core_name(kind, cluster, member, buffer, size);
}

enum core_kind placement_kernel_kind(const struct program_kernel *kernel) {
  enum core_kind kind = CORE_AIC;
  while (!kernel->stream[kind].present)
    kind++;
  return kind;
}

void placement_launch(struct placement *placement, const struct program_kernel *kernel) {
  enum core_kind kind = placement_kernel_kind(kernel);
  uint32_t per_cube = soc_vectors_per_cube(placement->soc);
  placement->kernel = kernel;
  placement->next_block = placement->blocks_done = 0;
  placement->unit_count = placement->kind_count[kind];
  for (uint32_t u = 0; u < placement->unit_count; u++) {
    struct placement_unit *unit = &placement->units[u];
    *unit = (struct placement_unit){.core = {placement->first_core[kind] + u}, .core_count = 1};
    for (uint32_t v = 0; kernel->mixed && v < kernel->vectors_per_cube; v++)
      unit->core[unit->core_count++] = placement->first_core[CORE_AIV] + u * per_cube + v;
    for (uint32_t i = 0; i < unit->core_count; i++)
      placement->unit_of[unit->core[i]] = u;
  }
}

uint32_t placement_take(struct placement *placement, struct placement_unit *unit) {
  unit->running = unit->core_count;
  return placement->next_block++;
}

bool placement_core_done(struct placement *placement, uint32_t core) {
  if (--placement->units[placement->unit_of[core]].running > 0)
    return false;
  placement->blocks_done++;
  return true;
}

enum vinci_status placement_report(const struct placement *placement, uint32_t core, uint32_t line,
                                   const struct misuse *misuse, struct vinci_diag *diag) {
  char text[512], name[64];
  misuse_text(misuse, text, sizeof text);
  placement_core_name(placement, core, name, sizeof name);
  return diag_error_at(diag, VINCI_E_INPUT, program_position(placement->trace, line), "%s, on %s",
                       text, name);
}
