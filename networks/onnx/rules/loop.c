/* SPDX-License-Identifier: Apache-2.0 */
/* Loop and Scan: the nodes of the body once for each iteration, as many as are known before a run.
 */
#include <string.h>

#include "networks/onnx/functions/contrib.h"

enum { ITERATIONS_MAX = 4096, JOINED_AT_ONCE = 8 };

/* Values that a body carries from one iteration to the next, and those that it gives in each. */
struct unrolling {
  struct onnx_call *call;
  const Onnx__GraphProto *body;
  uint32_t carried, given, first_input; /* given: that the node takes; inputs before the carried */
  struct onnx_scope weights;            /* around the iterations */
  struct onnx_value **state;
  struct onnx_value ***results; /* [given][iteration] */
  uint64_t done;
};

/* The initializers of the body are one for all iterations. */
static enum vinci_status take_body(struct onnx_call *call, struct unrolling *out) {
  const Onnx__AttributeProto *body = onnx_attribute(call, "body");
  *out = (struct unrolling){
      .call = call,
      .body = body ? body->g : NULL,
      .weights = {.around = call->scope, .depth = call->scope->depth + 1},
  };
  if (!out->body)
    return onnx_fail(call, "no body");
  return onnx_take_initializers(call->import, &out->weights, out->body);
}

/* Results of the body before the carried values: `before`. */
static enum vinci_status take_results(struct unrolling *u, size_t before) {
  struct onnx_call *call = u->call;
  size_t outputs = before + u->carried;
  outputs += call->output_count > u->carried ? call->output_count - u->carried : 0;
  if (u->body->n_output < outputs)
    return onnx_fail(call, "its body has %zu outputs, and %zu are needed", u->body->n_output,
                     outputs);
  u->given = (uint32_t)(outputs - before - u->carried);
  return VINCI_OK;
}

static enum vinci_status make_room(struct unrolling *u, uint64_t iterations) {
  struct arena *arena = &u->call->import->arena;
  u->state = ARENA_ARRAY(arena, struct onnx_value *, u->carried + 1);
  u->results = ARENA_ARRAY(arena, struct onnx_value **, u->given + 1);
  for (uint32_t i = 0; u->results && i < u->given; i++)
    if (!(u->results[i] = ARENA_ARRAY(arena, struct onnx_value *, iterations + 1)))
      u->results = NULL;
  return u->state && u->results ? VINCI_OK : onnx_no_memory(u->call->import);
}

struct onnx_value *onnx_scalar(struct onnx_import *import, enum onnx_type type, int64_t number) {
  struct onnx_value *value = onnx_new_value(import, "loop");
  void *data = arena_alloc(&import->arena, 1, sizeof number);
  if (!value || !data)
    return NULL;
  onnx_store_int(data, type, 0, number);
  value->type = type;
  value->shaped = value->constant = true;
  value->data = data;
  return value;
}

static const char *name_of(const Onnx__ValueInfoProto *info) {
  return info->name ? info->name : "";
}

static enum vinci_status bind_input(struct unrolling *u, struct onnx_scope *scope, size_t input,
                                    struct onnx_value *value) {
  if (input >= u->body->n_input)
    return onnx_fail(u->call, "its body has %zu inputs", u->body->n_input);
  if (!value)
    return onnx_no_memory(u->call->import);
  return onnx_bind(u->call->import, scope, name_of(u->body->input[input]), value);
}

/* One iteration, whose own inputs are bound; results of the body before the carried: `before`. */
static enum vinci_status run_body(struct unrolling *u, struct onnx_scope *scope, size_t before) {
  struct onnx_import *import = u->call->import;
  enum vinci_status status = VINCI_OK;
  if (++import->node_count > GRAPH_NODES_MAX)
    return onnx_fail(u->call, "more than %d nodes in all iterations", GRAPH_NODES_MAX);
  for (uint32_t i = 0; i < u->carried && status == VINCI_OK; i++)
    status = bind_input(u, scope, u->first_input + i, u->state[i]);
  if (status == VINCI_OK)
    status = onnx_pass(import, scope, u->body);
  for (uint32_t i = 0; i < u->carried + u->given && status == VINCI_OK; i++) {
    const char *name = name_of(u->body->output[before + i]);
    struct onnx_value *value = onnx_look_up(scope, name);
    if (!value)
      status = onnx_fail(u->call, "output \"%.100s\" of its body is written by no node", name);
    else if (i < u->carried)
      u->state[i] = value;
    else
      u->results[i - u->carried][u->done] = value;
  }
  u->done++;
  return status;
}

/* ---- results --------------------------------------------------------------------------------- */

