/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of maps of strides: a tile comes in, as rows, pieces of rows or turns of 8 rows, is
 * transposed where the map asks for it, and leaves.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/permute.h"

typedef unsigned long long ull;

static bool is_number(const char *text) { return *text >= '0' && *text <= '9'; }

/* A run of rows of 8, `skip` rows of UB apart. */
static void put_chunks(struct emit *e, const struct ppass *pass, const char *first_row,
                       const char *chunks, uint64_t ub_row) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), row = pass->in_pitch * bytes;
  const char *p = tile->prefix, *from = x_text(e, vtile_offset(e, tile, &pass->in));
  const char *count = emit_text(e, "%schunk%llu", p, (ull)ub_row);
  emit_loop(e, count, "%s", chunks);
  emit_let(e, emit_text(e, "%sleft%llu", p, (ull)ub_row), "min(%d,%s-(%s)-%s*%d)", PERMUTE_CHUNK,
           tile->rows_text, first_row, count, PERMUTE_CHUNK);
  emit_row(
      e,
      "copy_gm_to_ubuf_align_b32,dst=%s+%llu+%s*%llu,src=%s+(%s+%s*%d)*%llu,n_burst=%sleft%llu,"
      "len_burst=%s*%llu,src_gap=%llu-%s*%llu,dst_gap=%llu-(%s*%llu+31)/32",
      tile->slot_text, (ull)ub_row * row, count, 2 * PERMUTE_CHUNK * row, from, first_row, count,
      PERMUTE_CHUNK, (ull)pass->in.row_stride * bytes, p, (ull)ub_row, tile->cols_text, bytes,
      (ull)pass->in.row_stride * bytes, tile->cols_text, bytes, row / BLOCK_BYTES, tile->cols_text,
      bytes);
  emit_endloop(e);
}

static void put_pieces(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), piece = tile->space.cols / pass->fan * bytes;
  const char *index = emit_text(e, "%spiece", tile->prefix);
  emit_loop(e, index, "%llu", (ull)pass->fan);
  emit_row(e, "%s,dst=%s+%s*%llu,src=%s+%s*%llu,n_burst=%s,len_burst=%llu,dst_gap=%llu",
           vtile_copy_name(false, pass->in.dtype), tile->slot_text, index, piece,
           x_text(e, vtile_offset(e, tile, &pass->in)), index, (ull)pass->fan_stride * bytes,
           tile->rows_text, piece, (pass->in_pitch * bytes - piece) / BLOCK_BYTES);
  emit_endloop(e);
}

