/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention on coupled cores: what is legal, candidates, and what a tiling costs. */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/rows/rowwise.h"

enum { COLS_MAX = 1024 };   /* rows of a mask, as blocks of 16 */
enum { BURSTS_MAX = 4095 }; /* keys that one copy brings to L1 */
enum { COLUMN = FRACTAL_ROWS };

enum vinci_status attention_coupled_check(struct lower_job *job, const struct attention *at) {
  const char *arch = arch_name(job->soc->arch);
  if (at->depth % COLUMN || at->depth_k % COLUMN)
    return lower_error(job,
                       "on %s head_dim and v_dim are multiples of %d: copies are of whole "
                       "blocks",
                       arch, COLUMN);
  if (at->masked && at->keys % BLOCK_BYTES)
    return lower_error(job,
                       "on %s a mask has rows of a multiple of %d keys: copies are of whole "
                       "blocks",
                       arch, BLOCK_BYTES);
  if (at->gradient && at->depth > ATTENTION_SIDE)
    return lower_error(job, "on %s head_dim of the gradient is at most %d", arch, ATTENTION_SIDE);
  if (at->window || at->carried)
    return lower_error(job, "on %s there is no window and no carry=gm", arch);
  return VINCI_OK;
}

/* ---- what is legal ---- */

static void lay_out(const struct attention *at, struct attention_tiling *t) {
  struct attention_coupled *p = &t->coupled;
  uint64_t used = 0, column = t->rows * COLUMN * WORD_BYTES, step = t->rows * t->cols;
  uint64_t values = (t->depth / COLUMN + 1) * column;
  bool single = attention_is_single(at, t);
  p->scores = vtile_reserve(&used, step * WORD_BYTES);
  p->probabilities = vtile_reserve(&used, step * HALF_BYTES);
  p->values = vtile_reserve(&used, values);
  p->product = vtile_reserve(&used, single ? 0 : values);
  p->result = vtile_reserve(&used, t->rows * t->depth * HALF_BYTES);
  p->fresh = vtile_reserve(&used, column);
  p->maximum = vtile_reserve(&used, attention_maxima(at, t) * column);
  p->statistics = vtile_reserve(&used, at->statistics ? 2 * column : 0);
  p->factor = vtile_reserve(&used, single ? 0 : ATTENTION_PAIR * column);
  p->half = vtile_reserve(&used, column / 2);
  p->numbers = vtile_reserve(&used, t->rows * HALF_BYTES);
  p->mask = vtile_reserve(&used, at->masked ? step : 0);
  p->triangle = vtile_reserve(&used, at->causal ? COLUMN * COLUMN * WORD_BYTES : 0);
  p->stage_bytes = HALF_BYTES * max_u64(attention_stage_rows(t->depth) * t->depth,
                                        attention_stage_rows(t->depth_k) * t->depth_k);
  p->stage = vtile_reserve(&used, ATTENTION_PAIR * p->stage_bytes);
  t->ub_bytes = used;
}

/* Whole fractals of keys, so that a tile of A and one of B have at most `elements`. */
static uint64_t tile_keys(uint64_t elements, uint64_t beside, uint64_t cols) {
  return min_u64(cols, max_u64(elements / beside / FRACTAL_ROWS, 1) * FRACTAL_ROWS);
}

/* Tiles of products: as many keys as halves of L0A and L0B hold, and two of scores in L0C beside
 * the product with V. */
static void lay_out_tiles(const struct vinci_soc *soc, struct attention_tiling *t) {
  const uint64_t elements = (uint64_t)ATTENTION_SIDE * ATTENTION_SIDE, columns_max = 256;
  struct attention_coupled *p = &t->coupled;
  uint64_t columns = t->depth + COLUMN, l0c = (uint64_t)soc->l0c_bytes / ACCUMULATOR_BYTES;
  p->value_columns = columns <= columns_max ? columns : ATTENTION_SIDE;
  p->value_keys = tile_keys(elements, max_u64(p->value_columns, t->rows), t->cols);
  p->score_keys = tile_keys(elements, min_u64(t->depth_k, ATTENTION_SIDE), t->cols);
  uint64_t rest = l0c / t->rows > columns ? l0c / t->rows - columns : 0;
  p->score_keys = tile_keys(rest / ATTENTION_PAIR, 1, p->score_keys);
}