/* At most JOINED_AT_ONCE values one behind the other. */
static enum vinci_status join_some(struct onnx_call *call, struct onnx_value **parts,
                                   uint32_t count, int64_t axis, struct onnx_value **out) {
  struct onnx_call join = *call;
  Onnx__NodeProto unnamed = *call->node;
  struct onnx_text body = {.used = 0};
  *out = parts[0];
  if (count == 1)
    return VINCI_OK;
  unnamed.name = (char *)(uintptr_t)onnx_node_name(call->node);
  unnamed.n_output = 0;
  join.node = &unnamed;
  join.inputs = parts;
  join.input_count = join.kept_inputs = count;
  join.outputs = out;
  join.output_count = 1;
  onnx_say(&body, "Concat y =");
  for (uint32_t i = 0; i < count; i++)
    onnx_say(&body, " x%u", i);
  onnx_say(&body, " axis=%lld", (long long)axis);
  return onnx_call_text(&join, "x0 x1 x2 x3 x4 x5 x6 x7", "y", &body);
}

enum vinci_status onnx_join(struct onnx_call *call, struct onnx_value **parts, uint64_t count,
                            int64_t axis, struct onnx_value **out) {
  while (count > 1) {
    uint64_t joined = 0;
    for (uint64_t i = 0; i < count; i += JOINED_AT_ONCE) {
      uint64_t some = count - i < JOINED_AT_ONCE ? count - i : JOINED_AT_ONCE;
      enum vinci_status status = join_some(call, parts + i, (uint32_t)some, axis, &parts[joined++]);
      if (status != VINCI_OK)
        return status;
    }
    count = joined;
  }
  *out = parts[0];
  return VINCI_OK;
}

/* The results of all iterations along a new first dimension. */
static enum vinci_status join_results(struct unrolling *u, uint32_t which,
                                      struct onnx_value **out) {
  struct onnx_value **parts = u->results[which];
  uint64_t count = u->done, shape[GRAPH_RANK_MAX] = {1};
  for (uint64_t i = 0; i < count; i++) {
    if (!parts[i]->shaped || parts[i]->rank >= GRAPH_RANK_MAX)
      return onnx_fail(u->call, "a result of its body has no known shape");
    memcpy(shape + 1, parts[i]->shape, parts[i]->rank * sizeof *shape);
    if (!(parts[i] = onnx_reshaped(u->call, parts[i], shape, parts[i]->rank + 1)))
      return onnx_no_memory(u->call->import);
  }
  return onnx_join(u->call, parts, count, 0, out);
}

static enum vinci_status give_results(struct unrolling *u) {
  struct onnx_call *call = u->call;
  enum vinci_status status = VINCI_OK;
  if (u->done == 0 && u->given > 0)
    return onnx_fail(call, "it gives results of no iteration, tensors without elements");
  for (uint32_t i = 0; i < call->output_count && status == VINCI_OK; i++)
    if (i < u->carried)
      call->outputs[i] = u->state[i];
    else
      status = join_results(u, i - u->carried, &call->outputs[i]);
  call->done = true;
  return status;
}

/* ---- Loop ------------------------------------------------------------------------------------ */

/* A number that has to be known: input `input`, or `fallback` where that is left out. */
static enum vinci_status known_number(struct onnx_call *call, uint32_t input, const char *what,
                                      int64_t fallback, int64_t *out) {
  *out = fallback;
  if (!onnx_given(call, input))
    return VINCI_OK;
  if (onnx_known(call, input) && onnx_elements(call->inputs[input]) != 1)
    return onnx_fail(call, "%s \"%s\" is not one number", what, call->inputs[input]->name);
  if (!onnx_known(call, input)) {
    onnx_fail(call, "%s \"%s\" is not known before a run", what, call->inputs[input]->name);
    onnx_hint_input(call, input);
    return VINCI_E_INPUT;
  }
  *out = onnx_load_int(call->inputs[input], 0);
  return VINCI_OK;
}

/* Whether the body goes on after an iteration. */
static enum vinci_status take_condition(struct unrolling *u, const struct onnx_scope *scope,
                                        int64_t *going) {
  const char *name = name_of(u->body->output[0]);
  const struct onnx_value *value = onnx_look_up(scope, name);
  if (!value || !value->constant || !value->data || onnx_elements(value) != 1) {
    onnx_fail(u->call, "its condition \"%.100s\" is computed in the run", name);
    diag_hint(u->call->import->diag, "export the model with the loop unrolled, or with a number of "
                                     "iterations and a condition that is always true");
    return VINCI_E_INPUT;
  }
  *going = onnx_load_int(value, 0);
  return VINCI_OK;
}

