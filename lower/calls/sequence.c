/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensor an input of a profile's row is. */
#include "lower/calls/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "traces/format/growing.h"

/* How far back the search for a tensor goes, in tensors of one type and size; and in rows. */
enum { CANDIDATES_MAX = 256, KEYS = 4096 };
/* Which gradients of a row have taken their operands. */
enum { TAKEN_GRADIENT = 1, TAKEN_INPUT = 2, TAKEN_WEIGHT = 4 };

struct matching {
  struct sequence *out;
  struct growing tensors, uses;
  size_t newest[KEYS]; /* tensor by hash of type and size */
  size_t row;
  struct lower_call call;
  size_t input[LOWER_TENSORS_MAX], output[LOWER_TENSORS_MAX]; /* tensors of the row, so far */
  bool no_memory;
};

static struct sequence_tensor *at(const struct matching *matching, size_t tensor) {
  return GROWING_AT(&matching->tensors, struct sequence_tensor, tensor);
}

/* NULL as long as no row has a tensor. */
static const struct sequence_use *uses_of(const struct matching *matching, size_t row) {
  if (matching->uses.count == 0)
    return NULL;
  return GROWING_AT(&matching->uses, struct sequence_use, matching->out->rows[row].first_use);
}

/* The same extents but for those of 1. */
static bool same_extents(const uint64_t *a, unsigned a_rank, const struct lower_tensor *b) {
  unsigned i = 0, j = 0;
  for (;; i++, j++) {
    while (i < a_rank && a[i] == 1)
      i++;
    while (j < b->rank && b->shape[j] == 1)
      j++;
    if (i == a_rank || j == b->rank)
      return i == a_rank && j == b->rank;
    if (a[i] != b->shape[j])
      return false;
  }
}

static bool has_shape(const struct sequence_tensor *tensor, const struct lower_tensor *shape) {
  return same_extents(tensor->shape, tensor->rank, shape) ||
         same_extents(tensor->view, tensor->view_rank, shape);
}

static bool same_kind(const struct sequence_tensor *tensor, const struct lower_tensor *shape) {
  return tensor->dtype == shape->dtype && tensor->bytes == calls_tensor_bytes(shape);
}

static bool is_tracked(const struct lower_tensor *shape) {
  return shape->rank > 0 && calls_tensor_bytes(shape) > 0;
}

static size_t key_of(const struct lower_tensor *shape) {
  uint64_t hash = (calls_tensor_bytes(shape) * 64 + shape->dtype) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(hash >> 32) % KEYS;
}

static size_t new_tensor(struct matching *matching, const struct lower_tensor *shape, bool pooled) {
  size_t key = key_of(shape);
  struct sequence_tensor *tensor = GROWING_PUSH(&matching->tensors, struct sequence_tensor);
  if (!tensor) {
    matching->no_memory = true;
    return SEQUENCE_NONE;
  }
  *tensor = (struct sequence_tensor){.bytes = calls_tensor_bytes(shape),
                                     .dtype = shape->dtype,
                                     .rank = shape->rank,
                                     .view_rank = shape->rank,
                                     .pooled = pooled,
                                     .writer = SEQUENCE_NONE,
                                     .touched = SEQUENCE_NONE,
                                     .older = matching->newest[key]};
  memcpy(tensor->shape, shape->shape, sizeof tensor->shape);
  memcpy(tensor->view, shape->shape, sizeof tensor->view);
  return matching->newest[key] = matching->tensors.count - 1;
}

/* ---- what a row is, by the names of the vendor -------------------------------------------- */

static bool begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static const char *name_of(const struct matching *matching) {
  return matching->out->list->rows[matching->row].cell[CALL_NAME];
}

static bool is_product(const struct lower_call *call) {
  return begins(call->type, "MatMul") && call->input_count >= 2 && call->output_count >= 1 &&
         call->input[0].rank == 2 && call->input[1].rank == 2 && call->output[0].rank == 2;
}

/* [M,N] and [M,K] give [N,K]: the sum goes over the rows, as in the gradient of a weight. */
static bool sums_rows(const struct lower_call *call) {
  const uint64_t *a = call->input[0].shape, *b = call->input[1].shape, *c = call->output[0].shape;
  return a[0] == b[0] && c[0] == a[1] && c[1] == b[1];
}

