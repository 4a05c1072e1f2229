/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_backprop_filter: the gradient of a convolution with respect to its weights, in fp32. The
 * sum over all points of all images is cut into parts, so that there is work for every core; parts
 * are added up by atomic stores, as by the vendor's library, which has dw cleared by a kernel of
 * its own before.
 */
#include "traces/lower/cube/conv2d_filter.h"

#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/launch.h"

enum { L0_SLOTS = 2, L1_SLOTS = 2, PANEL_POINTS_MAX = 32767, TURNS_MAX = 1 << 30 };

static const struct lower_key keys[FILTER_KEY_COUNT] = {
    CONV_KEY_ROWS("fp16|bf16|fp32|hf32", "type of x and dy", "fp32", "fp32", "type of dw"),
    [FILTER_ACCUMULATE] = {"accumulate", LOWER_WORD, "0", "0|1",
                           "1: adds to what dw holds; 0: a kernel clears dw first, if it is split"},
    [FILTER_TILE] = {"tile", LOWER_SHAPE, NULL, NULL,
                     "channels of dy x points x (channels of x x window) of a block in L0", true},
    [FILTER_ROWS] = {"rows", LOWER_SIZE, NULL, NULL, "rows of dy in a panel in L1", true},
    [FILTER_SPLIT] = {"split", LOWER_SIZE, NULL, NULL,
                      "parts of the sum over points and images, added up in dw", true},
    [FILTER_CORES] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true},
};

static enum vinci_status setup(struct lower_job *job) {
  struct filter *op = ARENA_NEW(job->arena, struct filter);
  if (!op)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = op;
  struct matmul *mm = &op->mm;
  *mm = (struct matmul){
      .name = "conv2d_backprop_filter", .a_name = "dy", .b_name = "x", .trans_a = true};
  enum vinci_status status = conv_types(job, mm);
  if (status == VINCI_OK)
    status = conv_geometry(job, mm->c0, &op->conv);
  mm->out_bytes = mm->element_bytes; /* dw lies as the weights do */
  uint64_t c, k = 0;
  if (status == VINCI_OK)
    status = conv_groups(job, mm, &op->conv, &c, &k);
  if (status != VINCI_OK)
    return status;
  mm->k_align = mm->element_bytes == sizeof(float);
  op->images = job->value[CONV_N].size;
  op->k1 = ceil_div(k, mm->c0);
  mm->m = op->k1 * mm->c0;
  mm->n = op->conv.c1 * op->conv.window;
  op->dw_rows = round_up(mm->m, FRACTAL_ROWS);
  op->accumulate = job->value[FILTER_ACCUMULATE].word;
  if (op->conv.ho * op->conv.wo > UINT16_MAX)
    return lower_error(job, "results of more than %d points are not supported", UINT16_MAX);
  if (op->images * op->conv.ho > TURNS_MAX)
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
  t->t.a_panel_bytes = t->t.bm * rows * conv->wo * op->mm.element_bytes;
  t->t.b_panel_bytes = groups_under(conv, t->t.bn) * map;
  return (t->t.a_panel_bytes + t->t.b_panel_bytes) * L1_SLOTS <= (uint64_t)job->soc->l1_bytes;
}

