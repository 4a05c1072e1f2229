/* SPDX-License-Identifier: Apache-2.0 */
/* Values of constants: elements in other places. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

static size_t bytes_of(const struct onnx_value *value) { return onnx_element_bytes(value->type); }

/* The step in elements from one index of a dimension to the next. */
static void steps_of(const struct onnx_value *value, int64_t steps[static GRAPH_RANK_MAX]) {
  int64_t step = 1;
  for (unsigned d = value->rank; d-- > 0; step *= (int64_t)value->shape[d])
    steps[d] = step;
}

/* Fills `to` with elements of `from`: of index i in each dimension d of `to`, `first` plus the sum
 * of i * steps[d]; 0 < modulo[d]: of i modulo that. */
static void gather_strided(const struct onnx_value *from, int64_t first, const int64_t *steps,
                           const uint64_t *modulo, struct onnx_value *to) {
  size_t bytes = bytes_of(to);
  const uint8_t *source = from->data;
  uint8_t *target = onnx_data(to);
  for (uint64_t i = 0, n = onnx_elements(to); i < n; i++) {
    int64_t at = first;
    uint64_t rest = i;
    for (unsigned d = to->rank; d-- > 0; rest /= to->shape[d]) {
      uint64_t coordinate = rest % to->shape[d];
      at += (int64_t)(modulo ? coordinate % modulo[d] : coordinate) * steps[d];
    }
    memcpy(target + i * bytes, source + (size_t)at * bytes, bytes);
  }
}

