/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_quant_matmul: C[m,n] = A[m,k] ((W[k,n] + offset) * scale), W in 8 or 4 bits, a scale (and
 * an offset) for each column, or for each column of each group of k.
 *
 * One kernel, as WeightQuantBatchMatmulV2 of the vendor's library is: the two vector cores of a
 * block convert the panels of B that its cube core is going to load, a few panels ahead, into
 * places of a workspace that L2 holds. The arithmetic is in fp16 where A is, else in fp32.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "lower/cube/matmul_cost.h"
#include "lower/cube/matmul_writer.h"
#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

/* Rows and columns of a tile in UB. */
enum { TILE_ROWS = 32, TILE_COLUMNS = 256, PAIR = 2, GROUP_UNIT = 64 };

enum {
  WEIGHT_M,
  WEIGHT_K,
  WEIGHT_N,
  WEIGHT_DTYPE,
  WEIGHT_BITS,
  WEIGHT_GROUP,
  WEIGHT_OFFSETS,
  WEIGHT_TRANSPOSE_B,
  WEIGHT_BIAS,
  WEIGHT_TILING,
  WEIGHT_KEY_COUNT = WEIGHT_TILING + MATMUL_TILING_KEYS
};

static const struct lower_key keys[WEIGHT_KEY_COUNT] = {
    [WEIGHT_M] = {"m", LOWER_SIZE, NULL, NULL, "rows of A and of the result"},
    [WEIGHT_K] = {"k", LOWER_SIZE, NULL, NULL, "columns of A, rows of W"},
    [WEIGHT_N] = {"n", LOWER_SIZE, NULL, NULL, "columns of W and of the result"},
    [WEIGHT_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16", "type of all but W"},
    [WEIGHT_BITS] = {"bits", LOWER_WORD, "8", "8|4",
                     "of an element of W; two of 4 bits are a byte, the first in its lower half"},
    [WEIGHT_GROUP] = {"group", LOWER_SIZE, "0", "0",
                      "k that have a scale for each column in common; 0: all"},
    [WEIGHT_OFFSETS] = {"offsets", LOWER_WORD, "0", "0|1", "added to W; as many as scales"},
    [WEIGHT_TRANSPOSE_B] = {"transpose_b", LOWER_WORD, "0", "0|1",
                            "W is given as [n,k]; scales stay [groups,n]"},
    [WEIGHT_BIAS] = {"bias", LOWER_WORD, "0", "0|1", "adds a row of n fp32 values"},
    MATMUL_TILING_ROWS(WEIGHT_TILING, "m x k x n of a block in L0",
                       "k of A's and of B's panels in L1; one is a multiple of the other",
                       "operand that stays in L1 from block to block"),
};

struct weights {
  uint64_t rows, cols;      /* of W as it lies */
  uint64_t group;           /* k with a scale in common */
  bool four, offsets, by_k; /* by_k: rows of W are k */
};

/* ---- tiles ---- */

/* Columns of a tile; where those are k, tiles end with panels and groups. */
static uint64_t tile_columns(const struct weights *weights, const struct matmul_tiling *t) {
  uint64_t cols = TILE_COLUMNS;
  bool grouped = weights->group < (weights->by_k ? weights->rows : weights->cols);
  while (!weights->by_k && grouped && cols > GROUP_UNIT && (weights->group % cols || t->kb % cols))
    cols /= 2;
  return cols;
}

struct layout {
  uint64_t cols;                          /* of a tile */
  unsigned bytes;                         /* of what is computed in */
  uint64_t raw_pitch;                     /* bytes from row to row of W */
  uint64_t raw, scale, offset, out, slot; /* in a buffer, from buffer to buffer */
  uint64_t half, wide, scale_wide, offset_wide, blocks, end;
};

static struct layout lay_out(const struct matmul *mm, const struct matmul_tiling *t) {
  const struct weights *weights = mm->own;
  struct layout x = {.cols = tile_columns(weights, t), .bytes = mm->type == DTYPE_BF16 ? 4 : 2};
  uint64_t elements = TILE_ROWS * x.cols, used = 0;
  uint64_t numbers = weights->by_k ? x.cols : TILE_ROWS;
  x.raw_pitch = weights->four ? x.cols / 2 : x.cols;
  x.raw = vtile_reserve(&used, TILE_ROWS * x.raw_pitch);
  x.scale = vtile_reserve(&used, numbers * sizeof(float));
  x.offset = vtile_reserve(&used, numbers * sizeof(float));
  x.out = vtile_reserve(&used, elements * mm->element_bytes);
  x.slot = used;
  used *= PAIR;
  x.half = vtile_reserve(&used, elements * sizeof(uint16_t));
  x.wide = x.bytes > 2 ? vtile_reserve(&used, elements * x.bytes) : x.half;
  x.scale_wide = vtile_reserve(&used, numbers * x.bytes);
  x.offset_wide = vtile_reserve(&used, numbers * x.bytes);
  x.blocks = vtile_reserve(&used, TILE_ROWS * BLOCK_BYTES);
  x.end = used;
  return x;
}

/* A panel: its rows and columns in W; tiles, and how many are beside each other. */
struct panel {
  struct expr row, rows, col, cols, across, tiles;
};

/* A tile of a panel: its rows and columns in W, and those in the panel. */
struct tile {
  struct expr row, rows, col, cols, panel_row, panel_col, slot, pair;
};

/* ---- copies ---- */

static void load_weights(const struct writer *w, const struct layout *x, const struct tile *tile) {
  const struct weights *weights = w->mm->own;
  uint64_t per = weights->four ? 2 : 1;
  struct expr bytes = x_ceil_div(tile->cols, per);
  struct expr at = x_add(x_mul(tile->row, weights->cols / per), x_div(tile->col, per));
  EMIT(w->e, "copy_gm_to_ubuf_align_b8", F("dst", x_add(tile->slot, x->raw)),
       F("src", x_slot(w->e, "w", at, 1)), F("n_burst", tile->rows), F("len_burst", bytes),
       F("src_gap", x_sub(weights->cols / per, bytes)),
       F("dst_gap", x_sub(x->raw_pitch / BLOCK_BYTES, x_ceil_div(bytes, BLOCK_BYTES))));
}

/* Of a group of k: a number for each column of W, which are columns or rows of the tile. */
static void load_numbers(const struct writer *w, const struct tile *tile, const char *name,
                         uint64_t address) {
  const struct weights *weights = w->mm->own;
  struct expr group = x_div(weights->by_k ? tile->row : tile->col, weights->group);
  struct expr first = weights->by_k ? tile->col : tile->row;
  struct expr at = x_add(x_mul(group, w->mm->n), first);
  vtile_load_run(w->e, w->mm->type, x_add(tile->slot, address),
                 x_slot(w->e, name, at, w->mm->element_bytes),
                 weights->by_k ? tile->cols : tile->rows);
}

/* Into the place of the panel. */
static void store(const struct writer *w, const struct layout *x, const struct tile *tile,
                  struct expr place) {
  const struct weights *weights = w->mm->own;
  uint64_t es = w->mm->element_bytes, pitch = weights->by_k ? w->t.bn : w->t.kb;
  struct expr at = x_mul(x_add(x_mul(tile->panel_row, pitch), tile->panel_col), es);
  struct expr bytes = x_mul(tile->cols, es);
  EMIT(w->e, "copy_ubuf_to_gm_align_b16",
       F("dst", x_add(x_add(x_name(w->e, w->mm->b.name), place), at)),
       F("src", x_add(tile->slot, x->out)), F("n_burst", tile->rows), F("len_burst", bytes),
       F("src_gap", x_sub(x->cols * es / BLOCK_BYTES, x_ceil_div(bytes, BLOCK_BYTES))),
       F("dst_gap", x_sub(pitch * es, bytes)));
}

/* ---- arithmetic ---- */

enum {
  R_RAW = X0,
  R_SCALE = X1,
  R_OFFSET = X2,
  R_BLOCKS = X3,
  R_HALF = T0,
  R_WIDE = T1,
  R_OUT = Y0
};

/* dst = src op the number of each column, or of each row as a block. */
static void with_numbers(struct vunit *unit, const struct layout *x, const struct writer *w,
                         const struct tile *tile, const char *inst, unsigned dst, unsigned src,
                         unsigned number) {
  const struct weights *weights = w->mm->own;
  uint64_t lanes = min_u64(REPEAT_BYTES / x->bytes, x->cols), row = x->cols * x->bytes;
  bool by_k = weights->by_k;
  if (!by_k) {
    vunit_order(unit, V(number), V(R_BLOCKS));
    vunit_count(unit, TILE_ROWS);
    EMIT(w->e, "vbrcb", F("dst", unit->reg[R_BLOCKS]), F("src", unit->reg[number]),
         F("repeat", TILE_ROWS / (BLOCK_BYTES / (int)sizeof(float))),
         W("type", x->bytes == 4 ? "uint32" : "uint16"));
    number = R_BLOCKS;
  }
  vunit_lanes(unit, (unsigned)lanes);
  vunit_order(unit, V(src) | V(number), V(dst));
  for (uint64_t at = 0; at < row; at += lanes * x->bytes)
    EMIT(w->e, inst, F("dst", x_add(unit->reg[dst], at)), F("src0", x_add(unit->reg[src], at)),
         F("src1", by_k ? x_add(unit->reg[number], at) : unit->reg[number]),
         F("repeat", tile->rows), F("dst_repeat", row / BLOCK_BYTES),
         F("src0_repeat", row / BLOCK_BYTES), F_IF(!by_k, "src1_block", 0), F("src1_repeat", !by_k),
         W("type", dtype_name(unit->type)));
}

/* A row of numbers in the type that is computed in. */
static void widen(struct vunit *unit, const struct layout *x, const struct writer *w, unsigned reg,
                  uint64_t address) {
  const struct weights *weights = w->mm->own;
  if (x->bytes == 2)
    return;
  vunit_count(unit, weights->by_k ? x->cols : TILE_ROWS);
  vunit_convert(unit, 0, V(reg), w->mm->type, DTYPE_FP32, EXPR(address), unit->reg[reg]);
  unit->reg[reg] = EXPR(address);
}

static void compute(const struct writer *w, const struct layout *x, const struct tile *tile) {
  const struct weights *weights = w->mm->own;
  bool converts = x->bytes > 2;
  struct vunit unit = {.emit = w->e,
                       .type = converts ? DTYPE_FP32 : DTYPE_FP16,
                       .written = V_ALL,
                       .reg = {[R_SCALE] = x_add(tile->slot, x->scale),
                               [R_OFFSET] = x_add(tile->slot, x->offset),
                               [R_BLOCKS] = EXPR(x->blocks),
                               [R_HALF] = EXPR(x->half),
                               [R_WIDE] = EXPR(x->wide),
                               [R_OUT] = x_add(tile->slot, x->out)}};
  struct expr count = x_mul(tile->rows, x->cols);
  unsigned now = R_HALF;
  vunit_count(&unit, count);
  vunit_order(&unit, 0, V(R_HALF));
  EMIT(w->e, weights->four ? "vconv_s42f16" : "vconv_s82f16", F("dst", unit.reg[R_HALF]),
       F("src", x_add(tile->slot, x->raw)), F("repeat", 1));
  if (converts) {
    now = R_WIDE;
    vunit_convert(&unit, V(R_HALF), V(R_WIDE), DTYPE_FP16, DTYPE_FP32, unit.reg[R_WIDE],
                  unit.reg[R_HALF]);
  }
  if (weights->offsets) {
    widen(&unit, x, w, R_OFFSET, x->offset_wide);
    with_numbers(&unit, x, w, tile, "vadd", now, now, R_OFFSET);
  }
  widen(&unit, x, w, R_SCALE, x->scale_wide);
  with_numbers(&unit, x, w, tile, "vmul", converts ? now : (unsigned)R_OUT, now, R_SCALE);
  if (converts) {
    vunit_count(&unit, count);
    vunit_convert(&unit, V(R_WIDE), V(R_OUT), DTYPE_FP32, w->mm->type, unit.reg[R_OUT],
                  unit.reg[R_WIDE]);
  }
  vunit_rest(&unit);
}

/* ---- the stream of the vector cores ---- */

/* Tile number `u` of a panel that begins at k; there are `across` tiles in a row of tiles. */
static struct tile tile_of(const struct writer *w, const struct layout *x, const struct panel *p,
                           struct expr u) {
  struct emit *e = w->e;
  struct tile tile;
  tile.panel_row = emit_assigned(e, "pr", x_mul(x_div(u, p->across), TILE_ROWS));
  tile.panel_col = emit_assigned(e, "pc", x_mul(x_mod(u, p->across), x->cols));
  tile.rows = emit_assigned(e, "tr", x_min(TILE_ROWS, x_sub(p->rows, tile.panel_row)));
  tile.cols = emit_assigned(e, "tc", x_min(x->cols, x_sub(p->cols, tile.panel_col)));
  tile.row = emit_assigned(e, "wr", x_add(p->row, tile.panel_row));
  tile.col = emit_assigned(e, "wc", x_add(p->col, tile.panel_col));
  return tile;
}

static void put_tile(const struct writer *w, const struct layout *x, struct tile *tile,
                     struct expr turn, struct expr place) {
  struct emit *e = w->e;
  const struct weights *weights = w->mm->own;
  tile->pair = emit_assigned(e, "pair", x_mod(turn, PAIR));
  tile->slot = emit_assigned(e, "slot", x_mul(tile->pair, x->slot));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, tile->pair);
  load_weights(w, x, tile);
  load_numbers(w, tile, "scale", x->scale);
  if (weights->offsets)
    load_numbers(w, tile, "offset", x->offset);
  emit_handshake(e, PIPE_MTE2, PIPE_V, tile->pair);
  compute(w, x, tile);
  emit_handshake(e, PIPE_V, PIPE_MTE3, tile->pair);
  store(w, x, tile, place);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, tile->pair);
}