static void derive(const struct lower_job *job, struct attention_tiling *t) {
  const struct attention *at = job->data;
  t->depth = at->depth;
  t->depth_k = at->depth_k;
  t->splits = 1;
  t->part = at->keys;
  t->row_blocks = ceil_div(at->rows, t->rows);
  t->tasks = at->batch * at->heads * t->row_blocks;
  t->cores = min_u64(t->cores, t->tasks);
  t->c_slots = ATTENTION_PAIR;
  lay_out_tiles(job->soc, t);
  t->c_bytes = t->rows * t->coupled.score_keys * ACCUMULATOR_BYTES;
  lay_out(at, t);
}

/* Rows of two tasks, keys and values with ones, probabilities of two steps. */
static uint64_t l1_bytes(const struct attention *at, const struct attention_tiling *t) {
  return HALF_BYTES * (ATTENTION_PAIR * t->rows * (t->depth_k + t->cols) +
                       t->panel * (t->depth_k + t->depth + COLUMN)) +
         attention_table_bytes(at);
}

static bool fits(struct lower_job *job, const struct attention_tiling *t) {
  const struct vinci_soc *soc = job->soc;
  const struct attention *at = job->data;
  uint64_t tile = ATTENTION_PAIR * ATTENTION_SIDE * ATTENTION_SIDE * HALF_BYTES;
  uint64_t product = t->rows * (t->depth + COLUMN) * ACCUMULATOR_BYTES;
  if (l1_bytes(at, t) > (uint64_t)soc->l1_bytes)
    return lower_refuse(job, "the panels do not fit L1");
  if (tile > (uint64_t)soc->l0a_bytes || tile > (uint64_t)soc->l0b_bytes)
    return lower_refuse(job, "two tiles do not fit L0A or L0B");
  if (t->c_slots * t->c_bytes + product > (uint64_t)soc->l0c_bytes)
    return lower_refuse(job, "the rows do not fit L0C");
  return vtile_ub_holds(job, "the task", t->ub_bytes);
}

bool attention_coupled_tiling(struct lower_job *job, struct attention_tiling *t) {
  const struct attention *at = job->data;
  uint64_t unit = at->masked ? BLOCK_BYTES : COLUMN;
  if (at->gradient)
    return attention_coupled_grad_tiling(job, t);
  if (t->rows % COLUMN || t->rows > ATTENTION_COUPLED_ROWS)
    return lower_refuse(job, "rows have to be a multiple of %d, at most %d", COLUMN,
                        ATTENTION_COUPLED_ROWS);
  if (t->cols % unit || t->cols > COLS_MAX)
    return lower_refuse(job, "cols have to be a multiple of %d, at most %d", (int)unit, COLS_MAX);
  if (t->panel % COLUMN || t->panel > BURSTS_MAX || (t->panel != t->cols && t->panel < at->keys))
    return lower_refuse(job,
                        "a panel is the keys of a step, or all, in multiples of %d and at "
                        "most %d",
                        COLUMN, BURSTS_MAX);
  if (t->slice != t->rows || t->splits > 1)
    return lower_refuse(job, "a slice is all rows, and keys are not split");
  if (!lower_has_cores(job, t->cores, CORE_AICORE))
    return false;
  derive(job, t);
  return fits(job, t);
}

/* ---- candidates ---- */

static const uint16_t sides[] = {112, 96, 80, 64, 48, 32, 16};
static const uint16_t widths[] = {1024, 768, 512, 384, 256, 128, 64};
enum {
  SIDE_COUNT = sizeof sides / sizeof *sides,
  WIDTH_COUNT = sizeof widths / sizeof *widths,
  PANELS = 2, /* all keys of a head, those of a step */
};

void attention_coupled_give_rest(struct lower_job *job) {
  attention_give(job, ATTENTION_SLICE, job->value[ATTENTION_ROWS].size);
  attention_give(job, ATTENTION_CORES, soc_core_count(job->soc, CORE_AICORE));
  if (!job->value[ATTENTION_DIAGONAL].given)
    job->value[ATTENTION_DIAGONAL] = (struct lower_value){.present = true, .word = DIAGONAL_TRIM};
}

