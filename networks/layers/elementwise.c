/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that compute each element for itself. */
#include <math.h>
#include <stdio.h>

#include "networks/layers/elementwise.h"

/* The dimensions of the layer's result. */
static unsigned rank_of(const struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  return y ? y->rank : 0;
}

/* An input as the layer computes: in blocks as it broadcasts with the result. */
static uint32_t operand(struct build *build, unsigned input) {
  return build->layout == LAYOUT_5HD ? build_blocks(build, input, rank_of(build))
                                     : build_input(build, input, LAYOUT_ND);
}

uint32_t elementwise_room(struct build *build, uint32_t tensor) {
  return tensor == GRAPH_NONE
             ? GRAPH_NONE
             : build_temp(build, build_at(build, tensor)->dtype, build_at(build, tensor)->shape,
                          build_at(build, tensor)->rank);
}

void elementwise(struct build *build, const char *kernel, uint32_t in, uint32_t out,
                 const char *more) {
  if (in == GRAPH_NONE || out == GRAPH_NONE)
    return;
  build_kernel1(build, kernel, &BUILD_LIST(in), out, "shape=%llu dtype=%s %s",
                (unsigned long long)graph_elements(build_at(build, in)),
                dtype_name(build_at(build, in)->dtype), more);
}

uint32_t elementwise_new(struct build *build, const char *kernel, uint32_t in, const char *more) {
  uint32_t out = elementwise_room(build, in);
  elementwise(build, kernel, in, out, more);
  return out;
}

uint32_t elementwise_pair_new(struct build *build, const char *kernel, uint32_t x, uint32_t y) {
  uint32_t out = elementwise_room(build, x);
  elementwise_pair(build, kernel, x, y, out);
  return out;
}

bool layer_unary(struct build *build) {
  uint32_t in = operand(build, 0);
  elementwise(build, build->row->kernel, in, build_output(build, 0, build->layout), "");
  return true;
}

/* The kernel has the numbers of the definition (ONNX operator specification, Selu). */
bool layer_selu(struct build *build) {
  double alpha = graph_arg_number(build->layer, "alpha", 1.67326319217681884765625);
  double gamma = graph_arg_number(build->layer, "gamma", 1.05070102214813232421875);
  if (fabs(alpha - 1.67326319217681884765625) > 1e-6 ||
      fabs(gamma - 1.05070102214813232421875) > 1e-6)
    return build_refuse(build, "alpha=%g gamma=%g; 1.67326 and 1.0507 are possible", alpha, gamma);
  return layer_unary(build);
}

bool layer_gelu(struct build *build) {
  const char *form = graph_arg(build->layer, "approximate");
  uint32_t in = operand(build, 0);
  elementwise(build, "gelu", in, build_output(build, 0, build->layout),
              form && strcmp(form, "tanh") == 0 ? "form=tanh" : "form=erf");
  return true;
}

struct number_text alpha_text(double alpha) {
  struct number_text out;
  snprintf(out.text, sizeof out.text, "alpha=%.9g", alpha);
  return out;
}

bool layer_alpha(struct build *build) {
  double alpha = graph_arg_number(build->layer, "alpha", 1);
  uint32_t in = operand(build, 0);
  elementwise(build, build->row->kernel, in, build_output(build, 0, build->layout),
              alpha_text(alpha).text);
  return true;
}

/* The vendor's HardSigmoid has alpha = 1/6, beta = 1/2; others are four steps. */
bool layer_hard_sigmoid(struct build *build) {
  static const char *const kernels[] = {"muls", "adds", "maxs", "mins"};
  double alpha = graph_arg_number(build->layer, "alpha", 0.2);
  double beta = graph_arg_number(build->layer, "beta", 0.5);
  double numbers[] = {alpha, beta, 0, 1};
  if (fabs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5)
    return layer_unary(build);
  uint32_t in = operand(build, 0);
  for (unsigned i = 0; i < 4; i++) {
    uint32_t out = i == 3 ? build_output(build, 0, build->layout) : elementwise_room(build, in);
    elementwise(build, kernels[i], in, out, alpha_text(numbers[i]).text);
    in = out;
  }
  return true;
}

/* ---- two inputs ---------------------------------------------------------------------------- */

