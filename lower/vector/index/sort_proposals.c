/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting on coupled cores, whose instructions sort region proposals of 8 elements by element 4.
 * Elements 0 and 1 are the place of a score: in its chunk, and the number of the chunk. A chunk has
 * at most 2048 elements, so that both are exact in half precision. As these cores cannot wait for
 * each other, a core sorts whole rows.
 */
#include <inttypes.h>
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/index/sort.h"

enum {
  FLOAT_BYTES = 4,
  CHUNK_MAX = 2048,
  PAIRED_BYTES = 32768, /* of a chunk that is merged with another: UB has four of them */
  KEPT_ROWS = 64,       /* rows with results of less than a block, which leave together */
  FIELD_LOW = 0,
  FIELD_HIGH = 1,
  FLAG = 0,
  FREE_FLAG = 1,
};

/* ---- tilings --------------------------------------------------------------------------------- */

const char *sort_proposals_cannot(const struct sort *sort) {
  if (sort->type != DTYPE_FP16 && sort->work == DTYPE_FP16)
    return "the chip has no instruction that sorts other types than fp16";
  if (sort->type == DTYPE_BF16)
    return "the chip has no data type bf16";
  if (sort->columns > (uint64_t)CHUNK_MAX * CHUNK_MAX / 2)
    return "rows have at most 2^21 elements";
  return NULL;
}

uint64_t sort_proposals_chunk(const struct sort *sort) {
  struct sort longest = *sort;
  longest.chunk = CHUNK_MAX;
  sort_choose_form(&longest);
  if (longest.form != SORT_NETWORK)
    return CHUNK_MAX;
  return min_u64(CHUNK_MAX, PAIRED_BYTES / sort->entry);
}

bool sort_proposals_stores(const struct sort *sort) {
  uint64_t rest = (sort->keep - 1) % sort->chunk + 1;
  return sort->form != SORT_NETWORK || rest * vtile_bytes(sort->type) >= BLOCK_BYTES;
}

uint64_t sort_proposals_rows_min(const struct sort *sort) {
  uint64_t bytes = sort->keep * vtile_bytes(sort->type), rows = 1;
  while (rows * bytes < BLOCK_BYTES)
    rows *= 2;
  return rows;
}

/* Each core but the last has rows for whole blocks of results, in each group that it stores. */
static uint64_t rows_per_block(const struct sort *sort) {
  return round_up(ceil_div(sort->rows, sort->blocks), sort_proposals_rows_min(sort));
}

void sort_proposals_lay_out(struct sort *sort) {
  uint64_t used = 0, chunk = sort->chunk, chunk_bytes = chunk * sort->entry;
  uint64_t kept = sort->form == SORT_NETWORK ? chunk : round_up(sort->keep, PROPOSALS);
  uint64_t work = chunk * vtile_bytes(sort->work);
  bool apart = sort->keep * vtile_bytes(sort->type) >= BLOCK_BYTES;
  sort->kept_rows = apart ? 1 : min_u64(KEPT_ROWS, rows_per_block(sort));
  sort->result_pitch = kept;
  sort->a_at = vtile_reserve(&used, chunk_bytes);
  sort->b_at = vtile_reserve(&used, chunk_bytes);
  if (sort->form == SORT_NETWORK)
    used = max_u64(used, 4 * chunk_bytes);
  sort->best_at = sort->form == SORT_RUNNING ? vtile_reserve(&used, sort->best * sort->entry) : 0;
  sort->numbers_at = vtile_reserve(&used, work);
  sort->scores_at = vtile_reserve(&used, chunk * FLOAT_BYTES);
  sort->raw_at = sort->type == sort->work ? sort->scores_at
                                          : vtile_reserve(&used, chunk * vtile_bytes(sort->type));
  sort->high_at = sort->chunks > 1 ? vtile_reserve(&used, chunk * FLOAT_BYTES) : 0;
  sort->y_at = vtile_reserve(&used, sort->kept_rows * kept * vtile_bytes(sort->type));
  sort->y1_at = vtile_reserve(&used, sort->kept_rows * kept * FLOAT_BYTES);
  sort->parts_at = vtile_reserve(&used, kept * FLOAT_BYTES);
  sort->ub_bytes = used;
}

/* ---- a chunk --------------------------------------------------------------------------------- */

static void put_conversion(struct emit *e, enum dtype from, enum dtype to, struct expr dst,
                           struct expr src) {
  vunit_convert(&(struct vunit){.emit = e}, 0, 0, from, to, dst, src);
  emit_barrier(e, PIPE_V);
}

