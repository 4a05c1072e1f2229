/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repetition: a tensor along its dimensions of extent 1, as numpy broadcasts. The vendor's Tile,
 * which repeats whole dimensions, is the same with a dimension of 1 before each of these.
 */
#include "lower/vector/elementwise/elementwise.h"

#define TYPES "fp16|bf16|fp32|int8|uint8|int16|int32|int64"

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("to", SHAPE, NULL, NULL, "extents of y; those of x or, where x has 1, any"),
    DTYPE_KEY("fp16", TYPES, "type of x and y"), VTILE_KEYS_TABLE};

/* Bits as they are, 16 at a time; bytes by way of fp16. */
#define PARTS(n_) AS(DTYPE_UINT16, n_, B_("vor", Y0, X0, X0)), END
static const struct vstep broadcast_steps[] = {PARTS(1)};
static const struct vstep word_steps[] = {PARTS(2)};

static enum vinci_status choose(struct lower_job *job, struct vfunc *func) {
  enum dtype type = lower_get(job, "dtype")->dtype;
  const struct lower_value *x = lower_get(job, "shape"), *y = lower_get(job, "to");
  if (dtype_bits(type) >= 32)
    func->steps = word_steps;
  if (x->rank > y->rank)
    return lower_error(job, "x has more dimensions than y");
  for (unsigned i = 1; i <= x->rank; i++)
    if (x->shape[x->rank - i] != 1 && x->shape[x->rank - i] != y->shape[y->rank - i])
      return lower_error(job, "x has %llu where y has %llu",
                         (unsigned long long)x->shape[x->rank - i],
                         (unsigned long long)y->shape[y->rank - i]);
  return VINCI_OK;
}

/* Each dimension that is repeated as a whole becomes two: 1 and its extent. */
static bool call_broadcast(struct lower_call *call) {
  uint64_t from[2 * TENSOR_RANK_MAX], to[2 * TENSOR_RANK_MAX];
  unsigned rank = 0;
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "an input and an output are needed");
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (x->rank > y->rank)
    return lower_cannot(call, "the output has fewer dimensions than the input");
  for (unsigned i = 0; i < y->rank; i++) {
    unsigned lead = y->rank - x->rank;
    uint64_t own = i < lead ? 1 : x->shape[i - lead];
    if (y->shape[i] % own != 0)
      return lower_cannot(call, "the output is not a whole repetition of the input");
    if (own != 1 && own != y->shape[i]) {
      from[rank] = 1;
      to[rank++] = y->shape[i] / own;
    }
    from[rank] = own;
    to[rank++] = own != 1 ? own : y->shape[i];
  }
  if (rank > TENSOR_RANK_MAX)
    return lower_cannot(call, "too many dimensions are repeated");
  lower_arg_shape(call, "shape", from, rank);
  lower_arg_shape(call, "to", to, rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

VEW_OPERATOR(broadcast, "BroadcastTo|BroadcastToD|Expand|ExpandD|Tile|TileD",
             "y = x, repeated along its dimensions of extent 1", keys, call_broadcast, .inputs = 1,
             .outputs = 1, .types = VTYPES_ANY | VTYPES_BF16, .words = true,
             .steps = broadcast_steps, .choose = choose)
