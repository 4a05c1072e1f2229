/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of maps of strides: a tile comes in, as rows, pieces of rows or turns of 8 rows, is
 * transposed where the map asks for it, and leaves.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/layout/permute.h"
#include "lower/vector/unit.h"

/* A run of rows of 8, from a row of the tile on; its place in UB is `ub_row` rows on. */
struct chunks {
  const char *counter, *left;
  uint64_t first_row, ub_row;
  struct expr count;
};

static void put_chunks(struct emit *e, const struct ppass *pass, const struct chunks *chunks) {
  const struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(pass->in.dtype), row = pass->in_pitch * bytes;
  uint64_t stride = pass->in.row_stride * bytes;
  struct expr cols = x_mul(tile->n_cols, bytes);
  struct expr from = vtile_offset(e, tile, &pass->in);
  struct expr chunk = emit_for(e, vtile_name(e, tile, chunks->counter), chunks->count);
  struct expr done = x_mul(chunk, PERMUTE_CHUNK);
  struct expr left =
      emit_assigned(e, vtile_name(e, tile, chunks->left),
                    x_min(PERMUTE_CHUNK, x_sub(x_sub(tile->n_rows, chunks->first_row), done)));
  struct expr to = x_add(tile->slot, chunks->ub_row * row);
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", x_add(to, x_mul(chunk, 2 * PERMUTE_CHUNK * row))),
       F("src", x_add(from, x_mul(x_add(chunks->first_row, done), stride))), F("n_burst", left),
       F("len_burst", cols), F("src_gap", x_sub(stride, cols)),
       F("dst_gap", x_sub(row / BLOCK_BYTES, x_ceil_div(cols, BLOCK_BYTES))));
  emit_end(e);
}

static void put_pieces(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(pass->in.dtype), piece = tile->space.cols / pass->fan * bytes;
  struct expr index = emit_for(e, vtile_name(e, tile, "piece"), pass->fan);
  EMIT(e, vtile_copy_name(false, pass->in.dtype), F("dst", x_add(tile->slot, x_mul(index, piece))),
       F("src", x_add(vtile_offset(e, tile, &pass->in), x_mul(index, pass->fan_stride * bytes))),
       F("n_burst", tile->n_rows), F("len_burst", piece),
       F("dst_gap", (pass->in_pitch * bytes - piece) / BLOCK_BYTES));
  emit_end(e);
}

/* The rows of a view of a tile become those of all groups. */
static void take_groups(struct vtile *view, const struct ppass *pass) {
  if (pass->groups <= 1)
    return;
  view->space.rows *= pass->groups;
  view->rows *= pass->groups;
  view->n_rows = x_mul(view->n_rows, pass->groups);
}

/* Bursts of 8 rows, to every second place in UB. */
static void put_bursts(struct emit *e, struct expr dst, struct expr src, struct expr count,
                       uint64_t chunk_bytes) {
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", dst), F("src", src), F("n_burst", count),
       F("len_burst", chunk_bytes), F("dst_gap", chunk_bytes / BLOCK_BYTES));
}

/* Rows that follow each other on both sides: 8 of them are one burst. */
static void put_packed(struct emit *e, const struct ppass *pass, uint64_t turns,
                       uint64_t chunk_bytes) {
  const struct vtile *tile = &pass->tile;
  struct expr rows = tile->n_rows, slot = tile->slot, from = vtile_offset(e, tile, &pass->in);
  struct expr whole = x_div(rows, PERMUTE_CHUNK), rest = x_mod(rows, PERMUTE_CHUNK);
  put_bursts(e, slot, from, x_min(turns, whole), chunk_bytes);
  emit_if(e, vtile_name(e, tile, "second"), x_gt(whole, turns));
  put_bursts(e, x_add(slot, chunk_bytes), x_add(from, turns * chunk_bytes), x_sub(whole, turns),
             chunk_bytes);
  emit_end(e);
  if (tile->rows % PERMUTE_CHUNK == 0 && x_is_number(rows))
    return;
  emit_if(e, vtile_name(e, tile, "rest"), x_gt(rest, 0));
  struct expr chunk = emit_assigned(e, vtile_name(e, tile, "last_chunk"), whole);
  struct expr place = x_add(x_mul(x_mod(chunk, turns), 2), x_div(chunk, turns));
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", x_add(slot, x_mul(place, chunk_bytes))),
       F("src", x_add(from, x_mul(chunk, chunk_bytes))),
       F("len_burst", x_mul(rest, chunk_bytes / PERMUTE_CHUNK)));
  emit_end(e);
}

bool permute_loads_packed(const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  return permute_reads_blocks(pass) ||
         (pass->in.row_stride == tile->space.cols && tile->cols == tile->space.cols &&
          pass->in_pitch == tile->cols);
}