/* [M,K] and [K,N]: in PyTorch's linear layers, the gradient of the input. */
static bool is_plain(const struct lower_call *call) {
  const uint64_t *a = call->input[0].shape, *b = call->input[1].shape, *c = call->output[0].shape;
  return a[1] == b[0] && c[0] == a[0] && c[1] == b[1];
}

/* [M,K] and [N,K]: the linear layer itself. Shapes that say several things are taken for this. */
static bool is_linear(const struct lower_call *call) {
  const uint64_t *a = call->input[0].shape, *b = call->input[1].shape, *c = call->output[0].shape;
  return a[1] == b[1] && c[0] == a[0] && c[1] == b[0];
}

/* What fills a tensor and reads nothing. */
static bool fills(const struct lower_call *call) {
  return strcmp(call->type, "ZerosLike") == 0 || strcmp(call->type, "OnesLike") == 0 ||
         strcmp(call->type, "Fill") == 0 || strcmp(call->type, "MemSet") == 0;
}

static bool updates_all(const struct lower_call *call) { return begins(call->type, "Apply"); }

/* The last input of the size of the first is the gradient, those before are what is updated. */
static bool is_updated(const struct lower_call *call, unsigned index) {
  uint64_t bytes = calls_tensor_bytes(&call->input[0]);
  if (calls_tensor_bytes(&call->input[index]) != bytes)
    return false;
  for (unsigned i = index + 1; i < call->input_count; i++)
    if (calls_tensor_bytes(&call->input[i]) == bytes)
      return true;
  return false;
}

/* MatMulV3, QuantBatchMatmulV3, GroupedMatmul; of BatchMatMul both operands are activations. */
static bool multiplies_weight(const char *type) {
  return strcasestr(type, "matmul") && !begins(type, "BatchMatMul");
}

/* Weights and the like: as many as there are layers, so that the shape says nothing. */
static bool is_parameter(const struct lower_call *call, unsigned index) {
  const char *type = call->type;
  if (updates_all(call))
    return is_updated(call, index);
  if (calls_accumulates(call))
    return index == 0;
  if (begins(type, "Gather") || begins(type, "Embedding"))
    return index == 0 && call->input_count > 1;
  if (strstr(type, "Norm"))
    return index > 0 && call->input[index].rank == 1;
  if (multiplies_weight(type) || begins(type, "Conv"))
    return strcmp(type, "Conv2DBackpropFilter") != 0 &&
           (index == 1 || (index == 2 && call->input[2].rank == 1));
  return false;
}

static bool changes_layout(const char *type) {
  static const char *const types[] = {"Cast", "TransData", "Transpose", "TensorMove"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(type, types[i]) == 0)
      return true;
  return false;
}

/* ---- inputs ------------------------------------------------------------------------------- */

static bool is_taken(const struct matching *matching, size_t tensor) {
  for (unsigned i = 0; i < matching->call.input_count; i++)
    if (matching->input[i] == tensor)
      return true;
  return false;
}

/* The latest output that no row has read, of those that are kept for gradients or of the others. */
static size_t find_unread(const struct matching *matching, const struct lower_tensor *shape,
                          bool saved) {
  size_t tensor = matching->newest[key_of(shape)];
  for (unsigned i = 0; tensor != SEQUENCE_NONE && i < CANDIDATES_MAX; i++) {
    const struct sequence_tensor *known = at(matching, tensor);
    if (known->writer != SEQUENCE_NONE && known->readers == 0 && known->saved == saved &&
        same_kind(known, shape) && !is_taken(matching, tensor))
      return tensor;
    tensor = known->older;
  }
  return SEQUENCE_NONE;
}

/* How well a tensor that rows have used goes with an input. An operand of a sum that is used again
 * is what a sum has given: the residual stream of a network, rather than its normalised form. */
static unsigned fitness(const struct matching *matching, const struct sequence_tensor *known,
                        const struct lower_tensor *shape) {
  const struct call_row *rows = matching->out->list->rows;
  bool sums = strcmp(matching->call.type, "Add") == 0 && known->writer != SEQUENCE_NONE &&
              strcmp(rows[known->writer].cell[CALL_TYPE], "Add") == 0;
  return has_shape(known, shape) ? 1 + sums : 0;
}

