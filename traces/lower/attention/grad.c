/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention_grad: its keys, what it costs, and how profiles name its tensors. */
#include "traces/lower/attention/grad.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/estimate.h"

enum { WORD_BYTES = 4, HALF_BYTES = 2, VECTORS = 2 };

static const struct lower_key keys[ATTENTION_STATISTICS] = {
    ATTENTION_SHAPE_KEYS,
    ATTENTION_TILING_KEYS,
};

static enum vinci_status setup(struct lower_job *job) { return attention_setup(job, true); }

/* ---- cost ---- */

static uint64_t path_cycles(const struct path_cost *path, uint64_t start_mcycles, uint64_t bytes) {
  uint64_t rate = (uint64_t)path->mbytes_per_cycle;
  uint64_t cycles = start_mcycles / MILLI + (rate ? bytes * MILLI / rate : 0);
  return max_u64(cycles, (uint64_t)path->minimum_mcycles / MILLI);
}

/* One step of whole rows: busiest pipe of the cube core, and cycles of the vector pipe. */
static void step_cycles(const struct vinci_soc *soc, const struct attention *at,
                        const struct attention_tiling *t, struct lower_cost *step) {
  const uint64_t products = 5, loads = 5, vector_passes = 10, vector_starts = 12;
  uint64_t fractals = t->rows / FRACTAL_ROWS * (t->cols / FRACTAL_ROWS) * (t->depth / FRACTAL_ROWS);
  uint64_t tiles = ceil_div(t->cols, ATTENTION_SIDE) * ceil_div(t->depth, ATTENTION_SIDE);
  uint64_t wide = (uint64_t)soc->nd2nz_startup_mcycles, panels = t->cols / t->panel;
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  uint64_t half = t->rows / VECTORS, slices = ceil_div(half, t->slice);
  step->cube_cycles =
      products * (fractals * at->cube_mcycles + tiles * (uint64_t)soc->cube_issue_mcycles) / MILLI;
  step->mte1_cycles =
      products * (path_cycles(&soc->path[PATH_L1_L0A], 0, t->rows * t->cols * HALF_BYTES) +
                  path_cycles(&soc->path[PATH_L1_L0B], 0, t->depth * t->cols * HALF_BYTES));
  step->mte2_cycles =
      panels * loads *
      path_cycles(&soc->path[PATH_GM_L1], wide, t->panel * max_u64(t->depth, t->rows) * HALF_BYTES);
  step->fix_cycles =
      path_cycles(&soc->path[PATH_L0C_GM], 0,
                  (2 * t->cols * (t->rows + t->depth) + panels * t->rows * t->depth) * WORD_BYTES);
  step->vector_cycles =
      half * t->cols / VROW_LANES * vector_passes + slices * start * vector_starts;
  step->mte3_cycles =
      slices * 2 *
      path_cycles(&soc->path[PATH_UB_GM], (uint64_t)soc->path[PATH_UB_GM].startup_mcycles,
                  t->slice * t->cols * HALF_BYTES);
}

static bool cost(struct lower_job *job) {
  const struct attention *at = job->data;
  const struct vinci_soc *soc = job->soc;
  struct attention_tiling t;
  uint64_t seen, steps;
  if (!attention_tiling(job, &t))
    return false;
  struct lower_cost step, *sum = &job->cost;
  step_cycles(soc, at, &t, &step);
  attention_work(at, &t, &seen, &steps);
  uint64_t heads = at->batch * at->heads;
  uint64_t share = at->causal ? ceil_div(heads * steps, t.cores)
                              : ceil_div(t.tasks, t.cores) * ceil_div(at->keys, t.cols);
  /* If all had `cols` keys, in thousandths. */
  uint64_t whole = max_u64(MILLI, share * seen * MILLI / (steps * t.cols));
  *sum = (struct lower_cost){
      .cube_cycles = whole * step.cube_cycles / MILLI,
      .vector_cycles = whole * step.vector_cycles / MILLI,
      .mte1_cycles = whole * step.mte1_cycles / MILLI,
      .mte2_cycles = whole * step.mte2_cycles / MILLI,
      .mte3_cycles = whole * step.mte3_cycles / MILLI,
      .fix_cycles = whole * step.fix_cycles / MILLI,
      .blocks = (uint32_t)t.cores,
  };
  /* Of a key of a task: K twice, V, sums of two; scores and products out and in, P and dS too. */
  uint64_t per_key =
      at->depth * (3 * HALF_BYTES + 2 * WORD_BYTES) + t.rows * 4 * (WORD_BYTES + HALF_BYTES);
  sum->gm_bytes = heads * (seen * per_key + steps * t.rows * at->depth * WORD_BYTES);
  uint64_t cube = max_u64(max_u64(step.cube_cycles, step.mte1_cycles),
                          max_u64(step.mte2_cycles, step.fix_cycles));
  uint64_t rate = (uint64_t)soc->l2_bytes_per_second * MILLI / (uint64_t)soc->core_hz;
  uint64_t shared = rate ? sum->gm_bytes * MILLI / rate : 0;
  sum->total_cycles = max_u64(whole * max_u64(cube, step.vector_cycles) / MILLI, shared) + cube +
                      step.vector_cycles;
  /* Rows of Q and dY come in before the first scores of a task. */
  uint64_t begin = path_cycles(&soc->path[PATH_GM_L1], (uint64_t)soc->nd2nz_startup_mcycles,
                               t.rows * t.depth * HALF_BYTES);
  sum->total_cycles += ceil_div(t.tasks, t.cores) * 2 * begin;
  sum->total_cycles += launch_cycles(soc, t.cores) + attention_grad_end_cycles(soc, at, t.depth);
  sum->shares = t.tasks;
  return true;
}

/* ---- from a profile ---- */

/* q, k, v, dy, mask, maxima and sums of rows, .. */
static bool from_tensors(struct lower_call *call) {
  const unsigned maxima = 5;
  if (call->input_count <= maxima)
    return lower_cannot(call, "the maxima of rows are needed");
  return attention_arguments(call, &call->input[maxima]);
}

static const struct lower_template template = {setup, attention_candidate, cost,
                                               attention_grad_emit};

LOWER_OPERATOR(flash_attention_grad, "FlashAttentionScoreGrad",
               "dQ, dK, dV of flash_attention from dY, O, and the maxima and sums of rows", keys,
               &template, NULL, from_tensors)