/* Panels of B that the cube core loads: of all groups or turns; with B resident, of the columns of
 * blocks that its run has. */
static struct expr panel_count(const struct writer *w, struct expr groups) {
  const struct matmul_tiling *t = &w->t;
  if (t->resident == RESIDENT_B)
    return x_add(x_sub(x_div(x_add(w->first, x_sub(groups, 1)), t->mt), x_div(w->first, t->mt)), 1);
  return t->a_outer ? x_mul(x_div(groups, t->groups), t->turns) : groups;
}

/* Panel `number` of this core: where it lies in W. */
static struct panel panel_of(const struct writer *w, const struct layout *x, struct expr number) {
  const struct matmul_tiling *t = &w->t;
  const struct weights *weights = w->mm->own;
  struct emit *e = w->e;
  struct expr group = number, k = EXPR(0);
  if (t->resident == RESIDENT_B) {
    struct expr column = x_add(x_div(w->first, t->mt), number);
    group = x_max(0, x_sub(x_mul(column, t->mt), w->first));
  } else if (t->a_outer) {
    k = emit_assigned(e, "ku", x_mul(x_mod(number, t->turns), t->inner_k));
    group = x_add(x_mul(x_div(number, t->turns), t->groups), x_div(k, t->outer_k));
  }
  struct group g = matmul_group(w, group, "");
  k = t->a_outer ? k : g.k;
  struct expr depth = emit_assigned(e, "deep", x_min(t->kb, x_sub(w->mm->k, k)));
  struct panel p = {.row = weights->by_k ? k : g.n,
                    .rows = weights->by_k ? depth : g.cn,
                    .col = weights->by_k ? g.n : k,
                    .cols = weights->by_k ? g.cn : depth};
  p.across = emit_assigned(e, "across", x_ceil_div(p.cols, x->cols));
  p.tiles = emit_assigned(e, "tiles", x_mul(p.across, x_ceil_div(p.rows, TILE_ROWS)));
  return p;
}

