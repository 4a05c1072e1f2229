/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: the dimensions, the tiling, and the template for short rows. */
#include "lower/vector/reduce/reduce.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/elementwise/elementwise.h"

enum { FLOAT_BYTES = 4, SHORT_ROW = 1024, GROUPS_MAX = 4, FRACTAL_SIDE = 16 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("axis", SIZE, "", "0", "first dimension to reduce, from 0; the last"),
    LOWER_KEY("axes", SIZE, "1", NULL, "how many from there on"),
    LOWER_KEY("axis2", SIZE, "", "0", "one more dimension"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x"),
    LOWER_KEY("out", DTYPE, "", "fp16|bf16|fp32", "type of y; that of x"),
    WORD_KEY("times", "", "0|1", "1: of the products of x and a tensor x1 like x"),
    VTILE_KEYS_TABLE};

/* ---- dimensions ------------------------------------------------------------------------------ */

struct groups {
  unsigned count;
  uint64_t extent[TENSOR_RANK_MAX];
  bool reduced[TENSOR_RANK_MAX];
};

/* The dimensions that are reduced: from axis to end, and axis2 if it is there. */
struct axes {
  uint64_t axis, end;
  const struct lower_value *axis2;
};

static struct axes axes_of(const struct lower_job *job) {
  const struct lower_value *axis = lower_get(job, "axis");
  uint64_t first = axis ? axis->size : lower_get(job, "shape")->rank - 1;
  return (struct axes){first, first + lower_get(job, "axes")->size, lower_get(job, "axis2")};
}

static bool is_reduced(const struct axes *axes, unsigned dimension) {
  return (dimension >= axes->axis && dimension < axes->end) ||
         (axes->axis2 && axes->axis2->size == dimension);
}

static enum vinci_status group(struct lower_job *job, struct groups *groups) {
  const struct lower_value *shape = lower_get(job, "shape");
  const struct axes axes = axes_of(job);
  if (axes.end > shape->rank || (axes.axis2 && axes.axis2->size >= shape->rank))
    return lower_error(job, "the rank of x is only %u", shape->rank);
  if (axes.axis2 && axes.axis2->size >= axes.axis && axes.axis2->size < axes.end)
    return lower_error(job, "axis2=%" PRIu64 " is among the dimensions that axis and axes name",
                       axes.axis2->size);
  *groups = (struct groups){0};
  for (unsigned i = 0; i < shape->rank; i++) {
    bool reduced = is_reduced(&axes, i);
    unsigned last = groups->count - 1;
    if (shape->shape[i] == 1)
      continue;
    if (groups->count && groups->reduced[last] == reduced) {
      groups->extent[last] *= shape->shape[i];
      continue;
    }
    groups->reduced[groups->count] = reduced;
    groups->extent[groups->count++] = shape->shape[i];
  }
  return VINCI_OK;
}

/* y keeps the extents that are not reduced, as numpy does; one element when all are. */
static void put_result(struct emit *e, const struct lower_job *job, enum dtype type) {
  const struct lower_value *shape = lower_get(job, "shape");
  const struct axes axes = axes_of(job);
  uint64_t kept[TENSOR_RANK_MAX] = {1};
  unsigned rank = 0;
  for (unsigned i = 0; i < shape->rank; i++)
    if (!is_reduced(&axes, i))
      kept[rank++] = shape->shape[i];
  emit_tensor(e, "y", type, TENSOR_OUT, kept, rank ? rank : 1, NULL);
}

/* The region of one result, from at most three groups. */
static void set_region(struct vreduce *reduce, const struct groups *g) {
  bool folds = g->reduced[g->count - 1];
  unsigned first_kept = g->reduced[0] ? 1 : 0;
  reduce->rows = 1;
  reduce->outer = 1;
  reduce->cols = g->extent[g->count - 1];
  if (folds) {
    reduce->form = VREDUCE_FOLD;
    reduce->outer = g->count > 1 ? g->extent[first_kept] : 1;
    reduce->unit_stride = reduce->cols;
    reduce->rows = g->count == 3 ? g->extent[0] : 1;
    reduce->row_stride = reduce->cols * reduce->outer;
    reduce->results = reduce->outer;
    if (reduce->rows == 1 && reduce->cols <= SHORT_ROW && reduce->outer > 1)
      reduce->form = VREDUCE_ROWS;
    return;
  }
  reduce->form = VREDUCE_COLUMNS;
  reduce->rows = g->extent[g->count - 2];
  reduce->outer = g->count == 3 ? g->extent[0] : 1;
  reduce->row_stride = reduce->cols;
  reduce->unit_stride = reduce->rows * reduce->cols;
  reduce->results = reduce->outer * reduce->cols;
}

/* Cuts off the last group to fold and what is behind it; all before it stands for one kept group.
 */
static struct groups cut_last(struct groups *g) {
  bool folds = g->reduced[g->count - 1];
  unsigned last = g->count - (folds ? 1 : 2);
  struct groups cut = {2, {lower_elements(g->extent, last), g->extent[last]}, {false, true}};
  if (!folds && g->reduced[last - 1]) { /* what was cut for the cores: the columns stay */
    cut.extent[cut.count++] = g->extent[last] = g->extent[last + 1];
    g->reduced[last] = false;
    g->count = last + 1;
    return cut;
  }
  if (!folds) {
    cut.extent[cut.count++] = g->extent[last + 1];
    g->extent[last - 1] *= g->extent[last + 1];
  }
  g->count = last;
  return cut;
}

/*
 * Where cores cannot wait for each other and there are fewer results than cores, the last group to
 * fold is cut into as many parts as give each core a block of results, if they can be equal: the
 * first kernel folds parts, the next one what it has left. Whether it is.
 */
static bool cut_for_cores(const struct lower_job *job, struct groups *g) {
  enum { WORTH = 16384, BLOCK_FLOATS = BLOCK_BYTES / FLOAT_BYTES };
  uint64_t cores = soc_core_count(job->soc, emit_vector_core(job->soc)), units = 1, all = 1;
  unsigned at = g->count - (g->reduced[g->count - 1] ? 1 : 2);
  uint64_t columns = at + 1 < g->count ? g->extent[at + 1] : 1;
  for (unsigned i = 0; i < g->count; i++)
    all *= g->extent[i];
  for (unsigned i = 0; i < at; i++)
    units *= g->extent[i];
  units *= ceil_div(columns, ROWWISE_LANES);
  if (job->soc->cross_core_ids > 0 || g->count == TENSOR_RANK_MAX || all < WORTH ||
      units * 2 > cores || !g->reduced[at] || g->count > 3)
    return false;
  /* A core stores whole blocks of 32 bytes. */
  uint64_t parts = cores * (columns < BLOCK_FLOATS ? BLOCK_FLOATS : 1) / units;
  while (parts > 1 && g->extent[at] % parts)
    parts--;
  if (parts == 1)
    return false;
  for (unsigned i = g->count++; i > at; i--) {
    g->extent[i] = g->extent[i - 1];
    g->reduced[i] = g->reduced[i - 1];
  }
  g->extent[at] = parts;
  g->extent[at + 1] /= parts;
  return true;
}

/* On coupled cores rows of 16 or 32 columns lie side by side, as far as there are whole groups. */
static uint64_t packed_rows(const struct vinci_soc *soc, const struct vreduce *reduce) {
  uint64_t cols = reduce->cols, packed = cols ? ROWWISE_LANES / cols : 0;
  bool coupled = emit_cube_core(soc) == emit_vector_core(soc);
  bool whole = cols >= FRACTAL_SIDE && packed > 1 && ROWWISE_LANES % cols == 0;
  return coupled && reduce->form == VREDUCE_COLUMNS && whole && reduce->rows % packed == 0 ? packed
                                                                                           : 1;
}

static struct vreduce *new_stage(struct lower_job *job, const struct vreduce_func *func,
                                 const struct groups *groups, const char *source, enum dtype type) {
  struct vreduce *reduce = ARENA_NEW(job->arena, struct vreduce);
  if (!reduce)
    return NULL;
  reduce->func = func;
  reduce->type = type;
  reduce->result = DTYPE_FP32;
  reduce->source = source;
  reduce->cores = soc_core_count(job->soc, emit_vector_core(job->soc));
  reduce->tile.prefix = "";
  reduce->tile.lay_out = vreduce_lay_out;
  reduce->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  set_region(reduce, groups);
  reduce->packed = packed_rows(job->soc, reduce);
  if (reduce->form == VREDUCE_ROWS)
    reduce->tile.space = (struct vtile_space){.rows = reduce->outer, .cols = reduce->cols};
  else
    reduce->tile.space = (struct vtile_space){.rows = reduce->rows, .cols = reduce->cols};
  return reduce;
}

static enum vinci_status add_kernels(struct lower_job *job) {
  const struct vreduce_func *func = job->op->spec;
  static const char *const between[] = {"stage0", "stage1", "stage2", "stage3"};
  static const char *const parts[] = {"part0", "part1", "part2", "part3"};
  const struct lower_value *out = lower_get(job, "out"), *times = lower_get(job, "times");
  enum dtype type = lower_get(job, "dtype")->dtype;
  struct vreduce *last = NULL;
  struct groups g;
  enum vinci_status status = group(job, &g);
  if (status != VINCI_OK)
    return status;
  if (g.count == 0 || (g.count == 1 && !g.reduced[0]))
    g = (struct groups){2, {lower_elements(g.extent, g.count), 1}, {false, true}};
  uint64_t count = 1;
  for (unsigned i = 0; i < g.count; i++)
    count *= g.reduced[i] ? g.extent[i] : 1;
  bool cut = cut_for_cores(job, &g);
  for (unsigned stage = 0; g.count > 0; stage++) {
    bool more = g.count > 3 || (stage == 0 && cut);
    struct groups now = more ? cut_last(&g) : g;
    struct vreduce *reduce =
        new_stage(job, func, &now, last ? last->target : "x", last ? DTYPE_FP32 : type);
    if (!reduce)
      return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
    reduce->count = count;
    reduce->squares = func->norm && !last;
    reduce->multiplies = times && times->word && !last;
    reduce->target = more ? between[stage] : "y";
    reduce->partial = more ? parts[stage] : "partial";
    if (!more) {
      reduce->result = out ? out->dtype : type;
      reduce->averages = func->mean;
      reduce->roots = func->norm && !func->rootless;
      reduce->powers = func->squared;
      g.count = 0;
    }
    if (last)
      last->next = reduce;
    else
      job->data = reduce;
    last = reduce;
  }
  return VINCI_OK;
}

/* ---- short rows ------------------------------------------------------------------------------ */

static void rows_lay_out(struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  uint64_t bytes = vtile_bytes(reduce->type), rows = tile->rows;
  bool converts = reduce->type != DTYPE_FP32;
  bool prepares = converts || reduce->squares || reduce->multiplies;
  reduce->pitch = vtile_pitch(reduce->cols, (unsigned)bytes);
  reduce->second = vtile_align(rows * reduce->pitch * bytes);
  reduce->out = reduce->second * (reduce->multiplies ? 2 : 1);
  tile->slot_bytes = reduce->out + vtile_align(rows * vtile_bytes(reduce->result));
  uint64_t used = tile->slot_bytes * tile->buffers;
  reduce->converted = prepares ? vtile_reserve(&used, rows * reduce->pitch * FLOAT_BYTES) : 0;
  if (reduce->multiplies)
    reduce->factor = vtile_reserve(&used, rows * reduce->pitch * FLOAT_BYTES);
  reduce->accumulator = vtile_reserve(&used, rows * ROWWISE_LANES * FLOAT_BYTES);
  reduce->column = vreduce_narrows(reduce) ? vtile_reserve(&used, rows * FLOAT_BYTES) : 0;
  tile->ub_bytes = used;
}

void vreduce_lay_out(struct vtile *tile) {
  struct vreduce *reduce = (struct vreduce *)tile;
  (reduce->form == VREDUCE_ROWS ? rows_lay_out : vreduce_region_lay_out)(reduce);
}

static void rows_split(const struct lower_job *job, uint64_t cores, struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  tile->cols = tile->space.cols;
  uint64_t most = vtile_most_rows(job, tile, 1, min_u64(tile->space.rows, ROWWISE_ROWS_MAX));
  vtile_split_rows(job->soc, cores, tile, vtile_bytes(reduce->type), most);
}

struct expr vreduce_prepare(struct vunit *unit, const struct vreduce *reduce, struct expr count) {
  struct expr now = reduce->tile.slot, converted = EXPR(reduce->converted);
  struct expr factor = x_add(now, reduce->second);
  if (reduce->type != DTYPE_FP32 || reduce->squares || reduce->multiplies)
    vunit_count(unit, count);
  if (reduce->type != DTYPE_FP32) {
    vunit_convert(unit, 0, V(X0), reduce->type, DTYPE_FP32, converted, now);
    now = converted;
  }
  if (reduce->multiplies) {
    if (reduce->type != DTYPE_FP32) {
      vunit_convert(unit, 0, V(X1), reduce->type, DTYPE_FP32, EXPR(reduce->factor), factor);
      factor = EXPR(reduce->factor);
    }
    VROW(unit, V(X0) | V(X1), V(X0), "vmul", F("dst", converted), F("src0", now), F("src1", factor),
         F("repeat", 1), W("type", "fp32"));
    now = converted;
  }
  if (reduce->squares) {
    /* The vendor's norm takes the absolute value for every p (TBE, lp_norm_reduce_v2). */
    VROW(unit, V(X0), V(X0), "vabs", F("dst", converted), F("src", now), F("repeat", 1),
         W("type", "fp32"));
    now = converted;
    VROW(unit, V(X0), V(X0), "vmul", F("dst", converted), F("src0", now), F("src1", now),
         F("repeat", 1), W("type", "fp32"));
    now = converted;
  }
  return now;
}

void vreduce_finish(struct vunit *unit, const struct vreduce *reduce, struct expr out) {
  const struct vstep mean = S("vmuls", T1, T1, 1.0 / (double)reduce->count);
  const struct vstep root = U("vsqrt", T1, T1), square = B("vmul", T1, T1, T1);
  if (reduce->averages)
    vunit_step(unit, &mean);
  if (reduce->roots)
    vunit_step(unit, &root);
  if (reduce->powers)
    vunit_step(unit, &square);
  if (!x_same(out, unit->reg[T1]))
    vunit_convert(unit, V(T1), 0, DTYPE_FP32, reduce->result, out, unit->reg[T1]);
}

static void put_rows(struct emit *e, const struct vreduce *reduce) {
  const struct vtile *tile = &reduce->tile;
  struct rowwise rows = rowwise_of(e, tile, reduce->pitch);
  struct vunit *unit = &rows.unit;
  struct expr out = x_add(tile->slot, reduce->out);
  struct expr count = tile->rows == 1 ? EXPR(reduce->cols) : x_mul(rows.n_rows, reduce->pitch);
  vunit_count(unit, count);
  unit->reg[X0] = vreduce_prepare(unit, reduce, count);
  unit->reg[T1] = reduce->column ? EXPR(reduce->column) : out;
  unit->reg[V_ACCUMULATOR] = EXPR(reduce->accumulator);
  rowwise_step(&rows, &(struct vstep)REDUCE(T1, X0, reduce->func->reduction));
  rowwise_column(&rows);
  vreduce_finish(unit, reduce, out);
  vunit_rest(unit);
}

static void rows_emit(struct emit *e, struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  struct vtile_operand x =
      vtile_whole_rows(reduce->source, reduce->type, &tile->space, reduce->pitch);
  struct vtile_operand y = {
      .name = reduce->target, .dtype = reduce->result, .row_stride = 1, .address = reduce->out};
  vtile_open(e, tile);
  vtile_load(e, tile, &x);
  if (reduce->multiplies) {
    x.name = "x1";
    x.address = reduce->second;
    vtile_load(e, tile, &x);
  }
  vtile_loaded(e, tile);
  put_rows(e, reduce);
  vtile_computed(e, tile);
  vtile_store(e, tile, &y);
  vtile_close(e, tile);
}

/* ---- tilings --------------------------------------------------------------------------------- */

static void split(const struct lower_job *job, uint64_t cores, struct vreduce *reduce) {
  if (reduce->form == VREDUCE_ROWS)
    rows_split(job, cores, reduce);
  else
    vreduce_region_split(cores, reduce);
}

/* What a core stores is at least a block of 32 bytes, where the chip copies no less. A core alone
 * stores its results in their order: what a store writes too much is written again by the next. */
static bool can_store(struct lower_job *job, const struct vreduce *reduce) {
  const struct vtile *tile = &reduce->tile;
  uint64_t bytes = vtile_bytes(reduce->result), per = tile->rows;
  if (reduce->segments > 1 && job->soc->cross_core_ids == 0)
    return lower_refuse(job, "the cores of %s cannot wait for each other", job->soc->name);
  if (tile->blocks == 1)
    return true;
  if (reduce->form == VREDUCE_FOLD)
    per = ceil_div(vreduce_units(reduce), tile->blocks);
  if (reduce->form == VREDUCE_COLUMNS)
    per = min_u64(tile->cols, (tile->space.cols - 1) % tile->cols + 1);
  return select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) || per * bytes >= BLOCK_BYTES ||
         (reduce->form == VREDUCE_COLUMNS && reduce->results == tile->space.cols) ||
         lower_refuse(job, "%s copies whole blocks of %d bytes alone, and a block has %" PRIu64,
                      job->soc->name, BLOCK_BYTES, per * bytes);
}