/* The one that was used last; one of the same shape first. */
static size_t find_used(const struct matching *matching, const struct lower_tensor *shape,
                        bool any_shape) {
  size_t best = SEQUENCE_NONE, tensor = matching->newest[key_of(shape)];
  unsigned best_fitness = 0;
  for (unsigned i = 0; tensor != SEQUENCE_NONE && i < CANDIDATES_MAX; i++) {
    const struct sequence_tensor *known = at(matching, tensor);
    unsigned fits = fitness(matching, known, shape);
    if (!known->parameter && !known->spent && same_kind(known, shape) && (fits > 0 || any_shape) &&
        !is_taken(matching, tensor) &&
        (best == SEQUENCE_NONE || fits > best_fitness ||
         (fits == best_fitness && known->touched > at(matching, best)->touched))) {
      best = tensor;
      best_fitness = fits;
    }
    tensor = known->older;
  }
  return best;
}

/* What a row has just converted into this parameter. */
static size_t find_converted(const struct matching *matching, const struct lower_tensor *shape) {
  size_t tensor = find_unread(matching, shape, false);
  if (tensor == SEQUENCE_NONE || !has_shape(at(matching, tensor), shape))
    return SEQUENCE_NONE;
  const struct call_row *writer = &matching->out->list->rows[at(matching, tensor)->writer];
  return changes_layout(writer->cell[CALL_TYPE]) ? tensor : SEQUENCE_NONE;
}

/* Of those that are neither parameters nor made known by a gradient. */
static size_t find_known(const struct matching *matching, const struct lower_tensor *shape) {
  size_t tensor = find_unread(matching, shape, false);
  if (tensor == SEQUENCE_NONE)
    tensor = find_used(matching, shape, false);
  if (tensor == SEQUENCE_NONE)
    tensor = find_unread(matching, shape, true);
  return tensor == SEQUENCE_NONE ? find_used(matching, shape, true) : tensor;
}

/* Whether the row in the turn before was the first to see this input: each turn has its own, as
 * layers have their weights and caches, unless a row has just written such a tensor. */
static bool is_own_of_turn(const struct matching *matching, unsigned index) {
  size_t before = matching->out->list->rows[matching->row].turn_before;
  if (before == 0)
    return false;
  const struct sequence_row *row = &matching->out->rows[matching->row - before];
  const struct sequence_use *use = uses_of(matching, matching->row - before) + index;
  return index < row->inputs && use->tensor != SEQUENCE_NONE && use->before == SEQUENCE_NONE;
}

static size_t find_input(struct matching *matching, unsigned index) {
  const struct lower_tensor *shape = &matching->call.input[index];
  bool parameter = is_parameter(&matching->call, index);
  size_t tensor = parameter                         ? find_converted(matching, shape)
                  : is_own_of_turn(matching, index) ? find_unread(matching, shape, false)
                                                    : find_known(matching, shape);
  if (tensor == SEQUENCE_NONE) {
    tensor = new_tensor(matching, shape, false);
    if (tensor != SEQUENCE_NONE)
      at(matching, tensor)->parameter = parameter;
  }
  return tensor;
}

/* ---- gradients ---------------------------------------------------------------------------- */

/* The latest row before this one whose type is that of the row without the word Grad. */
static size_t latest_forward(const struct matching *matching) {
  const char *type = matching->call.type, *grad = strstr(type, "Grad");
  const struct call_list *list = matching->out->list;
  char forward[sizeof matching->call.type];
  if (!grad)
    return SEQUENCE_NONE;
  snprintf(forward, sizeof forward, "%.*s%s", (int)(grad - type), type, grad + strlen("Grad"));
  for (size_t row = matching->row; row-- > 0;)
    if (strcmp(list->rows[row].cell[CALL_TYPE], forward) == 0)
      return row;
  return SEQUENCE_NONE;
}

/* How many of a row's tensors are of this kind, from the first-th of `count` on. */
static unsigned count_kind(const struct matching *matching, const struct sequence_use *uses,
                           unsigned count, const struct lower_tensor *shape) {
  unsigned found = 0;
  for (unsigned i = 0; i < count; i++)
    found += uses[i].tensor != SEQUENCE_NONE && same_kind(at(matching, uses[i].tensor), shape);
  return found;
}

/* Whether a row may be the one that this row is the gradient of: it has all that it has read. */
static bool fits_gradient(const struct matching *matching, size_t row) {
  const struct sequence_row *forward = &matching->out->rows[row];
  const struct sequence_use *uses = uses_of(matching, row);
  const struct lower_call *call = &matching->call;
  for (unsigned i = 0; i < call->input_count; i++)
    if (is_tracked(&call->input[i]) &&
        count_kind(matching, uses, forward->inputs + forward->outputs, &call->input[i]) == 0)
      return false;
  return forward->inputs > 0;
}

