/* SPDX-License-Identifier: Apache-2.0 */
/* The L2 that a row of a list starts with: its state by operator, and not by its place. */
#include <string.h>

#include "core/base/arith.h"

#include "lower/calls/calls.h"

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}
#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

static bool all_flat(const struct lower_call *call) {
  for (unsigned i = 0; i < call->input_count; i++)
    if (call->input[i].rank > 1)
      return false;
  return call->input_count > 0;
}

bool calls_accumulates(const struct lower_call *call) {
  return strcmp(call->type, "Add") == 0 && call->input_count == 2 &&
         call->input[0].dtype != call->input[1].dtype;
}

/* Whether all inputs are small. Of 45 such rows of kernels with one block in profiles of a 910B2
 * and a 910B4, 31 have the MTE2 time of inputs that L2 holds: the kernel before has just written
 * them. */
static bool all_small(const struct lower_call *call) {
  enum { SMALL_BYTES = 4096 };
  for (unsigned i = 0; i < call->input_count; i++)
    if (calls_tensor_bytes(&call->input[i]) > SMALL_BYTES)
      return false;
  return true;
}

static bool begins(const char *type, const char *start) {
  return strncmp(type, start, strlen(start)) == 0;
}

/* Steps of optimizers by their types on the chips of 2019; those of one element for each parameter
 * find the values of the kernel before. */
static bool is_optimizer(const struct lower_call *call) {
  bool steps = begins(call->type, "Adam") || begins(call->type, "LambApply") ||
               begins(call->type, "FusedMulApply");
  return steps && !all_small(call);
}

/* Whether an operand with extents lies as weights of products do. Nothing since the last use
 * of weights has read or written them, and that use is a whole step away. */
static bool has_weights(const struct lower_call *call) {
  for (unsigned i = 0; i < call->input_count; i++)
    if (strcmp(call->input[i].format, "FRACTAL_Z") == 0 && call->input[i].rank > 1)
      return true;
  return false;
}

static bool updates_parameters(const struct lower_call *call, const char *op) {
  static const char *const moves[] = {"copy", "fill", "transpose", "transdata", "slice", "concat"};
  if (begins(call->type, "Apply") || begins(call->type, "Foreach") || is_optimizer(call))
    return true;
  bool flat = all_flat(call) && !all_small(call);
  return (flat || has_weights(call)) && !IS_ONE_OF(op, moves);
}

static bool has_argument(const struct call_request *request, const char *argument) {
  for (size_t i = 0; i < request->arg_count; i++)
    if (strcmp(request->args[i], argument) == 0)
      return true;
  return false;
}

static enum vinci_l2 cube_start(const struct call_request *request) {
  if (strstr(request->op->name, "matmul") == NULL)
    return VINCI_L2_USED;
  if (has_argument(request, "transpose_a=1"))
    return VINCI_L2_EMPTY;
  return has_argument(request, "bias=1") ? VINCI_L2_DIRTY : VINCI_L2_USED;
}

enum vinci_l2 calls_l2_start(const struct call_row *row, const struct call_request *request) {
  static const char *const cubes[] = {"matmul", "batch_matmul", "conv2d", "conv2d_backprop_input",
                                      "conv2d_backprop_filter"};
  struct lower_call call = {0};
  if (IS_ONE_OF(request->op->name, cubes))
    return cube_start(request);
  if (!row->profiled || !calls_parse(row, &call))
    return VINCI_L2_WARM;
  if (calls_accumulates(&call))
    return VINCI_L2_EMPTY;
  return updates_parameters(&call, request->op->name) ? VINCI_L2_STREAMING : VINCI_L2_WARM;
}

uint64_t calls_l2_written(const struct call_row *row) { return row->profiled ? UINT64_MAX : 0; }

static const uint64_t enough_bytes = UINT64_C(1) << 48;

uint64_t calls_tensor_bytes(const struct lower_tensor *tensor) {
  uint64_t bits = tensor->dtype < DTYPE_COUNT ? dtype_bits(tensor->dtype) : 0;
  for (unsigned i = 0; i < tensor->rank; i++)
    bits = (uint64_t)((uint128)bits * tensor->shape[i] > enough_bytes ? enough_bytes
                                                                      : bits * tensor->shape[i]);
  return bits / BITS_PER_BYTE;
}
