/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_backprop_filter: the gradient of a convolution with respect to its weights, in fp32.
 * dw[k, (c1, kh, kw, c0)] is a product over all points of dy of all images: M are the channels of
 * dy, N the columns that load3d makes of x, and K is cut into turns of some rows of dy of an image
 * each. A block of the result takes a part of the turns, so that there is work for every core;
 * parts are added up by atomic stores, as by the vendor's library, which has dw cleared by a kernel
 * of its own before.
 *
 * Copies to L1 run one turn ahead of the loads to L0, and those one step ahead of the cube. Flags:
 * MTE1 to MTE2 and back, 0 and 1: panels. M to MTE1 and back, 0 and 1: halves of L0. M to FIX and
 * back: blocks in L0C. "Back" says filled, the other direction free.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "lower/cube/conv2d_filter.h"
#include "lower/cube/matmul_cost.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"

enum filter_key {
  FILTER_ACCUMULATE = CONV_KEYS,
  FILTER_TILE,
  FILTER_ROWS,
  FILTER_SPLIT,
  FILTER_CORES,
  FILTER_KEY_COUNT
};

enum { PANEL_POINTS_MAX = 32767, TURNS_MAX = 1 << 30 };

static const struct lower_key keys[FILTER_KEY_COUNT] = {
    CONV_KEY_ROWS("fp16|bf16|fp32|hf32", "type of x and dy", "fp32", "fp32", "type of dw"),
    [FILTER_ACCUMULATE] = {"accumulate", LOWER_WORD, "0", "0|1",
                           "1: adds to what dw holds; 0: a kernel clears dw first, if it is split"},
    [FILTER_TILE] = {"tile", LOWER_SHAPE, NULL, NULL,
                     "channels of dy x points x (channels of x x window) of a block in L0", true},
    [FILTER_ROWS] = {"rows", LOWER_SIZE, NULL, NULL, "rows of dy in a panel in L1", true},
    [FILTER_SPLIT] = {"split", LOWER_SIZE, NULL, NULL,
                      "parts of the sum over points and images, added up in dw", true},
    [FILTER_CORES] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true, false, true, false},
};

static enum vinci_status setup(struct lower_job *job) {
  struct filter *op = ARENA_NEW(job->arena, struct filter);
  if (!op)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = op;
  struct matmul *mm = &op->mm;
  struct conv *conv = &op->conv;
  enum vinci_status status = conv_types(job, mm);
  mm->out_bytes = mm->element_bytes; /* dw lies as the weights do */
  uint64_t c, k = 0;
  op->by_row = !select_has(job->soc, OP_IMG2COLV2_CBUF_TO_CB);
  if (status == VINCI_OK)
    status = conv_shape(job, mm, conv, &c, &k);
  if (status != VINCI_OK)
    return status;
  mm->name = "conv2d_backprop_filter";
  mm->trans_a = true;
  mm->k_align = mm->element_bytes == sizeof(float);
  op->images = job->value[CONV_N].size;
  op->k1 = ceil_div(k, mm->c0);
  mm->m = op->k1 * mm->c0;
  mm->n = conv->c1 * conv->window;
  op->dw_rows = round_up(mm->m, FRACTAL_ROWS);
  op->accumulate = job->value[FILTER_ACCUMULATE].word;
  uint64_t groups = conv->groups, images = op->images;
  mm->a = conv_map("dy", mm->type, images, groups * op->k1, conv->ho, conv->wo, mm->c0);
  mm->b = conv_map("x", mm->type, images, groups * conv->c1, conv->h, conv->w, mm->c0);
  mm->c = conv_weights("dw", DTYPE_FP32, groups * mm->n / mm->c0, mm->m, mm->c0);
  if (images * conv->ho > TURNS_MAX)
    return lower_error(job, "too many images");
  return VINCI_OK;
}

/* ---- tilings ---- */