/* What a kernel is written by, for estimates: job->data is the kernel. */
static void put_kernel(const struct lower_job *job, struct emit *e, struct vreduce *reduce);

static void emit_one(const struct lower_job *job, struct emit *e) { put_kernel(job, e, job->data); }

/* Of one kernel, in job->cost. False: the rows of a tile, its columns or its blocks do not fit.
 * Regions have passed the rules of their own. */
static bool estimate_kernel(struct lower_job *job, struct vreduce *reduce) {
  struct lower_job one = *job;
  struct vtile counted = reduce->tile;
  if (reduce->form == VREDUCE_ROWS && !vtile_count(job, &counted))
    return false;
  one.data = reduce;
  bool possible = program_cost_of(&one, emit_one);
  job->program = one.program;
  job->cost = one.cost;
  return possible;
}

/*
 * Kernels after the first have a tiling of their own, on as many cores as have them done first,
 * whatever the first one takes.
 */
static void plan_later_kernel(struct lower_job *job, struct vreduce *reduce) {
  uint64_t best = 1, cycles = UINT64_MAX;
  reduce->tile.buffers = 2;
  job->enough_cycles = UINT64_MAX;
  for (uint64_t cores = job->cores; cores > 0; cores--) {
    split(job, cores, reduce);
    vreduce_lay_out(&reduce->tile);
    if (can_store(job, reduce) && estimate_kernel(job, reduce) && job->cost.total_cycles < cycles) {
      best = cores;
      cycles = job->cost.total_cycles;
    }
  }
  split(job, best, reduce);
  reduce->cycles = cycles + launch_cycles(job->soc, emit_vector_core(job->soc), 1);
}

