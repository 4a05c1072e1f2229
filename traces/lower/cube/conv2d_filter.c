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
#include "traces/lower/estimate.h"

enum { L0_SLOTS = 2, L1_SLOTS = 2, PANEL_POINTS_MAX = 32767, MAD_MAX = 4080, TURNS_MAX = 1 << 30 };

static const struct lower_key keys[FILTER_KEY_COUNT] = {
    CONV_KEY_ROWS,
    CONV_GROUPS_ROW,
    [CONV_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|hf32", "type of x and dy", false},
    [CONV_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "fp32", "fp32", "type of dw", false},
    [FILTER_ACCUMULATE] = {"accumulate", LOWER_WORD, "0", "0|1",
                           "1: adds to what dw holds; 0: a kernel clears dw first, if it is split",
                           false},
    [FILTER_TILE] = {"tile", LOWER_SHAPE, NULL, NULL,
                     "channels of dy x points x (channels of x x window) of a block in L0", true},
    [FILTER_ROWS] = {"rows", LOWER_SIZE, NULL, NULL, "rows of dy in a panel in L1", true},
    [FILTER_SPLIT] = {"split", LOWER_SIZE, NULL, NULL,
                      "parts of the sum over points and images, added up in dw", true},
    [FILTER_CORES] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true, false, true},
};

static enum vinci_status setup(struct lower_job *job) {
  struct filter *op = ARENA_NEW(job->arena, struct filter);
  if (!op)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = op;
  enum vinci_status status = conv_types(job, &op->types);
  uint64_t c0 = op->types.c0;
  if (status == VINCI_OK)
    status = conv_geometry(job, c0, &op->conv);
  op->types.out_bytes = op->types.element_bytes; /* dw lies as the weights do */
  uint64_t c, k = 0;
  if (status == VINCI_OK)
    status = conv_groups(job, &op->types, &op->conv, &c, &k);
  if (status != VINCI_OK)
    return status;
  op->images = job->value[CONV_N].size;
  op->k1 = ceil_div(k, c0);
  op->m = op->k1 * c0;
  op->n = op->conv.c1 * op->conv.window;
  op->dw_rows = round_up(op->m, FRACTAL_ROWS);
  op->accumulate = job->value[FILTER_ACCUMULATE].word;
  if (op->conv.ho * op->conv.wo > UINT16_MAX)
    return lower_error(job, "results of more than %d points are not supported", UINT16_MAX);
  if (op->images * op->conv.ho > TURNS_MAX)
    return lower_error(job, "too many images");
  return VINCI_OK;
}

/* ---- tilings ---- */

/* Rows of x under so many rows of dy. */
static uint64_t map_rows(const struct conv *conv, uint64_t rows) {
  return min_u64(conv->h, (rows - 1) * conv->sh + (conv->kh - 1) * conv->dh + 1);
}

/* Groups of channels that bn columns of windows may come from; blocks begin at multiples of bn. */
static uint64_t groups_under(const struct conv *conv, uint64_t bn) {
  uint64_t groups = bn % conv->window == 0   ? bn / conv->window
                    : conv->window % bn == 0 ? 1
                                             : (bn - 1) / conv->window + 2;
  return min_u64(conv->c1, groups);
}

static bool fits_l0(struct lower_job *job, const struct filter *op, const struct filter_tiling *t) {
  const struct vinci_soc *soc = job->soc;
  uint64_t es = op->types.element_bytes;
  if (t->bm % FRACTAL_ROWS || t->bk % FRACTAL_ROWS || t->bn % FRACTAL_ROWS)
    return lower_refuse(job, "tiles are whole fractals");
  if (t->bm > MAD_MAX || t->bn > MAD_MAX || t->bk > MAD_MAX)
    return lower_refuse(job, "the tile is larger than one mad");
  if (t->bm * t->bk * es * L0_SLOTS > (uint64_t)soc->l0a_bytes ||
      t->bn * t->bk * es * L0_SLOTS > (uint64_t)soc->l0b_bytes)
    return lower_refuse(job, "two tiles of an operand do not fit L0A or L0B");
  if (t->bm * t->bn * sizeof(float) > (uint64_t)soc->l0c_bytes)
    return lower_refuse(job, "the block does not fit L0C");
  return true;
}

