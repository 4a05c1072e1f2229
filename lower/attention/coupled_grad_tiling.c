/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention_grad on coupled cores: what is legal, candidates, and what a tiling costs. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/rows/rowwise.h"

/* ---- what is legal ---- */

static void lay_out(const struct attention *at, struct attention_tiling *t) {
  struct attention_coupled *p = &t->coupled;
  uint64_t used = 0, column = t->rows * FRACTAL_ROWS * WORD_BYTES, step = t->rows * t->cols;
  p->scores = vtile_reserve(&used, step * WORD_BYTES);
  p->product = vtile_reserve(&used, step * WORD_BYTES);
  p->probabilities = vtile_reserve(&used, step * HALF_BYTES);
  p->gradients = vtile_reserve(&used, step * HALF_BYTES);
  p->result = vtile_reserve(&used, max_u64(t->rows, t->cols) * t->depth * WORD_BYTES);
  p->numbers = vtile_reserve(&used, ATTENTION_PAIR * ATTENTION_ROW_NUMBERS * column);
  p->triangle = vtile_reserve(&used, at->causal ? FRACTAL_ROWS * FRACTAL_ROWS * WORD_BYTES : 0);
  p->stage_bytes = attention_stage_rows(t->depth) * t->depth * HALF_BYTES;
  p->stage = vtile_reserve(&used, ATTENTION_PAIR * p->stage_bytes);
  t->ub_bytes = used;
}

static void derive(const struct lower_job *job, struct attention_tiling *t) {
  const struct attention *at = job->data;
  t->depth = at->depth;
  t->depth_k = at->depth_k;
  t->splits = 1;
  t->row_blocks = ceil_div(at->rows, t->rows);
  t->tasks = at->batch * at->heads / at->group * ceil_div(at->keys, t->cols);
  t->cores = min_u64(t->cores, t->tasks);
  lay_out(at, t);
}

static bool fits(struct lower_job *job, const struct attention_tiling *t) {
  const struct vinci_soc *soc = job->soc;
  uint64_t tile = ATTENTION_PAIR * ATTENTION_SIDE * ATTENTION_SIDE * HALF_BYTES;
  uint64_t operands = 2 * (t->rows + t->cols) * t->depth, answers = 2 * t->rows * t->cols;
  uint64_t products = answers + (t->rows + 2 * t->cols) * t->depth;
  if (ATTENTION_PAIR * (operands + answers) * HALF_BYTES > (uint64_t)soc->l1_bytes)
    return lower_refuse(job, "the operands do not fit L1");
  if (tile > (uint64_t)soc->l0a_bytes || tile > (uint64_t)soc->l0b_bytes)
    return lower_refuse(job, "two tiles do not fit L0A or L0B");
  if (products * ACCUMULATOR_BYTES > (uint64_t)soc->l0c_bytes)
    return lower_refuse(job, "the products do not fit L0C");
  if (attention_grad_slice(soc, t->depth) == 0)
    return lower_refuse(job, "UB is too small for the rows");
  return vtile_ub_holds(job, "the step", t->ub_bytes);
}

bool attention_coupled_grad_tiling(struct lower_job *job, struct attention_tiling *t) {
  if (t->rows % FRACTAL_ROWS || t->rows > ATTENTION_COUPLED_ROWS)
    return lower_refuse(job, "rows have to be a multiple of %d, at most %d", FRACTAL_ROWS,
                        ATTENTION_COUPLED_ROWS);
  if (t->cols % FRACTAL_ROWS || t->cols > ATTENTION_SIDE || t->panel != t->cols)
    return lower_refuse(job,
                        "cols have to be a multiple of %d, at most %d, and a panel is that many",
                        FRACTAL_ROWS, ATTENTION_SIDE);
  if (t->slice != t->rows)
    return lower_refuse(job, "a slice is all rows");
  if (t->diagonal != DIAGONAL_TRIM)
    return lower_refuse(job, "diagonal is trim");
  if (!lower_has_cores(job, t->cores, CORE_AICORE))
    return false;
  derive(job, t);
  return fits(job, t);
}

/* ---- candidates ---- */

static const uint8_t sides[] = {112, 96, 80, 64, 48, 32, 16};
static const uint8_t widths[] = {128, 112, 96, 80, 64, 48, 32, 16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, WIDTH_COUNT = sizeof widths / sizeof *widths };