/* The operator that takes a number in place of the second input; NULL: there is none. */
static const char *with_number(const char *kernel, double *number) {
  static const char *const pairs[][2] = {{"add", "adds"}, {"sub", "adds"}, {"mul", "muls"},
                                         {"div", "muls"}, {"pow", "pows"}, {"max", "maxs"},
                                         {"min", "mins"}};
  if (strcmp(kernel, "pow") == 0 && *number == 2)
    return "square";
  if (strcmp(kernel, "pow") == 0 && *number == 0.5)
    return "sqrt";
  if (strcmp(kernel, "sub") == 0)
    *number = -*number;
  if (strcmp(kernel, "div") == 0)
    *number = 1 / *number;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(kernel, pairs[i][0]) == 0)
      return isfinite(*number) ? pairs[i][1] : NULL;
  return NULL;
}

static bool is_single(const struct graph_tensor *tensor) {
  return tensor && graph_elements(tensor) == 1;
}

static bool commutes(const char *kernel) {
  return strcmp(kernel, "add") == 0 || strcmp(kernel, "mul") == 0 || strcmp(kernel, "max") == 0 ||
         strcmp(kernel, "min") == 0;
}

/* Whether the layer is an input and a known number. */
static bool layer_number(struct build *build) {
  const char *kernel = build->row->kernel;
  double number;
  unsigned input = 0;
  const struct graph_tensor *y = build_result(build, 0), *x = build_tensor(build, 0);
  if (!(is_single(build_tensor(build, 1)) && build_number(build, 1, 0, &number))) {
    if (!(commutes(kernel) && is_single(x) && build_number(build, 0, 0, &number)))
      return false;
    input = 1;
  }
  x = build_tensor(build, input);
  kernel = with_number(kernel, &number);
  if (!kernel || !y || graph_elements(x) != graph_elements(y) || x->dtype == DTYPE_INT64)
    return false;
  uint32_t in = operand(build, input);
  bool fixed = strcmp(kernel, "square") == 0 || strcmp(kernel, "sqrt") == 0;
  elementwise(build, kernel, in, build_output(build, 0, build->layout),
              fixed ? "" : alpha_text(number).text);
  return true;
}

void elementwise_pair(struct build *build, const char *kernel, uint32_t x, uint32_t y,
                      uint32_t out) {
  if (x == GRAPH_NONE || y == GRAPH_NONE || out == GRAPH_NONE)
    return;
  const struct graph_tensor *one = build_at(build, x), *other = build_at(build, y);
  struct shape_text shape = build_shape(build, x), shape1 = build_shape(build, y);
  if (graph_elements(one) == graph_elements(other) &&
      graph_elements(one) == graph_elements(build_at(build, out)))
    shape = shape1 = shape_text(&(uint64_t){graph_elements(one)}, 1);
  build_kernel1(build, kernel, &BUILD_LIST(x, y), out, "shape=%s shape1=%s dtype=%s", shape.text,
                shape1.text, dtype_name(one->dtype));
}

/* Types that differ: the vendor's compiler casts the second. */
static uint32_t second(struct build *build, unsigned input) {
  const struct graph_tensor *first = build_tensor(build, 0);
  return first ? build_cast(build, operand(build, input), first->dtype) : GRAPH_NONE;
}

/* A bound of Clip: an argument, or an input of one number that the run computes. */
struct clip_bound {
  bool there, known;
  double number; /* when it is known */
  unsigned input;
};

static struct clip_bound clip_bound(const struct build *build, const char *key, unsigned input) {
  struct clip_bound bound = {.input = input};
  bound.known = graph_arg(build->layer, key) != NULL;
  bound.number = graph_arg_number(build->layer, key, 0);
  if (!bound.known && build_tensor(build, input))
    bound.known = build_number(build, input, 0, &bound.number);
  bound.there = bound.known ? isfinite(bound.number) : build_tensor(build, input) != NULL;
  return bound;
}

static void apply_bound(struct build *build, const struct clip_bound *bound, bool low, uint32_t in,
                        uint32_t out) {
  if (!bound->known)
    elementwise_pair(build, low ? "max" : "min", in, second(build, bound->input), out);
  else if (low && bound->number == 0)
    elementwise(build, "relu", in, out, "");
  else
    elementwise(build, low ? "maxs" : "mins", in, out, alpha_text(bound->number).text);
}

