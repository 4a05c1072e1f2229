/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_elements: of each row of x the elements that the same row of indices names. The row lies
 * in UB, so that the vector unit gathers by the indices themselves; a row that is longer than UB is
 * refused.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { WORD_BYTES = 4 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x; elements are gathered along the last"),
    LOWER_KEY("count", SIZE, NULL, NULL, "elements that are gathered from each row"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32|int16|int32", "type of x and y"), VTILE_KEYS_TABLE};

struct elements {
  struct vkernel kernel; /* first */
  struct vtile_operand x, index, y;
  uint64_t length; /* of a row of x */
  uint64_t offsets;
};

static void lay_out(struct vtile *tile) {
  struct elements *own = (struct elements *)tile;
  uint64_t slot = 0;
  own->x.address = vtile_reserve(&slot, tile->rows * own->x.pitch * vtile_bytes(own->x.dtype));
  own->index.address = vtile_reserve(&slot, tile->rows * own->index.pitch * WORD_BYTES);
  own->y.address = vtile_reserve(&slot, tile->rows * own->y.pitch * vtile_bytes(own->y.dtype));
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  own->offsets = vtile_reserve(&used, tile->rows * own->index.pitch * WORD_BYTES);
  tile->ub_bytes = used;
}

/* Rows of x are of another length than those of the space. */
static struct vtile of_x(const struct elements *own) {
  struct vtile tile = own->kernel.tile;
  tile.cols = tile.space.cols = own->length;
  tile.n_cols = EXPR(own->length);
  return tile;
}

static void load(struct emit *e, struct vkernel *kernel) {
  const struct elements *own = (struct elements *)kernel;
  struct vtile rows_of_x = of_x(own);
  vtile_load(e, &rows_of_x, &own->x);
  vtile_load(e, &kernel->tile, &own->index);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct elements *own = (struct elements *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e, .type = DTYPE_INT32, .written = V_ALL};
  uint64_t bytes = vtile_bytes(own->x.dtype);
  struct expr r = emit_for(e, "r", tile->n_rows);
  struct expr words = x_mul(r, own->index.pitch * WORD_BYTES);
  unit.reg[X0] = x_add(x_add(tile->slot, own->x.address), x_mul(r, own->x.pitch * bytes));
  unit.reg[X1] = x_add(x_add(tile->slot, own->index.address), words);
  unit.reg[T0] = x_add(own->offsets, words);
  unit.reg[Y0] = x_add(x_add(tile->slot, own->y.address), x_mul(r, own->y.pitch * bytes));
  vunit_count(&unit, tile->n_cols);
  vunit_step(&unit, &(struct vstep)S("vmuls", T0, X1, (double)bytes));
  vunit_step(&unit,
             &(struct vstep)AS(bytes == 2 ? DTYPE_UINT16 : DTYPE_UINT32, 1, GATHER_(Y0, X0, T0)));
  vunit_rest(&unit);
  emit_end(e);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct elements *own = (const struct elements *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  uint64_t gathered[TENSOR_RANK_MAX];
  for (unsigned i = 0; i < shape->rank; i++)
    gathered[i] = i + 1 < shape->rank ? shape->shape[i] : kernel->tile.space.cols;
  emit_tensor(e, "x", own->x.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x1", DTYPE_INT32, TENSOR_IN, gathered, shape->rank, NULL);
  emit_tensor(e, "y", own->y.dtype, TENSOR_OUT, gathered, shape->rank, NULL);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .tensors = tensors,
                                           .load = load,
                                           .compute = compute};
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype type = lower_get(job, "dtype")->dtype;
  struct elements *own = vkernel_new(job, sizeof *own, &kind);
  if (!own)
    return VINCI_E_NOMEM;
  if (!(isa_row(OP_VGATHER)->archs & 1u << job->soc->arch))
    return lower_error(job, "the chip has no instruction that gathers");
  struct vkernel *kernel = &own->kernel;
  struct vtile_space *space = &kernel->tile.space;
  own->length = shape->shape[shape->rank - 1];
  space->rows = lower_elements(shape->shape, shape->rank - 1);
  space->cols = lower_get(job, "count")->size;
  const uint64_t gathered[] = {space->rows, space->cols};
  enum vinci_status status = lower_bounded(job, gathered, 2);
  if (status != VINCI_OK)
    return status;
  own->x = vtile_whole_rows("x", type, space, vtile_pitch(own->length, vtile_bytes(type)));
  own->x.row_stride = own->length;
  own->x.whole = false;
  own->index = vtile_whole_rows("x1", DTYPE_INT32, space, vtile_pitch(space->cols, WORD_BYTES));
  own->y = vtile_whole_rows("y", type, space, vtile_pitch(space->cols, vtile_bytes(type)));
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  kernel->code = KERNEL_SLICE;
  kernel->element_bytes = vtile_bytes(type);
  kernel->in[0] = &own->x;
  kernel->in[1] = &own->index;
  kernel->out[0] = &own->y;
  return VINCI_OK;
}

/* x, indices; the dimension is an attribute: where the shapes do not show another, the last. */
static bool call_elements(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *index = &call->input[1];
  if (call->input_count < 2 || x->rank == 0 || index->rank != x->rank)
    return lower_cannot(call, "x and indices of as many dimensions are needed");
  for (unsigned i = 0; i + 1 < x->rank; i++)
    if (x->shape[i] != index->shape[i])
      return lower_cannot(call, "elements are gathered along the last dimension alone");
  lower_arg_tensor(call, x);
  lower_arg(call, "count=%llu", (unsigned long long)index->shape[x->rank - 1]);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
LOWER_OPERATOR(gather_elements, "GatherElements|GatherElementsV2",
               "y = of each row of x the elements that the row of indices x1 names", keys,
               &template, NULL, call_elements)