/* Gives an input that is still open a tensor of the row forward. */
static void take_from(struct matching *matching, unsigned index, const struct sequence_use *uses,
                      unsigned count) {
  const struct lower_tensor *shape = &matching->call.input[index];
  for (unsigned i = 0; i < count && matching->input[index] == SEQUENCE_NONE; i++)
    if (uses[i].tensor != SEQUENCE_NONE && same_kind(at(matching, uses[i].tensor), shape) &&
        !is_taken(matching, uses[i].tensor))
      matching->input[index] = uses[i].tensor;
}

static unsigned count_inputs(const struct lower_call *call, const struct lower_tensor *shape) {
  unsigned count = 0;
  for (unsigned i = 0; i < call->input_count; i++)
    count += call->input[i].rank > 0 && call->input[i].dtype == shape->dtype &&
             calls_tensor_bytes(&call->input[i]) == calls_tensor_bytes(shape);
  return count;
}

/* The row that this one is the gradient of. */
static size_t find_forward(const struct matching *matching) {
  size_t row = latest_forward(matching);
  while (row != SEQUENCE_NONE &&
         (matching->out->rows[row].taken & TAKEN_GRADIENT || !fits_gradient(matching, row)))
    row = matching->out->rows[row].same_type;
  return row;
}

/* The inputs of a row RmsNormGrad that a row RmsNorm has read or written. The gradient that comes
 * in has the kind of a result of RmsNorm, and no row has read that gradient. Where RmsNormGrad has
 * no more inputs of a kind than RmsNorm, its first input of the kind of a result is the gradient.
 */
static void match_gradient(struct matching *matching) {
  const struct lower_call *call = &matching->call;
  size_t row = find_forward(matching);
  if (row == SEQUENCE_NONE)
    return;
  struct sequence_row *forward = &matching->out->rows[row];
  const struct sequence_use *uses = uses_of(matching, row);
  bool more = false;
  forward->taken |= TAKEN_GRADIENT;
  for (unsigned i = 0; i < call->input_count; i++)
    if (is_tracked(&call->input[i]) && !more &&
        count_inputs(call, &call->input[i]) >
            count_kind(matching, uses, forward->inputs, &call->input[i]))
      more = true;
  for (unsigned i = 0; i < call->input_count; i++) {
    const struct lower_tensor *shape = &call->input[i];
    if (!is_tracked(shape))
      continue;
    unsigned read = count_kind(matching, uses, forward->inputs, shape);
    bool output = count_kind(matching, uses + forward->inputs, forward->outputs, shape) > 0;
    if (count_inputs(call, shape) > read || (!more && output)) {
      matching->input[i] = find_unread(matching, shape, false);
      more = true;
    }
    take_from(matching, i, uses, forward->inputs + forward->outputs);
  }
}

/* The latest product whose operands have these kinds, and whose gradient was not taken. */
static size_t find_product(struct matching *matching, const struct lower_tensor *input,
                           const struct lower_tensor *weight, const struct lower_tensor *output,
                           uint8_t taken) {
  for (size_t row = matching->row; row-- > 0;) {
    const struct sequence_row *forward = &matching->out->rows[row];
    const struct sequence_use *uses = uses_of(matching, row);
    if (!begins(matching->out->list->rows[row].cell[CALL_TYPE], "MatMul") ||
        forward->taken != (forward->taken & ~taken) || forward->inputs < 2 ||
        forward->outputs < 1 || uses[0].tensor == SEQUENCE_NONE ||
        uses[1].tensor == SEQUENCE_NONE || uses[forward->inputs].tensor == SEQUENCE_NONE)
      continue;
    if (same_kind(at(matching, uses[0].tensor), input) &&
        same_kind(at(matching, uses[1].tensor), weight) &&
        same_kind(at(matching, uses[forward->inputs].tensor), output))
      return row;
  }
  return SEQUENCE_NONE;
}