static void panels(const struct filter *op, struct filter_tiling *t) {
  const struct conv *conv = &op->conv;
  t->map_rows = map_rows(conv, t->rows);
  t->groups = groups_under(conv, t->bn);
  t->a_bytes = t->bm * t->rows * conv->wo * op->types.element_bytes;
  t->b_bytes = t->groups * t->map_rows * conv->w * BLOCK_BYTES;
}

bool filter_tiling(struct lower_job *job, struct filter_tiling *t) {
  const struct filter *op = job->data;
  const struct conv *conv = &op->conv;
  const struct lower_value *tile = &job->value[FILTER_TILE];
  if (tile->rank != 3)
    return lower_refuse(job, "tile is MxKxN");
  if (job->value[FILTER_ROWS].size > conv->ho)
    return lower_refuse(job, "dy has only %" PRIu64 " rows", conv->ho);
  *t = (struct filter_tiling){
      .bm = tile->shape[0],
      .bk = tile->shape[1],
      .bn = tile->shape[2],
      .rows = job->value[FILTER_ROWS].size,
      .cores = job->value[FILTER_CORES].size,
  };
  if (!fits_l0(job, op, t))
    return false;
  if (t->cores > soc_core_count(job->soc, emit_cube_core(job->soc)))
    return lower_refuse(job, "there are only %u cores",
                        soc_core_count(job->soc, emit_cube_core(job->soc)));
  panels(op, t);
  if (t->rows * conv->wo > PANEL_POINTS_MAX)
    return lower_refuse(job, "panels have more than %d points", PANEL_POINTS_MAX);
  if ((t->a_bytes + t->b_bytes) * L1_SLOTS > (uint64_t)job->soc->l1_bytes)
    return lower_refuse(job, "the panels do not fit L1");
  t->mt = ceil_div(op->m, t->bm);
  t->nt = ceil_div(op->n, t->bn);
  t->chunks = ceil_div(conv->ho, t->rows);
  t->turns_all = op->images * t->chunks;
  if (job->value[FILTER_SPLIT].given && job->value[FILTER_SPLIT].size > t->turns_all)
    return lower_refuse(job, "there are only %" PRIu64 " panels to be split", t->turns_all);
  t->turns = ceil_div(t->turns_all, min_u64(job->value[FILTER_SPLIT].size, t->turns_all));
  t->split = ceil_div(t->turns_all, t->turns);
  t->cores = min_u64(t->cores, conv->groups * t->mt * t->nt * t->split);
  t->steps = ceil_div(t->rows * conv->wo, t->bk);
  uint64_t block = t->bm * t->bn * sizeof(float);
  t->c_slots = block * 2 <= (uint64_t)job->soc->l0c_bytes ? 2 : 1;
  return true;
}

/* ---- cost ---- */

/* Cycles for bytes at a rate of thousandths of a byte per cycle. */
static uint64_t cycles_at(uint64_t bytes, uint64_t mbytes_per_cycle) {
  return mbytes_per_cycle ? bytes * MILLI / mbytes_per_cycle : 0;
}

/* Of one core's path, or of its share of what all cores have together. */
static uint64_t rate_of(const struct vinci_soc *soc, enum path path, uint64_t cores) {
  uint64_t share =
      max_u64(1, (uint64_t)soc->l2_bytes_per_second / cores * MILLI / (uint64_t)soc->core_hz);
  return min_u64((uint64_t)soc->path[path].mbytes_per_cycle, share);
}

static uint64_t startup(const struct vinci_soc *soc, enum path path) {
  return (uint64_t)soc->path[path].startup_mcycles;
}

