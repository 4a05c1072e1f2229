/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in place of instructions that a chip lacks: copies of whole blocks; two sources. */
#include "lower/select/select.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/select/runs.h"

enum {
  SEAM_ROWS = 64, /* ends of rows that go round together */
  SEAM_BLOCKS = 2,
  SEAM_BYTES = SEAM_ROWS * SEAM_BLOCKS * BLOCK_BYTES, /* of the workspace, for each core */
  LANES_BYTES = 256,                                  /* of a repeat, for a scalar in all lanes */
  DENSE_ROWS = 32,                                    /* short rows that are put together */
  TAIL_BYTES = 32,                                    /* less than a block is read or written */
  LANES_AT = SEAM_ROWS * BLOCK_BYTES,
  SPREAD_AT = LANES_AT + LANES_BYTES,
  SQUARE_BYTES = 16 * BLOCK_BYTES, /* of a transposition */
  SPREAD_BYTES = SELECT_SQUARES_BYTES,
  ROW_BYTES = 256,
  NAME_BYTES = 16
};

bool select_has(const struct vinci_soc *soc, enum isa_op op) {
  return isa_row(op)->archs & 1u << soc->arch;
}

static bool is_needed(const struct vinci_soc *soc) {
  return !select_has(soc, OP_COPY_GM_TO_UBUF_ALIGN_B8) || !select_has(soc, OP_VCOPY) ||
         !select_has(soc, OP_VMAXS);
}

uint64_t select_ub_bytes(const struct vinci_soc *soc) {
  if (!is_needed(soc))
    return 0;
  return SPREAD_AT + SPREAD_BYTES;
}

uint64_t select_squares(const struct vinci_soc *soc) {
  return (uint64_t)(soc->ub_bytes - soc->ub_reserved_bytes) - SPREAD_BYTES;
}

/* Where those bytes begin. */
static uint64_t scratch(const struct emit *e) {
  return (uint64_t)(e->soc->ub_bytes - e->soc->ub_reserved_bytes) - select_ub_bytes(e->soc);
}

/* ---- fields of the row ----------------------------------------------------------------------- */

struct row {
  struct emit *e;
  enum isa_op op;
  const struct field *fields;
  size_t count;
};

static const struct field *field_of(const struct row *row, const char *name) {
  for (size_t i = 0; i < row->count; i++)
    if (row->fields[i].name && strcmp(row->fields[i].name, name) == 0)
      return &row->fields[i];
  return NULL;
}

static struct expr value_of(const struct row *row, const char *name, struct expr fallback) {
  const struct field *field = field_of(row, name);
  if (field && field->word)
    return x_name(row->e, field->word);
  return field ? field->value : fallback;
}

/* ---- copies of whole blocks ------------------------------------------------------------------ */

static struct select_runs runs_of(const struct row *row, bool to_gm) {
  struct expr zero = EXPR(0), bytes = value_of(row, "len_burst", zero);
  struct expr gm_gap = value_of(row, to_gm ? "dst_gap" : "src_gap", zero);
  struct expr ub_gap = value_of(row, to_gm ? "src_gap" : "dst_gap", zero);
  struct expr blocks = x_ceil_div(bytes, BLOCK_BYTES);
  return (struct select_runs){.gm = value_of(row, to_gm ? "dst" : "src", zero),
                              .ub = value_of(row, to_gm ? "src" : "dst", zero),
                              .count = value_of(row, "n_burst", EXPR(1)),
                              .bytes = bytes,
                              .stride = x_add_back(bytes, gm_gap),
                              .pitch = x_mul(x_add_back(blocks, ub_gap), BLOCK_BYTES)};
}

/* The workspace of this kernel. */
static const char *seam_name(const struct emit *e, char text[NAME_BYTES]) {
  snprintf(text, NAME_BYTES, "seam%u", (unsigned)e->kernels);
  return text;
}

/* Rows of a few bytes that follow each other in device memory: how many the vector unit puts
 * together at once; 0: it cannot, or they are no such rows. */