/* Groups of channels that bn columns of windows may come from; blocks begin at multiples of bn. */
static uint64_t groups_under(const struct conv *conv, uint64_t bn) {
  uint64_t groups = bn % conv->window == 0   ? bn / conv->window
                    : conv->window % bn == 0 ? 1
                                             : (bn - 1) / conv->window + 2;
  return min_u64(conv->c1, groups);
}

/* Fills the panels for N rows of dy; whether L1 holds two of each. */
static bool panels(const struct lower_job *job, struct filter_tiling *t, uint64_t rows) {
  const struct filter *op = job->data;
  const struct conv *conv = &op->conv;
  uint64_t map = conv_map_rows(conv, rows) * conv->w * BLOCK_BYTES;
  t->rows = rows;
  uint64_t points = rows * conv->wo;
  t->t.a_panel_bytes =
      t->t.bm * (op->by_row ? round_up(points, FRACTAL_ROWS) : points) * op->mm.element_bytes;
  t->t.b_panel_bytes = groups_under(conv, t->t.bn) * map;
  return (t->t.a_panel_bytes + t->t.b_panel_bytes) * L1_SLOTS <= (uint64_t)job->soc->l1_bytes;
}

/* Reads the tiling keys; false, with a reason, when they are not legal. */
static bool filter_tiling(struct lower_job *job, struct filter_tiling *f) {
  const struct filter *op = job->data;
  const struct conv *conv = &op->conv;
  const struct lower_value *tile = &job->value[FILTER_TILE], *split = &job->value[FILTER_SPLIT];
  uint64_t rows = job->value[FILTER_ROWS].size;
  *f = (struct filter_tiling){.t = {.bm = tile->shape[0],
                                    .bk = tile->shape[1],
                                    .bn = tile->shape[2],
                                    .cores = job->value[FILTER_CORES].size,
                                    .outer_slots = L1_SLOTS}};
  struct matmul_tiling *t = &f->t;
  if (tile->rank != 3)
    return lower_refuse(job, "tile is MxKxN");
  if (rows > conv->ho)
    return lower_refuse(job, "more rows than dy has: %" PRIu64 " and %" PRIu64, rows, conv->ho);
  if (t->bm % FRACTAL_ROWS || t->bk % FRACTAL_ROWS || t->bn % FRACTAL_ROWS)
    return lower_refuse(job, "tiles are whole fractals");
  if (op->mm.coupled && t->bm * t->bn * sizeof(float) > (uint64_t)job->soc->ub_bytes)
    return lower_refuse(job, "the block does not fit UB");
  if (!matmul_fits_l0(job, &op->mm, t))
    return false;
  bool fits = panels(job, f, rows);
  if (rows * conv->wo > PANEL_POINTS_MAX)
    return lower_refuse(job, "panels have more than %d points", PANEL_POINTS_MAX);
  if (!fits)
    return lower_refuse(job, "the panels do not fit L1");
  f->chunks = ceil_div(conv->ho, rows);
  f->turns_all = op->images * f->chunks;
  if (split->given && split->size > f->turns_all)
    return lower_refuse(job, "more parts than panels: %" PRIu64 " and %" PRIu64, split->size,
                        f->turns_all);
  t->mt = ceil_div(op->mm.m, t->bm);
  t->nt = ceil_div(op->mm.n, t->bn);
  t->turns = ceil_div(f->turns_all, min_u64(split->size, f->turns_all));
  t->split = ceil_div(f->turns_all, t->turns);
  t->blocks_total = conv->groups * t->mt * t->nt * t->split;
  t->cores = min_u64(t->cores, t->blocks_total);
  f->steps = ceil_div(rows * conv->wo, t->bk);
  t->c_slots = matmul_c_slots(job->soc, t);
  return true;
}

/* ---- cost ---- */

struct filter_clear {
  uint64_t chunk_bytes, chunks, cores, cycles;
};

/* Bytes of dw. */
static uint64_t filter_bytes(const struct filter *op) {
  return op->conv.groups * op->mm.n * op->dw_rows * sizeof(float);
}