bool attention_coupled_candidate(struct lower_job *job, size_t index) {
  const struct attention *at = job->data;
  if (at->gradient)
    return attention_coupled_grad_candidate(job, index);
  if (index >= SIDE_COUNT * WIDTH_COUNT * PANELS)
    return false;
  uint64_t unit = at->masked ? BLOCK_BYTES : COLUMN, all = round_up(at->keys, unit);
  uint64_t rows = min_u64(sides[index / PANELS / WIDTH_COUNT], round_up(at->rows, COLUMN));
  uint64_t cols = min_u64(widths[index / PANELS % WIDTH_COUNT], all);
  attention_give(job, ATTENTION_ROWS, rows);
  attention_give(job, ATTENTION_COLS, cols);
  attention_give(job, ATTENTION_PANEL, index % PANELS ? job->value[ATTENTION_COLS].size : all);
  attention_give(job, ATTENTION_SPLITS, 1);
  attention_coupled_give_rest(job);
  return true;
}

/* ---- cost ---- */

/* A step, and what a task has beside its steps, in cycles of a core. */
struct estimate {
  const struct vinci_soc *soc;
  const struct attention *at;
  struct attention_tiling t;
  uint64_t steps; /* of the longest core, in thousandths of whole ones */
  uint64_t tasks, panels;
  uint64_t cube, mte1, scores, update, mte3; /* of a step */
  uint64_t rows, result, store;              /* of a task: Q, division, O */
  uint64_t keys, values;                     /* of a panel */
  /* Which the scalar unit issues: of a step, a task, a panel. */
  uint64_t instructions, task_instructions, panel_instructions;
};

static uint64_t rate_cycles(const struct path_cost *path, uint64_t bytes) {
  return path->mbytes_per_cycle ? bytes * MILLI / (uint64_t)path->mbytes_per_cycle : 0;
}

static uint64_t start_cycles(const struct path_cost *path) {
  return (uint64_t)path->startup_mcycles / MILLI;
}

uint64_t attention_pass_cycles(const struct vinci_soc *soc, enum vector_class kind,
                               uint64_t words) {
  const struct vector_class_cost *cost = &soc->vector_class[kind];
  return ((uint64_t)cost->startup_mcycles +
          ceil_div(words, ROWWISE_LANES) * (uint64_t)cost->per_repeat_mcycles) /
         MILLI;
}

/* Halves of columns until a single column is left. */
static uint64_t levels_of(const struct attention_tiling *t) {
  uint64_t levels = 0;
  for (uint64_t count = t->cols / COLUMN; count > 1; count = ceil_div(count, 2))
    levels++;
  return levels;
}

/* Rows of fractals of A and of B of a tile, flags and the product. */
static uint64_t tile_instructions(uint64_t high, uint64_t deep) { return high + deep + 6; }

static void cube_step(struct estimate *x) {
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  const struct attention_coupled *p = &t->coupled;
  uint64_t depth = t->depth_k + t->depth + COLUMN, high = t->rows / COLUMN;
  uint64_t score_tiles = ceil_div(t->cols, p->score_keys);
  uint64_t score_parts = score_tiles * ceil_div(t->depth_k, ATTENTION_SIDE);
  uint64_t parts = ceil_div(t->depth + COLUMN, p->value_columns);
  uint64_t value_parts = ceil_div(t->cols, p->value_keys) * parts;
  uint64_t fractals = high * (t->cols / COLUMN) * (depth / COLUMN);
  x->cube = (fractals * x->at->cube_mcycles +
             (score_parts + value_parts) * (uint64_t)soc->cube_issue_mcycles) /
            MILLI;
  uint64_t a_bytes = t->rows * HALF_BYTES * (score_tiles * t->depth_k + parts * t->cols);
  uint64_t a_loads = (score_parts + value_parts) * high;
  uint64_t b_loads = score_tiles * (t->depth_k / COLUMN) + t->cols / COLUMN * parts;
  x->mte1 = rate_cycles(&soc->path[PATH_L1_L0A], a_bytes) +
            rate_cycles(&soc->path[PATH_L1_L0B], t->cols * depth * HALF_BYTES) +
            a_loads * start_cycles(&soc->path[PATH_L1_L0A]) +
            b_loads * start_cycles(&soc->path[PATH_L1_L0B]);
  const struct path_cost *out = &soc->path[PATH_UB_L1];
  x->mte3 = start_cycles(out) + rate_cycles(out, t->rows * t->cols * HALF_BYTES);
  x->instructions += score_tiles * 5;
  x->instructions +=
      score_parts * tile_instructions(high, min_u64(t->depth_k, ATTENTION_SIDE) / COLUMN);
  x->instructions += value_parts * tile_instructions(high, p->value_keys / COLUMN);
}

