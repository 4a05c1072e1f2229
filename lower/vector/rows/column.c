/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of rows as results of tiles (column.h). */
#include "lower/vector/rows/column.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/select/select.h"

enum { NUMBER_BYTES = 4, BLOCK_NUMBERS = BLOCK_BYTES / NUMBER_BYTES, END_FLAG = 0 };

static bool is_apart(const struct vinci_soc *soc, const struct vtile *tile) {
  return tile->rows < BLOCK_NUMBERS && tile->tiles > 1 &&
         !select_has(soc, OP_COPY_UBUF_TO_GM_ALIGN_B32);
}

/* Of a core. */
static uint64_t rows_of(const struct vtile *tile) { return tile->per_block * tile->rows; }

static uint64_t workspace_of(const struct vtile *tile) {
  return round_up(rows_of(tile) + BLOCK_NUMBERS, BLOCK_NUMBERS);
}

void vcolumn_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  vkernel_split_rows(job, kernel, halvings);
  vtile_counts(tile);
  if (is_apart(job->soc, tile) && rows_of(tile) < BLOCK_NUMBERS)
    tile->blocks = ceil_div(tile->tiles, ceil_div(BLOCK_NUMBERS, tile->rows));
}

bool vcolumn_stores(struct lower_job *job, const struct vtile *tile, uint64_t ub_bytes) {
  const struct vtile_operand numbers = {
      .name = "scale", .dtype = DTYPE_FP32, .row_stride = 1, .whole = true};
  if (!is_apart(job->soc, tile))
    return vtile_stores(job, tile, &numbers);
  if (tile->blocks > 1 && rows_of(tile) < BLOCK_NUMBERS)
    return lower_refuse(job, "a core has %d rows or more, whose numbers are a block",
                        BLOCK_NUMBERS);
  if (workspace_of(tile) * NUMBER_BYTES > ub_bytes)
    return lower_refuse(job, "the numbers of a core's rows do not fit UB");
  return true;
}

void vcolumn_tensor(struct emit *e, const struct vtile *tile) {
  if (is_apart(e->soc, tile))
    emit_vector(e, "numbers", DTYPE_FP32, TENSOR_WORKSPACE, tile->blocks * workspace_of(tile));
}

/* The first row of this core. */
static struct expr first_row(struct emit *e, const struct vtile *tile) {
  return x_mul(x_name(e, "blk"), rows_of(tile));
}

static struct expr workspace_at(struct emit *e, const struct vtile *tile) {
  return x_at(x_name(e, "numbers"), x_name(e, "blk"), workspace_of(tile) * NUMBER_BYTES);
}

void vcolumn_store(struct emit *e, const struct vtile *tile, const char *name, uint64_t address) {
  struct expr src = x_add(tile->slot, address);
  if (!is_apart(e->soc, tile)) {
    vtile_store_run(e, DTYPE_FP32, x_add(x_name(e, name), x_mul(tile->row, NUMBER_BYTES)), src,
                    tile->n_rows);
    return;
  }
  struct expr place = x_mul(x_sub(tile->row, first_row(e, tile)), NUMBER_BYTES);
  e->cuts = true;
  emit_barrier(e, PIPE_MTE3);
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(workspace_at(e, tile), place)), F("src", src),
       F("len_burst", 1));
}

void vcolumn_end(struct emit *e, const struct vtile *tile, const char *name, uint64_t address) {
  if (!is_apart(e->soc, tile))
    return;
  struct expr first = first_row(e, tile);
  struct expr count =
      emit_named(e, "numbered", x_max(0, x_min(rows_of(tile), x_sub(tile->space.rows, first))));
  emit_if(e, "numbers_left", x_gt(count, 0));
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, END_FLAG);
  EMIT(e, "copy_gm_to_ubuf", F("dst", address), F("src", workspace_at(e, tile)),
       F("len_burst", x_ceil_div(count, BLOCK_NUMBERS)));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, END_FLAG);
  vtile_store_run(e, DTYPE_FP32, x_add(x_name(e, name), x_mul(first, NUMBER_BYTES)), EXPR(address),
                  count);
  emit_end(e);
}