/* Whether parts are added to what has to be cleared first. */
static bool filter_clears(const struct filter *op, const struct filter_tiling *t) {
  return t->t.split > 1 && !op->accumulate;
}

/* How dw is cleared before parts are added to it: in chunks, by some of the vector cores. */
static struct filter_clear clear_of(const struct vinci_soc *soc, const struct filter *op) {
  enum { CHUNK_BYTES = 32768 };
  const struct path_cost *out = &soc->path[PATH_UB_GM];
  uint64_t total = filter_bytes(op);
  uint64_t chunk = min_u64(CHUNK_BYTES, round_up(total, REPEAT_BYTES));
  uint64_t chunks = ceil_div(total, chunk), most = soc_core_count(soc, emit_vector_core(soc));
  uint64_t cycles = cube_cycles_at(chunk, (uint64_t)out->mbytes_per_cycle);
  return (struct filter_clear){
      .chunk_bytes = chunk,
      .chunks = chunks,
      .cores = launch_cores(soc, most, chunks, cycles),
      .cycles =
          launch_work_cycles(soc, most, chunks, cycles) + (uint64_t)out->startup_mcycles / MILLI,
  };
}

static bool cost(struct lower_job *job) {
  const struct filter *op = job->data;
  const struct vinci_soc *soc = job->soc;
  struct filter_tiling f;
  if (!filter_tiling(job, &f))
    return false;
  const struct matmul_tiling *t = &f.t;
  uint64_t blocks = ceil_div(t->blocks_total, t->cores), turns = blocks * t->turns;
  uint64_t es = op->mm.element_bytes, points = f.rows * op->conv.wo;
  uint64_t m = min_u64(t->bm, op->dw_rows), deep = round_up(points, FRACTAL_ROWS);
  uint64_t n = min_u64(t->bn, round_up(op->mm.n, FRACTAL_ROWS));
  uint64_t bytes = t->a_panel_bytes + t->b_panel_bytes;
  const struct cube_round turn = {.count = turns,
                                  .m = m,
                                  .n = n,
                                  .k_tiles = ceil_div(points * es, (uint64_t)soc->cube_k_bytes),
                                  .steps = f.steps,
                                  .panels = 2,
                                  .a_bytes = deep * m * es,
                                  .b_bytes = deep * n * es,
                                  .at_once = !op->by_row};
  cube_cost_rounds(job, &op->mm, &turn);
  struct lower_cost *cost = &job->cost;
  cost->mte2_cycles = turns * (cube_cycles_at(bytes, cube_rate(soc, PATH_GM_L1, t->cores)) +
                               2 * (uint64_t)soc->path[PATH_GM_L1].startup_mcycles / MILLI);
  uint64_t block_bytes = m * n * ACCUMULATOR_BYTES;
  uint64_t store = cube_store_cycles(soc, PATH_L0C_GM, block_bytes, t->cores);
  if (op->mm.c0 < FRACTAL_ROWS)
    store = max_u64(store, cube_split_cycles(soc, block_bytes));
  cost->fix_cycles = blocks * store;
  const struct cube_line line = {
      .blocks = blocks, .groups = turns, .turns = turns, .steps = turns * f.steps};
  cost->total_cycles = cube_total_cycles(job, t, &line);
  cost->shares = t->blocks_total;
  cost->blocks = (uint32_t)t->cores;
  cost->gm_bytes = t->blocks_total * t->turns * bytes + filter_bytes(op) * t->split;
  if (filter_clears(op, &f)) {
    cost->total_cycles += clear_of(soc, op).cycles;
    cost->gm_bytes += filter_bytes(op);
  }
  return true;
}

/* ---- candidates ---- */

static const uint16_t sides[] = {256, 192, 128, 112, 96, 80, 64, 48, 32, 16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, WAVE_COUNT = 5, DEPTH_COUNT = 2 };

