/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by lists of indices as rows by one index. What indices name that are known before a run
 * is computed here: a result that keeps most of a tensor is then rows of the tensor and of the
 * updates behind, in the order of a constant.
 */
#include <inttypes.h>
#include <string.h>

#include "networks/onnx/contrib.h"

/* Extents first .. last - 1. */
static uint64_t extent(const struct onnx_value *x, uint64_t first, uint64_t last) {
  uint64_t product = 1;
  for (uint64_t d = first; d < last; d++)
    product *= x->shape[d];
  return product;
}

/* The row that `depth` indices from index `at` on name in dimensions first ..; -1: outside. */
static int64_t row_of(const struct onnx_value *x, const struct onnx_value *indices, uint64_t at,
                      uint64_t first, uint64_t depth) {
  int64_t row = 0;
  for (uint64_t k = 0; k < depth; k++) {
    int64_t index = onnx_load_int(indices, at + k), size = (int64_t)x->shape[first + k];
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      return -1;
    row = row * size + index;
  }
  return row;
}

/* ---- Gather ---------------------------------------------------------------------------------- */

/* Indices that count from the end, as the kernel takes none below 0. */
enum vinci_status onnx_made_gather(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  uint64_t axis = (uint64_t)onnx_put_int(call, "axis", 0), count = onnx_elements(indices);
  struct onnx_text body = {.used = 0};
  *known = false;
  if (!onnx_known(call, 1) || count > ONNX_FOLD_MAX)
    return VINCI_OK;
  int64_t *list = onnx_say_list(call, &body, count);
  if (!list)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < count; i++) {
    int64_t index = onnx_load_int(indices, i);
    *known = *known || index < 0;
    list[i] = index < 0 ? index + (int64_t)x->shape[axis] : index;
    if (list[i] < 0 || list[i] >= (int64_t)x->shape[axis])
      return onnx_fail(call, "index %lld of dimension %" PRIu64 " of %s", (long long)index, axis,
                       onnx_shape_text(x).text);
  }
  if (!*known)
    return VINCI_OK;
  onnx_say(&body, "Constant f = value_ints=$0; Constant s = value_ints=");
  for (unsigned d = 0; d < indices->rank; d++)
    onnx_say(&body, "%" PRIu64 ",", indices->shape[d]);
  onnx_say(&body, "; Reshape i = f s; Gather y = x i axis=%" PRIu64, axis);
  return onnx_call_text(call, "x indices", "y", &body);
}

/* ---- GatherND -------------------------------------------------------------------------------- */

/* "i": for each list of indices its row, computed in the run; negative indices count from the end.
 */
static void say_rows(struct onnx_text *b, const struct onnx_value *x,
                     const struct onnx_value *indices, uint64_t batch, uint64_t depth) {
  onnx_say(b, "Cast n = indices to=6; Constant c = value_int=0; CastLike zero = c n;");
  for (uint64_t k = 0; k < depth; k++) {
    onnx_say(b,
             "Constant k%" PRIu64 " = value_int=%" PRIu64 "; Gather j%" PRIu64 " = n k%" PRIu64
             " axis=-1; Constant e%" PRIu64 " = value_int=%" PRIu64 "; CastLike d%" PRIu64
             " = e%" PRIu64 " n; Less l%" PRIu64 " = j%" PRIu64 " zero; Add m%" PRIu64
             " = j%" PRIu64 " d%" PRIu64 "; Where f%" PRIu64 " = l%" PRIu64 " m%" PRIu64
             " j%" PRIu64 ";",
             k, k, k, k, k, x->shape[batch + k], k, k, k, k, k, k, k, k, k, k, k);
    onnx_say(b,
             "Constant z%" PRIu64 " = value_int=%" PRIu64 "; CastLike s%" PRIu64 " = z%" PRIu64
             " n; Mul w%" PRIu64 " = f%" PRIu64 " s%" PRIu64 ";",
             k, extent(x, batch + k + 1, batch + depth), k, k, k, k, k);
    if (k == 0)
      onnx_say(b, "Identity a0 = w0;");
    else
      onnx_say(b, "Add a%" PRIu64 " = a%" PRIu64 " w%" PRIu64 ";", k, k - 1, k);
  }
  if (batch == 0) {
    onnx_say(b, "Identity i = a%" PRIu64 ";", depth - 1);
    return;
  }
  onnx_say(b, "Constant o = value_ints=$0; CastLike p = o n; Constant q = value_ints=");
  for (uint64_t d = 0; d + 1 < indices->rank; d++)
    onnx_say(b, "%" PRIu64 ",", d < batch ? indices->shape[d] : 1);
  onnx_say(b, "; Reshape r = p q; Add i = a%" PRIu64 " r;", depth - 1);
}