/* Waits for the place of a panel, behind the first few. */
static void await_place(const struct writer *w, const char *name, struct expr turns) {
  (void)emit_for(w->e, name, turns);
  EMIT(w->e, "wait_flag_dev", F("id", MATMUL_SIGNAL_FREE));
  emit_end(w->e);
}

static void start(struct emit *e, const struct layout *x) {
  emit_stream(e, emit_vector_core(e->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE);
  emit_plain(e, "set_mask_count");
  vmask_count(e, x->end / sizeof(float));
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_ALL);
}

/* Panel after panel, every second tile of each. */
static void stream(const struct writer *given) {
  struct writer writer = *given, *w = &writer;
  struct emit *e = w->e;
  const struct layout x = lay_out(w->mm, &w->t);
  uint64_t bytes = w->t.kb * w->t.bn * w->mm->element_bytes;
  start(e, &x);
  struct expr groups = matmul_share(w);
  struct expr count = emit_assigned(e, "panels", panel_count(w, groups));
  emit_flags(e, "free", true, PIPE_MTE3, PIPE_MTE2, PAIR);
  struct expr number = emit_for(e, "panel", count);
  await_place(w, "full", x_lt(MATMUL_PLACES - 1, number));
  struct panel p = panel_of(w, &x, number);
  struct expr place = emit_assigned(e, "place", matmul_place(w, number, bytes));
  struct expr mine = x_div(x_add(x_sub(p.tiles, x_name(e, "sub")), 1), MATMUL_VECTORS);
  struct expr turn = emit_for(e, "tile", mine);
  struct expr u = emit_assigned(e, "at", x_add(x_mul(turn, MATMUL_VECTORS), x_name(e, "sub")));
  struct tile tile = tile_of(w, &x, &p, u);
  put_tile(w, &x, &tile, turn, place);
  emit_end(e);
  EMIT(e, "ffts_cross_core_sync", W("pipe", "MTE3"), F("mode", 2), F("id", MATMUL_SIGNAL_MADE));
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  await_place(w, "rest", x_min(count, MATMUL_PLACES));
  emit_flags(e, "taken", false, PIPE_MTE3, PIPE_MTE2, PAIR);
}