/* Rows of dy, evenly, of which L1 holds two panels; half as many for the second depth. */
static uint64_t rows_of(const struct lower_job *job, uint64_t bm, uint64_t bn, size_t depth) {
  const struct conv *conv = &((const struct filter *)job->data)->conv;
  struct filter_tiling t = {.t = {.bm = bm, .bn = bn}};
  uint64_t rows = conv->ho;
  while (rows > 1 && (!panels(job, &t, rows) || rows * conv->wo > PANEL_POINTS_MAX))
    rows--;
  return matmul_even(conv->ho, ceil_div(rows, depth + 1), 1);
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct filter *op = job->data;
  const struct vinci_soc *soc = job->soc;
  struct lower_value *value = job->value;
  if (index >= (size_t)SIDE_COUNT * SIDE_COUNT * WAVE_COUNT * DEPTH_COUNT)
    return false;
  size_t wave = index / DEPTH_COUNT % WAVE_COUNT, side = index / DEPTH_COUNT / WAVE_COUNT;
  uint64_t bm = matmul_even(op->mm.m, sides[side / SIDE_COUNT], FRACTAL_ROWS);
  uint64_t bn = matmul_even(op->mm.n, sides[side % SIDE_COUNT], FRACTAL_ROWS);
  uint64_t rows = rows_of(job, bm, bn, index % DEPTH_COUNT), points = rows * op->conv.wo;
  uint64_t most = matmul_deepest_step(soc, &op->mm, bm, bn, FRACTAL_ROWS);
  uint64_t bk = matmul_even(points, most, FRACTAL_ROWS);
  if (!value[FILTER_CORES].given)
    value[FILTER_CORES] = matmul_size(matmul_cores(soc));
  /* One part, or as many as fill the cores once, twice, ... */
  uint64_t blocks = op->conv.groups * ceil_div(op->mm.m, bm) * ceil_div(op->mm.n, bn);
  uint64_t split = max_u64(1, value[FILTER_CORES].size * wave / blocks);
  uint64_t given = value[FILTER_ROWS].given ? value[FILTER_ROWS].size : rows;
  uint64_t panels = op->images * ceil_div(op->conv.ho, given);
  value[FILTER_TILE] = matmul_shape(3, bm, bk, bn);
  value[FILTER_ROWS] = matmul_size(rows);
  value[FILTER_SPLIT] = matmul_size(min_u64(split, panels));
  return true;
}

/* ---- the trace: header ---- */

static bool is_atomic(const struct filter_writer *f) {
  return f->t->t.split > 1 || f->op->accumulate;
}

/* What parts of the sums are added to: zeros, written by a kernel of the vector cores. */
static void clear(const struct filter_writer *f) {
  struct emit *e = f->w.e;
  struct filter_clear by = clear_of(e->soc, f->op);
  struct expr blk = x_name(e, "blk");
  emit_kernel(e, "clear", (uint32_t)by.cores);
  matmul_put_tensor(e, &f->op->mm.c, TENSOR_OUT);
  emit_buffer(e, "zeros", SPACE_UB, by.chunk_bytes);
  emit_stream(e, emit_vector_core(e->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE);
  struct expr zeros = x_name(e, "zeros");
  EMIT(e, "vector_dup", F("dst", zeros), F("scalar", 0), F("repeat", by.chunk_bytes / REPEAT_BYTES),
       W("type", "fp32"));
  emit_handshake(e, PIPE_V, PIPE_MTE3, 0);
  struct expr i = emit_for(e, "i", x_div(x_sub(by.chunks + by.cores - 1, blk), by.cores));
  struct expr at = emit_assigned(e, "at", x_mul(x_add(x_mul(i, by.cores), blk), by.chunk_bytes));
  struct expr bytes = x_min(by.chunk_bytes, x_sub(filter_bytes(f->op), at));
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(x_name(e, "dw"), at)), F("src", zeros),
       F("len_burst", x_div(bytes, BLOCK_BYTES)));
  emit_end(e);
}

