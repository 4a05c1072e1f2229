/* SPDX-License-Identifier: Apache-2.0 */
/* What tilings of attention on coupled cores are expected to cost. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/rows/rowwise.h"

enum { COLUMN = FRACTAL_ROWS };

/* A step, and what a task has beside its steps, in cycles of a core. */
struct estimate {
  const struct vinci_soc *soc;
  const struct attention *at;
  struct attention_tiling t;
  uint64_t steps; /* of the longest core, in thousandths of whole ones */
  uint64_t turns; /* the same, where a step of fewer keys is one too */
  uint64_t tasks, panels;
  uint64_t cube, mte1, scores, mte3; /* of a whole step, in proportion to its keys */
  uint64_t turn;                     /* of the vector unit in each step */
  uint64_t rows, result, store;      /* of a task: Q, division, O */
  uint64_t keys, values;             /* of a panel */
  /* Which the scalar unit issues: of a step, a task, a panel. */
  uint64_t instructions, turn_instructions, task_instructions, panel_instructions;
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

/* Passes over scores: scale, difference, exp, type; and the tree of maxima, over all columns in a
 * step of fewer keys too. Short ones on a column: the tree's last, type, blocks, transposition,
 * type, and with several steps the factor. */
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
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_TWO, words);
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_EXP32, words);
  x->scores += attention_pass_cycles(soc, VECTOR_CLASS_ONE, words);
  if (x->at->masked)
    x->scores += attention_pass_cycles(soc, VECTOR_CLASS_ONE, words) +
                 attention_pass_cycles(soc, VECTOR_CLASS_FIVE, words);
  x->turn = attention_pass_cycles(soc, VECTOR_CLASS_TWO, words) +
            levels_of(t) * attention_pass_cycles(soc, VECTOR_CLASS_TWO, 0) +
            (short_passes + (single ? 0 : factor_passes)) *
                attention_pass_cycles(soc, VECTOR_CLASS_TWO, column);
  x->turn += rate_cycles(from, values * ACCUMULATOR_BYTES) + start_cycles(from);
  if (!single)
    x->turn += 2 * attention_pass_cycles(soc, VECTOR_CLASS_TWO, values);
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
  x->turn_instructions += of_step + levels_of(t) * of_level + min_u64(columns, groups);
  if (!attention_is_single(x->at, t))
    x->turn_instructions += of_factor + min_u64(wide + 1, groups);
  if (x->at->masked)
    x->turn_instructions += of_mask + columns;
  if (x->at->statistics)
    x->turn_instructions += of_statistics;
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

uint64_t attention_coupled_task_keys(const struct vinci_soc *soc, const struct attention *at,
                                     const struct attention_tiling *t) {
  struct estimate x = {.soc = soc, .at = at, .t = *t};
  vector_step(&x);
  if (attention_is_single(at, t))
    return (x.turn + x.result) * t->cols / x.scores;
  return (x.turn / 2 + x.result) * t->cols / (x.scores + x.turn);
}

/* Steps of the core that has the most to do. */
static void count_steps(struct estimate *x) {
  const struct attention *at = x->at;
  const struct attention_tiling *t = &x->t;
  uint64_t first = 0, keys = 0, most = 0;
  x->tasks = ceil_div(t->tasks, t->cores);
  uint64_t longest = x->tasks * at->keys;
  for (uint64_t cores = t->cores; at->causal && cores > 0; cores--) {
    uint64_t tasks = attention_range(at, t, first, cores, &keys);
    first += tasks;
    if (keys <= most)
      continue;
    most = keys;
    x->tasks = tasks;
    longest = keys - tasks * t->task_keys;
  }
  x->steps = longest * MILLI / t->cols;
  /* The last step of a task at the diagonal is half a step on the mean. */
  x->turns = at->causal ? max_u64(x->tasks, ceil_div(longest, t->cols) + x->tasks / 2)
                        : x->tasks * ceil_div(at->keys, t->cols);
  uint64_t of_head = at->group * t->row_blocks;
  x->panels = attention_is_resident(at, t) ? 1 + (x->tasks - 1) / of_head : x->turns;
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
  uint64_t vector = x.steps * x.scores / MILLI + x.turns * x.turn + x.tasks * x.result;
  uint64_t cube = x.steps * max_u64(x.cube, x.mte1) / MILLI;
  uint64_t loads = x.tasks * x.rows + x.panels * (x.keys + x.values);
  uint64_t stores = x.steps * x.mte3 / MILLI + x.tasks * x.store;
  /* Before the first probabilities, and behind the last. */
  uint64_t begin = estimate_start(job->soc, KERNEL_ATTENTION, t->cores) + x.rows + x.keys +
                   max_u64(x.cube, x.mte1);
  uint64_t end = x.mte3 + max_u64(x.cube, x.mte1) / 2 + x.store;
  uint64_t scalar = kernel_issue_cycles(job->soc, KERNEL_ATTENTION) *
                    (x.steps * x.instructions / MILLI + x.turns * x.turn_instructions +
                     x.tasks * x.task_instructions + x.panels * x.panel_instructions);
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