/*
 * 32-bit elements leave the transposition as blocks of 8 rows. For the rows of the result to be
 * in order, 8 rows of the first half of the tile alternate in UB with 8 of the second half.
 */
static void put_load(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  if (pass->fan > 1) {
    put_pieces(e, pass);
    return;
  }
  if (!pass->chunks) {
    struct vtile view = *tile;
    take_groups(&view, pass);
    if (permute_reads_blocks(pass)) {
      view.space.cols = view.cols = pass->in.row_stride;
      view.n_cols = EXPR(view.cols);
    }
    vtile_load(e, &view, &pass->in);
    return;
  }
  uint64_t half = round_up(tile->rows, PERMUTE_SIDE) / 2, turns = half / PERMUTE_CHUNK;
  uint64_t row = pass->in_pitch * vtile_bytes(pass->in.dtype);
  if (permute_loads_packed(pass)) {
    put_packed(e, pass, turns, PERMUTE_CHUNK * row);
    return;
  }
  struct expr second = x_ceil_div(x_sub(tile->n_rows, half), PERMUTE_CHUNK);
  put_chunks(e, pass,
             &(struct chunks){"chunk0", "left0", 0, 0,
                              x_min(turns, x_ceil_div(tile->n_rows, PERMUTE_CHUNK))});
  put_chunks(e, pass, &(struct chunks){"chunk8", "left8", half, PERMUTE_CHUNK, x_max(0, second)});
}

/* How many runs of `unit` the tile has, where the last tile may have fewer. */
static struct expr runs_of(struct expr extent, uint64_t all, uint64_t unit) {
  return x_is_number(extent) ? EXPR(all) : x_ceil_div(extent, unit);
}

/* A single repeat takes no strides: they would be added to its addresses. */
static struct expr stride_of(struct expr runs, uint64_t blocks) {
  return x_mul(x_gt(runs, 1), blocks);
}