static void header(const struct filter_writer *f) {
  struct emit *e = f->w.e;
  const struct matmul *mm = &f->op->mm;
  if (filter_clears(f->op, f->t))
    clear(f);
  emit_kernel(e, mm->name, (uint32_t)f->t->t.cores);
  matmul_put_tensor(e, &mm->b, TENSOR_IN);
  matmul_put_tensor(e, &mm->a, TENSOR_IN);
  matmul_put_tensor(e, &mm->c, is_atomic(f) ? TENSOR_INOUT : TENSOR_OUT);
  matmul_buffers(&f->w);
  if (mm->coupled)
    emit_buffer(e, "out", SPACE_UB, f->t->t.bm * f->t->t.bn * sizeof(float));
  emit_stream(e, emit_cube_core(e->soc));
  emit_kernel_start(e, KERNEL_CONV);
  if (is_atomic(f)) {
    emit_plain(e, "set_atomic_add");
    emit_plain(e, "set_atomic_f32");
  }
}

/* ---- turns ---- */

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct writer *w, bool set) {
  struct expr half = matmul_free_slots(w, set, "half", L0_SLOTS);
  emit_flag_of(w->e, set, PIPE_MTE1, PIPE_MTE2, half);
  emit_flag_of(w->e, set, PIPE_M, PIPE_MTE1, half);
  emit_end(w->e);
  struct expr block = matmul_free_slots(w, set, "block", w->t.c_slots);
  emit_flag_of(w->e, set, matmul_out_pipe(w), PIPE_M, block);
  emit_end(w->e);
  if (w->mm->coupled)
    emit_flag_of(w->e, set, PIPE_MTE3, PIPE_V, EXPR(0));
}

/* Its rows of dy and of x. */
static void put_rows(struct filter_writer *f) {
  struct emit *e = f->w.e;
  const struct conv *conv = &f->op->conv;
  struct group *g = &f->w.now;
  struct expr panel = x_add(x_mul(g->part, f->t->t.turns), f->w.u);
  g->z = emit_assigned(e, "z", x_div(panel, f->t->chunks));
  g->oy = emit_assigned(e, "oy", x_mul(x_mod(panel, f->t->chunks), f->t->rows));
  struct expr rows = emit_assigned(e, "rows", x_min(f->t->rows, x_sub(conv->ho, g->oy)));
  f->points = emit_assigned(e, "points", x_mul(rows, conv->wo));
  conv_put_map(conv, g, x_sub(x_add(g->oy, rows), 1));
  f->first = emit_assigned(e, "first", x_div(g->n, conv->window));
  struct expr last = x_div(x_sub(x_add(g->n, g->cn), 1), conv->window);
  f->groups = emit_assigned(e, "groups", x_add(x_sub(last, f->first), 1));
}

/* Turn number `turn` of the core: its block, its part of the sums, its rows. Opens a loop that
 * leaves out what is beyond the last turn of all. */
static void begin_turn(struct filter_writer *f, struct expr turn) {
  struct emit *e = f->w.e;
  const struct matmul_tiling *t = &f->t->t;
  struct group *g = &f->w.now;
  uint64_t per_group = t->mt * t->nt, blocks = f->op->conv.groups * per_group;
  g->i = emit_assigned(e, "i", x_div(turn, t->turns));
  f->w.u = emit_assigned(e, "u", x_mod(turn, t->turns));
  struct expr block = x_add(x_mul(g->i, t->cores), x_name(e, "blk"));
  g->part = emit_assigned(e, "part", x_div(block, blocks));
  struct expr r = emit_assigned(e, "r", x_mod(block, blocks));
  f->group = emit_assigned(e, "group", x_div(r, per_group));
  g->m = emit_assigned(e, "m", x_mul(x_div(x_mod(r, per_group), t->nt), t->bm));
  g->n = emit_assigned(e, "n", x_mul(x_mod(r, t->nt), t->bn));
  g->cm = emit_assigned(e, "cm", x_min(t->bm, x_sub(f->op->mm.m, g->m)));
  g->cn = emit_assigned(e, "cn", x_min(t->bn, x_sub(f->op->mm.n, g->n)));
  f->count =
      emit_assigned(e, "count", x_min(t->turns, x_sub(f->t->turns_all, x_mul(g->part, t->turns))));
  emit_if(e, "there", x_lt(f->w.u, f->count));
  put_rows(f);
}

