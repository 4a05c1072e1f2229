/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention on coupled cores: what is legal, and candidates. */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/vector/tiles.h"

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
  t->task_keys = at->causal ? attention_coupled_task_keys(job->soc, at, t) : 0;
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