static void tensors(const struct writer *w) {
  const struct weights *weights = w->mm->own;
  const uint64_t raw[] = {weights->rows, weights->four ? weights->cols / 2 : weights->cols};
  const uint64_t numbers[] = {ceil_div(w->mm->k, weights->group), w->mm->n};
  const uint64_t places[] = {w->t.cores * MATMUL_PLACES, w->t.kb, w->t.bn};
  emit_tensor(w->e, "w", DTYPE_INT8, TENSOR_IN, raw, 2, NULL);
  emit_tensor(w->e, "scale", w->mm->type, TENSOR_IN, numbers, 2, NULL);
  if (weights->offsets)
    emit_tensor(w->e, "offset", w->mm->type, TENSOR_IN, numbers, 2, NULL);
  emit_tensor(w->e, w->mm->b.name, w->mm->type, TENSOR_WORKSPACE, places, 3, NULL);
}

static void buffers(const struct writer *w) {
  emit_buffer(w->e, "ub", SPACE_UB, lay_out(w->mm, &w->t).end);
}

/* The share of a vector core: copies in and out overlap the arithmetic. */
static uint64_t cycles(const struct vinci_soc *soc, const struct matmul *mm,
                       const struct matmul_tiling *t, uint64_t blocks, uint64_t loads) {
  const struct layout x = lay_out(mm, t);
  const struct path_cost *in = &soc->path[PATH_GM_UB], *out = &soc->path[PATH_UB_GM];
  uint64_t passes = x.bytes > 2 ? 6 : 2; /* repeats of 256 bytes for as many of fp16 */
  uint64_t elements = TILE_ROWS * x.cols;
  uint64_t tiles = loads * ceil_div(mm->k * t->bn, elements) / MATMUL_VECTORS;
  uint64_t vector = passes * elements * 2 / REPEAT_BYTES;
  uint64_t load = (uint64_t)in->startup_mcycles / MILLI +
                  cube_cycles_at(elements, (uint64_t)in->mbytes_per_cycle);
  uint64_t put = (uint64_t)out->startup_mcycles / MILLI +
                 cube_cycles_at(elements * mm->element_bytes, (uint64_t)out->mbytes_per_cycle);
  (void)blocks;
  return (tiles + 1) * max_u64(vector, max_u64(load, put));
}