bool filter_tiling(struct lower_job *job, struct filter_tiling *f) {
  const struct filter *op = job->data;
  const struct conv *conv = &op->conv;
  const struct lower_value *tile = &job->value[FILTER_TILE], *split = &job->value[FILTER_SPLIT];
  uint64_t rows = job->value[FILTER_ROWS].size, cores = matmul_cores(job->soc);
  *f = (struct filter_tiling){.t = {.bm = tile->shape[0],
                                    .bk = tile->shape[1],
                                    .bn = tile->shape[2],
                                    .cores = job->value[FILTER_CORES].size,
                                    .outer_slots = L1_SLOTS}};
  struct matmul_tiling *t = &f->t;
  if (tile->rank != 3)
    return lower_refuse(job, "tile is MxKxN");
  if (rows > conv->ho)
    return lower_refuse(job, "dy has only %" PRIu64 " rows", conv->ho);
  if (t->bm % FRACTAL_ROWS || t->bk % FRACTAL_ROWS || t->bn % FRACTAL_ROWS)
    return lower_refuse(job, "tiles are whole fractals");
  if (!matmul_fits_l0(job, &op->mm, t))
    return false;
  if (t->cores > cores)
    return lower_refuse(job, "there are only %" PRIu64 " cores", cores);
  bool fits = panels(job, f, rows);
  if (rows * conv->wo > PANEL_POINTS_MAX)
    return lower_refuse(job, "panels have more than %d points", PANEL_POINTS_MAX);
  if (!fits)
    return lower_refuse(job, "the panels do not fit L1");
  f->chunks = ceil_div(conv->ho, rows);
  f->turns_all = op->images * f->chunks;
  if (split->given && split->size > f->turns_all)
    return lower_refuse(job, "there are only %" PRIu64 " panels to be split", f->turns_all);
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

uint64_t filter_bytes(const struct filter *op) {
  return op->conv.groups * op->mm.n * op->dw_rows * sizeof(float);
}

bool filter_clears(const struct filter *op, const struct filter_tiling *t) {
  return t->t.split > 1 && !op->accumulate;
}

struct filter_clear filter_clear(const struct vinci_soc *soc, const struct filter *op) {
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
                                  .a_bytes = deep * m * es,
                                  .b_bytes = deep * n * es};
  cube_cost_rounds(job, &op->mm, &turn);
  struct lower_cost *cost = &job->cost;
  cost->mte2_cycles = turns * (cube_cycles_at(bytes, cube_rate(soc, PATH_GM_L1, t->cores)) +
                               2 * (uint64_t)soc->path[PATH_GM_L1].startup_mcycles / MILLI);
  cost->fix_cycles =
      blocks * cube_store_cycles(soc, PATH_L0C_GM, m * n * ACCUMULATOR_BYTES, t->cores);
  cost->total_cycles = cube_total_cycles(job, t, blocks, turns, 0);
  cost->shares = t->blocks_total;
  cost->blocks = (uint32_t)t->cores;
  cost->gm_bytes = t->blocks_total * t->turns * bytes + filter_bytes(op) * t->split;
  if (filter_clears(op, &f)) {
    cost->total_cycles += filter_clear(soc, op).cycles;
    cost->gm_bytes += filter_bytes(op);
  }
  return true;
}

/* ---- candidates ---- */

static const uint16_t sides[] = {256, 192, 128, 112, 96, 80, 64, 48, 32, 16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, WAVE_COUNT = 4, DEPTH_COUNT = 2 };

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
  uint64_t most = min_u64((uint64_t)soc->l0a_bytes / bm, (uint64_t)soc->l0b_bytes / bn) /
                  (L0_SLOTS * op->mm.element_bytes) / FRACTAL_ROWS * FRACTAL_ROWS;
  uint64_t bk = matmul_even(points, max_u64(most, FRACTAL_ROWS), FRACTAL_ROWS);
  if (!value[FILTER_CORES].given)
    value[FILTER_CORES] = matmul_size(matmul_cores(soc));
  /* As many parts as fill the cores once, twice, ... */
  uint64_t blocks = op->conv.groups * ceil_div(op->mm.m, bm) * ceil_div(op->mm.n, bn);
  uint64_t split = max_u64(1, value[FILTER_CORES].size * (wave + 1) / blocks);
  uint64_t given = value[FILTER_ROWS].given ? value[FILTER_ROWS].size : rows;
  uint64_t panels = op->images * ceil_div(op->conv.ho, given);
  value[FILTER_TILE] = matmul_shape(3, bm, bk, bn);
  value[FILTER_ROWS] = matmul_size(rows);
  value[FILTER_SPLIT] = matmul_size(min_u64(split, panels));
  return true;
}

/* ---- from a profile ---- */

/* Inputs: x, the shape of dw as a tensor, dy. Clearing dw is a row of its own there. */
static bool from_tensors(struct lower_call *call) {
  if (call->input_count < 3 || call->output_count < 1)
    return lower_cannot(call, "x, dy and dw are needed");
  if (!conv_from_shapes(call, &call->input[0], &call->output[0], &call->input[2]))
    return false;
  lower_arg(call, "accumulate=1");
  return true;
}

const struct lower_op lower_conv2d_backprop_filter = {
    .name = "conv2d_backprop_filter",
    .vendor_types = "Conv2DBackpropFilter|Conv2DBackpropFilterD",
    .text = "dw[k,c,kh,kw]: gradient of conv2d for its weights, from x[n,c,h,w] and dy[n,k,ho,wo]; "
            "between joined groups it holds sums that belong to no weight",
    .keys = keys,
    .key_count = FILTER_KEY_COUNT,
    .setup = setup,
    .candidate = candidate,
    .cost = cost,
    .emit = filter_emit,
    .from_tensors = from_tensors,
};
