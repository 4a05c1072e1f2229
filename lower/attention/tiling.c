/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention and its gradient: what is legal, and candidates. */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/attention.h"
#include "lower/vector/rows/rowwise.h"

/* Blocks from row to row of parts, when they are joined. */
enum { ROW_STRIDE_MAX = 255 };

/* UB: scores and probabilities share a buffer, and so do partial values and results; with parts,
 * values leave in single precision and with the numbers of rows. A buffer of the gradient has two
 * halves: scores, and the products of the result's gradient with V. */
static void lay_out(const struct attention *at, struct attention_tiling *t) {
  uint64_t used = 0, slice = t->slice, numbers = ATTENTION_PAIR * t->half;
  uint64_t values = t->depth + (t->splits > 1 ? 2 * BLOCK_WORDS : 0);
  t->buffer_bytes = at->gradient ? 2 * vtile_align(slice * t->cols * WORD_BYTES)
                                 : vtile_align(slice * max_u64(t->cols, values) * WORD_BYTES);
  t->buffers = vtile_reserve(&used, ATTENTION_PAIR * t->buffer_bytes);
  if (at->gradient) {
    t->statistics = vtile_reserve(&used, numbers * ATTENTION_ROW_NUMBERS * BLOCK_BYTES);
  } else {
    t->result = vtile_reserve(&used, t->half * t->depth * WORD_BYTES);
    t->accumulator = vtile_reserve(&used, slice * ROWWISE_LANES * WORD_BYTES);
    t->folded = vtile_reserve(&used, slice * BLOCK_BYTES);
    t->blocks = vtile_reserve(&used, slice * BLOCK_BYTES);
    t->maximum = vtile_reserve(&used, numbers * WORD_BYTES);
    t->sum = vtile_reserve(&used, numbers * WORD_BYTES);
    t->factor = vtile_reserve(&used, ATTENTION_SLOTS * t->half * WORD_BYTES);
    t->fresh = vtile_reserve(&used, slice * WORD_BYTES);
    t->column = vtile_reserve(&used, slice * WORD_BYTES);
    uint64_t scores = at->masked ? slice * t->cols : 0;
    t->mask = vtile_reserve(&used, ATTENTION_PAIR * scores);
    t->mask_half = vtile_reserve(&used, scores * HALF_BYTES);
    t->mask_words = vtile_reserve(&used, scores * WORD_BYTES);
  }
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
  t->depth_k = round_up(at->depth_k, FRACTAL_ROWS);
  t->row_blocks = ceil_div(at->rows, t->rows);
  t->part = round_up(ceil_div(at->keys, t->splits), t->cols);
  t->tasks = at->batch * at->heads * t->row_blocks * t->splits;
  t->cores = min_u64(t->cores, t->tasks);
  t->half = round_up(ceil_div(t->rows, ATTENTION_VECTORS), BLOCK_WORDS);
  uint64_t whole = at->gradient ? 2 : 1; /* Q alone, or with the result's gradient */
  uint64_t l1 = (uint64_t)job->soc->l1_bytes;
  uint64_t q = whole * ATTENTION_PAIR * t->rows * t->depth_k * HALF_BYTES;
  q += attention_table_bytes(at);
  uint64_t panels = t->panel * HALF_BYTES *
                    (at->gradient ? 3 * t->depth + 2 * t->rows : t->depth_k + t->depth + t->rows);
  uint64_t side = at->gradient ? ATTENTION_SIDE : t->rows; /* keys are rows of results, too */
  t->l1_slots = l1 > q ? min_u64((l1 - q) / panels, at->gradient ? 1 : ATTENTION_PAIR) : 0;
  t->c_bytes = side * max_u64(t->depth, ATTENTION_SIDE) * ACCUMULATOR_BYTES;
  t->c_slots = min_u64((uint64_t)job->soc->l0c_bytes / t->c_bytes, ATTENTION_PAIR);
}