/* Groups of k begin with tiles. */
static bool fits(struct lower_job *job, const struct matmul_tiling *t) {
  const struct matmul *mm = job->data;
  const struct weights *weights = mm->own;
  if (weights->group < mm->k && t->kb < mm->k && t->kb % GROUP_UNIT)
    return lower_refuse(job, "with groups, panels of B are a multiple of %d deep", GROUP_UNIT);
  return vtile_ub_holds(job, "a tile of W", lay_out(mm, t).end);
}

static const struct matmul_vectors vectors = {.make_b = true,
                                              .fits = fits,
                                              .tensors = tensors,
                                              .buffers = buffers,
                                              .stream = stream,
                                              .cycles = cycles};

/* ---- the operator ---- */

static enum vinci_status check(struct lower_job *job, const struct matmul *mm,
                               const struct weights *weights) {
  const struct vinci_soc *soc = job->soc;
  uint64_t group = job->value[WEIGHT_GROUP].size;
  enum vinci_status status = matmul_check_cube(job, mm);
  if (status != VINCI_OK)
    return status;
  if (matmul_is_coupled(soc) || soc->cross_core_ids <= MATMUL_SIGNAL_FREE ||
      soc_core_count(soc, CORE_AIV) != MATMUL_VECTORS * soc_core_count(soc, CORE_AIC))
    return lower_error(job, "takes two vector cores for each cube core, and signals between them");
  if (soc->cross_core_sets_max < MATMUL_PLACES)
    return lower_error(job, "takes flags between cores that are set %d times", MATMUL_PLACES);
  if (group % GROUP_UNIT)
    return lower_error(job, "group has to be a multiple of %d", GROUP_UNIT);
  if (weights->four && weights->cols % 2)
    return lower_error(job, "rows of 4-bit elements have to be whole bytes");
  if (weights->four && soc->arch != ARCH_C220)
    return lower_error(job, "%s has no conversion from 4 bits", soc->name);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct weights *weights = ARENA_NEW(job->arena, struct weights);
  if (!mm || !weights)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t m = value[WEIGHT_M].size, k = value[WEIGHT_K].size, n = value[WEIGHT_N].size;
  bool turned = value[WEIGHT_TRANSPOSE_B].word;
  *weights = (struct weights){
      .rows = turned ? n : k,
      .cols = turned ? k : n,
      .group = value[WEIGHT_GROUP].size ? value[WEIGHT_GROUP].size : round_up(k, GROUP_UNIT),
      .four = value[WEIGHT_BITS].word,
      .offsets = value[WEIGHT_OFFSETS].word,
      .by_k = !turned,
  };
  *mm = (struct matmul){.name = "weight_quant_matmul",
                        .first_key = WEIGHT_TILING,
                        .batch = 1,
                        .a_batches = 1,
                        .b_batches = 1,
                        .m = m,
                        .k = k,
                        .n = n,
                        .trans_b = turned,
                        .bias = value[WEIGHT_BIAS].word,
                        .biases = n,
                        .alone = true,
                        .vectors = &vectors,
                        .own = weights};
  matmul_types(job, mm, &value[WEIGHT_DTYPE], &value[WEIGHT_DTYPE]);
  mm->a = (struct matmul_tensor){"a", mm->type, 2, {m, k}, NULL};
  mm->b = (struct matmul_tensor){"wide", mm->type, 2, {weights->rows, weights->cols}, NULL};
  mm->c = (struct matmul_tensor){"c", mm->type, 2, {m, n}, NULL};
  job->data = mm;
  enum vinci_status status = check(job, mm, weights);
  if (status == VINCI_OK)
    matmul_set_sides(job->soc, mm);
  return status;
}