static uint64_t packed_rows(const struct emit *e, const struct select_runs *runs) {
  enum { FEW = 4 };
  bool many = !x_is_number(runs->count) || runs->count.number > FEW;
  bool known = x_is_number(runs->bytes) && x_is_number(runs->pitch);
  return many && known && runs->bytes.number % BLOCK_BYTES && x_same(runs->bytes, runs->stride)
             ? select_packed_rows(e->soc, (uint64_t)runs->bytes.number)
             : 0;
}

/* A group of rows, which may overlap with the one before so that none but the first is short. The
 * caller ends the loop. */
static struct select_rows open_rows(struct emit *e, const struct select_runs *runs, uint64_t rows,
                                    struct expr *gm) {
  struct expr group = emit_for(e, "rows_of", x_ceil_div(runs->count, rows));
  struct expr last = x_max(0, x_sub(runs->count, rows));
  struct expr first = emit_assigned(e, "packed_from", x_min(x_mul(group, rows), last));
  *gm = x_add(runs->gm, x_mul(first, runs->bytes));
  e->packs = true;
  emit_barrier(e, PIPE_ALL);
  return (struct select_rows){.ub = x_add(runs->ub, x_mul(first, runs->pitch)),
                              .count = x_min(rows, runs->count),
                              .bytes = (uint64_t)runs->bytes.number,
                              .pitch = (uint64_t)runs->pitch.number};
}

/* As one run, which the vector unit takes apart. */
static void load_packed(struct emit *e, const struct select_runs *runs, uint64_t rows) {
  struct expr gm;
  struct select_rows group = open_rows(e, runs, rows, &gm);
  select_put_blocks(e, false, gm, EXPR(select_run(e->soc, group.bytes)),
                    x_ceil_div(x_mul(group.count, group.bytes), BLOCK_BYTES));
  emit_barrier(e, PIPE_ALL);
  select_unpack(e, &group);
  emit_end(e);
  emit_barrier(e, PIPE_ALL); /* who waits for the load waits for MTE2 alone */
}

static void load(const struct row *row) {
  struct select_runs runs = runs_of(row, false);
  uint64_t packed = packed_rows(row->e, &runs);
  if (packed) {
    load_packed(row->e, &runs, packed);
    row->e->tails = true;
    return;
  }
  select_put_runs(row->e, false, &runs, x_ceil_div(runs.bytes, BLOCK_BYTES));
  row->e->tails |= !x_divided_by(runs.bytes, BLOCK_BYTES);
}

/* The last 32 bytes of each run, of which the block they begin in is in UB whole. */
static void put_ends(struct emit *e, const struct select_runs *runs) {
  bool few = x_is_number(runs->count) && runs->count.number <= SEAM_ROWS;
  uint64_t id = (uint64_t)e->soc->flag_ids - 1, ends = scratch(e);
  struct expr first = EXPR(0), count = runs->count;
  if (!few) {
    first = x_mul(emit_for(e, "ends", x_ceil_div(runs->count, SEAM_ROWS)), SEAM_ROWS);
    count = x_min(SEAM_ROWS, x_sub(runs->count, first));
  }
  char name[NAME_BYTES];
  struct expr place = x_at(x_name(e, seam_name(e, name)), x_name(e, "blk"), SEAM_BYTES);
  struct expr last = x_mul(x_sub(x_div(runs->bytes, BLOCK_BYTES), 1), BLOCK_BYTES);
  struct select_runs out = {.gm = place,
                            .ub = x_add(x_add(runs->ub, x_mul(first, runs->pitch)), last),
                            .count = count,
                            .stride = EXPR(SEAM_BLOCKS * BLOCK_BYTES),
                            .pitch = runs->pitch};
  struct select_runs back = {.gm = x_add(place, x_mod(runs->bytes, BLOCK_BYTES)),
                             .ub = EXPR(ends),
                             .count = count,
                             .stride = out.stride,
                             .pitch = EXPR(BLOCK_BYTES)};
  struct select_runs end = {
      .gm = x_sub(x_add(x_add(runs->gm, x_mul(first, runs->stride)), runs->bytes), BLOCK_BYTES),
      .ub = EXPR(ends),
      .count = count,
      .stride = runs->stride,
      .pitch = EXPR(BLOCK_BYTES)};
  select_put_runs(e, true, &out, EXPR(SEAM_BLOCKS));
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, id);
  select_put_runs(e, false, &back, EXPR(1));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, id);
  select_put_runs(e, true, &end, EXPR(1));
  if (!few)
    emit_end(e);
  e->seam = true;
}