struct filter_clear filter_clear(const struct vinci_soc *soc, const struct filter *op) {
  enum { CHUNK_BYTES = 32768 };
  const struct path_cost *out = &soc->path[PATH_UB_GM];
  uint64_t total = op->conv.groups * op->n * op->dw_rows * sizeof(float);
  uint64_t chunk = min_u64(CHUNK_BYTES, round_up(total, REPEAT_BYTES));
  uint64_t chunks = ceil_div(total, chunk), most = soc_core_count(soc, emit_vector_core(soc));
  uint64_t cycles = cycles_at(chunk, (uint64_t)out->mbytes_per_cycle);
  return (struct filter_clear){
      .chunk_bytes = chunk,
      .chunks = chunks,
      .cores = launch_cores(soc, most, chunks, cycles),
      .cycles =
          launch_work_cycles(soc, most, chunks, cycles) + (uint64_t)out->startup_mcycles / MILLI,
  };
}

/* The busiest core: so many turns, and so many blocks. */
static void fill_pipes(struct lower_job *job, const struct filter *op,
                       const struct filter_tiling *t, uint64_t turns, uint64_t blocks) {
  const struct vinci_soc *soc = job->soc;
  const struct conv *conv = &op->conv;
  uint64_t es = op->types.element_bytes, points = t->rows * conv->wo;
  uint64_t bm = min_u64(t->bm, op->dw_rows), bn = min_u64(t->bn, round_up(op->n, FRACTAL_ROWS));
  uint64_t deep = round_up(points, FRACTAL_ROWS);
  uint64_t tiles = ceil_div(bm, (uint64_t)soc->cube_m) * ceil_div(bn, (uint64_t)soc->cube_n) *
                   ceil_div(points * es, (uint64_t)soc->cube_k_bytes);
  struct lower_cost *cost = &job->cost;
  cost->cube_cycles =
      turns * (tiles * op->types.cube_mcycles + t->steps * (uint64_t)soc->cube_issue_mcycles) /
      MILLI;
  cost->mte1_cycles =
      turns * (cycles_at(deep * bm * es, (uint64_t)soc->path[PATH_L1_L0A].mbytes_per_cycle) +
               cycles_at(deep * bn * es, (uint64_t)soc->path[PATH_L1_L0B].mbytes_per_cycle) +
               t->steps * (startup(soc, PATH_L1_L0A) + startup(soc, PATH_L1_L0B)) / MILLI);
  cost->mte2_cycles =
      turns * (cycles_at(t->a_bytes + t->b_bytes, rate_of(soc, PATH_GM_L1, t->cores)) +
               2 * startup(soc, PATH_GM_L1) / MILLI);
  cost->fix_cycles =
      blocks * (cycles_at(bm * bn * sizeof(float), rate_of(soc, PATH_L0C_GM, t->cores)) +
                startup(soc, PATH_L0C_GM) / MILLI);
}

static bool cost(struct lower_job *job) {
  const struct filter *op = job->data;
  struct filter_tiling t;
  if (!filter_tiling(job, &t))
    return false;
  uint64_t groups = op->conv.groups, total = groups * t.mt * t.nt * t.split,
           blocks = ceil_div(total, t.cores);
  uint64_t turns = blocks * t.turns;
  fill_pipes(job, op, &t, turns, blocks);
  struct lower_cost *cost = &job->cost;
  uint64_t cube = cost->cube_cycles + (t.c_slots == 1 ? cost->fix_cycles : 0);
  uint64_t steady =
      max_u64(max_u64(cube, cost->mte1_cycles), max_u64(cost->mte2_cycles, cost->fix_cycles));
  uint64_t written = groups * op->n * op->dw_rows * sizeof(float);
  /* The first panels come in, and the last block leaves, alone. */
  cost->total_cycles = steady + cost->mte2_cycles / turns + cost->fix_cycles / blocks +
                       launch_spread_cycles(job->soc, t.cores);
  cost->shares = total;
  cost->blocks = (uint32_t)t.cores;
  cost->gm_bytes = total * t.turns * (t.a_bytes + t.b_bytes) + written * t.split;
  if (t.split > 1 && !op->accumulate) {
    cost->total_cycles += filter_clear(job->soc, op).cycles;
    cost->gm_bytes += written;
  }
  return true;
}

