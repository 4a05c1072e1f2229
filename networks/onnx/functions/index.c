/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by lists of indices as rows by one index. What indices name that are known before a run
 * is computed here: a result that keeps most of a tensor is then rows of the tensor and of the
 * updates behind, in the order of a constant.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/onnx/functions/contrib.h"

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
    uint64_t index;
    int64_t own = onnx_load_int(indices, i);
    if (!onnx_index_at(indices, i, x->shape[axis], &index))
      return onnx_fail(call, "index %lld of dimension %" PRIu64 " of %s", (long long)own, axis,
                       onnx_shape_text(x).text);
    *known = *known || own < 0;
    list[i] = (int64_t)index;
  }
  if (!*known)
    return VINCI_OK;
  onnx_say_shape(&body, "s", indices->shape, indices->rank);
  onnx_say(&body, "Constant f = value_ints=$0; Reshape i = f s; Gather y = x i axis=%" PRIu64,
           axis);
  return onnx_call_text(call, "x indices", "y", &body);
}

static enum vinci_status outside(const struct onnx_call *call, uint64_t list) {
  return onnx_fail(call, "list %" PRIu64 " of its indices is outside of %s", list,
                   onnx_shape_text(call->inputs[0]).text);
}

/* ---- GatherND -------------------------------------------------------------------------------- */

/* "i": for each list of indices its row, computed in the run; negative indices count from the end.
 * A list with an index outside has a row below the negative of all rows, which no table has. */
static void say_rows(struct onnx_text *b, const struct onnx_value *x,
                     const struct onnx_value *indices, unsigned batch, unsigned depth) {
  onnx_say(b, "Cast n = indices to=6; Constant c = value_int=0; CastLike zero = c n;");
  onnx_say_shape(b, "e", x->shape + batch, depth);
  onnx_say(b, "CastLike d = e n; Less l = n zero; Add m = n d; Where f = l m n; Less u = f zero;"
              "GreaterOrEqual v = f d; Or bad = u v; Constant z = value_ints=");
  for (unsigned k = 0; k < depth; k++)
    onnx_say(b, "%" PRIu64 ",", onnx_extent(x, batch + k + 1, batch + depth));
  onnx_say(b,
           "; CastLike s = z n; Mul w = f s; Constant o = value_int=-%" PRIu64
           "; CastLike none = o n; Where g = bad none w;",
           2 * onnx_extent(x, 0, batch + depth));
  for (unsigned k = 0; k < depth; k++) {
    onnx_say(b, "Constant k%u = value_int=%u; Gather j%u = g k%u axis=-1;", k, k, k, k);
    if (k == 0)
      onnx_say(b, "Identity a0 = j0;");
    else
      onnx_say(b, "Add a%u = a%u j%u;", k, k - 1, k);
  }
  if (batch == 0) {
    onnx_say(b, "Identity i = a%u;", depth - 1);
    return;
  }
  onnx_say(b, "Constant first = value_ints=$0; CastLike p = first n; Constant q = value_ints=");
  for (unsigned d = 0; d + 1 < indices->rank; d++)
    onnx_say(b, "%" PRIu64 ",", d < batch ? indices->shape[d] : 1);
  onnx_say(b, "; Reshape r = p q; Add i = a%u r;", depth - 1);
}

enum vinci_status onnx_made_gather_nd(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1], *y = call->outputs[0];
  unsigned batch = (unsigned)onnx_put_int(call, "batch_dims", 0);
  unsigned depth = (unsigned)indices->shape[indices->rank - 1];
  uint64_t count = onnx_elements(indices), rest = onnx_extent(x, batch + depth, x->rank);
  struct onnx_text body = {.used = 0};
  uint64_t groups = onnx_extent(x, 0, batch);
  *known = depth > 0 && count > 0 && groups <= ONNX_FOLD_MAX &&
           onnx_extent(x, 0, batch + depth) <= INT32_MAX / (2 * depth);
  if (!*known)
    return VINCI_OK;
  uint64_t lists = count / depth, each = onnx_extent(x, batch, batch + depth);
  bool constant = onnx_known(call, 1) && lists <= ONNX_FOLD_MAX;
  int64_t *list =
      constant || batch > 0 ? onnx_say_list(call, &body, constant ? lists : groups) : NULL;
  if ((constant || batch > 0) && !list)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < lists && constant; i++) {
    uint64_t place;
    if (!onnx_place_of(x, indices, i, batch, depth, &place))
      return outside(call, i);
    list[i] = (int64_t)(place / max_u64(rest, 1) + i / (lists / groups) * each);
  }
  for (uint64_t i = 0; i < groups && !constant && batch > 0; i++)
    list[i] = (int64_t)(i * each);
  if (constant)
    onnx_say(&body, "Constant i = value_ints=$0;");
  else
    say_rows(&body, x, indices, batch, depth);
  onnx_say_shape(&body, "shape", y->shape, y->rank);
  onnx_say(&body,
           "Constant table = value_ints=%" PRIu64 ",%" PRIu64 "; Reshape t = x table;"
           "Constant flat = value_ints=%" PRIu64
           ",; Reshape places = i flat; Gather rows = t places axis=0; Reshape y = rows shape",
           onnx_extent(x, 0, batch + depth), rest, lists);
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
  if (indices->shape[indices->rank - 1] == 0 || indices->shape[indices->rank - 1] > x->rank)
    return VINCI_OK;
  unsigned depth = (unsigned)indices->shape[indices->rank - 1];
  struct scatter s = {.rows = onnx_extent(x, 0, depth),
                      .columns = onnx_extent(x, depth, x->rank),
                      .updates = onnx_elements(indices) / depth,
                      .join = join_of(reduction)};
  if (s.rows > ONNX_FOLD_MAX || s.updates == 0 || s.updates > ONNX_FOLD_MAX ||
      onnx_elements(call->inputs[2]) != s.updates * s.columns)
    return VINCI_OK;
  int64_t *at = ARENA_ARRAY(&call->import->arena, int64_t, s.updates);
  if (!at)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < s.updates; i++) {
    uint64_t place;
    if (!onnx_place_of(x, indices, i, 0, depth, &place))
      return outside(call, i);
    at[i] = (int64_t)(place / max_u64(s.columns, 1));
  }
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
      uint64_t index = rest % indices->shape[d];
      if (d == axis ? !onnx_index_at(indices, i, x->shape[d], &index) : index >= x->shape[d])
        return onnx_fail(call, "index %lld of dimension %u of %s",
                         (long long)(d == axis ? onnx_load_int(indices, i) : (int64_t)index), d,
                         onnx_shape_text(x).text);
      place += index * stride;
    }
    at[i] = (int64_t)place;
  }
  *known = s.join || strcmp(reduction, "none") == 0;
  return *known ? say_scatter(call, &s, at, known) : VINCI_OK;
}