/* Through UB, where fractals lie as in dw: columns of them, as far as the block has them. */
static void store_coupled(const struct filter_writer *f, struct expr dst) {
  struct emit *e = f->w.e;
  struct expr slot = matmul_c_slot(&f->w, f->w.now.i), columns = x_div(f->cn16, FRACTAL_ROWS);
  uint64_t row_blocks = FRACTAL_ROWS * sizeof(float) / BLOCK_BYTES;
  emit_handshake(e, PIPE_M, PIPE_V, slot);
  emit_wait(e, PIPE_MTE3, PIPE_V, 0);
  EMIT(e, "copy_matrix_cc_to_ubuf", F("dst", x_name(e, "out")),
       F("src", matmul_slot(e, "c0", slot, matmul_c_bytes(&f->w.t))),
       F("len_burst", x_mul(x_div(f->cm16, FRACTAL_ROWS), columns)), W("type", "fp32"));
  emit_set(e, PIPE_V, PIPE_M, slot);
  emit_handshake(e, PIPE_V, PIPE_MTE3, 0);
  EMIT(e, "copy_ubuf_to_gm", F("dst", dst), F("src", x_name(e, "out")), F("n_burst", columns),
       F("len_burst", x_mul(f->cm16, row_blocks)),
       F("dst_gap", x_mul(x_sub(f->op->dw_rows, f->cm16), row_blocks)));
  emit_set(e, PIPE_MTE3, PIPE_V, 0);
}

/* Columns of blocks as wide as those of x. */
static void store(const struct filter_writer *f) {
  const struct group *g = &f->w.now;
  uint64_t c0 = f->op->mm.c0, row_bytes = c0 * sizeof(float), high = f->op->dw_rows;
  struct expr column = x_add(x_mul(f->group, f->op->mm.n / c0), x_div(g->n, c0));
  struct expr row = x_add(x_mul(column, high), g->m);
  struct expr dst = x_add(x_name(f->w.e, "dw"), x_mul(row, row_bytes));
  emit_if(f->w.e, "finish", x_eq(x_add(f->w.u, 1), f->count));
  if (f->w.mm->coupled)
    store_coupled(f, dst);
  else
    matmul_fixpipe(&f->w, dst, g->cn, f->cm16, f->cm16, high * row_bytes / BLOCK_BYTES,
                   c0 < FRACTAL_ROWS ? "channel_split" : NULL);
  emit_end(f->w.e);
}

static void work(struct filter_writer *f, struct expr turn) {
  struct writer *w = &f->w;
  struct emit *e = w->e;
  struct expr slot = emit_assigned(e, "slot", x_mod(x_sub(turn, 1), L1_SLOTS));
  f->cm16 = emit_assigned(e, "cm16", padded(w->now.cm));
  f->cn16 = emit_assigned(e, "cn16", padded(w->now.cn));
  w->a_src = matmul_panel_slot(w, true, slot);
  w->b_src = matmul_panel_slot(w, false, slot);
  emit_if(e, "start", x_eq(w->u, 0));
  emit_wait(e, matmul_out_pipe(w), PIPE_M, matmul_c_slot(w, w->now.i));
  emit_end(e);
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, slot);
  matmul_begin_step(w, f->points, turn, f->t->steps);
  filter_to_l0(f);
  emit_handshake(e, PIPE_MTE1, PIPE_M, w->l0);
  struct expr step = x_add(w->u, w->s);
  matmul_mad_barrier(w, step, x_mul(x_div(f->cm16, FRACTAL_ROWS), x_div(f->cn16, FRACTAL_ROWS)));
  matmul_mad(w, f->cm16, f->cn16, x_eq(step, 0), false);
  matmul_end_step(w);
  emit_set(e, PIPE_MTE1, PIPE_MTE2, slot);
  store(f);
}