bool onnx_fold_transpose(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints perm;
  int64_t in[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  if (onnx_ints(call, "perm", &perm) != VINCI_OK)
    return false;
  steps_of(x, in);
  for (unsigned d = 0; d < x->rank; d++)
    steps[d] = in[perm.given ? (perm.list[d] + (int64_t)x->rank) % (int64_t)x->rank
                             : (int64_t)(x->rank - 1 - d)];
  gather_strided(x, 0, steps, NULL, call->outputs[0]);
  return true;
}

bool onnx_fold_expand(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  int64_t in[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX] = {0};
  steps_of(x, in);
  for (unsigned d = 0; d < x->rank; d++)
    steps[y->rank - x->rank + d] = x->shape[d] == 1 ? 0 : in[d];
  gather_strided(x, 0, steps, NULL, y);
  return true;
}

bool onnx_fold_tile(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  int64_t steps[GRAPH_RANK_MAX];
  if (onnx_elements(x) == 0)
    return true;
  steps_of(x, steps);
  gather_strided(x, 0, steps, x->shape, call->outputs[0]);
  return true;
}

/* The arguments that the rule has left say what is cut. */
static unsigned argument(const struct onnx_call *call, const char *key, int64_t *list) {
  struct graph_node node = {.args = (const char **)(uintptr_t)call->args,
                            .arg_count = call->arg_count};
  return graph_arg_ints(&node, key, list, GRAPH_RANK_MAX);
}

bool onnx_fold_slice(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  int64_t in[GRAPH_RANK_MAX], starts[GRAPH_RANK_MAX], by[GRAPH_RANK_MAX], first = 0;
  if (argument(call, "starts", starts) != x->rank || argument(call, "steps", by) != x->rank)
    return false;
  if (onnx_elements(call->outputs[0]) == 0)
    return true;
  steps_of(x, in);
  for (unsigned d = 0; d < x->rank; d++) {
    first += starts[d] * in[d];
    in[d] = call->outputs[0]->shape[d] > 1 ? in[d] * by[d] : 0;
  }
  gather_strided(x, first, in, NULL, call->outputs[0]);
  return true;
}

/* ---- parts along an axis --------------------------------------------------------------------- */

uint64_t onnx_extent(const struct onnx_value *value, unsigned from, unsigned to) {
  uint64_t product = 1;
  for (unsigned d = from; d < to; d++)
    product *= value->shape[d];
  return product;
}

static unsigned axis_of(const struct onnx_call *call) {
  int64_t axis[GRAPH_RANK_MAX] = {0};
  (void)argument(call, "axis", axis);
  return (unsigned)axis[0];
}

bool onnx_fold_split(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  unsigned axis = axis_of(call);
  size_t inner = (size_t)onnx_extent(x, axis + 1, x->rank) * bytes_of(x), at = 0;
  for (uint32_t i = 0; i < call->output_count; i++) {
    struct onnx_value *y = call->outputs[i];
    size_t part = (size_t)y->shape[axis] * inner;
    uint8_t *data = onnx_data(y);
    for (uint64_t o = 0; o < onnx_extent(x, 0, axis); o++)
      memcpy(data + o * part, (const uint8_t *)x->data + o * x->shape[axis] * inner + at, part);
    at += part;
  }
  return true;
}

bool onnx_fold_concat(struct onnx_call *call) {
  struct onnx_value *y = call->outputs[0];
  unsigned axis = axis_of(call);
  size_t inner = (size_t)onnx_extent(y, axis + 1, y->rank) * bytes_of(y), at = 0;
  uint8_t *data = onnx_data(y);
  for (uint32_t i = 0; i < call->input_count; i++) {
    const struct onnx_value *x = call->inputs[i];
    size_t part = (size_t)x->shape[axis] * inner;
    if (x->type != y->type)
      return false;
    for (uint64_t o = 0; o < onnx_extent(y, 0, axis); o++)
      memcpy(data + o * y->shape[axis] * inner + at, (const uint8_t *)x->data + o * part, part);
    at += part;
  }
  return true;
}

/* ---- by indices ------------------------------------------------------------------------------ */

bool onnx_index_at(const struct onnx_value *indices, uint64_t i, uint64_t extent, uint64_t *out) {
  int64_t index = onnx_load_int(indices, i);
  index = index < 0 ? index + (int64_t)extent : index;
  *out = (uint64_t)index;
  return index >= 0 && (uint64_t)index < extent;
}

bool onnx_fold_gather(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  unsigned axis = axis_of(call);
  size_t inner = (size_t)onnx_extent(x, axis + 1, x->rank) * bytes_of(x);
  uint64_t count = onnx_elements(indices), index;
  uint8_t *data = onnx_data(call->outputs[0]);
  for (uint64_t o = 0; o < onnx_extent(x, 0, axis); o++)
    for (uint64_t i = 0; i < count; i++) {
      if (!onnx_index_at(indices, i, x->shape[axis], &index))
        return false;
      memcpy(data + (o * count + i) * inner,
             (const uint8_t *)x->data + (o * x->shape[axis] + index) * inner, inner);
    }
  return true;
}

bool onnx_fold_gather_elements(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  unsigned axis = axis_of(call);
  int64_t steps[GRAPH_RANK_MAX];
  size_t bytes = bytes_of(x);
  uint8_t *data = onnx_data(call->outputs[0]);
  steps_of(x, steps);
  for (uint64_t i = 0, n = onnx_elements(indices); i < n; i++) {
    uint64_t rest = i, at = 0, index;
    if (!onnx_index_at(indices, i, x->shape[axis], &index))
      return false;
    for (unsigned d = x->rank; d-- > 0; rest /= indices->shape[d]) {
      uint64_t coordinate = d == axis ? index : rest % indices->shape[d];
      if (coordinate >= x->shape[d])
        return false;
      at += coordinate * (uint64_t)steps[d];
    }
    memcpy(data + i * bytes, (const uint8_t *)x->data + at * bytes, bytes);
  }
  return true;
}

bool onnx_place_of(const struct onnx_value *x, const struct onnx_value *indices, uint64_t row,
                   unsigned from, uint64_t depth, uint64_t *out) {
  int64_t steps[GRAPH_RANK_MAX];
  steps_of(x, steps);
  *out = 0;
  for (uint64_t k = 0; k < depth; k++) {
    uint64_t index;
    if (!onnx_index_at(indices, row * depth + k, x->shape[from + k], &index))
      return false;
    *out += index * (uint64_t)steps[from + k];
  }
  return true;
}

bool onnx_fold_gather_nd(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  unsigned batch = (unsigned)onnx_int(call, "batch_dims", 0);
  uint64_t depth = indices->shape[indices->rank - 1], at;
  uint64_t batches = onnx_extent(x, 0, batch);
  uint64_t rows = depth ? onnx_elements(indices) / depth : 0;
  size_t part = (size_t)onnx_extent(x, batch + (unsigned)depth, x->rank) * bytes_of(x);
  size_t whole = (size_t)onnx_extent(x, batch, x->rank) * bytes_of(x);
  uint8_t *data = onnx_data(call->outputs[0]);
  for (uint64_t row = 0; row < rows; row++) {
    if (!onnx_place_of(x, indices, row, batch, depth, &at))
      return false;
    memcpy(data + row * part,
           (const uint8_t *)x->data + row / (rows / batches) * whole + at * bytes_of(x), part);
  }
  return depth > 0;
}

bool onnx_fold_scatter_nd(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  const struct onnx_value *updates = call->inputs[2];
  if (indices->rank == 0 || strcmp(onnx_text(call, "reduction", "none"), "none") != 0)
    return false;
  uint64_t depth = indices->shape[indices->rank - 1], at;
  if (depth == 0 || depth > x->rank || updates->type != x->type)
    return false;
  uint64_t rows = onnx_elements(indices) / depth;
  uint64_t part = onnx_extent(x, (unsigned)depth, x->rank);
  uint8_t *data = onnx_data(call->outputs[0]);
  if (rows * part != onnx_elements(updates))
    return false;
  memcpy(data, x->data, (size_t)onnx_elements(x) * bytes_of(x));
  for (uint64_t row = 0; row < rows; row++) {
    if (!onnx_place_of(x, indices, row, 0, depth, &at))
      return false;
    memcpy(data + at * bytes_of(x), (const uint8_t *)updates->data + row * part * bytes_of(x),
           (size_t)part * bytes_of(x));
  }
  return true;
}

/* ---- made ------------------------------------------------------------------------------------ */

bool onnx_fold_one_hot(struct onnx_call *call) {
  const struct onnx_value *indices = call->inputs[0], *values = call->inputs[2];
  struct onnx_value *y = call->outputs[0];
  unsigned axis = axis_of(call);
  int64_t depth = (int64_t)y->shape[axis];
  uint64_t inner = onnx_extent(y, axis + 1, y->rank);
  size_t bytes = bytes_of(y);
  uint8_t *data = onnx_data(y);
  if (onnx_elements(values) != 2)
    return false;
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++) {
    uint64_t outer = i / (inner * (uint64_t)depth);
    int64_t at = (int64_t)(i / inner % (uint64_t)depth);
    int64_t index = onnx_load_int(indices, outer * inner + i % inner);
    bool hot = (index < 0 ? index + depth : index) == at;
    memcpy(data + i * bytes, (const uint8_t *)values->data + (hot ? bytes : 0), bytes);
  }
  return true;
}

bool onnx_fold_trilu(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  int64_t k = onnx_known(call, 1) ? onnx_load_int(call->inputs[1], 0) : 0;
  bool upper = onnx_int(call, "upper", 1) != 0;
  uint64_t rows = x->shape[x->rank - 2], columns = x->shape[x->rank - 1];
  size_t bytes = bytes_of(x);
  uint8_t *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(x); i < n; i++) {
    int64_t row = (int64_t)(i / columns % rows), column = (int64_t)(i % columns);
    if (upper ? column - row >= k : column - row <= k)
      memcpy(data + i * bytes, (const uint8_t *)x->data + i * bytes, bytes);
    else
      memset(data + i * bytes, 0, bytes);
  }
  return true;
}

bool onnx_fold_eye(struct onnx_call *call) {
  struct onnx_value *y = call->outputs[0];
  int64_t k = onnx_int(call, "k", 0), columns = (int64_t)y->shape[1];
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++)
    onnx_store_int(data, y->type, i, (int64_t)i % columns - (int64_t)i / columns == k);
  return true;
}