enum vinci_status onnx_rule_loop(struct onnx_call *call) {
  enum { BEFORE = 2 }; /* iteration and condition */
  struct onnx_import *import = call->import;
  struct unrolling u;
  int64_t most, going;
  enum vinci_status status = take_body(call, &u);
  if (status == VINCI_OK)
    status = known_number(call, 0, "its number of iterations", INT64_MAX, &most);
  if (status == VINCI_OK)
    status = known_number(call, 1, "its condition", 1, &going);
  if (status != VINCI_OK)
    return status;
  u.carried = call->input_count > BEFORE ? call->input_count - BEFORE : 0;
  u.first_input = BEFORE;
  status = take_results(&u, 1);
  if (status == VINCI_OK)
    status = make_room(&u, most < ITERATIONS_MAX ? (uint64_t)most : ITERATIONS_MAX);
  for (uint32_t i = 0; i < u.carried && status == VINCI_OK; i++)
    if (!(u.state[i] = call->inputs[BEFORE + i]))
      status = onnx_fail(call, "input %u is missing", BEFORE + i);
  while (status == VINCI_OK && going && (int64_t)u.done < most) {
    struct onnx_scope scope = {.around = &u.weights, .depth = u.weights.depth + 1};
    if (u.done == ITERATIONS_MAX)
      return onnx_fail(call, "more than %d iterations", ITERATIONS_MAX);
    status = bind_input(&u, &scope, 0, onnx_scalar(import, ONNX_INT64, (int64_t)u.done));
    if (status == VINCI_OK)
      status = bind_input(&u, &scope, 1, onnx_scalar(import, ONNX_BOOL, 1));
    if (status == VINCI_OK)
      status = run_body(&u, &scope, 1);
    if (status == VINCI_OK)
      status = take_condition(&u, &scope, &going);
  }
  return status == VINCI_OK ? give_results(&u) : status;
}

/* ---- Scan ------------------------------------------------------------------------------------ */

/* Element `at` of a tensor's first dimension. */
static enum vinci_status element(struct onnx_call *call, struct onnx_value *x, uint64_t at,
                                 struct onnx_value **out) {
  struct onnx_call pick = *call;
  Onnx__NodeProto unnamed = *call->node;
  struct onnx_text body = {.used = 0};
  unnamed.name = (char *)(uintptr_t)onnx_node_name(call->node);
  unnamed.n_output = 0;
  *out = x;
  pick.node = &unnamed;
  pick.inputs = &x;
  pick.input_count = pick.kept_inputs = 1;
  pick.outputs = out;
  pick.output_count = 1;
  onnx_say(&body, "Constant i = value_int=%llu; Gather y = x i axis=0", (unsigned long long)at);
  return onnx_call_text(&pick, "x", "y", &body);
}

/* Of Scan: all directions forward, all axes 0, which exporters write. */
static enum vinci_status only_forward(struct onnx_call *call) {
  static const char *const lists[] = {"scan_input_axes", "scan_input_directions",
                                      "scan_output_axes", "scan_output_directions"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    struct onnx_ints list;
    enum vinci_status status = onnx_ints(call, lists[i], &list);
    for (unsigned k = 0; k < list.count && status == VINCI_OK; k++)
      if (list.list[k] != 0)
        status = onnx_fail(call, "%s other than 0", lists[i]);
    if (status != VINCI_OK)
      return status;
  }
  return call->opset < 9 ? onnx_fail(call, "Scan of operator set 8, which has batches") : VINCI_OK;
}

enum vinci_status onnx_rule_scan(struct onnx_call *call) {
  struct unrolling u;
  int64_t scanned = onnx_int(call, "num_scan_inputs", 0);
  enum vinci_status status = take_body(call, &u);
  if (status == VINCI_OK)
    status = only_forward(call);
  if (status != VINCI_OK)
    return status;
  if (scanned < 1 || scanned > call->input_count)
    return onnx_fail(call, "num_scan_inputs=%lld of %u inputs", (long long)scanned,
                     call->input_count);
  u.carried = call->input_count - (uint32_t)scanned;
  status = take_results(&u, 0);
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (!onnx_given(call, i) ||
        (i >= u.carried && (!call->inputs[i]->shaped || call->inputs[i]->rank == 0 ||
                            call->inputs[i]->shape[0] != call->inputs[u.carried]->shape[0])))
      return onnx_fail(call, "input %u is missing, or has another number of elements", i);
  uint64_t count = call->inputs[u.carried]->shape[0];
  if (count > ITERATIONS_MAX)
    return onnx_fail(call, "more than %d iterations", ITERATIONS_MAX);
  status = make_room(&u, count);
  for (uint32_t i = 0; i < u.carried && status == VINCI_OK; i++)
    u.state[i] = call->inputs[i];
  while (status == VINCI_OK && u.done < count) {
    struct onnx_scope scope = {.around = &u.weights, .depth = u.weights.depth + 1};
    for (uint32_t i = u.carried; i < call->input_count && status == VINCI_OK; i++) {
      struct onnx_value *part = NULL;
      status = element(call, call->inputs[i], u.done, &part);
      if (status == VINCI_OK)
        status = bind_input(&u, &scope, i, part);
    }
    if (status == VINCI_OK)
      status = run_body(&u, &scope, 0);
  }
  return status == VINCI_OK ? give_results(&u) : status;
}