/* Transposes the tile: a loop over one direction, repeats over the other. */
static void put_transpose(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(pass->in.dtype), block = BLOCK_BYTES / bytes;
  uint64_t groups = pass->out_pitch / PERMUTE_SIDE, columns = pass->in_pitch / block;
  uint64_t in_row = pass->in_pitch / block, out_row = pass->out_pitch / block;
  bool over_groups = groups >= columns && groups <= PERMUTE_REPEATS_MAX;
  struct expr group_runs =
      pass->chunks ? EXPR(groups) : runs_of(tile->n_rows, groups, PERMUTE_SIDE);
  struct expr column_runs = runs_of(tile->n_cols, columns, block);
  struct expr runs = over_groups ? group_runs : column_runs;
  uint64_t turns = over_groups ? columns : groups;
  /* From group to group, from column of blocks to column, in blocks; of the loop, the repeats. */
  uint64_t group_in = PERMUTE_SIDE * in_row, group_out = 1, column_in = 1;
  uint64_t column_out = block * out_row;
  uint64_t in_step = over_groups ? column_in : group_in, in = over_groups ? group_in : column_in;
  uint64_t out_step = over_groups ? column_out : group_out;
  uint64_t out = over_groups ? group_out : column_out;
  struct expr turn = EXPR(0), group = EXPR(0);
  if (pass->groups > 1)
    group = emit_for(e, vtile_name(e, tile, "group"), pass->groups);
  struct expr to = x_add(tile->slot, x_mul(group, tile->cols * pass->out_pitch * bytes));
  struct expr from = x_add(tile->slot, x_mul(group, tile->rows * pass->in_pitch * bytes));
  if (turns > 1)
    turn = emit_for(e, vtile_name(e, tile, "turn"), over_groups ? column_runs : group_runs);
  EMIT(e, bytes == 4 ? "scatter_vnchwconv_b32" : "scatter_vnchwconv_b16",
       F("dst", x_add(x_add(to, pass->out.address), x_mul(turn, out_step * BLOCK_BYTES))),
       F("src", x_add(from, x_mul(turn, in_step * BLOCK_BYTES))), F("repeat", runs),
       F("dst_step", bytes == 4 ? out_row / 2 : out_row), F("src_step", in_row),
       F("dst_repeat", stride_of(runs, out)), F("src_repeat", stride_of(runs, in)));
  if (turns > 1)
    emit_end(e);
  if (pass->groups <= 1)
    return;
  /* The fill behind the columns of a group is where those of the next one lie. */
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

void permute_result(const struct ppass *pass, struct vtile *view, struct vtile_operand *out) {
  const struct vtile *tile = &pass->tile;
  *view = *tile;
  *out = pass->out;
  if (pass->transposes) {
    view->space.rows = tile->space.cols;
    view->space.cols = tile->space.rows;
    view->rows = tile->cols;
    view->cols = tile->rows;
    view->row_tiles = tile->col_tiles;
    view->col_tiles = tile->row_tiles;
    view->n_rows = tile->n_cols;
    view->n_cols = tile->n_rows;
    take_groups(view, pass);
    view->row = tile->col;
    view->col = tile->row;
    out->pitch = pass->out_pitch;
  }
  uint64_t cols = pass->padded ? pass->padded : pass->kept;
  if (cols == 0)
    return;
  if (!pass->transposes)
    view->space.cols = view->cols = cols;
  view->n_cols = EXPR(cols);
}

static void put_store(struct emit *e, const struct ppass *pass) {
  struct vtile view;
  struct vtile_operand out;
  permute_result(pass, &view, &out);
  vtile_store(e, &view, &out);
}

/* Rows and blocks of columns that no copy writes are transposed too; copies fill the last block of
 * what they write. */
static bool has_gaps(const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  uint64_t block = BLOCK_BYTES / vtile_bytes(pass->in.dtype);
  bool last_is_short = pass->chunks && tile->space.rows % tile->rows != 0;
  const uint64_t side = permute_side(vtile_bytes(pass->in.dtype));
  bool short_rows = tile->space.rows % side != 0 || tile->rows % side != 0 || last_is_short;
  bool whole_blocks =
      !pass->chunks && pass->fan == 1 && pass->in_pitch == round_up(tile->cols, block);
  if (pass->places)
    return pass->padded || tile->rows % PERMUTE_SIDE != 0 || tile->space.rows % tile->rows != 0;
  return pass->transposes &&
         (short_rows || (tile->space.cols % PERMUTE_SIDE != 0 && !whole_blocks));
}

/* Words of UB before the first turn: all buffers of a pass that fills, whose turns only store them.
 */
static void put_words(struct emit *e, uint64_t bytes, uint32_t word) {
  emit_plain(e, "set_mask_count");
  vmask_count(e, bytes / sizeof word);
  vfill(e, 0, word, "uint32");
}

/* Zeros where tiles come in, before a pass that computes, whose first copy waits for the vector
 * pipe. */
static void put_zeros(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  emit_plain(e, "set_mask_count");
  vmask_count(e, pass->out.address / sizeof(float));
  for (uint64_t buffer = 0; buffer < tile->buffers; buffer++)
    vfill(e, tile->slot_address + buffer * tile->slot_bytes, 0, "fp32");
}

static void put_tensors(struct emit *e, const struct permute *permute) {
  static const char *const names[PERMUTE_PASSES] = {"x", "x1", "x2", "x3", "x4", "x5"};
  for (unsigned i = 0; i < permute->inputs; i++)
    emit_tensor(e, names[i], permute->type, TENSOR_IN,
                permute->inputs > 1 ? permute->in_shapes[i] : permute->in_shape, permute->in_rank,
                permute->in_format);
  emit_tensor(e, "y", permute->type, TENSOR_OUT, permute->out_shape, permute->out_rank,
              permute->out_format);
}

static void put_tile(struct emit *e, struct ppass *pass) {
  bool lines = pass->places > 0;
  if (lines)
    permute_lines_load(e, pass);
  else if (!pass->fills)
    put_load(e, pass);
  vtile_loaded(e, &pass->tile);
  if (lines)
    permute_lines_compute(e, pass);
  else if (pass->transposes && permute_side(vtile_bytes(pass->in.dtype)) != PERMUTE_SIDE)
    permute_transpose_sizes(e, pass);
  else if (pass->transposes)
    put_transpose(e, pass);
  vtile_computed(e, &pass->tile);
  if (lines)
    permute_lines_store(e, pass);
  else
    put_store(e, pass);
}

void permute_emit(const struct lower_job *job, struct emit *e) {
  struct permute *permute = job->data;
  if (permute->gather) {
    struct lower_job inner = *job;
    inner.data = permute->gather;
    vkernel_emit(&inner, e);
    return;
  }
  permute_take_tiling(job, permute);
  const uint64_t blocks = permute->pass[0].tile.blocks;
  emit_kernel(e, job->op->name, (uint32_t)blocks);
  put_tensors(e, permute);
  vkernel_stream(e, permute->ub_bytes, permute->code);
  for (unsigned i = 0; i < permute->passes; i++) {
    struct ppass *pass = &permute->pass[i];
    if (i > 0)
      emit_barrier(e, PIPE_ALL);
    if (has_gaps(pass))
      put_zeros(e, pass);
    if (pass->fills)
      put_words(e, pass->tile.slot_bytes * pass->tile.buffers, permute->fill);
    vtile_open(e, &pass->tile);
    put_tile(e, pass);
    vtile_close(e, &pass->tile);
  }
}