/* int32 numbers in a buffer as numbers of the type that is sorted, at dst. */
static void put_numbers(struct emit *e, const struct sort *sort, uint64_t dst, uint64_t src) {
  bool half = sort->work == DTYPE_FP16;
  vmask_count(e, sort->chunk);
  put_conversion(e, DTYPE_INT32, DTYPE_FP32, EXPR(half ? src : dst), EXPR(src));
  if (half)
    put_conversion(e, DTYPE_FP32, DTYPE_FP16, EXPR(dst), EXPR(src));
}

static void put_sign(struct emit *e, const struct sort *sort, struct expr at, struct expr count) {
  if (sort->descending)
    return;
  vmask_count(e, count);
  EMIT(e, "vmuls", F("dst", at), F("src", at), F("scalar", vscalar(sort->work, -1.0)),
       F("repeat", 1), W("type", dtype_name(sort->work)));
  emit_barrier(e, PIPE_V);
}

static int64_t lanes_from(uint64_t first) {
  return first >= 64 ? 0 : (int64_t)(UINT64_MAX << first);
}

/* Scores behind the first N: what comes last. */
static void put_rest(struct emit *e, const struct sort *sort, uint64_t used) {
  uint64_t bytes = vtile_bytes(sort->work), lanes = 256 / bytes, first = used / lanes * lanes;
  uint64_t rest = used % lanes, whole = rest > 0 ? first + lanes : first;
  int64_t last = vscalar(sort->work, -(double)INFINITY);
  if (rest > 0) {
    emit_plain(e, "set_mask_norm");
    EMIT(e, "set_vector_mask", F("high", lanes == 64 ? 0 : lanes_from(rest > 64 ? rest - 64 : 0)),
         F("low", lanes_from(rest)));
    vfill(e, sort->scores_at + first * bytes, last, dtype_name(sort->work));
    vmask_count(e, sort->chunk);
    emit_plain(e, "set_mask_count");
  }
  if (whole < sort->chunk) {
    vmask_count(e, sort->chunk - whole);
    vfill(e, sort->scores_at + whole * bytes, last, dtype_name(sort->work));
  }
  emit_barrier(e, PIPE_V);
}

/* Elements of a row from a chunk on as scores. */
static void put_scores(struct emit *e, const struct sort *sort, struct expr row,
                       struct expr chunk) {
  struct expr first = x_mul(chunk, sort->chunk);
  struct expr length = emit_named(e, "length", x_min(sort->chunk, x_sub(sort->columns, first)));
  uint64_t rest = sort->columns - (sort->chunks - 1) * sort->chunk;
  vtile_load_run(e, sort->type, EXPR(sort->raw_at),
                 sort_at_element(e, "x", row, sort->columns, first, vtile_bytes(sort->type)),
                 length);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  if (sort->type != sort->work) {
    vmask_count(e, length);
    put_conversion(e, sort->type, sort->work, EXPR(sort->scores_at), EXPR(sort->raw_at));
  }
  put_sign(e, sort, EXPR(sort->scores_at), length);
  if (rest < sort->chunk) {
    if (sort->chunks > 1)
      emit_if(e, "end", x_eq(chunk, sort->chunks - 1));
    put_rest(e, sort, rest);
    if (sort->chunks > 1)
      emit_end(e);
  }
}

static void put_field(struct emit *e, const struct sort *sort, const char *inst, uint64_t dst,
                      uint64_t src, uint64_t entries, unsigned field) {
  EMIT(e, inst, F("dst", dst), F("src", src), F("repeat", entries / PROPOSALS), F("field", field),
       W("type", dtype_name(sort->work)));
}

/* A chunk of a row, sorted; returns where. */
static uint64_t put_chunk(struct emit *e, const struct sort *sort, struct expr row,
                          struct expr chunk) {
  put_scores(e, sort, row, chunk);
  if (sort->chunks > 1) {
    vmask_count(e, sort->chunk);
    vfill(e, sort->b_at, chunk, "int32");
    emit_barrier(e, PIPE_V);
    put_numbers(e, sort, sort->high_at, sort->b_at);
    put_field(e, sort, "vconcat", sort->a_at, sort->high_at, sort->chunk, FIELD_HIGH);
  }
  put_field(e, sort, "vconcat", sort->a_at, sort->numbers_at, sort->chunk, FIELD_LOW);
  put_field(e, sort, "vconcat", sort->a_at, sort->scores_at, sort->chunk, PROPOSAL_SCORE);
  emit_barrier(e, PIPE_V);
  EMIT(e, "vbitsort16", F("dst", sort->b_at), F("src", sort->a_at),
       F("repeat", sort->chunk / PROPOSALS), W("type", dtype_name(sort->work)));
  return sort_put_levels(e, sort, sort->b_at, PROPOSALS);
}

