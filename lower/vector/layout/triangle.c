/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triu, tril: matrices of which the elements on one side of a diagonal become zero. Rows are moved
 * as they are, in parts of 16 bits: all of a tile, then the first columns of each row alone, up to
 * the diagonal. tril begins with zeros and takes those columns from x, triu the other way about.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { HALF_BYTES = 2, COPY_BYTES = 32768, ROW_INSTRUCTIONS = 3 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x and y; rows and columns last"),
    NUMBER_KEY("diagonal", "0", "columns to the right of the main diagonal; negative: to the left"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int16|int32|int64", "type of x and y"), VTILE_KEYS_TABLE};

struct triangle_func {
  bool upper;
};

struct triangle {
  struct vkernel kernel; /* first */
  bool upper;
  int64_t diagonal; /* the first column that row 0 of triu keeps, or the first that tril drops */
  struct vtile_operand x, y;
};

static void lay_out(struct vtile *tile) {
  struct triangle *own = (struct triangle *)tile;
  unsigned bytes = vtile_bytes(own->x.dtype);
  uint64_t slot = 0;
  own->x.pitch = own->y.pitch = vtile_pitch(tile->cols, bytes);
  own->x.address = vtile_reserve(&slot, tile->rows * own->x.pitch * bytes);
  own->y.address = vtile_reserve(&slot, tile->rows * own->y.pitch * bytes);
  tile->slot_bytes = slot;
  tile->ub_bytes = slot * tile->buffers;
}

/* Some whole rows, or a part of a long row. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  unsigned bytes = (unsigned)kernel->element_bytes;
  uint64_t most = (uint64_t)(COPY_BYTES >> halvings) / bytes;
  if (tile->space.cols > most)
    tile->cols = vtile_long_rest(job->soc, tile->space.cols, most, bytes);
  vtile_split_rows(job->soc, job->cores, tile, bytes,
                   max_u64(1, most / vtile_pitch(tile->cols, bytes)));
  vtile_fit(job, tile);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct vtile *tile = &kernel->tile;
  return tile->rows == 1 || tile->cols == tile->space.cols ||
         lower_refuse(job, "a tile is whole rows, or a part of one");
}

/* Elements of y as they are in x, or zero. */
static void put(struct emit *e, bool zero, struct expr y, struct expr x) {
  if (zero)
    EMIT(e, "vector_dup", F("dst", y), F("scalar", 0), F("repeat", 1), W("type", "fp16"));
  else
    EMIT(e, "vor", F("dst", y), F("src0", x), F("src1", x), F("repeat", 1), W("type", "uint16"));
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct triangle *own = (const struct triangle *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t halves = kernel->element_bytes / HALF_BYTES, pitch = own->x.pitch;
  struct expr x = x_add(tile->slot, own->x.address), y = x_add(tile->slot, own->y.address);
  struct expr count = tile->rows > 1 ? x_mul(tile->n_rows, pitch) : tile->n_cols;
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_mul(count, halves));
  put(e, !own->upper, y, x);
  emit_barrier(e, PIPE_V);
  struct expr line = emit_for(e, "line", tile->n_rows);
  struct expr side = x_sub(x_add(x_add(tile->row, line), own->diagonal), tile->col);
  struct expr first = emit_assigned(e, "first", x_min(x_max(side, 0), tile->n_cols));
  struct expr at = x_mul(line, pitch * kernel->element_bytes);
  emit_if(e, "any", x_gt(first, 0));
  vmask_count(e, x_mul(first, halves));
  put(e, own->upper, x_add(y, at), x_add(x, at));
  emit_end(e);
  emit_end(e);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct triangle *own = (const struct triangle *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  emit_tensor(e, "x", own->x.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "y", own->y.dtype, TENSOR_OUT, shape->shape, shape->rank, NULL);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .compute = compute};
  const struct triangle_func *func = job->op->spec;
  const struct lower_value *shape = lower_get(job, "shape");
  double diagonal = lower_get(job, "diagonal")->number;
  struct triangle *own = vkernel_new(job, sizeof *own, &kind);
  if (!own)
    return VINCI_E_NOMEM;
  if (shape->rank < 2)
    return lower_error(job, "shape has at least 2 extents");
  enum vinci_status status = lower_fits(job, "diagonal", DTYPE_INT32, diagonal);
  if (status != VINCI_OK)
    return status;
  struct vkernel *kernel = &own->kernel;
  struct vtile_space *space = &kernel->tile.space;
  own->upper = func->upper;
  own->diagonal = (int64_t)diagonal + !func->upper;
  space->outers = 1;
  space->outer[0] = lower_elements(shape->shape, shape->rank - 2);
  space->rows = shape->shape[shape->rank - 2];
  space->cols = shape->shape[shape->rank - 1];
  own->x = vtile_whole_rows("x", lower_get(job, "dtype")->dtype, space, 0);
  own->x.outer_stride[0] = space->rows * space->cols;
  own->y = own->x;
  own->y.name = "y";
  kernel->in[0] = &own->x;
  kernel->out[0] = &own->y;
  kernel->element_bytes = vtile_bytes(own->x.dtype);
  kernel->code = KERNEL_ELEMENTWISE;
  return VINCI_OK;
}

static bool call_triangle(struct lower_call *call) {
  if (call->input_count == 0 || call->input[0].rank < 2)
    return lower_cannot(call, "a matrix is needed");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
#define TRIANGLE(id, vendor, summary, upper_)                                                      \
  LOWER_OPERATOR(id, vendor, summary, keys, &template,                                             \
                 (&(const struct triangle_func){.upper = upper_}), call_triangle)

TRIANGLE(triu, "Triu", "y = x from the diagonal on, and 0 below it", true)
TRIANGLE(tril, "Tril", "y = x up to the diagonal, and 0 above it", false)