/* Rows that follow each other on both sides: 8 of them are one burst. */
static void put_packed(struct emit *e, const struct ppass *pass, ull turns, ull chunk_bytes) {
  const struct vtile *tile = &pass->tile;
  const char *rows = tile->rows_text, *slot = tile->slot_text, *p = tile->prefix;
  const char *from = x_text(e, vtile_offset(e, tile, &pass->in));
  ull gap = chunk_bytes / BLOCK_BYTES;
  emit_row(
      e,
      "copy_gm_to_ubuf_align_b32,dst=%s,src=%s,n_burst=min(%llu,%s/%d),len_burst=%llu,dst_gap=%llu",
      slot, from, turns, rows, PERMUTE_CHUNK, chunk_bytes, gap);
  emit_loop(e, emit_text(e, "%ssecond", p), "%s/%d>%llu", rows, PERMUTE_CHUNK, turns);
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%s+%llu,src=%s+%llu,n_burst=%s/"
           "%d-%llu,len_burst=%llu,dst_gap=%llu",
           slot, chunk_bytes, from, turns * chunk_bytes, rows, PERMUTE_CHUNK, turns, chunk_bytes,
           gap);
  emit_endloop(e);
  if (tile->rows % PERMUTE_CHUNK == 0 && is_number(rows))
    return;
  emit_loop(e, emit_text(e, "%srest", p), "%s%%%d>0", rows, PERMUTE_CHUNK);
  const char *chunk = emit_text(e, "%slast_chunk", p);
  emit_let(e, chunk, "%s/%d", rows, PERMUTE_CHUNK);
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%s+(%s%%%llu*2+%s/"
           "%llu)*%llu,src=%s+%s*%llu,len_burst=%s%%%d*%llu",
           slot, chunk, turns, chunk, turns, chunk_bytes, from, chunk, chunk_bytes, rows,
           PERMUTE_CHUNK, chunk_bytes / PERMUTE_CHUNK);
  emit_endloop(e);
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
    vtile_load(e, tile, &pass->in);
    return;
  }
  ull half = round_up(tile->rows, PERMUTE_SIDE) / 2, turns = half / PERMUTE_CHUNK;
  ull bytes = vtile_bytes(pass->in.dtype), row = pass->in_pitch * bytes;
  bool packed = pass->in.row_stride == tile->space.cols && tile->cols == tile->space.cols &&
                pass->in_pitch == tile->cols;
  if (packed) {
    put_packed(e, pass, turns, PERMUTE_CHUNK * row);
    return;
  }
  put_chunks(e, pass, "0",
             emit_text(e, "min(%llu,(%s+%d)/%d)", turns, tile->rows_text, PERMUTE_CHUNK - 1,
                       PERMUTE_CHUNK),
             0);
  put_chunks(e, pass, emit_text(e, "%llu", half),
             emit_text(e, "max(0,(%s-%llu+%d)/%d)", tile->rows_text, half, PERMUTE_CHUNK - 1,
                       PERMUTE_CHUNK),
             PERMUTE_CHUNK);
}

/* How many runs of `unit` the tile has, where the last tile may have fewer. */
static const char *runs_of(struct emit *e, const char *extent, uint64_t all, uint64_t unit) {
  if (is_number(extent))
    return emit_text(e, "%llu", (ull)all);
  return emit_text(e, "(%s+%llu)/%llu", extent, (ull)unit - 1, (ull)unit);
}

/* A single repeat takes no strides: they would be added to its addresses. */
static const char *stride_of(struct emit *e, const char *runs, uint64_t blocks) {
  if (is_number(runs))
    return emit_text(e, "%llu", strcmp(runs, "1") == 0 ? 0ull : (ull)blocks);
  return emit_text(e, "(%s>1)*%llu", runs, (ull)blocks);
}

/* Transposes the tile: a loop over one direction, repeats over the other. */
static void put_transpose(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), block = BLOCK_BYTES / bytes;
  ull groups = pass->out_pitch / PERMUTE_SIDE, columns = pass->in_pitch / block;
  ull in_row = pass->in_pitch / block, out_row = pass->out_pitch / block;
  ull step = bytes == 4 ? out_row / 2 : out_row;
  /* From group to group, from column of blocks to column, in blocks. */
  ull group_in = PERMUTE_SIDE * in_row, group_out = 1, column_in = 1, column_out = block * out_row;
  bool over_groups = groups >= columns && groups <= PERMUTE_REPEATS_MAX;
  ull turns = over_groups ? columns : groups;
  const char *turn = emit_text(e, "%sturn", tile->prefix);
  const char *group_runs = pass->chunks ? emit_text(e, "%llu", groups)
                                        : runs_of(e, tile->rows_text, groups, PERMUTE_SIDE);
  const char *column_runs = runs_of(e, tile->cols_text, columns, block);
  const char *runs = over_groups ? group_runs : column_runs;
  if (turns > 1)
    emit_loop(e, turn, "%s", over_groups ? column_runs : group_runs);
  const char *in =
      turns > 1 ? emit_text(e, "+%s*%llu", turn, (over_groups ? column_in : group_in) * BLOCK_BYTES)
                : "";
  const char *out = turns > 1 ? emit_text(e, "+%s*%llu", turn,
                                          (over_groups ? column_out : group_out) * BLOCK_BYTES)
                              : "";
  emit_row(e,
           "scatter_vnchwconv_b%llu,dst=%s+%llu%s,src=%s%s,repeat=%s,dst_step=%llu,src_step=%llu,"
           "dst_repeat=%s,src_repeat=%s",
           bytes * BITS_PER_BYTE, tile->slot_text, (ull)pass->out.address, out, tile->slot_text, in,
           runs, step, in_row, stride_of(e, runs, over_groups ? group_out : column_out),
           stride_of(e, runs, over_groups ? group_in : column_in));
  if (turns > 1)
    emit_endloop(e);
}

