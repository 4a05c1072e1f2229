/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of tensors. How many a sequence has and at which places is known before the run: a
 * sequence is a list of values of the network, and what reads one takes these values.
 */
#include <string.h>

#include "core/base/diag.h"
#include "networks/onnx/rules/rules.h"

enum { ITEMS_MAX = 1 << 22 }; /* of all sequences: each operator makes a list of its own */

/* A new sequence with room for `count` values, as output 0. */
static enum vinci_status new_sequence(struct onnx_call *call, uint32_t count) {
  struct onnx_value *out = call->outputs[0];
  call->import->item_count += count;
  if (call->import->item_count > ITEMS_MAX)
    return onnx_fail(call, "more than %d tensors in all sequences", ITEMS_MAX);
  out->items = ARENA_ARRAY(&call->import->arena, struct onnx_value *, count + 1);
  out->item_count = count;
  call->done = true;
  return out->items ? VINCI_OK : onnx_no_memory(call->import);
}

static enum vinci_status take_sequence(struct onnx_call *call, const struct onnx_value **out) {
  *out = onnx_given(call, 0) ? call->inputs[0] : NULL;
  if (*out && (*out)->items)
    return VINCI_OK;
  onnx_fail(call, "its input 0 is not a sequence of tensors that is known before a run");
  diag_hint(call->import->diag,
            "sequences that are inputs of the model are not taken; export the model without them");
  return VINCI_E_INPUT;
}

static bool is_tensor(const struct onnx_call *call, uint32_t input) {
  return onnx_given(call, input) && !call->inputs[input]->items;
}

/* A place in a sequence, from the end where negative; `most` is the last that there is. */
static enum vinci_status take_place(struct onnx_call *call, uint32_t input, int64_t fallback,
                                    int64_t count, int64_t most, uint32_t *out) {
  int64_t at = fallback;
  if (onnx_given(call, input)) {
    if (!onnx_known(call, input) || onnx_elements(call->inputs[input]) != 1) {
      onnx_fail(call, "its place \"%s\" is not one number that is known before a run",
                call->inputs[input]->name);
      onnx_hint_input(call, input);
      return VINCI_E_INPUT;
    }
    at = onnx_load_int(call->inputs[input], 0);
  }
  at += at < 0 ? count : 0;
  if (at < 0 || at > most)
    return onnx_fail(call, "its place %lld is outside of a sequence of %lld tensors", (long long)at,
                     (long long)count);
  *out = (uint32_t)at;
  return VINCI_OK;
}

enum vinci_status onnx_rule_sequence_empty(struct onnx_call *call) { return new_sequence(call, 0); }

enum vinci_status onnx_rule_sequence_construct(struct onnx_call *call) {
  enum vinci_status status = new_sequence(call, call->input_count);
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!is_tensor(call, i))
      return onnx_fail(call, "input %u is not a tensor", i);
    call->outputs[0]->items[i] = call->inputs[i];
  }
  return VINCI_OK;
}

enum vinci_status onnx_rule_sequence_insert(struct onnx_call *call) {
  const struct onnx_value *from;
  uint32_t at = 0;
  enum vinci_status status = take_sequence(call, &from);
  if (status == VINCI_OK && !is_tensor(call, 1))
    status = onnx_fail(call, "input 1 is not a tensor");
  if (status == VINCI_OK)
    status = take_place(call, 2, from->item_count, from->item_count, from->item_count, &at);
  if (status == VINCI_OK)
    status = new_sequence(call, from->item_count + 1);
  if (status != VINCI_OK)
    return status;
  struct onnx_value **items = call->outputs[0]->items;
  memcpy(items, from->items, at * sizeof *from->items);
  items[at] = call->inputs[1];
  memcpy(items + at + 1, from->items + at, (from->item_count - at) * sizeof *from->items);
  return VINCI_OK;
}

enum vinci_status onnx_rule_sequence_erase(struct onnx_call *call) {
  const struct onnx_value *from;
  uint32_t at = 0;
  enum vinci_status status = take_sequence(call, &from);
  if (status == VINCI_OK)
    status = take_place(call, 1, (int64_t)from->item_count - 1, from->item_count,
                        (int64_t)from->item_count - 1, &at);
  if (status == VINCI_OK)
    status = new_sequence(call, from->item_count - 1);
  if (status != VINCI_OK)
    return status;
  struct onnx_value **items = call->outputs[0]->items;
  memcpy(items, from->items, at * sizeof *from->items);
  memcpy(items + at, from->items + at + 1, (from->item_count - 1 - at) * sizeof *from->items);
  return VINCI_OK;
}

enum vinci_status onnx_rule_sequence_at(struct onnx_call *call) {
  const struct onnx_value *from;
  uint32_t at = 0;
  enum vinci_status status = take_sequence(call, &from);
  if (status == VINCI_OK && !onnx_given(call, 1))
    status = onnx_fail(call, "its place is missing");
  if (status == VINCI_OK)
    status = take_place(call, 1, 0, from->item_count, (int64_t)from->item_count - 1, &at);
  if (status == VINCI_OK)
    onnx_output_is(call, from->items[at]);
  return status;
}

enum vinci_status onnx_rule_sequence_length(struct onnx_call *call) {
  const struct onnx_value *from;
  enum vinci_status status = take_sequence(call, &from);
  if (status != VINCI_OK)
    return status;
  struct onnx_value *length = onnx_scalar(call->import, ONNX_INT64, from->item_count);
  if (!length)
    return onnx_no_memory(call->import);
  onnx_output_is(call, length);
  return VINCI_OK;
}

/* With new_axis the tensors get a dimension of one, along which they are joined. */
static enum vinci_status stack(struct onnx_call *call, struct onnx_value **parts, uint32_t count,
                               int64_t axis) {
  for (uint32_t i = 0; i < count; i++) {
    unsigned rank = parts[i]->rank;
    uint64_t shape[GRAPH_RANK_MAX];
    if (!parts[i]->shaped || rank >= GRAPH_RANK_MAX)
      return onnx_fail(call, "tensor %u of the sequence has no known shape", i);
    uint64_t at = (uint64_t)(axis < 0 ? axis + (int64_t)rank + 1 : axis);
    if (at > rank)
      return onnx_fail(call, "axis %lld of %u dimensions", (long long)axis, rank + 1);
    memcpy(shape, parts[i]->shape, at * sizeof *shape);
    shape[at] = 1;
    memcpy(shape + at + 1, parts[i]->shape + at, (rank - at) * sizeof *shape);
    if (!(parts[i] = onnx_reshaped(call, parts[i], shape, rank + 1)))
      return onnx_no_memory(call->import);
  }
  return VINCI_OK;
}

enum vinci_status onnx_rule_concat_from_sequence(struct onnx_call *call) {
  const struct onnx_value *from;
  struct onnx_value *joined;
  enum vinci_status status = take_sequence(call, &from);
  if (status != VINCI_OK)
    return status;
  int64_t axis = onnx_int(call, "axis", 0);
  uint32_t count = from->item_count;
  struct onnx_value **parts = ARENA_ARRAY(&call->import->arena, struct onnx_value *, count + 1);
  if (!parts)
    return onnx_no_memory(call->import);
  if (count == 0)
    return onnx_fail(call, "a sequence without tensors has nothing to be joined");
  memcpy(parts, from->items, count * sizeof *parts);
  if (onnx_int(call, "new_axis", 0) != 0)
    status = stack(call, parts, count, axis);
  if (status == VINCI_OK)
    status = onnx_join(call, parts, count, axis, &joined);
  if (status == VINCI_OK)
    onnx_output_is(call, joined);
  return status;
}
