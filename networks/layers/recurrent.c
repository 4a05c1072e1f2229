/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers: one product for the inputs of all steps, then for each step a product with the
 * state before, a sum, and the cell as one kernel. (The vendor's library has one kernel for all
 * steps; here each step has launches of its own.)
 */
#include <stdio.h>

#include "networks/layers/conv.h"

struct recurrent {
  uint64_t steps, batch, inputs, state, directions;
  unsigned gates; /* of the weights: 4 of LSTM, 3 of GRU */
  enum dtype dtype;
};

static bool take_sizes(struct build *build, struct recurrent *out) {
  const struct graph_tensor *x = build_tensor(build, 0), *r = build_tensor(build, 2);
  if (!x || !build_tensor(build, 1) || !r || x->rank != 3 || r->rank != 3)
    return build_refuse(build, "an input and weights of 3 dimensions are needed");
  if (graph_arg_int(build->layer, "layout", 0) != 0)
    return build_refuse(build, "layout=1");
  if (build_tensor(build, 4))
    return build_refuse(build, "lengths of sequences");
  if (build_tensor(build, 7))
    return build_refuse(build, "peepholes");
  if (graph_arg(build->layer, "activations"))
    return build_refuse(build, "activations %s", graph_arg(build->layer, "activations"));
  if (graph_arg(build->layer, "clip"))
    return build_refuse(build, "clip=%s", graph_arg(build->layer, "clip"));
  out->steps = x->shape[0];
  out->batch = x->shape[1];
  out->inputs = x->shape[2];
  out->directions = r->shape[0];
  out->state = r->shape[2];
  out->dtype = x->dtype;
  if (r->shape[1] != out->gates * out->state)
    return build_refuse(build, "%llu rows of weights for a state of %llu",
                        (unsigned long long)r->shape[1], (unsigned long long)out->state);
  return true;
}

/* The weights or the bias of a direction, as rows of gates. */
static uint32_t of_direction(struct build *build, unsigned input, uint64_t direction,
                             uint64_t first, uint64_t rows) {
  const struct graph_tensor *all = build_tensor(build, input);
  uint64_t columns = all->rank == 3 ? all->shape[2] : 1;
  uint64_t flat[2] = {all->shape[0] * all->shape[1], columns}, part[2] = {rows, columns};
  uint32_t in = build_view(build, build_input(build, input, LAYOUT_ND), flat, 2);
  return build_part(build, in, part, (direction * all->shape[1] + first) * columns);
}

static uint32_t zeros(struct build *build, enum dtype dtype, uint64_t rows, uint64_t columns) {
  uint64_t shape[2] = {rows, columns};
  uint32_t out = build_temp(build, dtype, shape, 2);
  build_kernel1(build, "fill", &(struct build_list){.count = 0}, out, "shape=%llu value=0 dtype=%s",
                (unsigned long long)(rows * columns), dtype_name(dtype));
  return out;
}

/*
 * Rows of weights in the order in which the cell has gates. Those of GRU are z, r, n in ONNX; the
 * cell has r, z, the input's part of n and the state's part of n, of which one is zero on each
 * side.
 */
static uint32_t ordered(struct build *build, const struct recurrent *cell, unsigned input,
                        uint64_t direction, uint64_t first, bool of_state) {
  uint64_t h = cell->state;
  if (cell->gates == 4)
    return of_direction(build, input, direction, first, 4 * h);
  const struct graph_tensor *all = build_tensor(build, input);
  uint32_t none = zeros(build, all->dtype, h, all->rank == 3 ? all->shape[2] : 1);
  uint32_t last = of_direction(build, input, direction, first + 2 * h, h);
  struct build_list rows = BUILD_LIST(of_direction(build, input, direction, first + h, h),
                                      of_direction(build, input, direction, first, h),
                                      of_state ? none : last, of_state ? last : none);
  return build_join(build, &rows, 0);
}

/* The bias of inputs and that of states, added, as the cube adds rows. */
static uint32_t summed_bias(struct build *build, const struct recurrent *cell, uint64_t direction) {
  uint64_t row[1] = {4 * cell->state};
  if (!build_tensor(build, 3))
    return GRAPH_NONE;
  enum dtype dtype = build_tensor(build, 3)->dtype;
  uint32_t one = ordered(build, cell, 3, direction, 0, false);
  uint32_t other = ordered(build, cell, 3, direction, cell->gates * cell->state, true);
  uint32_t sum = build_temp(build, dtype, row, 1);
  build_kernel1(build, "add", &BUILD_LIST(one, other), sum, "shape=%llu dtype=%s",
                (unsigned long long)row[0], dtype_name(dtype));
  return build_cast(build, sum, DTYPE_FP32);
}

static uint32_t product(struct build *build, uint32_t a, uint32_t weights, uint32_t bias,
                        uint64_t m, uint64_t k, uint64_t n, enum dtype dtype) {
  uint64_t shape[2] = {m, n};
  enum dtype type = cube_type(build, dtype);
  uint32_t out = build_temp(build, type, shape, 2);
  struct build_list inputs =
      BUILD_LIST(build_cast(build, a, type), build_cast(build, weights, type));
  if (bias != GRAPH_NONE)
    inputs.items[inputs.count++] = bias;
  build_kernel1(build, "matmul", &inputs, out,
                "m=%llu k=%llu n=%llu transpose_b=1 bias=%d dtype=%s", (unsigned long long)m,
                (unsigned long long)k, (unsigned long long)n, bias != GRAPH_NONE, dtype_name(type));
  return build_cast(build, out, dtype);
}