/* Runs that begin and end where blocks do not. */
static void put_cut(struct emit *e, const struct select_runs *runs) {
  select_put_runs(e, true, runs, x_div(runs->bytes, BLOCK_BYTES));
  bool known = x_is_number(runs->bytes);
  if (!known)
    emit_if(e, "cut", x_gt(x_mod(runs->bytes, BLOCK_BYTES), 0));
  put_ends(e, runs);
  if (!known)
    emit_end(e);
}

/* Rows of less than a block that follow each other in device memory. */
static bool is_dense(const struct select_runs *runs) {
  return x_is_number(runs->bytes) && runs->bytes.number < BLOCK_BYTES &&
         x_same(runs->bytes, runs->stride);
}

/* Less than a block: the end of a tensor, or a part whose next one writes over what is too much. */
static void put_short(struct emit *e, const struct select_runs *run) {
  emit_barrier(e, PIPE_MTE3);
  select_put_runs(e, true, run, EXPR(1));
}

/* A run; one of less than a block is put as such. */
static void put_run(struct emit *e, const struct select_runs *run) {
  struct expr is_short = x_lt(run->bytes, BLOCK_BYTES);
  emit_if(e, "long", x_sub(1, is_short));
  put_cut(e, run);
  emit_end(e);
  emit_if(e, "short", is_short);
  put_short(e, run);
  emit_end(e);
}

/*
 * Rows of less than a block that follow each other go to the workspace one after the other, each
 * over what the one before has written too much, come back side by side, and leave as a run.
 */
static void put_dense(struct emit *e, const struct select_runs *runs) {
  char name[NAME_BYTES];
  uint64_t id = (uint64_t)e->soc->flag_ids - 1, bytes = (uint64_t)runs->bytes.number;
  struct expr place = x_at(x_name(e, seam_name(e, name)), x_name(e, "blk"), SEAM_BYTES);
  /* Groups are whole blocks; the last one takes what is left too, so that a block comes together.
   */
  struct expr groups = x_max(1, x_div(runs->count, DENSE_ROWS));
  struct expr group = emit_for(e, "dense", groups), first = x_mul(group, DENSE_ROWS);
  struct expr more = x_sub(x_sub(runs->count, first), DENSE_ROWS);
  struct expr count = x_add(DENSE_ROWS, x_mul(x_eq(group, x_sub(groups, 1)), more));
  /* The last block comes back whole. */
  select_put_blocks(e, true, x_add(place, x_mul(count, bytes)), runs->ub, EXPR(1));
  emit_barrier(e, PIPE_MTE3);
  struct expr row = emit_for(e, "row_of", count);
  select_put_blocks(e, true, x_add(place, x_mul(row, bytes)),
                    x_add(runs->ub, x_mul(x_add(first, row), runs->pitch)), EXPR(1));
  emit_barrier(e, PIPE_MTE3);
  emit_end(e);
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, id);
  struct select_runs run = {.gm = x_add(runs->gm, x_mul(first, bytes)),
                            .ub = EXPR(scratch(e)),
                            .count = EXPR(1),
                            .bytes = x_mul(count, bytes)};
  select_put_blocks(e, false, place, run.ub, x_ceil_div(run.bytes, BLOCK_BYTES));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, id);
  put_run(e, &run);
  emit_end(e);
  e->seam = true;
}