bool attention_coupled_grad_candidate(struct lower_job *job, size_t index) {
  const struct attention *at = job->data;
  if (index >= SIDE_COUNT * WIDTH_COUNT)
    return false;
  attention_give(job, ATTENTION_ROWS,
                 min_u64(sides[index / WIDTH_COUNT], round_up(at->rows, FRACTAL_ROWS)));
  attention_give(job, ATTENTION_COLS,
                 min_u64(widths[index % WIDTH_COUNT], round_up(at->keys, FRACTAL_ROWS)));
  attention_give(job, ATTENTION_PANEL, job->value[ATTENTION_COLS].size);
  attention_coupled_give_rest(job);
  return true;
}

/* ---- cost ---- */

/* Cycles of a core: of a step, and what a task has beside its steps. */
struct estimate {
  const struct vinci_soc *soc;
  const struct attention *at;
  struct attention_tiling t;
  uint64_t tasks, steps; /* of the core that has the most */
  uint64_t cube, mte1, vector, mte2, mte3;
  uint64_t keys_in, keys_out, keys_vector; /* of a task */
  uint64_t instructions, task_instructions;
};

static uint64_t copy_cycles(const struct path_cost *path, uint64_t copies, uint64_t bytes) {
  uint64_t rate = (uint64_t)path->mbytes_per_cycle;
  return copies * (uint64_t)path->startup_mcycles / MILLI + (rate ? bytes * MILLI / rate : 0);
}

/* The same of copies that follow each other. */
static uint64_t stream_cycles(const struct path_cost *path, uint64_t copies, uint64_t bytes) {
  uint64_t issue = copies * (uint64_t)path->overlap_issue_mcycles;
  return copy_cycles(path, 1, bytes) + issue / MILLI;
}

static void cube_step(struct estimate *x) {
  const uint64_t products = 5;
  const struct attention_tiling *t = &x->t;
  const struct path_cost *a = &x->soc->path[PATH_L1_L0A], *b = &x->soc->path[PATH_L1_L0B];
  uint64_t high = t->rows / FRACTAL_ROWS, wide = t->cols / FRACTAL_ROWS;
  uint64_t deep = t->depth / FRACTAL_ROWS;
  x->cube = products *
            (high * wide * deep * x->at->cube_mcycles + (uint64_t)x->soc->cube_issue_mcycles) /
            MILLI;
  uint64_t a_loads = 3 * high + 2 * wide, b_loads = 2 * deep + 2 * high + wide;
  uint64_t rows_bytes = high * deep * FRACTAL_BYTES, keys_bytes = wide * deep * FRACTAL_BYTES;
  x->mte1 = copy_cycles(a, a_loads, 2 * rows_bytes + 3 * high * wide * FRACTAL_BYTES) +
            copy_cycles(b, b_loads, 3 * keys_bytes + 2 * rows_bytes);
  x->instructions += a_loads + b_loads;
}

/* Passes over scores and dP: scale, two differences, exp, product, two types. */
static void vector_step(struct estimate *x) {
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  const struct path_cost *from = &soc->path[PATH_L0C_UB];
  uint64_t words = t->rows * t->cols, column = t->rows * FRACTAL_ROWS;
  uint64_t groups = t->rows / 4, wide = t->cols / FRACTAL_ROWS;
  x->vector = copy_cycles(from, 3, (2 * words + t->rows * t->depth) * ACCUMULATOR_BYTES);
  x->vector += attention_pass_cycles(soc, VECTOR_CLASS_EXP32, column);
  x->vector += attention_pass_cycles(soc, VECTOR_CLASS_TWO, column);
  x->vector += (x->at->scale != 1) * attention_pass_cycles(soc, VECTOR_CLASS_ONE, words);
  x->vector += 2 * attention_pass_cycles(soc, VECTOR_CLASS_TWO, words);
  x->vector += attention_pass_cycles(soc, VECTOR_CLASS_EXP32, words);
  x->vector += attention_pass_cycles(soc, VECTOR_CLASS_MULTIPLY, words);
  x->vector += 2 * attention_pass_cycles(soc, VECTOR_CLASS_ONE, words);
  x->keys_vector = 2 * (copy_cycles(from, 1, t->cols * t->depth * ACCUMULATOR_BYTES) +
                        2 * attention_pass_cycles(soc, VECTOR_CLASS_ONE, t->cols * t->depth));
  x->instructions += 2 * min_u64(wide, groups);
}