/* Passes over scores: scale, the tree of maxima, difference, exp, type. Short ones on a column: the
 * tree's last, type, blocks, transposition, type, and with several steps the factor. */
static void vector_step(struct estimate *x) {
  const uint64_t short_passes = 5, factor_passes = 4;
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  const struct path_cost *from = &soc->path[PATH_L0C_UB];
  uint64_t words = t->rows * t->cols, column = t->rows * COLUMN;
  uint64_t values = column * (t->depth / COLUMN + 1);
  bool single = attention_is_single(x->at, t);
  x->scores = rate_cycles(from, words * ACCUMULATOR_BYTES) +
              ceil_div(t->cols, t->coupled.score_keys) * start_cycles(from);
  x->scores += (x->at->scale != 1) * attention_pass_cycles(soc, VECTOR_CLASS_ONE, words);
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_TWO, words) * 2;
  x->scores += levels_of(t) * attention_pass_cycles(soc, VECTOR_CLASS_TWO, 0);
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_EXP32, words);
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_ONE, words);
  x->scores += (short_passes + (single ? 0 : factor_passes)) *
               attention_pass_cycles(soc, VECTOR_CLASS_TWO, column);
  if (x->at->masked)
    x->scores += attention_pass_cycles(soc, VECTOR_CLASS_ONE, words) +
                 attention_pass_cycles(soc, VECTOR_CLASS_FIVE, words);
  x->update = rate_cycles(from, values * ACCUMULATOR_BYTES) + start_cycles(from);
  if (!single)
    x->update += 2 * attention_pass_cycles(soc, VECTOR_CLASS_TWO, values);
  x->result = attention_pass_cycles(soc, VECTOR_CLASS_DIVIDE32, values) +
              attention_pass_cycles(soc, VECTOR_CLASS_ONE, values);
  x->result += x->at->statistics * 2 * attention_pass_cycles(soc, VECTOR_CLASS_ONE, column);
}

/* What the vector unit is told, with flags, masks, barriers and copies, as coupled.c and
 * coupled_vector.c write them: of a step, of a task, of rows of K and V. */
static void count_instructions(struct estimate *x) {
  const uint64_t of_step = 42, of_level = 3, of_factor = 16, of_mask = 10, of_edge = 4;
  const uint64_t of_task = 22, of_stage = 5, of_statistics = 6;
  const struct attention_tiling *t = &x->t;
  uint64_t wide = t->depth / COLUMN, columns = t->cols / COLUMN, groups = t->rows / 4;
  x->instructions += of_step + levels_of(t) * of_level + min_u64(columns, groups);
  if (!attention_is_single(x->at, t))
    x->instructions += of_factor + min_u64(wide + 1, groups);
  if (x->at->masked)
    x->instructions += of_mask + columns;
  if (x->at->statistics)
    x->instructions += of_statistics;
  x->task_instructions = of_task + t->depth_k / COLUMN + min_u64(wide, groups) + wide;
  if (x->at->causal)
    x->task_instructions +=
        attention_has_triangle(x->at) ? of_edge * t->rows / COLUMN : of_edge * t->rows;
  uint64_t keys = min_u64(t->panel, x->at->keys);
  x->panel_instructions =
      ceil_div(keys, attention_stage_rows(t->depth)) * (of_stage + wide) +
      ceil_div(keys, attention_stage_rows(t->depth_k)) * (of_stage + t->depth_k / COLUMN);
}

/* Rows of a panel to UB and on to L1. */
static uint64_t stage_cycles(const struct path_cost *path, uint64_t rows, uint64_t depth) {
  uint64_t stages = ceil_div(rows, attention_stage_rows(depth));
  return stages * start_cycles(path) + rate_cycles(path, rows * depth * HALF_BYTES);
}