/* Rows of the result are the columns of the tile. */
static void put_store(struct emit *e, const struct ppass *pass) {
  struct vtile view = pass->tile;
  struct vtile_operand out = pass->out;
  if (!pass->transposes) {
    if (pass->padded) {
      view.space.cols = view.cols = pass->padded;
      view.cols_text = emit_text(e, "%llu", (ull)pass->padded);
      view.n_cols = EXPR(pass->padded);
    }
    vtile_store(e, &view, &out);
    return;
  }
  view.space.rows = pass->tile.space.cols;
  view.space.cols = pass->tile.space.rows;
  view.rows = pass->tile.cols;
  view.cols = pass->tile.rows;
  view.row_tiles = pass->tile.col_tiles;
  view.col_tiles = pass->tile.row_tiles;
  view.rows_text = pass->tile.cols_text;
  view.n_rows = pass->tile.n_cols;
  view.n_cols = pass->padded ? EXPR(pass->padded) : pass->tile.n_rows;
  view.row = pass->tile.col;
  view.col = pass->tile.row;
  view.cols_text = pass->padded ? emit_text(e, "%llu", (ull)pass->padded) : pass->tile.rows_text;
  view.row_text = pass->tile.col_text;
  view.col_text = pass->tile.row_text;
  out.pitch = pass->out_pitch;
  vtile_store(e, &view, &out);
}

/* Rows and padding that no copy writes are transposed too. */
static bool has_gaps(const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  bool last_is_short = pass->chunks && tile->space.rows % tile->rows != 0;
  return pass->transposes &&
         (tile->space.rows % PERMUTE_SIDE != 0 || tile->space.cols % PERMUTE_SIDE != 0 ||
          tile->rows % PERMUTE_SIDE != 0 || last_is_short);
}

/* Only before a pass that computes, whose first copy waits for the vector pipe. */
static void put_gaps(struct emit *e, const struct permute *permute) {
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)permute->ub_bytes / sizeof(float));
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
}

/* All buffers of a pass that fills, before its first turn: turns only store them. */
static void put_fill(struct emit *e, const struct permute *permute, const struct ppass *pass) {
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)(pass->tile.slot_bytes * pass->tile.buffers / sizeof(uint32_t)));
  emit_row(e, "vector_dup,dst=0,scalar=%llu,repeat=1,type=uint32", (ull)permute->fill);
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

void permute_emit(const struct lower_job *job, struct emit *e) {
  struct permute *permute = job->data;
  bool filled = false;
  permute_take_tiling(job, permute);
  const uint64_t blocks = permute->pass[0].tile.blocks;
  emit_kernel(e, job->op->name, (uint32_t)blocks);
  put_tensors(e, permute);
  emit_buffer(e, "buf", SPACE_UB, permute->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, permute->code, blocks);
  for (unsigned i = 0; i < permute->passes; i++) {
    struct ppass *pass = &permute->pass[i];
    if (i > 0)
      emit_barrier(e, PIPE_ALL);
    if (has_gaps(pass) && (!filled || pass->padded)) {
      put_gaps(e, permute);
      filled = true;
    }
    if (pass->fills)
      put_fill(e, permute, pass);
    vtile_open(e, &pass->tile);
    if (!pass->fills)
      put_load(e, pass);
    vtile_loaded(e, &pass->tile);
    if (pass->transposes)
      put_transpose(e, pass);
    vtile_computed(e, &pass->tile);
    put_store(e, pass);
    vtile_close(e, &pass->tile);
  }
}