enum vinci_status onnx_made_gather_nd(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1], *y = call->outputs[0];
  uint64_t batch = (uint64_t)onnx_put_int(call, "batch_dims", 0);
  uint64_t depth = indices->shape[indices->rank - 1], count = onnx_elements(indices);
  struct onnx_text body = {.used = 0};
  uint64_t groups = extent(x, 0, batch);
  *known =
      depth > 0 && count > 0 && extent(x, 0, batch + depth) <= INT32_MAX && groups <= ONNX_FOLD_MAX;
  if (!*known)
    return VINCI_OK;
  uint64_t lists = count / depth, each = extent(x, batch, batch + depth);
  bool constant = onnx_known(call, 1) && lists <= ONNX_FOLD_MAX;
  int64_t *list =
      constant || batch > 0 ? onnx_say_list(call, &body, constant ? lists : groups) : NULL;
  if ((constant || batch > 0) && !list)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < lists && constant; i++) {
    int64_t row = row_of(x, indices, i * depth, batch, depth);
    if (row < 0)
      return onnx_fail(call, "list %" PRIu64 " of its indices is outside of %s", i,
                       onnx_shape_text(x).text);
    list[i] = row + (int64_t)(i / (lists / groups) * each);
  }
  for (uint64_t i = 0; i < groups && !constant && batch > 0; i++)
    list[i] = (int64_t)(i * each);
  if (constant)
    onnx_say(&body, "Constant i = value_ints=$0;");
  else
    say_rows(&body, x, indices, batch, depth);
  onnx_say(&body,
           "Constant table = value_ints=%" PRIu64 ",%" PRIu64 "; Reshape t = x table;"
           "Constant flat = value_ints=%" PRIu64 ",; Reshape f = i flat; Gather g = t f axis=0;"
           "Constant shape = value_ints=",
           extent(x, 0, batch + depth), extent(x, batch + depth, x->rank), lists);
  for (unsigned d = 0; d < y->rank; d++)
    onnx_say(&body, "%" PRIu64 ",", y->shape[d]);
  onnx_say(&body, "; Reshape y = g shape");
  return onnx_call_text(call, "x indices", "y", &body);
}

/* ---- scatter --------------------------------------------------------------------------------- */

struct scatter {
  uint64_t rows, columns, updates; /* of the tensor as rows; how many rows are updated */
  const char *join;                /* the operator of the reduction; NULL: none */
};

static const char *join_of(const char *reduction) {
  static const char *const names[][2] = {
      {"add", "Add"}, {"mul", "Mul"}, {"max", "Max"}, {"min", "Min"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], reduction) == 0)
      return names[i][1];
  return NULL;
}

/* The body; `at` is the row of each update. *known: no row is updated twice where updates are
 * joined with what is there. */
