/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynamic_quant: rows in 8 bits, each with a scale of its own: the largest magnitude becomes 127.
 * A tile is some whole rows. Where UB does not hold a row of 16 bits with its magnitudes beside,
 * these are computed in place, the row is converted once more, and half precision takes the place
 * of x.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/rows/column.h"
#include "lower/vector/rows/rowwise.h"

enum { FLOAT_BYTES = 4, SPREAD_ROWS = 8, LARGEST = 127 };

static const struct lower_key keys[] = {SHAPE_KEY("extents of x and y; along the last"),
                                        DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x"),
                                        VTILE_KEYS_TABLE};

/* Columns: T1, and Y1, which goes out. A row of zeros has the smallest scale, not 0 / 0. */
static const double smallest = 1e-30;
static const struct vstep steps[] = {U("vabs", T0, X0),
                                     REDUCE(T1, T0, V_MAX),
                                     COLUMN(S_("vmuls", T1, T1, 1.0 / LARGEST)),
                                     COLUMN(P_("vmaxs", T1, T1, 1)),
                                     COLUMN(S_("vmuls", Y1, T1, 1)),
                                     SPREAD(T1),
                                     END};
static const struct vstep dividing[] = {WITH_COLUMN("vdiv", T0, X0), END};
/* The quotient, to the nearest whole number, by way of half precision in the place of X0. */
static const struct vstep narrowing[] = {C("vconv_f322f32", "r", T0, T0),
                                         C("vconv_f322f16", NULL, X1, T0),
                                         C("vconv_f162s8", "z", Y0, X1), END};

struct vquant {
  struct vkernel kernel; /* first */
  enum dtype type;
  bool in_place;
  struct vtile_operand x, y;
  uint64_t pitch;
  uint64_t scale; /* in the buffer */
  uint64_t address[VREGS];
};

static void lay_out(struct vtile *tile) {
  struct vquant *quant = (struct vquant *)tile;
  uint64_t elements = tile->rows * quant->pitch, slot = 0, *address = quant->address;
  uint64_t column = ceil_div(tile->rows, SPREAD_ROWS) * BLOCK_BYTES;
  quant->x.address = vtile_reserve(&slot, elements * vtile_bytes(quant->type));
  quant->y.address = vtile_reserve(&slot, elements);
  quant->scale = vtile_reserve(&slot, column);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  address[X1] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[X0] = address[X1];
  address[T0] = quant->in_place ? address[X0] : vtile_reserve(&used, elements * FLOAT_BYTES);
  address[T1] = vtile_reserve(&used, column);
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  address[V_BLOCKS] = vtile_reserve(&used, column * SPREAD_ROWS);
  tile->ub_bytes = used;
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct vquant *quant = (const struct vquant *)kernel;
  const struct vtile *tile = &kernel->tile;
  return rowwise_walks(job, tile, quant->pitch) &&
         vcolumn_stores(job, tile, tile->rows * quant->pitch * FLOAT_BYTES) &&
         vtile_stores(job, tile, &quant->y);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct vquant *quant = (struct vquant *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct rowwise rows = rowwise_of(e, tile, quant->pitch);
  struct vunit *unit = &rows.unit;
  struct expr raw = x_add(tile->slot, quant->x.address);
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(quant->address[r]);
  unit->parameter[0] = smallest;
  unit->reg[Y0] = x_add(tile->slot, quant->y.address);
  unit->reg[Y1] = x_add(tile->slot, quant->scale);
  rowwise_all(&rows);
  if (quant->type == DTYPE_FP32)
    unit->reg[X0] = raw;
  else
    vunit_convert(unit, 0, V(X0) | V(X1), quant->type, DTYPE_FP32, unit->reg[X0], raw);
  rowwise_steps(&rows, steps);
  if (quant->in_place) {
    rowwise_all(&rows);
    vunit_convert(unit, 0, V(X0) | V(T0), quant->type, DTYPE_FP32, unit->reg[X0], raw);
    unit->reg[X1] = raw;
  }
  rowwise_steps(&rows, dividing);
  rowwise_all(&rows);
  vunit_order(unit, V(X0), V(X1)); /* one place */
  vunit_steps(unit, narrowing);
  vunit_rest(unit);
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct vquant *quant = (struct vquant *)kernel;
  const struct vtile *tile = &kernel->tile;
  vtile_store(e, tile, &quant->y);
  vcolumn_store(e, tile, "scale", quant->scale);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct vquant *quant = (const struct vquant *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  emit_tensor(e, "x", quant->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "y", DTYPE_INT8, TENSOR_OUT, shape->shape, shape->rank, NULL);
  emit_vector(e, "scale", DTYPE_FP32, TENSOR_OUT, kernel->tile.space.rows);
  vcolumn_tensor(e, &kernel->tile);
}

/* A pitch that bytes ask for may be more than copies of x pad; columns are spread 8 rows at a time,
 * of which there may be fewer. */
static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct vquant *quant = (const struct vquant *)kernel;
  if (vtile_pitch(kernel->tile.space.cols, vtile_bytes(quant->type)) < quant->pitch) {
    emit_comment(e, "Padding that no copy writes.");
    vkernel_clear(e, &kernel->tile);
  }
  vmask_count(e, round_up(kernel->tile.rows, SPREAD_ROWS));
  vfill(e, quant->address[T1], 0, "fp32");
  vkernel_tiles(e, kernel);
  vcolumn_end(e, &kernel->tile, "scale", quant->address[T0]);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .split = vcolumn_split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .compute = compute,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape");
  struct vquant *quant = vkernel_new(job, sizeof *quant, &kind);
  if (!quant)
    return VINCI_E_NOMEM;
  struct vkernel *kernel = &quant->kernel;
  struct vtile_space *space = &kernel->tile.space;
  quant->type = lower_get(job, "dtype")->dtype;
  space->cols = shape->shape[shape->rank - 1];
  space->rows = lower_elements(shape->shape, shape->rank - 1);
  quant->pitch = vtile_pitch(space->cols, 1);
  kernel->rows_max = rowwise_rows_max(&kernel->tile, quant->pitch);
  kernel->element_bytes = vtile_bytes(quant->type);
  kernel->code = KERNEL_FUSED;
  quant->x = vtile_whole_rows("x", quant->type, space, quant->pitch);
  quant->y = vtile_whole_rows("y", DTYPE_INT8, space, quant->pitch);
  struct vtile row = kernel->tile;
  kernel->tile.rows = kernel->tile.buffers = 1;
  lay_out(&kernel->tile);
  quant->in_place = quant->type != DTYPE_FP32 && kernel->tile.ub_bytes > vtile_ub_bytes(job->soc);
  kernel->tile = row;
  kernel->in[0] = &quant->x;
  kernel->out[0] = &quant->y;
  return VINCI_OK;
}

static bool call_rows(struct lower_call *call) {
  if (call->input_count == 0 || call->input[0].rank == 0)
    return lower_cannot(call, "no shape");
  if (call->input_count > 1 && call->input[1].rank > 0)
    return lower_cannot(call, "smoothing scales are not modelled");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(dynamic_quant, "DynamicQuant",
               "y = x / scale to the nearest of 8 bits, scale = max(|x|) / 127 of each row", keys,
               &template, NULL, call_rows)