/* ---- results --------------------------------------------------------------------------------- */

/* A field of sorted proposals as fp32 numbers at dst; by way of a buffer of its own. */
static void put_places(struct emit *e, const struct sort *sort, uint64_t list, uint64_t kept,
                       unsigned field, struct expr dst) {
  bool half = sort->work == DTYPE_FP16;
  vmask_count(e, kept);
  if (!half) {
    EMIT(e, "vextract", F("dst", dst), F("src", list), F("repeat", kept / PROPOSALS),
         F("field", field), W("type", "fp32"));
    emit_barrier(e, PIPE_V);
    return;
  }
  put_field(e, sort, "vextract", sort->parts_at, list, kept, field);
  emit_barrier(e, PIPE_V);
  put_conversion(e, DTYPE_FP16, DTYPE_FP32, dst, EXPR(sort->parts_at));
}

/* Scores and places of a list, as results of the row with number `slot` of those that leave
 * together. */
static void put_parts(struct emit *e, const struct sort *sort, uint64_t list, struct expr slot) {
  uint64_t kept = sort->result_pitch, elements = vtile_bytes(sort->type);
  struct expr y = x_add(sort->y_at, x_mul(slot, kept * elements));
  struct expr y1 = x_add(sort->y1_at, x_mul(slot, kept * FLOAT_BYTES));
  put_field(e, sort, "vextract", sort->parts_at, list, kept, PROPOSAL_SCORE);
  emit_barrier(e, PIPE_V);
  put_sign(e, sort, EXPR(sort->parts_at), EXPR(kept));
  vmask_count(e, kept);
  if (sort->type == sort->work)
    EMIT(e, "vadds", F("dst", y), F("src", sort->parts_at), F("scalar", vscalar(sort->work, 0)),
         F("repeat", 1), W("type", dtype_name(sort->work)));
  else
    put_conversion(e, sort->work, sort->type, y, EXPR(sort->parts_at));
  emit_barrier(e, PIPE_V);
  put_places(e, sort, list, kept, FIELD_LOW, y1);
  if (sort->chunks > 1) {
    put_places(e, sort, list, kept, FIELD_HIGH, EXPR(sort->high_at));
    EMIT(e, "vmuls", F("dst", sort->high_at), F("src", sort->high_at),
         F("scalar", vscalar(DTYPE_FP32, (double)sort->chunk)), F("repeat", 1), W("type", "fp32"));
    emit_barrier(e, PIPE_V);
    EMIT(e, "vadd", F("dst", y1), F("src0", y1), F("src1", sort->high_at), F("repeat", 1),
         W("type", "fp32"));
    emit_barrier(e, PIPE_V);
  }
  put_conversion(e, DTYPE_FP32, DTYPE_INT32, y1, y1);
}

/* Results of rows from `row` on, or of one row from an element on. */
static void put_store(struct emit *e, const struct sort *sort, const char *tensor, enum dtype type,
                      uint64_t at, struct expr rows, struct expr count, struct expr gm) {
  uint64_t bytes = vtile_bytes(type);
  uint64_t blocks = ceil_div(sort->result_pitch * bytes, BLOCK_BYTES);
  struct expr dst = x_add(x_name(e, tensor), x_mul(gm, bytes)), length = x_mul(count, bytes);
  if (sort->kept_rows == 1) {
    vtile_store_run(e, type, dst, EXPR(at), count);
    return;
  }
  EMIT(e, vtile_copy_name(true, type), F("dst", dst), F("src", at), F("n_burst", rows),
       F("len_burst", length), F("src_gap", blocks - ceil_div(sort->keep * bytes, BLOCK_BYTES)));
}

