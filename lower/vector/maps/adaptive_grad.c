/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_avg_pool_grad: each element of dy, multiplied by its share, goes to all elements of its
 * window. dy is read and multiplied once. A tile is some positions of the last dimension that is
 * pooled, with all that is behind them, and is stored once for each element of a window.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/maps/adaptive.h"
#include "lower/vector/unit.h"

enum { FLOAT_BYTES = 4, BURSTS_MAX = 4095, LINE_BYTES = 512 };

static const struct lower_key keys[] = {ADAPTIVE_KEYS, VTILE_KEYS_TABLE};

/* Positions of dy along dimensions that have the same windows, and the elements of a window. */
struct level {
  uint64_t positions, window;
  uint64_t stride; /* elements of dx from one element of a window to the next */
};

struct spread {
  struct vkernel kernel; /* first */
  enum dtype type;
  double share;
  unsigned levels;
  struct level level[ADAPTIVE_MAPS]; /* the last one: rows of a tile */
  struct vtile_operand dy, dx;
  uint64_t wide; /* behind the slots: single precision */
};

static uint64_t pitch_of(const struct vtile *tile, enum dtype type) {
  return vtile_pitch(tile->cols, vtile_bytes(type));
}

static void lay_out(struct vtile *tile) {
  struct spread *s = (struct spread *)tile;
  uint64_t slot = 0, elements = tile->rows * pitch_of(tile, s->type);
  s->dy.pitch = s->dx.pitch = pitch_of(tile, s->type);
  s->dy.address = vtile_reserve(&slot, elements * vtile_bytes(s->type));
  s->dx.address = vtile_reserve(&slot, elements * vtile_bytes(s->type));
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  s->wide = s->type == DTYPE_FP32 ? 0 : vtile_reserve(&used, elements * FLOAT_BYTES);
  tile->ub_bytes = used;
}

/* Whole rows, or a part of a row where none fits. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  const uint64_t unit = LINE_BYTES / vtile_bytes(((const struct spread *)kernel)->type);
  if (!vtile_fits(job, tile))
    tile->cols = unit * vtile_most_cols(job, tile, unit, 1, max_u64(1, tile->space.cols / unit));
  vkernel_split_rows(job, kernel, halvings);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct spread *s = (const struct spread *)kernel;
  return vtile_stores(job, &kernel->tile, &s->dx);
}

static uint64_t copies(const struct spread *s) {
  uint64_t count = 1;
  for (unsigned i = 0; i < s->levels; i++)
    count *= s->level[i].window;
  return count;
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct spread *s = (struct spread *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e};
  struct expr from = x_add(tile->slot, s->dy.address), to = x_add(tile->slot, s->dx.address);
  const bool wide = s->type != DTYPE_FP32;
  struct expr in = wide ? EXPR(s->wide) : from, out = wide ? EXPR(s->wide) : to;
  vmask_count(e, tile->rows == 1 ? tile->n_cols : x_mul(tile->n_rows, pitch_of(tile, s->type)));
  if (wide) {
    emit_barrier(e, PIPE_V); /* the tile before reads what this one writes */
    vunit_convert(&unit, 0, 0, s->type, DTYPE_FP32, in, from);
    emit_barrier(e, PIPE_V);
  }
  EMIT(e, "vmuls", F("dst", out), F("src", in), F("scalar", vscalar(DTYPE_FP32, s->share)),
       F("repeat", 1), W("type", "fp32"));
  if (wide) {
    emit_barrier(e, PIPE_V);
    vunit_convert(&unit, 0, 0, DTYPE_FP32, s->type, to, out);
  }
}