/* Products of a linear layer's backward pass: with the weight, then with the layer's input. */
static void match_product(struct matching *matching) {
  const struct lower_call *call = &matching->call;
  if (!is_product(call) || is_linear(call))
    return;
  matching->input[0] = find_known(matching, &call->input[0]);
  if (matching->input[0] == SEQUENCE_NONE)
    return;
  bool weight = sums_rows(call), plain = is_plain(call);
  if (weight && plain)
    weight = at(matching, matching->input[0])->readers > 0; /* the other product comes first */
  size_t row = SEQUENCE_NONE;
  if (weight)
    row = find_product(matching, &call->input[1], &call->output[0], &call->input[0], TAKEN_WEIGHT);
  else if (plain)
    row = find_product(matching, &call->output[0], &call->input[1], &call->input[0], TAKEN_INPUT);
  if (row == SEQUENCE_NONE)
    return;
  matching->out->rows[row].taken |= weight ? TAKEN_WEIGHT : TAKEN_INPUT;
  matching->input[1] = uses_of(matching, row)[weight ? 0 : 1].tensor;
}

/* ---- outputs ------------------------------------------------------------------------------ */

/* The first input of the kind of an output that is not another output. */
static size_t input_of_kind(const struct matching *matching, const struct lower_tensor *shape,
                            unsigned outputs) {
  for (unsigned i = 0; i < matching->call.input_count; i++) {
    bool used = matching->input[i] == SEQUENCE_NONE;
    for (unsigned j = 0; j < outputs && !used; j++)
      used = matching->output[j] == matching->input[i];
    if (!used && same_kind(at(matching, matching->input[i]), shape))
      return matching->input[i];
  }
  return SEQUENCE_NONE;
}

/* x = f(x) in two rows: what a copy in place writes is the input of the row that made its source.
 */
static size_t copied_to(const struct matching *matching, const struct lower_tensor *shape) {
  size_t source = matching->input[0];
  if (source == SEQUENCE_NONE || at(matching, source)->writer == SEQUENCE_NONE)
    return SEQUENCE_NONE;
  const struct sequence_row *writer = &matching->out->rows[at(matching, source)->writer];
  const struct sequence_use *uses = uses_of(matching, at(matching, source)->writer);
  for (unsigned i = 0; i < writer->inputs; i++)
    if (uses[i].tensor != SEQUENCE_NONE && uses[i].tensor != source &&
        same_kind(at(matching, uses[i].tensor), shape) &&
        has_shape(at(matching, uses[i].tensor), shape))
      return uses[i].tensor;
  return SEQUENCE_NONE;
}

/* Whether the row before has cleared this result, which the row adds to. */
static bool is_cleared(const struct matching *matching, unsigned index) {
  return index == 0 && matching->out->list->rows[matching->row].cleared;
}

static size_t find_output(struct matching *matching, unsigned index) {
  const struct lower_call *call = &matching->call;
  if (is_cleared(matching, index) && matching->out->rows[matching->row - 1].outputs > 0)
    return uses_of(matching, matching->row - 1)[matching->out->rows[matching->row - 1].inputs]
        .tensor;
  const struct lower_tensor *shape = &call->output[index];
  size_t tensor = SEQUENCE_NONE;
  bool in_place = strstr(name_of(matching), "Inplace") != NULL;
  bool copies = in_place && strstr(name_of(matching), "InplaceCopy") != NULL;
  if (copies && strcmp(call->type, "TensorMove") == 0)
    tensor = copied_to(matching, shape);
  else if ((in_place && !copies) || updates_all(call) || calls_accumulates(call) || fills(call))
    tensor = input_of_kind(matching, shape, index);
  return tensor == SEQUENCE_NONE ? new_tensor(matching, shape, true) : tensor;
}

/* ---- rows --------------------------------------------------------------------------------- */

static void keep_use(struct matching *matching, size_t tensor, bool fresh) {
  struct sequence_use *use = GROWING_PUSH(&matching->uses, struct sequence_use);
  if (!use) {
    matching->no_memory = true;
    return;
  }
  *use = (struct sequence_use){.tensor = tensor, .before = SEQUENCE_NONE, .fresh = fresh};
  if (tensor == SEQUENCE_NONE)
    return;
  const struct sequence_tensor *known = at(matching, tensor);
  use->before = known->touched;
  use->written = known->touched != SEQUENCE_NONE && known->touched == known->writer;
}

static void note_read(struct matching *matching, unsigned index) {
  struct sequence_tensor *tensor = at(matching, matching->input[index]);
  const struct lower_tensor *shape = &matching->call.input[index];
  tensor->touched = tensor->last = matching->row;
  tensor->readers++;
  tensor->spent = strstr(matching->call.type, "Grad") != NULL;
  tensor->view_rank = shape->rank;
  memcpy(tensor->view, shape->shape, sizeof tensor->view);
}