/* ---- candidates ---- */

static const uint16_t sides[] = {256, 192, 128, 112, 96, 80, 64, 48, 32, 16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, WAVE_COUNT = 4, DEPTH_COUNT = 2 };

/* Rows of dy, evenly, of which L1 holds two panels; half as many for the second depth. */
static uint64_t rows_of(const struct lower_job *job, uint64_t bm, uint64_t bn, size_t depth) {
  const struct filter *op = job->data;
  struct filter_tiling t = {.bm = bm, .bn = bn, .rows = op->conv.ho};
  for (; t.rows > 1; t.rows--) {
    panels(op, &t);
    if ((t.a_bytes + t.b_bytes) * L1_SLOTS <= (uint64_t)job->soc->l1_bytes &&
        t.rows * op->conv.wo <= PANEL_POINTS_MAX)
      break;
  }
  uint64_t rows = ceil_div(t.rows, depth + 1);
  return ceil_div(op->conv.ho, ceil_div(op->conv.ho, rows));
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct filter *op = job->data;
  const struct vinci_soc *soc = job->soc;
  if (index >= (size_t)SIDE_COUNT * SIDE_COUNT * WAVE_COUNT * DEPTH_COUNT)
    return false;
  uint64_t es = op->types.element_bytes;
  size_t depth = index % DEPTH_COUNT, wave = index / DEPTH_COUNT % WAVE_COUNT;
  size_t side = index / DEPTH_COUNT / WAVE_COUNT;
  uint64_t bm = matmul_even(op->m, sides[side / SIDE_COUNT], FRACTAL_ROWS);
  uint64_t bn = matmul_even(op->n, sides[side % SIDE_COUNT], FRACTAL_ROWS);
  uint64_t rows = rows_of(job, bm, bn, depth), points = rows * op->conv.wo;
  uint64_t most = min_u64((uint64_t)soc->l0a_bytes / bm, (uint64_t)soc->l0b_bytes / bn) /
                  (L0_SLOTS * es) / FRACTAL_ROWS * FRACTAL_ROWS;
  most = max_u64(most, FRACTAL_ROWS);
  const uint64_t tile[3] = {bm, round_up(ceil_div(points, ceil_div(points, most)), FRACTAL_ROWS),
                            bn};
  struct lower_value *cores = &job->value[FILTER_CORES];
  if (!cores->given)
    *cores =
        (struct lower_value){.present = true, .size = soc_core_count(soc, emit_cube_core(soc))};
  uint64_t blocks = op->conv.groups * ceil_div(op->m, bm) * ceil_div(op->n, bn);
  uint64_t split = max_u64(1, cores->size * (wave + 1) / blocks);
  const struct lower_value *given = &job->value[FILTER_ROWS];
  uint64_t panels = op->images * ceil_div(op->conv.ho, given->given ? given->size : rows);
  split = min_u64(split, panels);
  job->value[FILTER_TILE] =
      (struct lower_value){.present = true, .rank = 3, .shape = {tile[0], tile[1], tile[2]}};
  job->value[FILTER_ROWS] = (struct lower_value){.present = true, .size = rows};
  job->value[FILTER_SPLIT] = (struct lower_value){.present = true, .size = split};
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

static const struct lower_template template = {setup, candidate, cost, filter_emit};

LOWER_OPERATOR(
    conv2d_backprop_filter, "Conv2DBackpropFilter|Conv2DBackpropFilterD",
    "dw[k,c,kh,kw]: gradient of conv2d for its weights, from x[n,c,h,w] and dy[n,k,ho,wo]; "
    "between joined groups it holds sums that belong to no weight",
    keys, &template, NULL, from_tensors)