static void copies(struct estimate *x) {
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  const struct path_cost *rows = &soc->path[PATH_GM_L1], *out = &soc->path[PATH_UB_GM];
  const struct path_cost *in = &soc->path[PATH_GM_UB];
  uint64_t wide_k = t->depth_k / COLUMN, wide = t->depth / COLUMN;
  uint64_t keys = min_u64(t->panel, x->at->keys);
  x->rows = wide_k * start_cycles(rows) + rate_cycles(rows, t->rows * t->depth_k * HALF_BYTES);
  x->keys = stage_cycles(in, keys, t->depth_k);
  x->values = stage_cycles(in, keys, t->depth);
  x->store = wide * start_cycles(out) + rate_cycles(out, t->rows * t->depth * HALF_BYTES);
}

/* Steps of the core that has the most. */
static void count_steps(struct estimate *x) {
  const struct attention *at = x->at;
  const struct attention_tiling *t = &x->t;
  uint64_t first = 0, keys = 0, longest = 0;
  x->tasks = ceil_div(t->tasks, t->cores);
  for (uint64_t cores = t->cores; at->causal && cores > 0; cores--) {
    first += attention_range(at, t, first, cores, &keys);
    longest = max_u64(longest, keys);
  }
  if (!at->causal)
    longest = x->tasks * at->keys;
  x->steps = max_u64(MILLI, longest * MILLI / t->cols);
  uint64_t of_head = at->group * t->row_blocks;
  x->panels =
      attention_is_resident(at, t) ? 1 + (x->tasks - 1) / of_head : ceil_div(x->steps, MILLI);
}

/* Bytes of all cores: the operands as often as they are loaded, and the result. */
static uint64_t gm_bytes(const struct estimate *x) {
  const struct attention_tiling *t = &x->t;
  uint64_t rows = x->at->batch * x->at->heads * x->at->rows * (t->depth_k + t->depth);
  uint64_t keys = x->panels * t->cores * min_u64(t->panel, x->at->keys) * (t->depth_k + t->depth);
  return (rows + keys) * HALF_BYTES;
}

bool attention_coupled_cost(struct lower_job *job) {
  struct estimate x = {.soc = job->soc, .at = job->data};
  if (x.at->gradient)
    return attention_coupled_grad_cost(job);
  if (!attention_tiling(job, &x.t))
    return false;
  const struct attention_tiling *t = &x.t;
  const struct attention *at = x.at;
  cube_step(&x);
  vector_step(&x);
  count_instructions(&x);
  copies(&x);
  count_steps(&x);
  uint64_t operands = at->batch * (at->heads * at->rows + at->heads / at->group * at->keys) *
                      (t->depth_k + t->depth) * HALF_BYTES;
  uint64_t vector = x.steps * (x.scores + x.update) / MILLI + x.tasks * x.result;
  uint64_t cube = x.steps * max_u64(x.cube, x.mte1) / MILLI;
  uint64_t loads = x.tasks * x.rows + x.panels * (x.keys + x.values);
  uint64_t stores = x.steps * x.mte3 / MILLI + x.tasks * x.store;
  /* Before the first probabilities, and behind the last. */
  uint64_t begin = estimate_start(job->soc, KERNEL_ATTENTION, t->cores) + x.rows + x.keys +
                   max_u64(x.cube, x.mte1);
  uint64_t end = x.mte3 + max_u64(x.cube, x.mte1) / 2 + x.store;
  uint64_t scalar = kernel_issue_cycles(job->soc, KERNEL_ATTENTION) *
                    (x.steps * x.instructions / MILLI + x.tasks * x.task_instructions +
                     x.panels * x.panel_instructions);
  uint64_t longest = max_u64(max_u64(max_u64(vector, scalar), cube), max_u64(loads, stores));
  uint64_t memory = estimate_memory(job->soc, operands, 0);
  job->cost = (struct lower_cost){
      .total_cycles =
          max_u64(longest, memory) + begin + end + launch_cycles(job->soc, CORE_AICORE, t->cores),
      .cube_cycles = x.steps * x.cube / MILLI,
      .vector_cycles = vector,
      .mte1_cycles = x.steps * x.mte1 / MILLI,
      .mte2_cycles = loads,
      .mte3_cycles = stores,
      .gm_bytes = gm_bytes(&x),
      .blocks = (uint32_t)t->cores,
      .shares = t->tasks,
  };
  return true;
}
