/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of recurrent layers behind their products: gates become a state. The gates of a row are
 * quarters of a row of one tensor, before their sigmoid or tanh, with all sums and biases in them.
 */
#include <string.h>

#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"

enum { QUARTERS = 4, STATE = QUARTERS };

/* T = exp(2 T), of tanh(T) = (T - 1) / (T + 1); beyond 9 tanh is 1 in single precision. */
#define EXP_OF_TWICE(reg_, from_)                                                                  \
  S("vmins", reg_, from_, 9), S("vmaxs", reg_, reg_, -9), S("vmuls", reg_, reg_, 2),               \
      U("vexp", reg_, reg_)
/* T = 1 + exp(-x), of sigmoid(x) = 1 / T. */
#define INVERSE_SIGMOID(reg_, from_)                                                               \
  S("vmuls", reg_, from_, -1), U("vexp", reg_, reg_), S("vadds", reg_, reg_, 1)

/* X0 .. X3: i, f, g, o; X4: c. Y0 = sigmoid(f) c + sigmoid(i) tanh(g), Y1 = sigmoid(o) tanh(Y0). */
static const struct vstep lstm_cell_steps[] = {
    INVERSE_SIGMOID(T0, X0), EXP_OF_TWICE(T1, X2),  S("vadds", T2, T1, -1),  S("vadds", T1, T1, 1),
    B("vmul", T0, T0, T1),   B("vdiv", T2, T2, T0), INVERSE_SIGMOID(T0, X1), B("vdiv", T0, X4, T0),
    B("vadd", Y0, T0, T2),   EXP_OF_TWICE(T0, Y0),  S("vadds", T1, T0, -1),  S("vadds", T0, T0, 1),
    INVERSE_SIGMOID(T2, X3), B("vmul", T0, T0, T2), B("vdiv", Y1, T1, T0),   END};
/* X0 .. X3: r, z, and both parts of n; X4: h. n = tanh(X2 + sigmoid(r) X3),
 * Y0 = n + sigmoid(z) (h - n). */
static const struct vstep gru_cell_steps[] = {
    INVERSE_SIGMOID(T0, X0), B("vdiv", T0, X3, T0), B("vadd", T0, T0, X2), EXP_OF_TWICE(T0, T0),
    S("vadds", T1, T0, -1),  S("vadds", T0, T0, 1), B("vdiv", T1, T1, T0), INVERSE_SIGMOID(T0, X1),
    B("vsub", T2, X4, T1),   B("vdiv", T2, T2, T0), B("vadd", Y0, T1, T2), END};

#define STATE_SHAPE SHAPE_KEY("extents of a state; gates have four times the last")
#define STATE_TYPE DTYPE_KEY("fp16", FLOATS, "type of all")

/* The place of i, f, g and o among the quarters. */
static const char orders[] = "ifgo|igfo|iofg";
static const unsigned places[][QUARTERS] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 2, 3, 1}};

static const struct lower_key lstm_keys[] = {
    STATE_SHAPE, STATE_TYPE,
    WORD_KEY("order", "ifgo", orders,
             "of the gates: input, forget, new (g) and output; igfo is that of DynamicRNN, iofg of "
             "ONNX"),
    VTILE_KEYS_TABLE};
static const struct lower_key gru_keys[] = {STATE_SHAPE, STATE_TYPE, VTILE_KEYS_TABLE};

/* A part of each row of a tensor. */
static void set_part(struct vew_operand *operand, enum dtype type, uint64_t base, uint64_t row) {
  operand->type = operand->tile.dtype = type;
  operand->kind = VKIND_FULL;
  operand->tile.base = base;
  operand->tile.row_stride = row;
  operand->tile.col_stride = 1;
}

static enum vinci_status cell_operands(struct lower_job *job, struct vew *ew) {
  const struct lower_value *shape = lower_get(job, "shape"), *order = lower_get(job, "order");
  enum dtype type = lower_get(job, "dtype")->dtype;
  uint64_t cols = shape->shape[shape->rank - 1];
  const unsigned *place = places[order ? order->word : 0];
  for (unsigned k = 0; k < QUARTERS; k++)
    set_part(&ew->in[k], type, place[k] * cols, QUARTERS * cols);
  set_part(&ew->in[STATE], type, 0, cols);
  for (unsigned k = 0; k < ew->func.outputs; k++)
    set_part(&ew->out[k], type, 0, cols);
  ew->rank[0] = ew->rank[STATE] = ew->out_rank = shape->rank;
  memcpy(ew->shape[0], shape->shape, sizeof ew->shape[0]);
  memcpy(ew->shape[STATE], shape->shape, sizeof ew->shape[STATE]);
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  ew->shape[0][shape->rank - 1] = QUARTERS * cols;
  ew->kernel.tile.space =
      (struct vtile_space){.rows = lower_elements(shape->shape, shape->rank - 1), .cols = cols};
  return lower_bounded(job, ew->shape[0], shape->rank);
}

static const char *const lstm_cell_names[] = {"gates", "gates",  "gates", "gates",
                                              "c",     "c_next", "h_next"};
static const char *const gru_cell_names[] = {"gates", "gates", "gates", "gates", "h", "h_next"};

#define CELL(id, summary, keys, outputs_)                                                          \
  VEW_OPERATOR(id, "", summary, keys, NULL, .inputs = QUARTERS + 1, .outputs = outputs_,           \
               .names = id##_names, .steps = id##_steps, .operands = cell_operands)

CELL(lstm_cell,
     "c_next = sigmoid(f) * c + sigmoid(i) * tanh(g), h_next = sigmoid(o) * tanh(c_next)",
     lstm_keys, 2)
CELL(gru_cell,
     "h_next = n + sigmoid(z) * (h - n), n = tanh(a + sigmoid(r) * b), gates being r, z, a and b",
     gru_keys, 1)
