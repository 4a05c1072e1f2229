/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash_attention: what is legal, what it costs, candidates.
 *
 * The estimate follows one step through both kinds of core: the pipes of a core overlap, and so do
 * the cores, as each is a step ahead of what it waits for; two steps take at least as long as the
 * way of one through both.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/attention/grad.h"
#include "traces/lower/estimate.h"
#include "traces/lower/vector/rows.h"

/* Blocks from row to row of parts, when they are joined. */
enum { ROW_STRIDE_MAX = 255 };
enum { SHARED = 2, WORD_BYTES = 4, HALF_BYTES = 2, ROW_UNIT = 8, VECTORS = 2 };

/* A buffer has two halves: scores, and the products of the result's gradient with V. */
static void lay_out_gradient(struct attention_tiling *t) {
  uint64_t used = 0, row_numbers = 3;
  t->buffer_bytes = 2 * vtile_align(t->slice * t->cols * WORD_BYTES);
  t->buffers = vtile_reserve(&used, ATTENTION_PAIR * t->buffer_bytes);
  t->statistics = vtile_reserve(&used, ATTENTION_PAIR * row_numbers * t->half * BLOCK_BYTES);
  t->ub_bytes = used;
}

/* Scores and probabilities share a buffer, and so do partial values and results. */
static void lay_out(const struct attention *at, struct attention_tiling *t) {
  uint64_t used = 0, slice = t->slice;
  if (at->gradient) {
    lay_out_gradient(t);
    return;
  }
  /* With parts, values leave in single precision and with the numbers of rows. */
  uint64_t values = t->depth + (t->splits > 1 ? 2 * ROW_UNIT : 0);
  t->buffer_bytes = vtile_align(slice * max_u64(t->cols, values) * WORD_BYTES);
  t->buffers = vtile_reserve(&used, ATTENTION_PAIR * t->buffer_bytes);
  t->result = vtile_reserve(&used, t->half * t->depth * WORD_BYTES);
  t->accumulator = vtile_reserve(&used, slice * VROW_LANES * WORD_BYTES);
  t->folded = vtile_reserve(&used, slice * BLOCK_BYTES);
  t->blocks = vtile_reserve(&used, slice * BLOCK_BYTES);
  t->maximum = vtile_reserve(&used, ATTENTION_PAIR * t->half * WORD_BYTES);
  t->sum = vtile_reserve(&used, ATTENTION_PAIR * t->half * WORD_BYTES);
  t->factor = vtile_reserve(&used, ATTENTION_SLOTS * t->half * WORD_BYTES);
  t->fresh = vtile_reserve(&used, slice * WORD_BYTES);
  t->column = vtile_reserve(&used, slice * WORD_BYTES);
  t->ub_bytes = used;
}

static bool fits_cube(struct lower_job *job, const struct attention_tiling *t) {
  const struct vinci_soc *soc = job->soc;
  if (t->l1_slots == 0)
    return lower_refuse(job, "the panels do not fit L1");
  uint64_t tile = ATTENTION_SIDE * ATTENTION_SIDE * HALF_BYTES * ATTENTION_PAIR;
  if (tile > (uint64_t)soc->l0a_bytes || tile > (uint64_t)soc->l0b_bytes)
    return lower_refuse(job, "two tiles do not fit L0A or L0B");
  if (t->c_slots == 0)
    return lower_refuse(job, "the rows do not fit L0C");
  return true;
}

static void derive(const struct lower_job *job, struct attention_tiling *t) {
  const struct attention *at = job->data;
  t->depth = round_up(at->depth, FRACTAL_ROWS);
  t->row_blocks = ceil_div(at->rows, t->rows);
  t->part = round_up(ceil_div(at->keys, t->splits), t->cols);
  t->tasks = at->batch * at->heads * t->row_blocks * t->splits;
  t->cores = min_u64(t->cores, t->tasks);
  t->half = round_up(ceil_div(t->rows, VECTORS), ROW_UNIT);
  uint64_t whole = at->gradient ? 2 : 1; /* Q alone, or with the result's gradient */
  uint64_t l1 = (uint64_t)job->soc->l1_bytes;
  uint64_t q = whole * ATTENTION_PAIR * t->rows * t->depth * HALF_BYTES;
  uint64_t panels =
      t->panel * HALF_BYTES * (at->gradient ? 3 * t->depth + 2 * t->rows : 2 * t->depth + t->rows);
  uint64_t side = at->gradient ? ATTENTION_SIDE : t->rows; /* keys are rows of results, too */
  t->l1_slots = l1 > q ? min_u64((l1 - q) / panels, at->gradient ? 1 : ATTENTION_PAIR) : 0;
  t->c_bytes = side * max_u64(t->depth, ATTENTION_SIDE) * ACCUMULATOR_BYTES;
  t->c_slots = min_u64((uint64_t)job->soc->l0c_bytes / t->c_bytes, ATTENTION_PAIR);
}

