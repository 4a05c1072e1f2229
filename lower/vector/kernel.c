/* SPDX-License-Identifier: Apache-2.0 */
/* What all kernels over tiles do alike: candidates, refusals, cost, the order of rows. */
#include "lower/vector/kernel.h"

#include "core/base/arith.h"
#include "lower/plan/program.h"
#include "lower/vector/unit.h"

void *vkernel_new(struct lower_job *job, size_t size, const struct vkernel_kind *kind) {
  struct vkernel *kernel = lower_data(job, size);
  if (!kernel)
    return NULL;
  kernel->job = job;
  kernel->kind = kind;
  kernel->tile.prefix = "";
  kernel->tile.lay_out = kind->lay_out;
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  return kernel;
}

/* ---- tilings --------------------------------------------------------------------------------- */

void vkernel_split_rows(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  uint64_t high = kernel->rows_max ? kernel->rows_max : tile->space.rows;
  uint64_t most = vtile_most_rows(job, tile, 1, high);
  vtile_split_rows(job->soc, job->cores, tile, (unsigned)kernel->element_bytes,
                   max_u64(most >> halvings, 1));
  vtile_fit(job, tile);
}

bool vkernel_candidate(struct lower_job *job, size_t index) {
  struct vkernel *kernel = job->data;
  const struct vkernel_kind *kind = kernel->kind;
  struct vtile *tile = &kernel->tile;
  if (index > kind->halvings)
    return false;
  tile->buffers = index == kind->halvings ? 1 : 2;
  tile->cols = tile->space.cols;
  tile->rows = 1;
  (kind->split ? kind->split : vkernel_split_rows)(job, kernel, (unsigned)(index % kind->halvings));
  vtile_give(job, tile);
  return true;
}

bool vkernel_is_legal(struct lower_job *job) {
  struct vkernel *kernel = job->data;
  const struct vkernel_kind *kind = kernel->kind;
  struct vtile *tile = &kernel->tile;
  vtile_take(job, tile);
  if (!vtile_count(job, tile) || (kind->whole_rows && !vtile_has_whole_rows(job, tile)))
    return false;
  tile->lay_out(tile);
  if ((kind->walks && !kind->walks(job, kernel)) ||
      !vtile_ub_holds(job, "the tile", tile->ub_bytes))
    return false;
  for (unsigned k = 0; !kind->store && kernel->out[k]; k++)
    if (!vtile_stores(job, tile, kernel->out[k]))
      return false;
  return true;
}

bool vkernel_cost(struct lower_job *job) { return vkernel_is_legal(job) && program_cost(job); }

/* ---- text ------------------------------------------------------------------------------------ */

void vkernel_stream(struct emit *e, uint64_t ub_bytes, enum kernel_code code) {
  emit_buffer(e, "buf", SPACE_UB, ub_bytes);
  emit_stream(e, emit_vector_core(e->soc));
  emit_kernel_start(e, code);
}

void vkernel_load(struct emit *e, const struct vkernel *kernel) {
  for (unsigned k = 0; kernel->in[k]; k++)
    vtile_load(e, &kernel->tile, kernel->in[k]);
}

void vkernel_tiles(struct emit *e, struct vkernel *kernel) {
  const struct vkernel_kind *kind = kernel->kind;
  struct vtile *tile = &kernel->tile;
  vtile_open(e, tile);
  if (kind->load)
    kind->load(e, kernel);
  else
    vkernel_load(e, kernel);
  vtile_loaded(e, tile);
  if (kind->compute)
    kind->compute(e, kernel);
  vtile_computed(e, tile);
  if (kind->store)
    kind->store(e, kernel);
  for (unsigned k = 0; !kind->store && kernel->out[k]; k++)
    vtile_store(e, tile, kernel->out[k]);
  vtile_close(e, tile);
}

void vkernel_clear(struct emit *e, const struct vtile *tile) {
  vmask_count(e, tile->slot_bytes * tile->buffers / sizeof(float));
  vfill(e, 0, 0, "fp32");
}

void vkernel_emit(const struct lower_job *job, struct emit *e) {
  struct vkernel *kernel = job->data;
  const struct vkernel_kind *kind = kernel->kind;
  vtile_settle(job, &kernel->tile);
  uint64_t blocks = kernel->launched ? kernel->launched : kernel->tile.blocks;
  emit_kernel(e, job->op->name, (uint32_t)blocks);
  kind->tensors(e, kernel);
  vkernel_stream(e, kernel->tile.ub_bytes, kernel->code);
  if (!kind->only_moves)
    emit_plain(e, "set_mask_count");
  (kind->rows ? kind->rows : vkernel_tiles)(e, kernel);
}