/* Put together by the vector unit, as one run. */
static void store_packed(struct emit *e, const struct select_runs *runs, uint64_t rows) {
  struct expr gm;
  struct select_rows group = open_rows(e, runs, rows, &gm);
  struct select_runs run = {.gm = gm, .ub = EXPR(select_pack(e, &group)), .count = EXPR(1)};
  run.bytes = x_mul(group.count, group.bytes);
  emit_barrier(e, PIPE_ALL);
  put_run(e, &run);
  emit_end(e);
  emit_barrier(e, PIPE_ALL); /* others use the place of the run */
}

static void store(const struct row *row) {
  struct emit *e = row->e;
  struct select_runs runs = runs_of(row, true);
  bool known = x_is_number(runs.bytes), one = x_is(runs.count, 1);
  if (x_divided_by(runs.bytes, BLOCK_BYTES)) {
    select_put_runs(e, true, &runs, x_div(runs.bytes, BLOCK_BYTES));
    return;
  }
  e->tails = e->cuts = true;
  uint64_t packed = packed_rows(e, &runs);
  if (packed)
    store_packed(e, &runs, packed);
  else if (!known)
    put_run(e, &runs);
  else if (runs.bytes.number >= BLOCK_BYTES)
    put_cut(e, &runs);
  else if (one)
    put_short(e, &runs);
  else if (is_dense(&runs))
    put_dense(e, &runs);
  else if (e->status == VINCI_OK)
    e->status = diag_error(e->diag, VINCI_E_USAGE,
                           "%s copies whole blocks of %d bytes alone: rows of %d bytes cannot be "
                           "stored apart from each other",
                           e->soc->name, BLOCK_BYTES, (int)runs.bytes.number);
}

/* ---- vector instructions --------------------------------------------------------------------- */

/* dst = src, bit for bit: the larger of twice the same. */
static void put_copy(const struct row *row) {
  const struct field *type = field_of(row, "type");
  bool words = type && strstr(type->word, "32");
  struct expr block = value_of(row, "src_block", EXPR(1));
  struct expr repeat = value_of(row, "src_repeat", EXPR(8)), src = value_of(row, "src", EXPR(0));
  EMIT(row->e, words ? "vmax" : "vor", F("dst", value_of(row, "dst", EXPR(0))), F("src0", src),
       F("src1", src), F("repeat", value_of(row, "repeat", EXPR(1))),
       F_IF(field_of(row, "dst_repeat"), "dst_repeat", value_of(row, "dst_repeat", EXPR(8))),
       F_IF(!x_is(block, 1), "src0_block", block), F_IF(!x_is(block, 1), "src1_block", block),
       F_IF(!x_is(repeat, 8), "src0_repeat", repeat), F_IF(!x_is(repeat, 8), "src1_repeat", repeat),
       W("type", words ? "int32" : "uint16"));
}

/* dst = src op scalar, the scalar being in all lanes of a repeat. */
static void put_scalar(const struct row *row, const char *inst) {
  struct emit *e = row->e;
  const char *type = field_of(row, "type")->word;
  struct expr block = value_of(row, "src_block", EXPR(1));
  struct expr repeat = value_of(row, "src_repeat", EXPR(8));
  uint64_t lanes = scratch(e) + LANES_AT;
  emit_barrier(e, PIPE_V);
  EMIT(e, "vector_dup", F("dst", lanes), F("scalar", value_of(row, "scalar", EXPR(0))),
       F("repeat", value_of(row, "repeat", EXPR(1))), F("dst_repeat", 0), W("type", type));
  emit_barrier(e, PIPE_V);
  EMIT(e, inst, F("dst", value_of(row, "dst", EXPR(0))), F("src0", value_of(row, "src", EXPR(0))),
       F("src1", lanes), F("repeat", value_of(row, "repeat", EXPR(1))),
       F_IF(field_of(row, "dst_repeat"), "dst_repeat", value_of(row, "dst_repeat", EXPR(8))),
       F_IF(!x_is(block, 1), "src0_block", block), F_IF(!x_is(repeat, 8), "src0_repeat", repeat),
       F("src1_repeat", 0), W("type", type));
}

/* dst = src or src * scalar: the larger, or with a scalar above 1 the smaller of both. dst is not
 * src. */
