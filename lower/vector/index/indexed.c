/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table that a list of indices names: tiles in UB, and where a row lies. */
#include "lower/vector/index/indexed.h"

#include "core/base/arith.h"

enum { COPY_BYTES = 65536 };

void indexed_lay_out(struct vtile *tile) {
  struct indexed_rows *indexed = (struct indexed_rows *)tile;
  unsigned bytes = vtile_bytes(indexed->rows.dtype);
  indexed->rows.pitch = vtile_pitch(tile->cols, bytes);
  indexed->index.address = vtile_align(tile->rows * indexed->rows.pitch * bytes);
  tile->slot_bytes =
      indexed->index.address + vtile_align(tile->rows * vtile_bytes(indexed->index.dtype));
  tile->ub_bytes = tile->slot_bytes * tile->buffers;
}

void indexed_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  unsigned bytes = (unsigned)kernel->element_bytes;
  uint64_t most = (uint64_t)(COPY_BYTES >> halvings) / bytes;
  tile->cols = min_u64(tile->space.cols, most);
  vtile_split_rows(job->soc, job->cores, tile, bytes,
                   max_u64(1, most / vtile_pitch(tile->cols, bytes)));
  vtile_fit(job, tile);
}

struct expr indexed_place(struct emit *e, const struct indexed_rows *indexed, const char *table,
                          struct expr r) {
  const struct vkernel *kernel = &indexed->kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t bytes = kernel->element_bytes, rows = indexed->table_rows;
  struct expr place = x_mul(x_add(tile->row, r), lower_get(kernel->job, "step")->size % rows);
  enum dtype type = indexed->index.dtype;
  struct expr stated = x_mod(x_add(lower_get(kernel->job, "first")->size, place), rows);
  struct expr index =
      emit_read_word(e, "index", x_mul(stated, indexed->per),
                     x_at(x_add(tile->slot, indexed->index.address), r, vtile_bytes(type)), type);
  uint64_t all = rows * indexed->per;
  struct expr at = emit_assigned(e, "at", x_add(index, x_mul(all, x_lt(index, 0))));
  emit_expect(e, "at", x_max(0, x_min(at, all - 1)));
  return x_add(x_add(x_name(e, table), x_mul(x_div(at, indexed->per), tile->space.cols * bytes)),
               x_mul(tile->col, bytes));
}

void indexed_fill(struct lower_job *job, struct indexed_rows *indexed, const char *name,
                  uint64_t cols) {
  struct vkernel *kernel = &indexed->kernel;
  const struct lower_value *count = lower_get(job, "count");
  indexed->table_rows = lower_get(job, "shape")->shape[0];
  indexed->per = 1;
  indexed->index = (struct vtile_operand){
      .name = "x1", .dtype = lower_get(job, "dtype1")->dtype, .row_stride = 1};
  indexed->rows = (struct vtile_operand){
      .name = name, .dtype = lower_get(job, "dtype")->dtype, .row_stride = cols, .col_stride = 1};
  kernel->tile.space.rows = lower_elements(count->shape, count->rank);
  kernel->tile.space.cols = cols;
  kernel->tile.parts = VTILE_LOADS | VTILE_STORES;
  kernel->code = KERNEL_SLICE;
  kernel->element_bytes = vtile_bytes(indexed->rows.dtype);
  kernel->in[0] = &indexed->index;
}