static void put_stores(struct emit *e, const struct sort *sort, struct expr row, struct expr rows,
                       struct expr first, struct expr count) {
  struct expr gm = x_add(x_mul(row, sort->keep), first);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
  put_store(e, sort, "y", sort->type, sort->y_at, rows, count, gm);
  put_store(e, sort, "y1", DTYPE_INT32, sort->y1_at, rows, count, gm);
  emit_handshake(e, PIPE_MTE3, PIPE_V, FLAG);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The chunks of a row, one after the other; the loads of one wait for the end of the one before. */
static struct expr open_chunks(struct emit *e, const struct sort *sort) {
  struct expr chunk = sort->chunks > 1 ? emit_for(e, "chunk", sort->chunks) : EXPR(0);
  emit_wait(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  return chunk;
}

static void close_chunks(struct emit *e, const struct sort *sort) {
  emit_set(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  if (sort->chunks > 1)
    emit_end(e);
}

/* The list of a row's best. */
static uint64_t put_row(struct emit *e, const struct sort *sort, struct expr row) {
  struct expr chunk = open_chunks(e, sort);
  uint64_t list = put_chunk(e, sort, row, chunk);
  if (sort->form == SORT_RUNNING) {
    sort_put_better(e, sort, x_eq(chunk, 0), list);
    list = sort->best_at;
  }
  close_chunks(e, sort);
  return list;
}

/* Where a chunk of this core's row lies in device memory. */
static struct expr chunk_at(struct emit *e, const struct sort *sort, struct expr chunk) {
  return sort_at_element(e, "lists", x_name(e, "blk"), sort->chunks, chunk,
                         sort->chunk * sort->entry);
}

/* A network of merges of two chunks each, of one core. */
static void put_network(struct emit *e, const struct sort *sort) {
  struct sort_stage stage = {0};
  for (unsigned i = 0; sort_next_stage(sort->chunks, &stage); i++) {
    if (stage.pairs == 0)
      continue;
    char name[16];
    snprintf(name, sizeof name, "pair%u", i);
    struct expr pair = emit_for(e, name, stage.pairs), distance = EXPR(stage.distance);
    struct expr chunk =
        emit_assigned(e, "lower",
                      x_add(x_add(stage.first, x_mul(x_div(pair, distance), 2 * stage.distance)),
                            x_mod(pair, distance)));
    emit_if(e, "together",
            x_eq(x_div(chunk, stage.span), x_div(x_add(chunk, distance), stage.span)));
    sort_put_pair(e, sort, chunk_at(e, sort, chunk), stage.distance);
    emit_handshake(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
    emit_end(e);
    emit_end(e);
  }
}

/* All of a long row, by way of device memory. */
static void put_long_row(struct emit *e, const struct sort *sort, struct expr row) {
  struct expr chunk = open_chunks(e, sort);
  uint64_t at = put_chunk(e, sort, row, chunk);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
  sort_put_entries(e, sort, "copy_ubuf_to_gm", chunk_at(e, sort, chunk), EXPR(at), sort->chunk);
  emit_handshake(e, PIPE_MTE3, PIPE_V, FLAG);
  close_chunks(e, sort);
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
  put_network(e, sort);
  struct expr part = emit_for(e, "part", ceil_div(sort->keep, sort->chunk));
  struct expr first = x_mul(part, sort->chunk);
  emit_wait(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  sort_put_entries(e, sort, "copy_gm_to_ubuf", EXPR(sort->a_at), chunk_at(e, sort, part),
                   sort->chunk);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  put_parts(e, sort, sort->a_at, EXPR(0));
  put_stores(e, sort, row, EXPR(1), first, x_min(sort->chunk, x_sub(sort->keep, first)));
  emit_set(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  emit_end(e);
}

/* What all rows share: the places in a chunk; elements of proposals that nobody writes. */
static void put_start(struct emit *e, const struct sort *sort) {
  const struct vtable numbers = vtable_series(sort->b_at, 1);
  emit_comment(e, "Where elements of a chunk are.");
  vtables_fill(e, &numbers, 1, sort->chunk);
  emit_barrier(e, PIPE_V);
  put_numbers(e, sort, sort->numbers_at, sort->b_at);
  vmask_count(e, sort->chunk * sort->entry / FLOAT_BYTES);
  vfill(e, sort->a_at, 0, "int32");
  emit_barrier(e, PIPE_V);
}

void sort_proposals_emit(struct emit *e, const struct sort *sort) {
  uint64_t per_block = rows_per_block(sort), step = sort->kept_rows;
  put_start(e, sort);
  emit_set(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  struct expr begin = x_mul(x_name(e, "blk"), per_block);
  struct expr all = emit_named(e, "all", x_max(0, x_min(per_block, x_sub(sort->rows, begin))));
  struct expr group = emit_for(e, "group", step > 1 ? x_ceil_div(all, step) : all);
  struct expr first = emit_named(e, "first_row", x_add(begin, x_mul(group, step)));
  if (sort->form == SORT_NETWORK) {
    put_long_row(e, sort, first);
  } else {
    struct expr units = emit_named(e, "units", x_min(step, x_sub(all, x_mul(group, step))));
    struct expr slot = step > 1 ? emit_for(e, "slot", units) : EXPR(0);
    put_parts(e, sort, put_row(e, sort, x_add(first, slot)), slot);
    if (step > 1)
      emit_end(e);
    put_stores(e, sort, first, units, EXPR(0), EXPR(sort->keep));
  }
  emit_end(e);
  emit_wait(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
}