static void put_leaky(const struct row *row) {
  struct emit *e = row->e;
  const char *type = field_of(row, "type")->word;
  struct expr dst = value_of(row, "dst", EXPR(0)), src = value_of(row, "src", EXPR(0));
  struct expr scalar = value_of(row, "scalar", EXPR(0));
  struct expr repeat = value_of(row, "repeat", EXPR(1));
  bool wide = strcmp(type, "fp32") == 0;
  float factor =
      wide ? fp32_from_bits((uint32_t)scalar.number) : fp16_to_fp32((uint16_t)scalar.number);
  if (x_same(dst, src))
    vinci_bug("vlrelu in place");
  EMIT(e, "vmuls", F("dst", dst), F("src", src), F("scalar", scalar), F("repeat", repeat),
       W("type", type));
  emit_barrier(e, PIPE_V);
  EMIT(e, factor > 1 ? "vmin" : "vmax", F("dst", dst), F("src0", src), F("src1", dst),
       F("repeat", repeat), W("type", type));
}

static void put_move(struct emit *e, struct expr dst, struct expr src, struct expr blocks) {
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", dst), F("src", src), F("len_burst", blocks));
}

/* Of spreading words, 16 blocks of them at a time. */
enum { SPREAD_BLOCKS = 16, WORDS = 8, HALVES = 2, SIDE = 16, PAIRS = WORDS * SIDE };

/*
 * A block for each word of 16 blocks. Transposed, the words that have the same place in their
 * blocks are a block of lower and one of upper halves. Eight times both, transposed, are a block of
 * each of these words, 8 words apart.
 */
static void spread_words(struct emit *e, struct expr dst, struct expr src) {
  uint64_t halves = scratch(e) + SPREAD_AT, pairs = halves + SQUARE_BYTES;
  EMIT(e, "scatter_vnchwconv_b16", F("dst", halves), F("src", src));
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < SIDE / HALVES; i++)
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", pairs + i * HALVES * BLOCK_BYTES), F("src", halves),
         F("n_burst", WORDS), F("len_burst", HALVES), F("dst_gap", SIDE - HALVES));
  emit_barrier(e, PIPE_V);
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst), F("src", pairs), F("repeat", WORDS),
       F("dst_step", WORDS), F("dst_repeat", 1), F("src_repeat", SIDE));
  emit_barrier(e, PIPE_V);
}