static void note_written(struct matching *matching, unsigned index) {
  struct sequence_tensor *tensor = at(matching, matching->output[index]);
  const struct lower_call *call = &matching->call;
  tensor->touched = tensor->last = tensor->writer = matching->row;
  tensor->readers = 0;
  tensor->spent = false;
  tensor->saved = call->output_count > 1 && call->input_count > 0 && !strstr(call->type, "Grad") &&
                  call->output[index].dtype != call->input[0].dtype;
}

static void keep_row(struct matching *matching) {
  struct sequence_row *row = &matching->out->rows[matching->row];
  const struct lower_call *call = &matching->call;
  row->first_use = matching->uses.count;
  row->inputs = call->input_count;
  row->outputs = call->output_count;
  for (unsigned i = 0; i < call->input_count; i++)
    keep_use(matching, matching->input[i], fills(call));
  for (unsigned i = 0; i < call->output_count; i++)
    keep_use(matching, matching->output[i], !is_cleared(matching, i));
  for (unsigned i = 0; i < call->input_count; i++)
    if (matching->input[i] != SEQUENCE_NONE)
      note_read(matching, i);
  for (unsigned i = 0; i < call->output_count; i++)
    if (matching->output[i] != SEQUENCE_NONE)
      note_written(matching, i);
}

static void match_row(struct matching *matching) {
  struct lower_call *call = &matching->call;
  const struct call_row *row = &matching->out->list->rows[matching->row];
  *call = (struct lower_call){0};
  if (!calls_parse(row, call))
    call->input_count = call->output_count = 0;
  for (unsigned i = 0; i < LOWER_TENSORS_MAX; i++)
    matching->input[i] = matching->output[i] = SEQUENCE_NONE;
  match_gradient(matching);
  match_product(matching);
  for (unsigned i = 0; i < call->input_count && !matching->no_memory; i++)
    if (is_tracked(&call->input[i]) && matching->input[i] == SEQUENCE_NONE)
      matching->input[i] =
          fills(call) ? new_tensor(matching, &call->input[i], true) : find_input(matching, i);
  for (unsigned i = 0; i < call->output_count && !matching->no_memory; i++)
    if (is_tracked(&call->output[i]))
      matching->output[i] = find_output(matching, i);
  if (!matching->no_memory)
    keep_row(matching);
}

static void link_type(struct sequence *out, size_t row) {
  const struct call_row *rows = out->list->rows;
  out->rows[row].same_type = SEQUENCE_NONE;
  for (size_t i = row; i-- > 0 && out->rows[row].same_type == SEQUENCE_NONE;)
    if (strcmp(rows[i].cell[CALL_TYPE], rows[row].cell[CALL_TYPE]) == 0)
      out->rows[row].same_type = i;
}

static bool keep(struct sequence *out, struct matching *matching) {
  out->tensor_count = matching->tensors.count;
  out->use_count = matching->uses.count;
  out->tensors = ARENA_ARRAY(&out->arena, struct sequence_tensor, out->tensor_count + 1);
  out->uses = ARENA_ARRAY(&out->arena, struct sequence_use, out->use_count + 1);
  if (!out->tensors || !out->uses)
    return false;
  if (out->tensor_count > 0)
    memcpy(out->tensors, matching->tensors.data, out->tensor_count * sizeof *out->tensors);
  if (out->use_count > 0)
    memcpy(out->uses, matching->uses.data, out->use_count * sizeof *out->uses);
  return true;
}

enum vinci_status sequence_create(const struct call_list *list, struct sequence *out,
                                  struct vinci_diag *diag) {
  *out = (struct sequence){.list = list};
  struct matching *matching = calloc(1, sizeof *matching);
  out->rows = ARENA_ARRAY(&out->arena, struct sequence_row, list->count + 1);
  bool good = matching && out->rows;
  for (size_t i = 0; good && i < KEYS; i++)
    matching->newest[i] = SEQUENCE_NONE;
  for (size_t row = 0; good && row < list->count; row++) {
    matching->out = out;
    matching->row = row;
    link_type(out, row);
    match_row(matching);
    good = !matching->no_memory;
  }
  good = good && keep(out, matching) && sequence_pool_create(out);
  if (matching) {
    growing_free(&matching->tensors);
    growing_free(&matching->uses);
  }
  free(matching);
  if (good)
    return VINCI_OK;
  sequence_free(out);
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tensors of the list");
}