static enum vinci_status setup(struct lower_job *job) {
  enum vinci_status status = add_kernels(job);
  struct vreduce *first = job->data;
  if (status == VINCI_OK)
    for (struct vreduce *reduce = first->next; reduce; reduce = reduce->next)
      plan_later_kernel(job, reduce);
  job->cost = (struct lower_cost){0};
  return status;
}

/* The keys are those of the first kernel, which reads x; later ones have tilings of their own. */
static bool candidate(struct lower_job *job, size_t index) {
  struct vreduce *reduce = job->data;
  if (index > 1)
    return false;
  reduce->tile.buffers = index == 0 ? 2 : 1;
  split(job, job->cores, reduce);
  vtile_give(job, &reduce->tile);
  return true;
}

static bool cost(struct lower_job *job) {
  struct vreduce *reduce = job->data;
  struct vtile *tile = &reduce->tile;
  vtile_take(job, tile);
  if (tile->buffers > 2 || tile->rows > tile->space.rows || tile->cols > tile->space.cols)
    return lower_refuse(job, "buffers is 1 or 2, a tile at most %" PRIu64 " x %" PRIu64,
                        tile->space.rows, tile->space.cols);
  struct vtile walked = *tile;
  walked.rows /= reduce->packed;
  if (tile->rows % reduce->packed)
    return lower_refuse(job, "tiles have whole groups of %" PRIu64 " rows, which lie side by side",
                        reduce->packed);
  if (!vtile_in_ub(job, tile) || !rowwise_walks(job, &walked, reduce->pitch))
    return false;
  if (reduce->form == VREDUCE_ROWS && tile->cols != tile->space.cols)
    return lower_refuse(job, "a tile takes whole rows");
  if (reduce->form == VREDUCE_COLUMNS && tile->cols < tile->space.cols &&
      tile->cols % ROWWISE_LANES != 0)
    return lower_refuse(job, "tiles of columns are multiples of %d", ROWWISE_LANES);
  if (!can_store(job, reduce) || !estimate_kernel(job, reduce))
    return false;
  for (reduce = reduce->next; reduce; reduce = reduce->next)
    job->cost.total_cycles += reduce->cycles;
  return true;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void put_kernel(const struct lower_job *job, struct emit *e, struct vreduce *reduce) {
  const struct lower_value *shape = lower_get(job, "shape");
  struct vtile *tile = &reduce->tile;
  vreduce_lay_out(tile);
  vtile_counts(tile);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  if (reduce == job->data)
    emit_tensor(e, "x", reduce->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  if (reduce->multiplies)
    emit_tensor(e, "x1", reduce->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  if (reduce != job->data)
    emit_vector(e, reduce->source, DTYPE_FP32, TENSOR_WORKSPACE,
                reduce->outer * reduce->rows * reduce->cols);
  if (reduce->next)
    emit_vector(e, reduce->target, DTYPE_FP32, TENSOR_WORKSPACE, reduce->results);
  else
    put_result(e, job, reduce->result);
  if (reduce->segments > 1)
    emit_vector(e, reduce->partial, DTYPE_FP32, TENSOR_WORKSPACE, reduce->outer * reduce->segments);
  vkernel_stream(e, tile->ub_bytes, vreduce_code(reduce));
  emit_plain(e, "set_mask_count");
  (reduce->form == VREDUCE_ROWS ? rows_emit : vreduce_region_emit)(e, reduce);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct vreduce *reduce = job->data;
  vtile_take(job, &reduce->tile);
  e->shared = reduce->next != NULL;
  for (; reduce; reduce = reduce->next)
    put_kernel(job, e, reduce);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The dimensions that the output lacks, or has 1 of. */
static bool find_axes(const struct lower_tensor *x, const struct lower_tensor *y, uint32_t *axes) {
  unsigned kept = 0;
  *axes = 0;
  for (unsigned i = 0; i < x->rank; i++) {
    bool same_rank = y->rank == x->rank;
    if (same_rank ? y->shape[i] == x->shape[i] : kept < y->rank && y->shape[kept] == x->shape[i])
      kept++;
    else
      *axes |= 1u << i;
  }
  return y->rank == x->rank || kept == y->rank;
}

/* Sums of all rows for each column; of a map in blocks of channels, for each channel. */
static bool call_bias_grad(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  bool nz = strstr(x->format, "NZ") && x->rank >= 4;
  if (x->rank < 2)
    return lower_cannot(call, "rows and columns are needed");
  if (nz) {
    const uint64_t *end = x->shape + x->rank - 4;
    lower_arg(call, "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64, end[0], end[1] * end[2], end[3]);
    lower_arg(call, "axis=1");
  } else {
    uint64_t columns = x->shape[x->rank - 1];
    lower_arg(call, "shape=%" PRIu64 "x%" PRIu64, lower_elements(x->shape, x->rank - 1), columns);
    lower_arg(call, "axis=0");
  }
  lower_arg_dtype(call, "dtype", x);
  return true;
}

/* Sums of short rows, a core for each block of results as far as there are cores: on the 30-core
 * Ascend910B of 2019 kernels of n x 2 numbers have 4, 8, 16, 29 and 29 blocks for n = 32, 64 ...
 * 512. */
static void call_short_rows(struct lower_call *call, const struct lower_tensor *x) {
  const unsigned block_rows = BLOCK_BYTES / sizeof(float);
  uint64_t cores = soc_core_count(call->soc, emit_vector_core(call->soc));
  uint64_t elements = lower_elements(x->shape, x->rank);
  uint64_t results = elements / max_u64(x->shape[x->rank - 1], 1);
  uint64_t worthy = cores * (uint64_t)call->soc->kernel_core_bytes / sizeof(float);
  if (call->soc->arch != ARCH_C100 || x->dtype != DTYPE_FP32 || results <= 1 || elements > worthy)
    return;
  uint64_t rows = min_u64(results, max_u64(block_rows, ceil_div(results, cores)));
  lower_arg(call, "rows=%" PRIu64, rows);
  lower_arg(call, "blocks=%" PRIu64, ceil_div(results, rows));
}

static bool call_reduce(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 1);
  if (strcmp(call->type, "BiasAddGrad") == 0)
    return call_bias_grad(call);
  const struct lower_tensor *x = &call->input[0];
  const struct lower_tensor scalar = {.rank = 0};
  uint32_t axes;
  if (x->rank == 0)
    return lower_cannot(call, "no shape");
  if (!find_axes(x, call->output_count ? &call->output[0] : &scalar, &axes))
    return lower_cannot(call, "the output does not fit the input");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_dtype(call, "dtype", x);
  if (axes == 0)
    axes = 1;
  unsigned first = (unsigned)__builtin_ctz(axes), run = (unsigned)__builtin_ctz(~(axes >> first));
  uint32_t rest = axes & ~(((1u << run) - 1) << first);
  lower_arg(call, "axis=%u", first);
  lower_arg(call, "axes=%u", run);
  if (rest & (rest - 1))
    return lower_cannot(call, "the reduced dimensions are too scattered");
  if (rest)
    lower_arg(call, "axis2=%u", (unsigned)__builtin_ctz(rest));
  else if (first + 1 == x->rank)
    call_short_rows(call, x);
  return true;
}

static const struct lower_template template = {setup, candidate, cost, emit};
#define REDUCTION(id, vendor, summary, ...)                                                        \
  LOWER_OPERATOR(id, vendor, summary, keys, &template,                                             \
                 (&(const struct vreduce_func){__VA_ARGS__}), call_reduce)

REDUCTION(reduce_sum, "ReduceSum|ReduceSumD|BiasAddGrad", "y = sum of x", .reduction = V_SUM)
REDUCTION(reduce_mean, "ReduceMean|ReduceMeanD", "y = mean of x", .reduction = V_SUM, .mean = true)
REDUCTION(reduce_sum_square, "FusionOp_ReduceSum_Square", "y = square of the sum of x",
          .reduction = V_SUM, .squared = true)
REDUCTION(reduce_max, "ReduceMax|ReduceMaxD", "y = largest of x", .reduction = V_MAX)
REDUCTION(reduce_min, "ReduceMin|ReduceMinD", "y = smallest of x", .reduction = V_MIN)
REDUCTION(lp_norm, "LpNormV2|LpNorm|ForeachNorm", "y = root of the sum of squares of x",
          .reduction = V_SUM, .norm = true)
REDUCTION(lp_norm_reduce, "LpNormReduceV2|LpNormReduce|SquareSumV1",
          "y = sum of the squares of x, whose root another kernel takes", .reduction = V_SUM,
          .norm = true, .rootless = true)