/* 16 blocks of words at a time, the last ones by way of a place for 16. */
static void put_words(const struct row *row, struct expr repeats) {
  struct emit *e = row->e;
  const struct expr zero = EXPR(0);
  uint64_t pairs = scratch(e) + SPREAD_AT + SQUARE_BYTES, result = pairs + PAIRS * BLOCK_BYTES;
  struct expr dst = value_of(row, "dst", zero), src = value_of(row, "src", zero);
  struct expr whole = x_div(repeats, SPREAD_BLOCKS), rest = x_mod(repeats, SPREAD_BLOCKS);
  emit_barrier(e, PIPE_V);
  if (!x_is(whole, 0)) {
    struct expr group = emit_for(e, "spread", whole);
    spread_words(e, x_at(dst, group, PAIRS * BLOCK_BYTES),
                 x_at(src, group, SPREAD_BLOCKS * BLOCK_BYTES));
    emit_end(e);
  }
  if (x_is(rest, 0))
    return;
  e->packs = true;
  emit_if(e, "spread_rest", x_gt(rest, 0));
  put_move(e, EXPR(pairs), x_at(src, whole, SPREAD_BLOCKS * BLOCK_BYTES), rest);
  emit_barrier(e, PIPE_V);
  spread_words(e, EXPR(result), EXPR(pairs));
  put_move(e, x_at(dst, whole, PAIRS * BLOCK_BYTES), EXPR(result), x_mul(rest, WORDS));
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/* A block for each of 16 halves, of which the last repeat may want 8 alone. */
static void put_halves(const struct row *row, struct expr step, struct expr repeats) {
  struct emit *e = row->e;
  enum { STEP = 8 };
  uint64_t blocks = scratch(e) + SPREAD_AT;
  EMIT(e, "scatter_vnchwconv_b16", F("dst", blocks),
       F("src", x_at(value_of(row, "src", EXPR(0)), step, BLOCK_BYTES)), F("src_step", 0));
  emit_barrier(e, PIPE_V);
  struct expr left = x_mul(x_sub(repeats, x_mul(step, 2)), STEP);
  put_move(e, x_at(value_of(row, "dst", EXPR(0)), step, SIDE * BLOCK_BYTES), EXPR(blocks),
           x_min(SIDE, left));
}

static void put_blocks_of(const struct row *row) {
  struct emit *e = row->e;
  struct expr repeats = value_of(row, "repeat", EXPR(1));
  if (strstr(field_of(row, "type")->word, "32")) {
    put_words(row, repeats);
    return;
  }
  struct expr step = emit_for(e, "spread", x_ceil_div(repeats, 2));
  emit_barrier(e, PIPE_V);
  put_halves(row, step, repeats);
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/* An integral number by way of int32, whose largest and smallest stand for what is beyond. */
static void put_round(const struct row *row) {
  struct emit *e = row->e;
  struct expr dst = value_of(row, "dst", EXPR(0)), repeat = value_of(row, "repeat", EXPR(1));
  const struct field *round = field_of(row, "round");
  EMIT(e, "vconv_f322s32", F("dst", dst), F("src", value_of(row, "src", EXPR(0))),
       F("repeat", repeat), W_IF(round, "round", round->word));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vconv_s322f32", F("dst", dst), F("src", dst), F("repeat", repeat));
}

/* Of pairs of words the first or the second of each. */
static void put_take(const struct row *row) {
  struct field fields[16];
  if (row->count > sizeof fields / sizeof *fields)
    vinci_bug("vreducev2 of %zu fields", row->count);
  memcpy(fields, row->fields, row->count * sizeof *fields);
  emit_fields(row->e, "vreduce", fields, row->count);
}

static void put_squares(const struct row *row) {
  const struct expr zero = EXPR(0), one = EXPR(1);
  const struct select_squares squares = {.dst = value_of(row, "dst", zero),
                                         .src = value_of(row, "src", zero),
                                         .repeat = value_of(row, "repeat", one),
                                         .dst_step = value_of(row, "dst_step", one),
                                         .src_step = value_of(row, "src_step", one),
                                         .dst_repeat = value_of(row, "dst_repeat", zero),
                                         .src_repeat = value_of(row, "src_repeat", zero)};
  select_put_squares(row->e, &squares);
}

struct replacement {
  enum isa_op op;
  const char *with;
};
static const struct replacement scalars[] = {
    {OP_VRELU, "vmax"},         {OP_VADDS, "vadd"},         {OP_VMULS, "vmul"},
    {OP_VMAXS, "vmax"},         {OP_VMINS, "vmin"},         {OP_VCMPVS_EQ, "vcmpv_eq"},
    {OP_VCMPVS_NE, "vcmpv_ne"}, {OP_VCMPVS_LT, "vcmpv_lt"}, {OP_VCMPVS_LE, "vcmpv_le"},
    {OP_VCMPVS_GT, "vcmpv_gt"}, {OP_VCMPVS_GE, "vcmpv_ge"}};

static const char *with_two_sources(enum isa_op op) {
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    if (scalars[i].op == op)
      return scalars[i].with;
  return NULL;
}

bool select_takes(const struct vinci_soc *soc, enum isa_op op, enum dtype type) {
  const char *with = with_two_sources(op);
  if (select_has(soc, op) && isa_dtypes(op, soc->arch) >> type & 1)
    return true;
  return with && isa_dtypes(isa_find(with, strlen(with)), soc->arch) >> type & 1;
}

/* Whether the chip has the instruction, for the type that the row names. */
static bool has_row(const struct row *row) {
  const struct field *type = field_of(row, "type");
  if (!select_has(row->e->soc, row->op))
    return false;
  uint32_t types = isa_dtypes(row->op, row->e->soc->arch);
  for (unsigned i = 0; type && type->word && types && i < DTYPE_COUNT; i++)
    if (strcmp(type->word, dtype_name((enum dtype)i)) == 0)
      return types >> i & 1;
  return true;
}

static bool select_rows(struct emit *e, const char *inst, const struct field *fields,
                        size_t count) {
  struct row row = {e, isa_find(inst, strlen(inst)), fields, count};
  if (row.op == OP_COUNT || has_row(&row))
    return false;
  switch (row.op) {
  case OP_COPY_GM_TO_UBUF_ALIGN_B8:
  case OP_COPY_GM_TO_UBUF_ALIGN_B16:
  case OP_COPY_GM_TO_UBUF_ALIGN_B32:
    load(&row);
    return true;
  case OP_COPY_UBUF_TO_GM_ALIGN_B8:
  case OP_COPY_UBUF_TO_GM_ALIGN_B16:
  case OP_COPY_UBUF_TO_GM_ALIGN_B32:
    store(&row);
    return true;
  case OP_VCOPY:
    put_copy(&row);
    return true;
  case OP_VCONV_F322F32:
    put_round(&row);
    return true;
  case OP_VLRELU:
    put_leaky(&row);
    return true;
  case OP_VBRCB:
    put_blocks_of(&row);
    return true;
  case OP_SCATTER_VNCHWCONV_B32:
    put_squares(&row);
    return true;
  case OP_VREDUCEV2:
    if (!select_has(e->soc, OP_VREDUCE))
      return false;
    put_take(&row);
    return true;
  default:
    if (!with_two_sources(row.op))
      return false;
    put_scalar(&row, with_two_sources(row.op));
    return true;
  }
}

/* ---- the head of the kernel ------------------------------------------------------------------ */

/*
 * Blocks of which only a part is computed go out whole: what else is in them is zero from the
 * start, and not what the buffer has held before.
 */
static void clear(struct emit *e) {
  char text[ROW_BYTES];
  snprintf(text, sizeof text,
           "# Blocks go out whole.\nset_mask_count\nset_vector_mask,high=0,low=%llu\n"
           "vector_dup,dst=0,scalar=0,repeat=1,type=fp32\nset_mask_norm\n"
           "set_vector_mask,high=-1,low=-1\npipe_barrier,pipe=ALL\n",
           (unsigned long long)e->used[SPACE_UB] / sizeof(uint32_t));
  emit_insert(e, e->body_at, text);
}

/* The place where rows are put together, behind which the mask is one that both modes take. */
static void clear_packed(struct emit *e) {
  char text[ROW_BYTES];
  snprintf(text, sizeof text,
           "# Rows are put together.\nset_mask_count\nset_vector_mask,high=0,low=%d\n"
           "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32\nset_mask_norm\n"
           "pipe_barrier,pipe=ALL\n",
           SPREAD_BYTES / (int)sizeof(uint32_t), (unsigned long long)select_squares(e->soc));
  emit_insert(e, e->body_at, text);
}

static void finish(struct emit *e) {
  char text[ROW_BYTES], name[NAME_BYTES];
  if (e->packs)
    clear_packed(e);
  if (e->cuts && e->used[SPACE_UB] > 0)
    clear(e);
  if (e->seam) {
    snprintf(text, sizeof text, "tensor,name=%s,dtype=uint8,shape=%llu,io=workspace\n",
             seam_name(e, name), (unsigned long long)e->blocks * SEAM_BYTES);
    emit_insert(e, e->stream_at, text);
  }
  snprintf(text, sizeof text, ",tail=%d", TAIL_BYTES);
  for (unsigned i = e->tails || e->shared ? e->tensor_count : 0; i-- > 0;)
    emit_insert(e, e->tensor_ends[i], text);
}

const struct emit_selection *select_for(const struct vinci_soc *soc) {
  static const struct emit_selection selection = {select_rows, finish};
  return is_needed(soc) ? &selection : NULL;
}