uint64_t attention_limit(const struct attention *at, const struct attention_tiling *t,
                         uint64_t block) {
  uint64_t limit = min_u64((block + 1) * t->rows, at->rows) + at->keys - at->rows;
  return t->diagonal == DIAGONAL_WHOLE ? min_u64(round_up(limit, t->cols), at->keys) : limit;
}

uint64_t attention_seen(const struct attention *at, const struct attention_tiling *t,
                        uint64_t block) {
  uint64_t limit = at->causal ? attention_limit(at, t, block) : at->keys;
  uint64_t end = at->causal ? block * t->rows + at->keys - at->rows + 1 : at->keys;
  uint64_t low = at->window && end > at->window ? end - at->window : 0;
  return limit - low / t->cols * t->cols;
}

/* What all tasks weigh, as keys that they see. */
static uint64_t all_keys(const struct attention *at, const struct attention_tiling *t) {
  uint64_t keys = t->row_blocks * t->task_keys;
  for (uint64_t block = 0; block < t->row_blocks; block++)
    keys += attention_seen(at, t, block);
  return at->batch * at->heads * keys;
}

uint64_t attention_range(const struct attention *at, const struct attention_tiling *t,
                         uint64_t first, uint64_t cores, uint64_t *keys) {
  uint64_t share = ceil_div(all_keys(at, t), t->cores), task = first;
  *keys = 0;
  while (task < t->tasks && (cores == 1 || (*keys < share && t->tasks - task >= cores)))
    *keys += t->task_keys + attention_seen(at, t, task++ % t->row_blocks);
  return task - first;
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
  if (at->causal || at->statistics || at->window)
    return lower_refuse(job, "keys are split only without causal, window and statistics");
  if (makes_parts(at, t->splits, t->cols))
    return true;
  return lower_refuse(
      job, "%" PRIu64 " keys do not make %" PRIu64 " parts of whole steps, at most %" PRIu64,
      at->keys, t->splits, ROW_STRIDE_MAX * BLOCK_BYTES / WORD_BYTES / t->depth);
}

bool attention_tiling(struct lower_job *job, struct attention_tiling *t) {
  const struct lower_value *value = job->value;
  const struct attention *at = job->data;
  const uint64_t cols_max = ROWWISE_LANES * BLOCK_WORDS; /* reductions leave a lane of eight */
  *t = (struct attention_tiling){
      .rows = value[ATTENTION_ROWS].size,
      .cols = value[ATTENTION_COLS].size,
      .panel = value[ATTENTION_PANEL].size,
      .slice = value[ATTENTION_SLICE].size,
      .diagonal = (enum attention_diagonal)value[ATTENTION_DIAGONAL].word,
      .splits = at->gradient ? 1 : value[ATTENTION_SPLITS].size,
      .cores = value[ATTENTION_CORES].size,
  };
  if (at->coupled)
    return attention_coupled_tiling(job, t);
  if (t->rows % FRACTAL_ROWS || t->rows > ATTENTION_SIDE)
    return lower_refuse(job, "rows have to be a multiple of %d, at most %d", FRACTAL_ROWS,
                        ATTENTION_SIDE);
  if (t->cols % ROWWISE_LANES || t->cols > cols_max)
    return lower_refuse(job, "cols have to be a multiple of %d, at most %d", ROWWISE_LANES,
                        (int)cols_max);
  if (t->panel % FRACTAL_ROWS || t->cols % t->panel ||
      (t->panel > ATTENTION_SIDE && t->panel % ATTENTION_SIDE))
    return lower_refuse(job, "cols have to be whole panels, of up to %d keys or a multiple of %d",
                        ATTENTION_SIDE, ATTENTION_SIDE);
  if (!lower_has_cores(job, t->cores, CORE_AIC))
    return false;
  derive(job, t);
  if (!splits_are_legal(job, t))
    return false;
  if (at->paged && !attention_pages_fit(job, t))
    return false;
  if (t->slice == 0 || t->slice % BLOCK_WORDS || t->slice > t->half)
    return lower_refuse(job, "a slice is a multiple of %d rows, at most half of the task's",
                        BLOCK_WORDS);
  if (!fits_cube(job, t))
    return false;
  lay_out(job->data, t);
  if (at->gradient && attention_grad_slice(job->soc, t->depth) == 0)
    return lower_refuse(job, "UB is too small for rows of %" PRIu64 " elements", at->depth);
  return vtile_ub_holds(job, "the slice", t->ub_bytes);
}