/* Rows of Q and dY to L1, numbers of rows; P and dS; dQ. */
static void copies(struct estimate *x) {
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  const struct path_cost *in = &soc->path[PATH_GM_UB], *to_l1 = &soc->path[PATH_UB_L1];
  const struct path_cost *out = &soc->path[PATH_UB_GM];
  uint64_t deep = t->depth / FRACTAL_ROWS, stage = attention_stage_rows(t->depth);
  uint64_t key_stages = 2 * ceil_div(t->cols, stage);
  uint64_t row_bytes = t->depth * HALF_BYTES, number_copies = 2 * ATTENTION_ROW_NUMBERS;
  x->mte2 = stream_cycles(&soc->path[PATH_GM_L1], 2 * deep, 2 * t->rows * row_bytes) +
            stream_cycles(in, number_copies, number_copies * t->rows * BLOCK_BYTES);
  x->mte3 = copy_cycles(to_l1, 2, 2 * t->rows * t->cols * HALF_BYTES) +
            copy_cycles(out, deep, t->rows * t->depth * WORD_BYTES);
  x->keys_in = copy_cycles(in, key_stages, 2 * t->cols * row_bytes) +
               copy_cycles(to_l1, key_stages * deep, 2 * t->cols * row_bytes);
  x->keys_out = copy_cycles(out, 2 * deep, 2 * t->cols * row_bytes);
  x->instructions += 2 * deep + number_copies + deep;
  x->task_instructions += key_stages * (5 + deep) + 2 * deep;
}

/* Blocks of rows that see a task's keys. */
static uint64_t blocks_of(const struct attention *at, const struct attention_tiling *t,
                          uint64_t task) {
  uint64_t key = task / (at->batch * at->heads / at->group) * t->cols, hidden = at->keys - at->rows;
  return t->row_blocks - (at->causal && key > hidden ? (key - hidden) / t->rows : 0);
}

/* Steps of the core that has the most: rounds of tasks, in turn forwards and backwards. */
static void count_steps(struct estimate *x) {
  const struct attention_tiling *t = &x->t;
  x->tasks = ceil_div(t->tasks, t->cores);
  for (uint64_t core = 0; core < t->cores; core++) {
    uint64_t blocks = 0;
    for (uint64_t round = 0; round < x->tasks; round++) {
      uint64_t task = round * t->cores + (round % 2 ? t->cores - 1 - core : core);
      blocks += task < t->tasks ? blocks_of(x->at, t, task) : 0;
    }
    x->steps = max_u64(x->steps, blocks * x->at->group);
  }
}

bool attention_coupled_grad_cost(struct lower_job *job) {
  const uint64_t of_step = 60, of_task = 26;
  struct estimate x = {
      .soc = job->soc, .at = job->data, .instructions = of_step, .task_instructions = of_task};
  if (!attention_tiling(job, &x.t))
    return false;
  const struct attention_tiling *t = &x.t;
  const struct attention *at = x.at;
  cube_step(&x);
  vector_step(&x);
  copies(&x);
  count_steps(&x);
  uint64_t rows = at->batch * at->heads * at->rows,
           keys = at->batch * at->heads / at->group * at->keys;
  uint64_t vector = x.steps * x.vector + x.tasks * x.keys_vector;
  uint64_t cube = x.steps * max_u64(x.cube, x.mte1);
  uint64_t loads = x.steps * x.mte2 + x.tasks * x.keys_in;
  uint64_t stores = x.steps * x.mte3 + x.tasks * x.keys_out;
  uint64_t scalar = kernel_issue_cycles(job->soc, KERNEL_ATTENTION) *
                    (x.steps * x.instructions + x.tasks * x.task_instructions);
  uint64_t longest = max_u64(max_u64(max_u64(vector, scalar), cube), max_u64(loads, stores));
  uint64_t operands = (2 * rows + 4 * keys) * t->depth * HALF_BYTES;
  uint64_t begin = estimate_start(job->soc, KERNEL_ATTENTION, t->cores) + x.keys_in + x.mte2 +
                   max_u64(x.cube, x.mte1) + x.vector;
  uint64_t end = x.mte3 + max_u64(x.cube, x.mte1) + x.keys_vector + x.keys_out;
  job->cost = (struct lower_cost){
      .total_cycles = max_u64(longest, estimate_memory(job->soc, operands, 0)) + begin + end +
                      launch_cycles(job->soc, CORE_AICORE, t->cores) +
                      attention_grad_end(job->soc, at, t->depth, true).cycles +
                      attention_grad_end(job->soc, at, t->depth, false).cycles,
      .cube_cycles = x.steps * x.cube,
      .vector_cycles = vector,
      .mte1_cycles = x.steps * x.mte1,
      .mte2_cycles = loads,
      .mte3_cycles = stores,
      .gm_bytes =
          t->tasks * (at->group * at->rows * t->depth * (2 * HALF_BYTES + WORD_BYTES)) + operands,
      .blocks = (uint32_t)t->cores,
      .shares = t->tasks,
  };
  return true;
}