/* A, W, scales, offsets, then what the result is quantised with, bias (WeightQuantBatchMatmulV2 of
 * ops-transformer and ops-nn). W of 4 bits is packed by eights into int32. */
static bool from_tensors(struct lower_call *call) {
  enum { IN_A, IN_W, IN_SCALE, IN_OFFSET, IN_QUANT_SCALE, IN_QUANT_OFFSET, IN_BIAS };
  const struct lower_tensor *a = &call->input[IN_A], *b = &call->input[IN_W];
  const struct lower_tensor *scale = &call->input[IN_SCALE], *c = &call->output[0];
  if (call->input_count <= IN_SCALE || call->output_count == 0 || a->rank < 2 || b->rank != 2 ||
      c->rank != a->rank)
    return lower_cannot(call, "a matrix, weights of two extents and scales are needed");
  uint64_t k = a->shape[a->rank - 1], n = c->shape[c->rank - 1];
  uint64_t per = b->dtype == DTYPE_INT32 ? 8 : 1,
           numbers = lower_elements(scale->shape, scale->rank);
  bool four = per == 8 || b->dtype == DTYPE_INT4;
  bool turned = b->shape[0] == n && b->shape[1] * per == k;
  if (!turned && (b->shape[0] != k || b->shape[1] * per != n))
    return lower_cannot(call, "the shapes do not fit together");
  if (numbers % n)
    return lower_cannot(call, "only scales of columns, or of groups, are modelled");
  if (call->input_count > IN_QUANT_SCALE && call->input[IN_QUANT_SCALE].rank > 0)
    return lower_cannot(call, "a result that is quantised is not modelled");
  lower_arg(call, "m=%" PRIu64, lower_elements(a->shape, a->rank - 1));
  lower_arg(call, "k=%" PRIu64, k);
  lower_arg(call, "n=%" PRIu64, n);
  lower_arg_dtype(call, "dtype", a);
  lower_arg(call, "bits=%d", four ? 4 : 8);
  lower_arg(call, "group=%" PRIu64, numbers > n ? ceil_div(k, numbers / n) : 0);
  lower_arg(call, "offsets=%d", call->input_count > IN_OFFSET && call->input[IN_OFFSET].rank > 0);
  lower_arg(call, "transpose_b=%d", turned);
  lower_arg(call, "bias=%d", call->input_count > IN_BIAS && call->input[IN_BIAS].rank > 0);
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(matmul_candidate);
LOWER_OPERATOR(weight_quant_matmul, "WeightQuantBatchMatmulV2|WeightQuantBatchMatmul",
               "C[m,n] = A[m,k] ((W[k,n] + offset) * scale), W of 8 or 4 bits", keys, &template,
               NULL, from_tensors)