/* A copy of the tile for each element of a window. */
static void store(struct emit *e, struct vkernel *kernel) {
  static const char *const names[ADAPTIVE_MAPS] = {"a", "b", "c"};
  const struct spread *s = (struct spread *)kernel;
  struct vtile_operand dx = s->dx;
  struct expr offset = EXPR(0);
  for (unsigned i = 0; i < s->levels; i++) {
    struct expr at = s->level[i].window > 1 ? emit_for(e, names[i], s->level[i].window) : EXPR(0);
    offset = x_add(offset, x_mul(at, s->level[i].stride));
  }
  dx.name = NULL;
  dx.at = x_at(x_name(e, "dx"), offset, vtile_bytes(s->type));
  vtile_store(e, &kernel->tile, &dx);
  for (unsigned i = 0; i < s->levels; i++)
    if (s->level[i].window > 1)
      emit_end(e);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct spread *s = (struct spread *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const struct lower_value *out = lower_get(kernel->job, "out");
  uint64_t small[] = {shape->shape[0], out->shape[0], out->shape[1], out->shape[2],
                      shape->shape[ADAPTIVE_CHANNELS]};
  emit_tensor(e, "dy", s->type, TENSOR_IN, small, ADAPTIVE_RANK, NULL);
  emit_tensor(e, "dx", s->type, TENSOR_OUT, shape->shape, ADAPTIVE_RANK, NULL);
}

/* A dimension without windows goes with the next one that has them, or else with the channels;
 * returns elements behind the last level. */
static uint64_t find_levels(struct spread *s, const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  uint64_t positions = shape->shape[0];
  for (unsigned i = 0; i < ADAPTIVE_MAPS; i++) {
    uint64_t window = shape->shape[ADAPTIVE_FIRST + i] / out->shape[i];
    positions *= out->shape[i];
    if (window == 1)
      continue;
    s->level[s->levels++] = (struct level){.positions = positions, .window = window};
    positions = 1;
  }
  if (s->levels == 0) {
    s->level[s->levels++] = (struct level){.positions = positions, .window = 1};
    positions = 1;
  }
  return positions * shape->shape[ADAPTIVE_CHANNELS];
}

/* Strides on both sides, from the last level to the first. */
static void set_strides(struct spread *s, uint64_t behind) {
  struct vtile_space *space = &s->kernel.tile.space;
  const unsigned last = s->levels - 1;
  uint64_t in = behind, out = behind;
  for (unsigned i = s->levels; i-- > 0;) {
    struct level *level = &s->level[i];
    level->stride = out;
    *(i == last ? &s->dy.row_stride : &s->dy.outer_stride[i]) = in;
    *(i == last ? &s->dx.row_stride : &s->dx.outer_stride[i]) = out * level->window;
    *(i == last ? &space->rows : &space->outer[i]) = level->positions;
    in *= level->positions;
    out *= level->positions * level->window;
  }
  space->outers = last;
  space->cols = behind;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 3,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .compute = compute,
                                           .store = store};
  enum vinci_status status = adaptive_check(job);
  if (status != VINCI_OK)
    return status;
  struct spread *s = vkernel_new(job, sizeof *s, &kind);
  if (!s)
    return VINCI_E_NOMEM;
  s->type = lower_get(job, "dtype")->dtype;
  uint64_t behind = find_levels(s, job);
  s->share = 1.0 / (double)copies(s);
  s->dy = (struct vtile_operand){.name = "dy", .dtype = s->type, .col_stride = 1};
  s->dx = s->dy;
  s->dx.name = "dx";
  set_strides(s, behind);
  struct vkernel *kernel = &s->kernel;
  kernel->code = KERNEL_ELEMENTWISE;
  /* A burst of a copy takes a line of L2 at least. */
  kernel->element_bytes =
      (1 + copies(s)) * max_u64(vtile_bytes(s->type), ceil_div(LINE_BYTES, behind));
  kernel->rows_max = min_u64(kernel->tile.space.rows, BURSTS_MAX);
  kernel->in[0] = &s->dy;
  return VINCI_OK;
}

/* The gradient has no dimension of images, which are with the channels. */
static bool call_grad(struct lower_call *call) {
  const struct lower_tensor *dy = &call->input[0], *dx = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || dy->rank != ADAPTIVE_MAPS + 1 ||
      dx->rank != ADAPTIVE_MAPS + 1)
    return lower_cannot(call, "gradients of 4 dimensions are needed");
  lower_arg(call, "shape=1x%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64, dx->shape[0],
            dx->shape[1], dx->shape[2], dx->shape[3]);
  lower_arg_shape(call, "out", dy->shape, ADAPTIVE_MAPS);
  lower_arg_dtype(call, "dtype", dy);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
LOWER_OPERATOR(adaptive_avg_pool_grad, "AdaptiveAvgPool3dGrad",
               "dx = dy of the window, by the elements of a window; shape is that of dx", keys,
               &template, NULL, call_grad)