/* Whether parts of whole steps are as many as they should be, and rows of them near enough. */
static bool makes_parts(const struct attention *at, uint64_t splits, uint64_t cols) {
  uint64_t part = round_up(ceil_div(at->keys, splits), cols);
  uint64_t row = splits * round_up(at->depth, FRACTAL_ROWS) * WORD_BYTES / BLOCK_BYTES;
  return ceil_div(at->keys, part) == splits && row <= ROW_STRIDE_MAX;
}

static bool splits_are_legal(struct lower_job *job, const struct attention_tiling *t) {
  const struct attention *at = job->data;
  if (t->splits == 1)
    return true;
  if (at->causal || at->statistics)
    return lower_refuse(job, "keys are split only without causal and statistics");
  if (makes_parts(at, t->splits, t->cols))
    return true;
  return lower_refuse(job, "%llu keys do not make %llu parts of whole steps, at most %llu",
                      (ull)at->keys, (ull)t->splits,
                      (ull)(ROW_STRIDE_MAX * BLOCK_BYTES / WORD_BYTES / t->depth));
}

bool attention_tiling(struct lower_job *job, struct attention_tiling *t) {
  const struct lower_value *value = job->value;
  const uint64_t cols_max = VROW_LANES * ROW_UNIT; /* eight of its 64 lanes make one */
  *t = (struct attention_tiling){
      .rows = value[ATTENTION_ROWS].size,
      .cols = value[ATTENTION_COLS].size,
      .panel = value[ATTENTION_PANEL].size,
      .slice = value[ATTENTION_SLICE].size,
      .diagonal = (enum attention_diagonal)value[ATTENTION_DIAGONAL].word,
      .splits = job->op->key_count > ATTENTION_SPLITS ? value[ATTENTION_SPLITS].size : 1,
      .cores = value[ATTENTION_CORES].size,
  };
  if (t->rows % FRACTAL_ROWS || t->rows > ATTENTION_SIDE)
    return lower_refuse(job, "rows have to be a multiple of %d, at most %d", FRACTAL_ROWS,
                        ATTENTION_SIDE);
  if (t->cols % VROW_LANES || t->cols > cols_max)
    return lower_refuse(job, "cols have to be a multiple of %d, at most %d", VROW_LANES,
                        (int)cols_max);
  if (t->panel % FRACTAL_ROWS || t->cols % t->panel ||
      (t->panel > ATTENTION_SIDE && t->panel % ATTENTION_SIDE))
    return lower_refuse(job, "cols have to be whole panels, of up to %d keys or a multiple of it",
                        ATTENTION_SIDE);
  uint64_t cores = soc_core_count(job->soc, CORE_AIC);
  if (t->cores > cores)
    return lower_refuse(job, "there are only %u cores", (unsigned)cores);
  derive(job, t);
  if (!splits_are_legal(job, t))
    return false;
  if (t->slice % ROW_UNIT || t->slice > t->half)
    return lower_refuse(job, "a slice is a multiple of %d rows, at most half of the task's",
                        ROW_UNIT);
  if (!fits_cube(job, t))
    return false;
  lay_out(job->data, t);
  const struct attention *at = job->data;
  if (at->gradient && attention_grad_slice(job->soc, t->depth) == 0)
    return lower_refuse(job, "UB is too small for rows of %llu elements", (ull)at->depth);
  if (t->ub_bytes > vtile_ub_bytes(job->soc))
    return lower_refuse(job, "the slice takes %llu bytes of UB, there are %llu", (ull)t->ub_bytes,
                        (ull)vtile_ub_bytes(job->soc));
  return true;
}