static enum vinci_status say_scatter(struct onnx_call *call, const struct scatter *s,
                                     const int64_t *at, bool *known) {
  struct onnx_text body = {.used = 0};
  int64_t *places = onnx_say_list(call, &body, s->rows);
  int64_t *own = onnx_say_list(call, &body, s->updates);
  if (!places || !own)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < s->rows; i++)
    places[i] = (int64_t)i;
  for (uint64_t i = 0; i < s->updates; i++) {
    own[i] = at[i];
    *known = *known && (!s->join || places[at[i]] == at[i]);
    places[at[i]] = (int64_t)(s->rows + i);
  }
  if (!*known)
    return VINCI_OK;
  onnx_say(&body,
           "Constant table = value_ints=%" PRIu64 ",%" PRIu64 "; Reshape t = x table;"
           "Constant some = value_ints=%" PRIu64 ",%" PRIu64 "; Reshape u = updates some;",
           s->rows, s->columns, s->updates, s->columns);
  if (s->join)
    onnx_say(&body, "Constant o = value_ints=$1; Gather old = t o axis=0; %s n = old u;", s->join);
  else
    onnx_say(&body, "Identity n = u;");
  onnx_say(&body, "Concat both = t n axis=0; Constant p = value_ints=$0; Gather g = both p axis=0;"
                  "Shape s = x; Reshape y = g s");
  return onnx_call_text(call, "x indices updates", "y", &body);
}

enum vinci_status onnx_made_scatter_nd(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  const char *reduction = onnx_put_text(call, "reduction");
  *known = false;
  if (!onnx_known(call, 1) || !onnx_given(call, 2) || indices->rank == 0)
    return VINCI_OK;
  uint64_t depth = indices->shape[indices->rank - 1];
  if (depth == 0 || depth > x->rank)
    return VINCI_OK;
  struct scatter s = {.rows = extent(x, 0, depth),
                      .columns = extent(x, depth, x->rank),
                      .updates = onnx_elements(indices) / depth,
                      .join = join_of(reduction)};
  if (s.rows > ONNX_FOLD_MAX || s.updates == 0 || s.updates > ONNX_FOLD_MAX ||
      onnx_elements(call->inputs[2]) != s.updates * s.columns)
    return VINCI_OK;
  int64_t *at = ARENA_ARRAY(&call->import->arena, int64_t, s.updates);
  if (!at)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < s.updates; i++)
    if ((at[i] = row_of(x, indices, i * depth, 0, depth)) < 0)
      return onnx_fail(call, "list %" PRIu64 " of its indices is outside of %s", i,
                       onnx_shape_text(x).text);
  *known = s.join || strcmp(reduction, "none") == 0;
  return *known ? say_scatter(call, &s, at, known) : VINCI_OK;
}

enum vinci_status onnx_made_scatter_elements(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  const char *reduction = onnx_put_text(call, "reduction");
  uint64_t axis = (uint64_t)onnx_put_int(call, "axis", 0), count = onnx_elements(indices);
  struct scatter s = {
      .rows = onnx_elements(x), .columns = 1, .updates = count, .join = join_of(reduction)};
  *known = false;
  if (!onnx_known(call, 1) || !onnx_given(call, 2) || indices->rank != x->rank || count == 0 ||
      s.rows > ONNX_FOLD_MAX || count > ONNX_FOLD_MAX || onnx_elements(call->inputs[2]) != count)
    return VINCI_OK;
  int64_t *at = ARENA_ARRAY(&call->import->arena, int64_t, count);
  if (!at)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t rest = i, stride = 1, place = 0;
    for (unsigned d = x->rank; d-- > 0; rest /= indices->shape[d], stride *= x->shape[d]) {
      int64_t index = d == axis ? onnx_load_int(indices, i) : (int64_t)(rest % indices->shape[d]);
      index += index < 0 ? (int64_t)x->shape[d] : 0;
      if (index < 0 || index >= (int64_t)x->shape[d])
        return onnx_fail(call, "index %lld of dimension %u of %s", (long long)index, d,
                         onnx_shape_text(x).text);
      place += (uint64_t)index * stride;
    }
    at[i] = (int64_t)place;
  }
  *known = s.join || strcmp(reduction, "none") == 0;
  return *known ? say_scatter(call, &s, at, known) : VINCI_OK;
}