bool layer_clip(struct build *build) {
  struct clip_bound low = clip_bound(build, "min", 1), high = clip_bound(build, "max", 2);
  uint32_t in = operand(build, 0);
  if (!low.there && !high.there) {
    build_view_output(build, 0, build->layout, in);
    return true;
  }
  if (low.there) {
    uint32_t out = high.there ? elementwise_room(build, in) : build_output(build, 0, build->layout);
    apply_bound(build, &low, true, in, out);
    in = out;
  }
  if (high.there)
    apply_bound(build, &high, false, in, build_output(build, 0, build->layout));
  return true;
}

bool layer_binary(struct build *build) {
  if (!build_tensor(build, 0) || !build_tensor(build, 1) || !build_result(build, 0))
    return build_refuse(build, "two inputs and a result are needed");
  if (layer_number(build))
    return true;
  uint32_t x = operand(build, 0), y = second(build, 1);
  uint32_t out = build_output(build, 0, build->layout);
  bool swap = commutes(build->row->kernel) &&
              graph_elements(build_tensor(build, 0)) < graph_elements(build_tensor(build, 1));
  elementwise_pair(build, build->row->kernel, swap ? y : x, swap ? x : y, out);
  return true;
}

/* Sum, Mean, Max, Min of any number of inputs. */
bool layer_many(struct build *build) {
  bool mean = strcmp(build->layer->op, "Mean") == 0;
  uint32_t count = build->layer->input_count;
  if (count == 2 && !mean)
    return layer_binary(build);
  if (count == 0 || !build_result(build, 0))
    return build_refuse(build, "at least one input is needed");
  uint32_t sum = operand(build, 0);
  for (unsigned i = 1; i < count; i++) {
    const struct graph_tensor *own = build_tensor(build, i);
    if (!own || graph_elements(own) != graph_elements(build_result(build, 0)))
      return build_refuse(build, "more than two inputs of different shapes");
    bool last = i + 1 == count && !mean;
    uint32_t out = last ? build_output(build, 0, build->layout) : elementwise_room(build, sum);
    elementwise_pair(build, build->row->kernel, sum, second(build, i), out);
    sum = out;
  }
  if (mean)
    elementwise(build, "muls", sum, build_output(build, 0, build->layout),
                alpha_text(1.0 / count).text);
  else if (count == 1)
    build_view_output(build, 0, build->layout, sum);
  return true;
}

bool layer_where(struct build *build) {
  const struct graph_tensor *condition = build_tensor(build, 0), *x = build_tensor(build, 1);
  const struct graph_tensor *y = build_result(build, 0);
  if (!condition || !x || !build_tensor(build, 2) || !y)
    return build_refuse(build, "a condition and two inputs are needed");
  uint32_t chosen = build_broadcast(build, build_input(build, 0, LAYOUT_ND), y->shape, y->rank);
  uint32_t a = build_input(build, 1, LAYOUT_ND), b = build_input(build, 2, LAYOUT_ND);
  uint32_t out = build_output(build, 0, LAYOUT_ND);
  if (a != GRAPH_NONE && b != GRAPH_NONE)
    build_kernel1(build, "where", &BUILD_LIST(chosen, a, b), out,
                  "shape=%s shape1=%s shape2=%s dtype=%s", build_shape(build, chosen).text,
                  build_shape(build, a).text, build_shape(build, b).text, dtype_name(y->dtype));
  return true;
}

bool layer_cast(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  if (!x || !y)
    return build_refuse(build, "an input and a result are needed");
  enum layout layout = build_c0(x->dtype) == build_c0(y->dtype) ? build->layout : LAYOUT_ND;
  uint32_t in = layout == LAYOUT_ND ? build_input(build, 0, LAYOUT_ND) : operand(build, 0);
  if (x->dtype == y->dtype) {
    build_view_output(build, 0, layout, in);
    return true;
  }
  char to[32];
  snprintf(to, sizeof to, "to=%s", dtype_name(y->dtype));
  elementwise(build, "cast", in, build_output(build, 0, layout), to);
  return true;
}