/* A state at the start: given, or zeros. */
static uint32_t first_state(struct build *build, const struct recurrent *cell, unsigned input,
                            uint64_t direction) {
  uint64_t all[2] = {cell->directions * cell->batch, cell->state};
  uint64_t part[2] = {cell->batch, cell->state};
  if (!build_tensor(build, input))
    return zeros(build, cell->dtype, cell->batch, cell->state);
  uint32_t in = build_view(build, build_input(build, input, LAYOUT_ND), all, 2);
  return cell->directions == 1 ? in
                               : build_part(build, in, part, direction * cell->batch * cell->state);
}

struct direction {
  uint32_t y, h, c; /* all steps [T, 1, B, H]; the last states [B, H] */
};

static void run_steps(struct build *build, const struct recurrent *cell, uint64_t direction,
                      bool reverse, struct direction *out) {
  uint64_t b = cell->batch, h = cell->state, n = 4 * h, gates[2] = {b, n}, state[2] = {b, h};
  uint32_t w = ordered(build, cell, 1, direction, 0, false);
  uint32_t r = ordered(build, cell, 2, direction, 0, true);
  uint64_t rows[2] = {cell->steps * b, cell->inputs}, one[4] = {1, 1, b, h};
  uint32_t x = build_view(build, build_input(build, 0, LAYOUT_ND), rows, 2);
  uint32_t all = product(build, x, w, summed_bias(build, cell, direction), rows[0], cell->inputs, n,
                         cell->dtype);
  struct build_list states = {.count = 0};
  out->h = first_state(build, cell, 5, direction);
  out->c = cell->gates == 4 ? first_state(build, cell, 6, direction) : GRAPH_NONE;
  states.count = (uint32_t)cell->steps;
  for (uint64_t i = 0; i < cell->steps && !build->refused && !build->no_memory; i++) {
    uint64_t step = reverse ? cell->steps - 1 - i : i;
    uint32_t given = build_part(build, all, gates, step * b * n);
    uint32_t before = product(build, out->h, r, GRAPH_NONE, b, h, n, cell->dtype);
    uint32_t sum = build_temp(build, cell->dtype, gates, 2);
    build_kernel1(build, "add", &BUILD_LIST(given, before), sum, "shape=%llu dtype=%s",
                  (unsigned long long)(b * n), dtype_name(cell->dtype));
    uint32_t next = build_temp(build, cell->dtype, state, 2);
    if (cell->gates == 4) {
      uint32_t kept = build_temp(build, cell->dtype, state, 2);
      build_kernel(build, "lstm_cell", &BUILD_LIST(sum, out->c), &BUILD_LIST(kept, next),
                   "shape=%llux%llu dtype=%s order=iofg", (unsigned long long)b,
                   (unsigned long long)h, dtype_name(cell->dtype));
      out->c = kept;
    } else {
      build_kernel1(build, "gru_cell", &BUILD_LIST(sum, out->h), next, "shape=%llux%llu dtype=%s",
                    (unsigned long long)b, (unsigned long long)h, dtype_name(cell->dtype));
    }
    out->h = next;
    states.items[step] = build_view(build, next, one, 4);
  }
  out->y = build_result(build, 0) ? build_join(build, &states, 0) : GRAPH_NONE;
}

/* What all directions give, side by side. */
static void give(struct build *build, unsigned output, const uint32_t *parts, uint64_t count,
                 unsigned axis) {
  struct build_list list = {.count = 0};
  if (!build_result(build, output))
    return;
  for (uint64_t i = 0; i < count; i++)
    list.items[list.count++] = parts[i];
  build_view_output(build, output, LAYOUT_ND, build_join(build, &list, axis));
}

static bool recurrent(struct build *build, struct recurrent *cell) {
  const char *way = graph_arg(build->layer, "direction");
  struct direction found[2];
  uint32_t y[2], h[2], c[2];
  if (!take_sizes(build, cell))
    return false;
  if (cell->directions > 2 || cell->steps > BUILD_INPUTS_MAX)
    return build_refuse(build, "%llu directions of %llu steps",
                        (unsigned long long)cell->directions, (unsigned long long)cell->steps);
  for (uint64_t d = 0; d < cell->directions; d++) {
    bool reverse = d == 1 || (way && strcmp(way, "reverse") == 0);
    run_steps(build, cell, d, reverse, &found[d]);
    y[d] = found[d].y;
    h[d] = found[d].h;
    c[d] = found[d].c;
  }
  give(build, 0, y, cell->directions, 1);
  give(build, 1, h, cell->directions, 0);
  if (cell->gates == 4)
    give(build, 2, c, cell->directions, 0);
  return true;
}

bool layer_lstm(struct build *build) {
  if (graph_arg_int(build->layer, "input_forget", 0) != 0)
    return build_refuse(build, "input_forget=1");
  return recurrent(build, &(struct recurrent){.gates = 4});
}

bool layer_gru(struct build *build) {
  if (graph_arg_int(build->layer, "linear_before_reset", 0) == 0)
    return build_refuse(build, "linear_before_reset=0: the reset gate acts before the product");
  return recurrent(build, &(struct recurrent){.gates = 3});
}