/* ---- cost ---- */

/* Work of one step of whole rows, in cycles of one core. */
struct step {
  uint64_t cube, mte1, mte2, fix; /* AIC */
  uint64_t softmax, update;       /* V */
  uint64_t in, out;               /* AIV */
};

static uint64_t path_cycles(const struct vinci_soc *soc, enum path path, uint64_t start_mcycles,
                            uint64_t bytes) {
  const struct path_cost *cost = &soc->path[path];
  uint64_t rate = (uint64_t)cost->mbytes_per_cycle;
  uint64_t cycles = start_mcycles / MILLI + (rate ? bytes * MILLI / rate : 0);
  return max_u64(cycles, (uint64_t)cost->minimum_mcycles / MILLI);
}

static void cube_step(const struct vinci_soc *soc, const struct attention *at,
                      const struct attention_tiling *t, struct step *step) {
  uint64_t fractals = t->rows / FRACTAL_ROWS * (t->cols / FRACTAL_ROWS) * (t->depth / FRACTAL_ROWS);
  uint64_t tiles = ceil_div(t->cols, ATTENTION_SIDE) * ceil_div(t->depth, ATTENTION_SIDE);
  uint64_t panels = t->cols / t->panel, wide = (uint64_t)soc->nd2nz_startup_mcycles;
  step->cube =
      2 * (fractals * at->cube_mcycles + tiles * (uint64_t)soc->cube_issue_mcycles) / MILLI;
  step->mte1 = 2 * (path_cycles(soc, PATH_L1_L0A, 0, t->rows * t->cols * HALF_BYTES) +
                    path_cycles(soc, PATH_L1_L0B, 0, t->depth * t->cols * HALF_BYTES));
  step->mte2 = panels * (2 * path_cycles(soc, PATH_GM_L1, wide, t->panel * t->depth * HALF_BYTES) +
                         path_cycles(soc, PATH_GM_L1, wide, t->panel * t->rows * HALF_BYTES));
  step->fix = path_cycles(soc, PATH_L0C_GM, 0, t->rows * (t->cols + t->depth) * WORD_BYTES);
}

/* Passes over scores: scale, maximum, sum, type; difference, whose operands share banks; exp. */
static void vector_step(const struct vinci_soc *soc, const struct attention_tiling *t,
                        struct step *step) {
  const uint64_t passes = 4, ordered = 14, update_ordered = 4; /* in the order of instructions */
  const struct vector_class_cost *exp = &soc->vector_class[VECTOR_CLASS_EXP32];
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  uint64_t rows = t->rows / VECTORS, slices = ceil_div(rows, t->slice);
  uint64_t repeats = rows * t->cols / VROW_LANES;
  step->softmax = repeats * (passes + SHARED + (uint64_t)exp->per_repeat_mcycles / MILLI) +
                  slices * (start * ordered + 2 * t->slice);
  step->update =
      rows * ceil_div(t->depth, VROW_LANES) * 2 * SHARED + slices * start * update_ordered;
  uint64_t in = (uint64_t)soc->path[PATH_GM_UB].startup_mcycles;
  uint64_t out = (uint64_t)soc->path[PATH_UB_GM].startup_mcycles;
  step->in = slices * (path_cycles(soc, PATH_GM_UB, in, t->slice * t->cols * WORD_BYTES) +
                       path_cycles(soc, PATH_GM_UB, in, t->slice * t->depth * WORD_BYTES));
  step->out = slices * path_cycles(soc, PATH_UB_GM, out, t->slice * t->cols * HALF_BYTES);
}

void attention_work(const struct attention *at, const struct attention_tiling *t, uint64_t *keys,
                    uint64_t *steps) {
  *keys = t->row_blocks * at->keys;
  *steps = t->row_blocks * ceil_div(at->keys, t->cols);
  if (!at->causal)
    return;
  *keys = *steps = 0;
  for (uint64_t r = 0; r < t->row_blocks; r++) {
    uint64_t limit = min_u64((r + 1) * t->rows, at->rows) + at->keys - at->rows;
    if (t->diagonal == DIAGONAL_WHOLE)
      limit = min_u64(round_up(limit, t->cols), at->keys);
    *keys += limit;
    *steps += ceil_div(limit, t->cols);
  }
}