static void filter_emit(const struct lower_job *job, struct emit *e) {
  struct filter_tiling tiling;
  struct lower_job copy = *job;
  if (!filter_tiling(&copy, &tiling))
    vinci_bug("conv2d_backprop_filter: %s", copy.reason);
  const struct matmul_tiling *t = &tiling.t;
  const struct filter *op = job->data;
  struct filter_writer f = {
      .w = {.e = e, .mm = &op->mm, .t = *t, .now = {.e = e, .suffix = ""}}, .op = op, .t = &tiling};
  header(&f);
  if (op->by_row && op->conv.ho * op->conv.wo % FRACTAL_ROWS) { /* what is behind the points */
    matmul_zeros(e, matmul_panel_slot(&f.w, true, EXPR(0)),
                 EXPR(t->a_panel_bytes / BLOCK_BYTES * L1_SLOTS));
    emit_barrier(e, PIPE_MTE2);
  }
  free_flags(&f.w, true);
  emit_comment(e,
               "Blocks blk, blk + %" PRIu64 ", ... of %" PRIu64 ": each %" PRIu64
               " turns, all blocks of a part first.",
               t->cores, t->blocks_total, t->turns);
  struct expr blocks = x_div(x_sub(t->blocks_total + t->cores - 1, x_name(e, "blk")), t->cores);
  struct expr turns = emit_assigned(e, "turns", x_mul(blocks, t->turns));
  struct expr turn = emit_for(e, "t", x_add(turns, 1));
  emit_if(e, "ahead", x_lt(turn, turns));
  begin_turn(&f, turn);
  filter_load(&f, x_mod(turn, L1_SLOTS));
  emit_end(e);
  emit_end(e);
  emit_if(e, "behind", x_gt(turn, 0));
  begin_turn(&f, x_sub(turn, 1));
  work(&f, turn);
  emit_end(e);
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&f.w, false);
  if (is_atomic(&f))
    emit_plain(e, "set_atomic_none");
}

/* ---- from a profile ---- */

/* Whether both maps fit dw, which has the blocks of channels of dy and those of x in windows. */
static bool fits_dw(const struct lower_tensor *x, const struct lower_tensor *dy,
                    const struct lower_tensor *dw) {
  enum { CHANNELS = 1, HEIGHT = 2, BLOCKED_RANK = 5, DW_RANK = 4 };
  return x->rank == BLOCKED_RANK && dy->rank == BLOCKED_RANK && dw->rank == DW_RANK &&
         dy->shape[CHANNELS] == dw->shape[1] && dw->shape[0] % x->shape[CHANNELS] == 0 &&
         x->shape[HEIGHT] >= dy->shape[HEIGHT];
}

/*
 * Inputs: x, the shape of dw as a tensor, dy; without that shape dy and x, in one of both orders.
 * Clearing dw is a row of its own there.
 */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *dy = &call->input[2], *dw = &call->output[0];
  if (call->input_count < 2 || call->output_count < 1)
    return lower_cannot(call, "x, dy and dw are needed");
  if (call->input_count == 2) {
    dy = &call->input[1];
    if (fits_dw(dy, x, dw)) {
      x = dy;
      dy = &call->input[0];
    }
  }
  if (!conv_from_shapes(call, x, dw, dy))
    return false;
  lower_arg(call, "accumulate=1");
  return true;
}

static const struct lower_template template = {setup, candidate, cost, filter_emit};
LOWER_OPERATOR(
    conv2d_backprop_filter, "Conv2DBackpropFilter|Conv2DBackpropFilterD",
    "dw[k,c,kh,kw]: gradient of conv2d for its weights, from x[n,c,h,w] and dy[n,k,ho,wo]; "
    "between joined groups it holds sums that belong to no weight",
    keys, &template, NULL, from_tensors)