/* ---- candidates ---- */

static const uint16_t sides[] = {128, 64, 32, 16}, widths[] = {512, 256, 128, 64};
static const uint8_t parts[] = {1, 2, 3, 4, 6, 8, 12, 15};
enum {
  PART_COUNT = sizeof parts / sizeof *parts,
  SIDE_COUNT = sizeof sides / sizeof *sides,
  WIDTH_COUNT = sizeof widths / sizeof *widths, /* of steps, and of panels */
};

void attention_give(struct lower_job *job, enum attention_key key, uint64_t size) {
  if (!job->value[key].given)
    job->value[key] = (struct lower_value){.present = true, .size = size};
}

/* The largest slice that fits UB, two at least to a step: copies of one overlap work on another. */
static uint64_t slice_of(const struct lower_job *job, struct attention_tiling *t) {
  derive(job, t);
  uint64_t ub_bytes = vtile_ub_bytes(job->soc);
  for (t->slice = round_up(min_u64(ceil_div(t->half, 2), ub_bytes), BLOCK_WORDS);
       t->slice > BLOCK_WORDS; t->slice -= BLOCK_WORDS) {
    lay_out(job->data, t);
    if (t->ub_bytes <= ub_bytes)
      break;
  }
  return t->slice;
}

bool attention_candidate(struct lower_job *job, size_t index) {
  const struct attention *at = job->data;
  if (at->coupled)
    return attention_coupled_candidate(job, index);
  size_t split = index / (SIDE_COUNT * WIDTH_COUNT * WIDTH_COUNT);
  if (split >= (at->gradient || at->causal || at->window ? 1 : PART_COUNT))
    return false;
  struct attention_tiling t = {
      .rows = sides[index / WIDTH_COUNT / WIDTH_COUNT % SIDE_COUNT],
      .cols = widths[index / WIDTH_COUNT % WIDTH_COUNT],
      .panel = widths[index % WIDTH_COUNT],
      .cores = soc_core_count(job->soc, CORE_AIC),
      .splits = parts[split],
  };
  t.rows = min_u64(t.rows, round_up(at->rows, FRACTAL_ROWS));
  /* Wide steps are whole tiles, so that one panel may hold them. */
  uint64_t unit = at->keys > ATTENTION_SIDE ? ATTENTION_SIDE : ROWWISE_LANES;
  t.cols = min_u64(t.cols, round_up(at->keys, unit));
  t.panel = min_u64(t.panel, t.cols);
  if (!makes_parts(at, t.splits, t.cols))
    t.splits = 1;
  if (!at->gradient)
    attention_give(job, ATTENTION_SPLITS, t.splits);
  attention_give(job, ATTENTION_ROWS, t.rows);
  attention_give(job, ATTENTION_COLS, t.cols);
  attention_give(job, ATTENTION_PANEL, t.panel);
  t.rows = job->value[ATTENTION_ROWS].size;
  t.cols = job->value[ATTENTION_COLS].size;
  attention_give(job, ATTENTION_SLICE, slice_of(job, &t));
  if (!job->value[ATTENTION_DIAGONAL].given)
    job->value[ATTENTION_DIAGONAL] = (struct lower_value){.present = true, .word = DIAGONAL_TRIM};
  attention_give(job, ATTENTION_CORES, t.cores);
  return true;
}