/* Some copies and a dozen short instructions for each slice. */
static uint64_t join_slice_cycles(const struct vinci_soc *soc, const struct attention *at,
                                  const struct attention_tiling *t, uint64_t rows) {
  const uint64_t copies = 4, instructions = 12;
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  uint64_t bytes = min_u64(rows, at->rows) * t->splits * t->depth * WORD_BYTES;
  uint64_t copy = (uint64_t)soc->path[PATH_GM_UB].startup_mcycles;
  return copies * path_cycles(soc, PATH_GM_UB, copy, bytes / copies) +
         (instructions + 4 * t->splits) * start;
}

uint64_t attention_join_cores(const struct vinci_soc *soc, const struct attention *at,
                              const struct attention_tiling *t, uint64_t rows) {
  return launch_cores(soc, soc_core_count(soc, CORE_AIV),
                      at->batch * at->heads * ceil_div(at->rows, rows),
                      join_slice_cycles(soc, at, t, rows));
}

/* The second kernel. */
static uint64_t join_cycles(const struct vinci_soc *soc, const struct attention *at,
                            const struct attention_tiling *t) {
  return launch_work_cycles(soc, soc_core_count(soc, CORE_AIV),
                            at->batch * at->heads * t->row_blocks,
                            join_slice_cycles(soc, at, t, t->rows));
}

uint64_t attention_cube_cycles(const struct attention_tiling *t, uint64_t cube, uint64_t mte1,
                               uint64_t mte2, uint64_t fix) {
  uint64_t loads = t->l1_slots > 1 ? max_u64(mte1, mte2) : mte1 + mte2;
  uint64_t results = t->c_slots > 1 ? max_u64(cube, fix) : cube + fix;
  return max_u64(loads, results);
}

bool attention_cost(struct lower_job *job) {
  const struct attention *at = job->data;
  const struct vinci_soc *soc = job->soc;
  struct attention_tiling t;
  struct step step;
  uint64_t keys, steps;
  if (!attention_tiling(job, &t))
    return false;
  cube_step(soc, at, &t, &step);
  vector_step(soc, &t, &step);
  attention_work(at, &t, &keys, &steps);
  uint64_t heads = at->batch * at->heads, signal = (uint64_t)soc->cross_core_cycles;
  /* Steps of a core: its share, but whole tasks where all are alike. */
  uint64_t share = at->causal ? ceil_div(heads * steps, t.cores)
                              : ceil_div(t.tasks, t.cores) * ceil_div(t.part, t.cols);
  /* If all had `cols` keys, in thousandths. */
  uint64_t whole = max_u64(MILLI, share * keys * MILLI / (steps * t.cols));
  uint64_t cube = attention_cube_cycles(&t, step.cube, step.mte1, step.mte2, step.fix);
  uint64_t vector = max_u64(step.softmax + step.update, max_u64(step.in, step.out));
  uint64_t ends = (step.in + step.out) / ceil_div(t.rows / VECTORS, t.slice);
  uint64_t chain = (cube + ends + step.softmax + step.update + 3 * signal) / 2;
  struct lower_cost *cost = &job->cost;
  *cost = (struct lower_cost){
      .cube_cycles = whole * step.cube / MILLI,
      .vector_cycles = whole * (step.softmax + step.update) / MILLI,
      .mte1_cycles = whole * step.mte1 / MILLI,
      .mte2_cycles = whole * max_u64(step.mte2, step.in) / MILLI,
      .mte3_cycles = whole * step.out / MILLI,
      .fix_cycles = whole * step.fix / MILLI,
      .blocks = (uint32_t)t.cores,
  };
  uint64_t per_key = 2 * at->depth * HALF_BYTES + t.rows * 2 * (WORD_BYTES + HALF_BYTES);
  cost->gm_bytes = heads * (keys * per_key + steps * t.rows * t.depth * 2 * WORD_BYTES);
  uint64_t l2_rate = (uint64_t)soc->l2_bytes_per_second * MILLI / (uint64_t)soc->core_hz;
  uint64_t shared = l2_rate ? cost->gm_bytes * MILLI / l2_rate : 0;
  /* Rows of Q come in before the first scores of a task. */
  uint64_t wide = (uint64_t)soc->nd2nz_startup_mcycles;
  uint64_t begin = path_cycles(soc, PATH_GM_L1, wide, t.rows * t.depth * HALF_BYTES);
  cost->total_cycles = whole * max_u64(max_u64(cube, vector), chain) / MILLI + share * signal +
                       ceil_div(t.tasks, t.cores) * begin + cube + vector + 3 * signal;
  cost->total_cycles = max_u64(cost->total_cycles, shared + cube + vector);
  cost->total_cycles += launch_spread_cycles(soc, t.cores);
  cost->shares = t.tasks;
  if (t.splits > 1)
    cost->total_cycles += join_cycles(soc, at, &t);
  return true;
}

