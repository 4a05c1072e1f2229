/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What flash_attention and its gradient cost.
 *
 * The estimate follows one step through both kinds of core: the pipes of a core overlap, and so do
 * the cores, as each is a step ahead of what it waits for; two steps of flash_attention take at
 * least as long as the way of one through both.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/attention.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/rows/rowwise.h"

/* Cycles of a repeat whose operands share banks. */
enum { SHARED = 2 };

/* A tiling on its chip, and one step of whole rows in cycles of one core. */
struct estimate {
  const struct vinci_soc *soc;
  const struct attention *at;
  struct attention_tiling t;
  uint64_t seen, steps;           /* keys that all tasks of a head see together, and their steps */
  uint64_t share, whole;          /* steps of a core; if all had `cols` keys, in thousandths */
  uint64_t cube, mte1, mte2, fix; /* AIC */
  uint64_t softmax, update;       /* V */
  uint64_t in, out;               /* AIV */
  uint64_t cut_tasks, cut;        /* tasks whose last step cuts blocks; what that adds to a step */
};

static uint64_t path_cycles(const struct vinci_soc *soc, enum path path, uint64_t start_mcycles,
                            uint64_t bytes) {
  const struct path_cost *cost = &soc->path[path];
  uint64_t rate = (uint64_t)cost->mbytes_per_cycle;
  uint64_t cycles = start_mcycles / MILLI + (rate ? bytes * MILLI / rate : 0);
  return max_u64(cycles, (uint64_t)cost->minimum_mcycles / MILLI);
}

/* The same with the start-up of the path. */
static uint64_t copy_cycles(const struct vinci_soc *soc, enum path path, uint64_t bytes) {
  return path_cycles(soc, path, (uint64_t)soc->path[path].startup_mcycles, bytes);
}

/* The same without the shortest copy, for copies that overlap. */
static uint64_t stream_cycles(const struct path_cost *path, uint64_t bytes) {
  return (uint64_t)path->startup_mcycles / MILLI + bytes * MILLI / (uint64_t)path->mbytes_per_cycle;
}

/* Rows from device memory to L1. */
static uint64_t load_cycles(const struct vinci_soc *soc, uint64_t rows, uint64_t columns) {
  uint64_t start_mcycles = (uint64_t)soc->path[PATH_GM_L1].startup_mcycles;
  return max_u64(path_cycles(soc, PATH_GM_L1, start_mcycles, rows * columns * HALF_BYTES),
                 start_mcycles / MILLI +
                     estimate_reorder(soc, rows, columns * HALF_BYTES, columns * HALF_BYTES));
}

/* The same of loads of which each starts up while the one before moves. */
static uint64_t load_stream_cycles(const struct vinci_soc *soc, uint64_t rows, uint64_t columns) {
  return load_cycles(soc, rows, columns) - (uint64_t)soc->path[PATH_GM_L1].startup_mcycles / MILLI;
}

/* What the scalar unit takes for the instructions of slices of rows, some of which are there for
 * each 64 columns. */
static uint64_t issue_cycles(const struct vinci_soc *soc, uint64_t slices, uint64_t instructions) {
  return slices * instructions * kernel_issue_cycles(soc, KERNEL_ATTENTION);
}

static uint64_t vector_start(const struct vinci_soc *soc) {
  return (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
}

/* ---- a step ---- */

static void cube_step(struct estimate *x) {
  const struct vinci_soc *soc = x->soc;
  const struct attention_tiling *t = &x->t;
  bool gradient = x->at->gradient;
  uint64_t products = gradient ? 5 : 2, panels = t->cols / t->panel;
  uint64_t depth = (t->depth + t->depth_k) / 2; /* of both products, half of all each */
  uint64_t fractals = t->rows / FRACTAL_ROWS * (t->cols / FRACTAL_ROWS) * (depth / FRACTAL_ROWS);
  uint64_t tiles = ceil_div(t->cols, ATTENTION_SIDE) * ceil_div(depth, ATTENTION_SIDE);
  x->cube = products *
            (fractals * x->at->cube_mcycles + tiles * (uint64_t)soc->cube_issue_mcycles) / MILLI;
  x->mte1 = products * (path_cycles(soc, PATH_L1_L0A, 0, t->rows * t->cols * HALF_BYTES) +
                        path_cycles(soc, PATH_L1_L0B, 0, depth * t->cols * HALF_BYTES));
  /* K twice and V; probabilities and dS. */
  if (gradient)
    x->mte2 = panels * ((uint64_t)soc->path[PATH_GM_L1].startup_mcycles / MILLI +
                        3 * load_stream_cycles(soc, t->panel, t->depth) +
                        2 * load_stream_cycles(soc, t->rows, t->panel));
  else
    x->mte2 =
        panels * (2 * load_cycles(soc, t->panel, depth) + load_cycles(soc, t->rows, t->panel));
  uint64_t results = gradient ? 2 * t->cols * (t->rows + t->depth) + panels * t->rows * t->depth
                              : t->rows * (t->cols + t->depth);
  x->fix = path_cycles(soc, PATH_L0C_GM, 0, results * WORD_BYTES);
}

/* Passes over scores: scale, maximum, sum, type; difference, whose operands share banks; exp. Some
 * instructions of a slice wait for the one before. */
static void vector_step(struct estimate *x) {
  const uint64_t passes = 4, ordered = 14, update_ordered = 4;
  const uint64_t gradient_passes = 10, gradient_ordered = 12;
  /* Flags, masks, barriers, copies and steps as vector.c writes them. */
  const uint64_t instructions = 54, part_instructions = 3;
  const uint64_t gradient_instructions = 28, gradient_part_instructions = 2;
  const struct attention_tiling *t = &x->t;
  const struct vector_class_cost *exp = &x->soc->vector_class[VECTOR_CLASS_EXP32];
  uint64_t start = vector_start(x->soc);
  uint64_t rows = t->rows / ATTENTION_VECTORS, slices = ceil_div(rows, t->slice);
  uint64_t parts = ceil_div(t->cols, ROWWISE_LANES);
  x->out = slices * copy_cycles(x->soc, PATH_UB_GM, t->slice * t->cols * HALF_BYTES);
  if (x->at->gradient) {
    x->softmax =
        rows * t->cols / ROWWISE_LANES * gradient_passes + slices * start * gradient_ordered;
    x->softmax = max_u64(
        x->softmax,
        issue_cycles(x->soc, slices, gradient_instructions + parts * gradient_part_instructions));
    x->out *= 2;
    x->in = 2 * slices * copy_cycles(x->soc, PATH_GM_UB, t->slice * t->cols * WORD_BYTES);
    return;
  }
  x->softmax = rows * t->cols / ROWWISE_LANES *
                   (passes + SHARED + (uint64_t)exp->per_repeat_mcycles / MILLI) +
               slices * (start * ordered + 2 * t->slice);
  x->softmax =
      max_u64(x->softmax, issue_cycles(x->soc, slices, instructions + parts * part_instructions));
  x->update =
      rows * ceil_div(t->depth, ROWWISE_LANES) * 2 * SHARED + slices * start * update_ordered;
  x->in = slices * (copy_cycles(x->soc, PATH_GM_UB, t->slice * t->cols * WORD_BYTES) +
                    copy_cycles(x->soc, PATH_GM_UB, t->slice * t->depth * WORD_BYTES));
}

/* The last step of a task has as many keys as are left. Where these are no whole blocks of 32
 * bytes, each row of scores and of what comes of them begins or ends inside a block. */
static void count_cuts(struct estimate *x) {
  const struct attention *at = x->at;
  const struct path_cost *in = &x->soc->path[PATH_GM_UB], *out = &x->soc->path[PATH_UB_GM];
  uint64_t copies = at->gradient ? 2 : 1, rows = x->t.rows / ATTENTION_VECTORS;
  bool sees_all = !at->causal && !at->window;
  for (uint64_t r = 0; r < x->t.row_blocks; r++)
    if ((sees_all ? at->keys : attention_seen(at, &x->t, r)) * HALF_BYTES % BLOCK_BYTES != 0)
      x->cut_tasks += at->batch * at->heads;
  uint64_t mcycles = max_u64((uint64_t)in->unaligned_mcycles, (uint64_t)out->unaligned_mcycles);
  x->cut = rows * copies * mcycles / MILLI;
}

static void count_work(struct estimate *x) {
  const struct attention *at = x->at;
  const struct attention_tiling *t = &x->t;
  x->seen = t->row_blocks * at->keys;
  x->steps = t->row_blocks * ceil_div(at->keys, t->cols);
  if (!at->causal && !at->window)
    return;
  x->seen = x->steps = 0;
  for (uint64_t r = 0; r < t->row_blocks; r++) {
    uint64_t seen = attention_seen(at, t, r);
    x->seen += seen;
    x->steps += ceil_div(seen, t->cols);
  }
}

/* ---- kernels at the ends ---- */

/* Pieces of some cycles each, behind what every core does first. */
static struct attention_end shared_by_cores(const struct vinci_soc *soc, uint64_t slice,
                                            uint64_t pieces, uint64_t cycles, uint64_t first) {
  uint64_t cores = soc_core_count(soc, emit_vector_core(soc));
  return (struct attention_end){.slice = slice,
                                .cores = launch_cores(soc, cores, pieces, cycles),
                                .cycles = launch_work_cycles(soc, cores, pieces, cycles) + first};
}

/* Some copies and a dozen short instructions for each slice of rows. */
struct attention_end attention_join_end(const struct vinci_soc *soc, const struct attention *at,
                                        const struct attention_tiling *t, uint64_t rows) {
  const uint64_t copies = 4, instructions = 12;
  uint64_t bytes = min_u64(rows, at->rows) * t->splits * t->depth * WORD_BYTES;
  uint64_t pieces = at->batch * at->heads * ceil_div(at->rows, rows);
  uint64_t cycles = copies * copy_cycles(soc, PATH_GM_UB, bytes / copies) +
                    (instructions + 4 * t->splits) * vector_start(soc);
  return shared_by_cores(soc, rows, pieces, cycles, 0);
}

/* Two buffers of three operands in single precision, and what reductions need of each row. */
uint64_t attention_delta_bytes(uint64_t depth) {
  return (depth * 3 * ATTENTION_PAIR + ROWWISE_LANES + 1) * WORD_BYTES;
}

uint64_t attention_grad_slice(const struct vinci_soc *soc, uint64_t depth) {
  const uint64_t rows_max = 64;
  uint64_t ub = vtile_ub_bytes(soc), bytes = attention_delta_bytes(depth);
  uint64_t fits = ub > ATTENTION_CLEAR_BYTES ? (ub - ATTENTION_CLEAR_BYTES) / bytes : 0;
  return min_u64(fits / BLOCK_WORDS * BLOCK_WORDS, rows_max);
}

/* Pieces of an end of the gradient: slices of rows, and at the start chunks of sums that are
 * cleared. Instructions of a slice wait for each other, its copies overlap those of the next slice,
 * and the first slice waits for all of its own. */
static struct attention_end end_of(const struct vinci_soc *soc, const struct attention *at,
                                   uint64_t depth, bool first, uint64_t slice) {
  uint64_t instructions = first ? 12 : 3, passes = first ? 6 : 2;
  uint64_t in_bytes = first ? 2 * HALF_BYTES : WORD_BYTES, out_bytes = first ? 0 : HALF_BYTES;
  const struct path_cost *in = &soc->path[PATH_GM_UB], *out = &soc->path[PATH_UB_GM];
  uint64_t heads = at->batch * at->heads, kv_heads = heads / at->group;
  uint64_t elements = slice * depth, row = at->depth * WORD_BYTES, clear = ATTENTION_CLEAR_BYTES;
  uint64_t slices = heads * ceil_div(at->rows, slice), chunks = 0;
  if (first)
    chunks = ceil_div(heads * at->rows * row, clear);
  if (first && !at->coupled)
    chunks += 2 * ceil_div(kv_heads * at->keys * row, clear);
  if (!first && !at->coupled)
    slices += 2 * kv_heads * ceil_div(at->keys, slice);
  uint64_t vector = instructions * vector_start(soc) + passes * elements / ROWWISE_LANES;
  uint64_t load = stream_cycles(in, in_bytes * elements);
  uint64_t store = stream_cycles(out, out_bytes * elements);
  uint64_t pace = max_u64(vector, max_u64(load, store)), fill = vector + load + store - pace;
  uint64_t ub =
      first ? clear + slice * attention_delta_bytes(depth) : ATTENTION_PAIR * elements * WORD_BYTES;
  uint64_t piece = (chunks * (clear * MILLI / (uint64_t)out->mbytes_per_cycle) + slices * pace) /
                   (chunks + slices);
  return shared_by_cores(soc, slice, chunks + slices, piece, fill + ub / REPEAT_BYTES);
}

/* Few rows are shared out in smaller slices than UB would take. */
struct attention_end attention_grad_end(const struct vinci_soc *soc, const struct attention *at,
                                        uint64_t depth, bool first) {
  uint64_t most = attention_grad_slice(soc, depth);
  struct attention_end best = end_of(soc, at, depth, first, BLOCK_WORDS);
  for (uint64_t slice = 2 * BLOCK_WORDS; slice <= most; slice += BLOCK_WORDS) {
    struct attention_end next = end_of(soc, at, depth, first, slice);
    if (next.cycles < best.cycles)
      best = next;
  }
  return best;
}

/* ---- the whole ---- */

/* Keys of the core that sees the most. */
static uint64_t longest_range(const struct attention *at, const struct attention_tiling *t) {
  uint64_t first = 0, keys = 0, longest = 0;
  for (uint64_t cores = t->cores; cores > 0; cores--) {
    first += attention_range(at, t, first, cores, &keys);
    longest = max_u64(longest, keys);
  }
  return longest;
}

static bool take(struct lower_job *job, struct estimate *x) {
  *x = (struct estimate){.soc = job->soc, .at = job->data};
  if (!attention_tiling(job, &x->t))
    return false;
  const struct attention *at = x->at;
  const struct attention_tiling *t = &x->t;
  cube_step(x);
  vector_step(x);
  count_work(x);
  count_cuts(x);
  /* Whole tasks, where all are alike. */
  x->share = at->causal || at->window ? ceil_div(at->batch * at->heads * x->steps, t->cores)
                                      : ceil_div(t->tasks, t->cores) * ceil_div(t->part, t->cols);
  x->whole = x->share * x->seen * MILLI / (x->steps * t->cols);
  if (attention_ranges(at))
    x->whole = longest_range(at, t) * MILLI / t->cols;
  x->whole = max_u64(MILLI, x->whole);
  return true;
}

/* Pipes that have but one buffer between them take turns. */
static uint64_t cube_cycles(const struct estimate *x) {
  uint64_t loads = x->t.l1_slots > 1 ? max_u64(x->mte1, x->mte2) : x->mte1 + x->mte2;
  uint64_t results = x->t.c_slots > 1 ? max_u64(x->cube, x->fix) : x->cube + x->fix;
  return max_u64(loads, results);
}

/* Bytes of device memory for a key of a task. Both load K and V and hand scores and probabilities
 * over; the gradient loads K twice, hands products and dS over too, and adds to two sums. */
static uint64_t key_bytes(const struct estimate *x) {
  uint64_t depth = (x->at->depth + x->at->depth_k) / 2;
  uint64_t handed = x->t.rows * 2 * (WORD_BYTES + HALF_BYTES);
  if (x->at->gradient)
    return depth * (3 * HALF_BYTES + 2 * WORD_BYTES) + 2 * handed;
  return 2 * depth * HALF_BYTES + handed;
}

/* What L2 takes for all bytes. */
static uint64_t l2_cycles(const struct vinci_soc *soc, uint64_t bytes) {
  uint64_t rate = (uint64_t)soc->l2_bytes_per_second * MILLI / (uint64_t)soc->core_hz;
  return rate ? bytes * MILLI / rate : 0;
}

/* What device memory takes for the operands, each once. */
static uint64_t device_cycles(const struct estimate *x) {
  const struct attention *at = x->at;
  uint64_t depth = x->t.depth + x->t.depth_k, heads = at->batch * at->heads;
  uint64_t bytes = (heads / at->group * at->keys + heads * at->rows) * depth * HALF_BYTES;
  return estimate_memory(x->soc, bytes, 0);
}

/* Of steps that take the core with the most tasks `own`, while all cores together take `shared` of
 * L2 or device memory: that core goes on alone when others have no more tasks. */
static uint64_t steps_cycles(const struct estimate *x, uint64_t own, uint64_t shared) {
  uint64_t tasks = x->t.tasks, cores = x->t.cores;
  uint64_t least = tasks / cores, most = ceil_div(tasks, cores);
  bool alike = x->at->causal || x->at->window || attention_ranges(x->at);
  if (alike || least == 0)
    return max_u64(own, shared);
  uint64_t common = own * least / most;
  return max_u64(common, shared * least * cores / tasks) + own - common;
}

static uint64_t forward_cycles(const struct estimate *x, uint64_t shared, uint64_t begin) {
  const struct attention_tiling *t = &x->t;
  uint64_t signal = (uint64_t)x->soc->cross_core_cycles;
  uint64_t cube = cube_cycles(x), compute = x->softmax + x->update;
  uint64_t vector = max_u64(compute, max_u64(x->in, x->out));
  uint64_t ends = (x->in + x->out) / ceil_div(t->rows / ATTENTION_VECTORS, t->slice);
  uint64_t chain = (cube + ends + compute + 3 * signal) / 2;
  uint64_t own =
      x->whole * max_u64(max_u64(cube, vector), chain) / MILLI + x->share * signal + begin;
  uint64_t total = steps_cycles(x, own, shared) + cube + vector + 3 * signal +
                   launch_spread_cycles(x->soc, CORE_AIC, t->cores);
  return t->splits > 1 ? total + attention_join_end(x->soc, x->at, t, t->rows).cycles : total;
}

/* What the scalar unit of a cube core takes for a step, as cube.c writes the five products of each
 * panel: with loads, flags and what goes out, and for each tile of 128 keys and 128 columns. */
static uint64_t gradient_issue_cycles(const struct estimate *x) {
  const uint64_t of_panel = 35, of_tile = 24, of_part = 35;
  const struct attention_tiling *t = &x->t;
  uint64_t tiles = ceil_div(t->panel, ATTENTION_SIDE), parts = ceil_div(t->depth, ATTENTION_SIDE);
  return issue_cycles(x->soc, t->cols / t->panel, of_panel + tiles * (of_tile + parts * of_part));
}

/*
 * What the last kernel does not find in L2 of the sums of dQ, dK and dV, in thousandths. They are
 * walked through in the order in which they were left there, so that a set of L2 that holds one
 * line less than all loses each before its turn: a part of L2 that is too much is as many times the
 * part of the sets as there are ways.
 */
static uint64_t lost_mille(const struct estimate *x, uint64_t sum_bytes) {
  const struct attention *at = x->at;
  uint64_t heads = at->batch * at->heads, l2_bytes = (uint64_t)x->soc->l2_bytes;
  uint64_t depth = at->depth + at->depth_k;
  uint64_t operand_bytes =
      (heads / at->group * at->keys * depth + heads * at->rows * (depth + at->depth)) * HALF_BYTES;
  uint64_t handed_bytes = x->t.cores * ATTENTION_SLOTS * x->t.rows * x->t.cols * 2 *
                          (uint64_t)(WORD_BYTES + HALF_BYTES);
  uint64_t all_bytes = sum_bytes + operand_bytes + handed_bytes;
  if (all_bytes <= l2_bytes || l2_bytes == 0)
    return 0;
  return min_u64((all_bytes - l2_bytes) * MILLI / l2_bytes * (uint64_t)x->soc->l2_ways, MILLI);
}

/* Those come from device memory again, and have gone there before. */
static uint64_t lost_cycles(const struct estimate *x) {
  const struct attention *at = x->at;
  uint64_t heads = at->batch * at->heads;
  uint64_t sum_bytes =
      (heads * at->rows + 2 * heads / at->group * at->keys) * at->depth * WORD_BYTES;
  return estimate_memory(x->soc, 2 * sum_bytes, 0) * lost_mille(x, sum_bytes) / MILLI;
}

/* The cube core waits for both products of a step, then the vector cores for theirs, a step ahead.
 * It waits for the whole way of the last step through the vector cores. */
static uint64_t gradient_cycles(const struct estimate *x, uint64_t shared, uint64_t begin) {
  uint64_t signal = (uint64_t)x->soc->cross_core_cycles;
  uint64_t cube = max_u64(cube_cycles(x), gradient_issue_cycles(x));
  uint64_t start = estimate_start(x->soc, KERNEL_ATTENTION, x->t.cores) +
                   estimate_first_read(x->soc, x->t.cores);
  uint64_t vector = max_u64(x->softmax, max_u64(x->in, x->out));
  uint64_t ends = (x->in + x->out) / ceil_div(x->t.rows / ATTENTION_VECTORS, x->t.slice);
  uint64_t chain = (cube + ends + x->softmax + 2 * signal) / 2;
  uint64_t cuts = ceil_div(x->cut_tasks, x->t.cores), last = cuts > 0 ? x->cut : 0;
  uint64_t steps = max_u64(x->whole * max_u64(cube, chain) / MILLI,
                           x->whole * vector / MILLI + cuts * x->cut - last);
  return start + steps_cycles(x, steps, shared) + vector + ends + last + 2 * signal + 2 * begin +
         launch_cycles(x->soc, CORE_AIC, x->t.cores) +
         attention_grad_end(x->soc, x->at, x->t.depth, true).cycles +
         attention_grad_end(x->soc, x->at, x->t.depth, false).cycles + lost_cycles(x);
}

bool attention_cost(struct lower_job *job) {
  struct estimate x;
  if (((const struct attention *)job->data)->coupled)
    return attention_coupled_cost(job);
  if (!take(job, &x))
    return false;
  const struct attention *at = x.at;
  const struct attention_tiling *t = &x.t;
  uint64_t words = (at->gradient ? at->depth : 2 * t->depth) * WORD_BYTES;
  uint64_t bytes = at->batch * at->heads * (x.seen * key_bytes(&x) + x.steps * t->rows * words);
  uint64_t shared = max_u64(l2_cycles(x.soc, bytes), device_cycles(&x));
  /* Rows of Q come in before the first scores of a task. */
  uint64_t begin = ceil_div(t->tasks, t->cores) * load_cycles(x.soc, t->rows, t->depth_k);
  job->cost = (struct lower_cost){
      .total_cycles =
          at->gradient ? gradient_cycles(&x, shared, begin) : forward_cycles(&x, shared, begin),
      .cube_cycles = x.whole * x.cube / MILLI,
      .vector_cycles = x.whole * (x.softmax + x.update) / MILLI,
      .mte1_cycles = x.whole * x.mte1 / MILLI,
      .mte2_cycles = x.whole * max_u64(x.mte2, x.in) / MILLI,
      .mte3_cycles = x.whole * x.out / MILLI,
      .fix_cycles = x.whole * x.fix / MILLI,
      .gm_bytes = bytes,
      .blocks = (uint32_t)t->cores,
      .shares = t->tasks,
  };
  return true;
}