/* ---- candidates ---- */

static const uint16_t sides[] = {128, 64, 32, 16};
static const uint16_t widths[] = {512, 256, 128, 64};
static const uint16_t panels[] = {512, 256, 128, 64};
static const uint8_t parts[] = {1, 2, 3, 4, 6, 8, 12, 15};
enum {
  PART_COUNT = sizeof parts / sizeof *parts,
  SIDE_COUNT = sizeof sides / sizeof *sides,
  WIDTH_COUNT = sizeof widths / sizeof *widths,
  PANEL_COUNT = sizeof panels / sizeof *panels,
};

static void give(struct lower_job *job, enum attention_key key, uint64_t size) {
  if (!job->value[key].given)
    job->value[key] = (struct lower_value){.present = true, .size = size};
}

/* The largest slice that fits UB, two at least to a step: copies of one overlap work on another. */
static uint64_t slice_of(const struct lower_job *job, struct attention_tiling *t) {
  derive(job, t);
  for (t->slice = round_up(ceil_div(t->half, 2), ROW_UNIT); t->slice > ROW_UNIT;
       t->slice -= ROW_UNIT) {
    lay_out(job->data, t);
    if (t->ub_bytes <= vtile_ub_bytes(job->soc))
      break;
  }
  return t->slice;
}

bool attention_candidate(struct lower_job *job, size_t index) {
  const struct attention *at = job->data;
  bool splits = job->op->key_count > ATTENTION_SPLITS && !at->causal;
  size_t split = index / (SIDE_COUNT * WIDTH_COUNT * PANEL_COUNT);
  if (split >= (splits ? PART_COUNT : 1))
    return false;
  index %= SIDE_COUNT * WIDTH_COUNT * PANEL_COUNT;
  struct attention_tiling t = {
      .rows = sides[index / PANEL_COUNT / WIDTH_COUNT],
      .cols = widths[index / PANEL_COUNT % WIDTH_COUNT],
      .panel = panels[index % PANEL_COUNT],
      .cores = soc_core_count(job->soc, CORE_AIC),
      .splits = parts[split],
  };
  t.rows = min_u64(t.rows, round_up(at->rows, FRACTAL_ROWS));
  /* Wide steps are whole tiles, so that one panel may hold them. */
  uint64_t unit = at->keys > ATTENTION_SIDE ? ATTENTION_SIDE : VROW_LANES;
  t.cols = min_u64(t.cols, round_up(at->keys, unit));
  t.panel = min_u64(t.panel, t.cols);
  if (!makes_parts(at, t.splits, t.cols))
    t.splits = 1;
  if (job->op->key_count > ATTENTION_SPLITS)
    give(job, ATTENTION_SPLITS, t.splits);
  give(job, ATTENTION_ROWS, t.rows);
  give(job, ATTENTION_COLS, t.cols);
  give(job, ATTENTION_PANEL, t.panel);
  t.rows = job->value[ATTENTION_ROWS].size;
  t.cols = job->value[ATTENTION_COLS].size;
  give(job, ATTENTION_SLICE, slice_of(job, &t));
  if (!job->value[ATTENTION_DIAGONAL].given)
    job->value[ATTENTION_DIAGONAL] = (struct lower_value){.present = true, .word = DIAGONAL_TRIM};
  give(job, ATTENTION_CORES, t.cores);
  return true;
}
