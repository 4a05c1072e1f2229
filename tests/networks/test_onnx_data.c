/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of ONNX against the test data that the ONNX project made with numpy and PyTorch
 * (Debian: libonnx-testdata): for each model with inputs and expected outputs the shapes and types
 * of outputs, and, with all inputs declared constant, the values that folding computes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/number.h"
#include "tests/networks/onnx_cases.h"

/* ---- expected values ------------------------------------------------------------------------ */

/* Integers are equal. Real references are fp32 of numpy, whose functions are within a few units of
 * the last place; those of bf16 cut the last bits off; those of windows take 3.1415 for pi, and
 * those of bicubic samples have four digits. */
static double tolerance_of(const struct test_case *test, const struct graph_tensor *tensor) {
  if (tensor->dtype == DTYPE_BF16)
    return 0x1p-7;
  if (strstr(test->path, "window") || strstr(test->path, "gridsample_bicubic"))
    return 1e-3;
  return tensor->dtype == DTYPE_FP32 || tensor->dtype == DTYPE_FP16 ? 1e-6 : 0;
}

static bool same_values(const struct test_case *test, const struct graph_tensor *tensor,
                        const Onnx__TensorProto *expected) {
  double want, tolerance = tolerance_of(test, tensor);
  for (size_t i = 0; i < graph_elements(tensor); i++)
    if (!expected_at(expected, tensor->dtype == DTYPE_BF16, i, &want))
      return true;
    else if (!is_near(value_at(tensor->dtype, tensor->data, i), want, tolerance)) {
      fprintf(stderr, "# element %zu: %.9g, expected %.9g\n", i,
              value_at(tensor->dtype, tensor->data, i), want);
      return false;
    }
  return true;
}

/* The tensor of an output; names of the test data are safe in graphs. */
static const struct graph_tensor *output_of(const struct graph *graph, const struct test_case *test,
                                            size_t i) {
  uint32_t index = graph_find_tensor(graph, test->model->graph->output[i]->name);
  assert_int_not_equal(index, GRAPH_NONE);
  assert_int_equal(graph->tensors[index].io, GRAPH_OUT);
  return &graph->tensors[index];
}

/* ---- all cases ------------------------------------------------------------------------------ */

struct counts {
  size_t first_constant; /* of the inputs */
  unsigned equal;        /* all outputs as expected */
  unsigned open;         /* some output without a shape, or, of values, not computed */
  unsigned refused;      /* with a message that names the reason */
  unsigned wrong;
};

static void look_at_shapes(const struct test_case *test, void *context) {
  struct counts *counts = context;
  struct graph graph;
  struct vinci_diag diag;
  enum vinci_status status = read_case(test, counts->first_constant, &graph, &diag);
  bool open = false, wrong = false;
  if (status != VINCI_OK) {
    assert_int_equal(status, VINCI_E_INPUT);
    assert_true(diag.text[0] != '\0');
    counts->refused++;
    return;
  }
  for (size_t i = 0; i < test->model->graph->n_output && i < test->output_count; i++) {
    const struct graph_tensor *tensor = output_of(&graph, test, i);
    open = open || !tensor->shaped;
    wrong = wrong || (tensor->shaped && test->outputs[i].tensor &&
                      !same_shape(tensor, test->outputs[i].tensor));
  }
  if (wrong)
    fprintf(stderr, "# wrong shape: %s\n", test->path);
  *(wrong ? &counts->wrong : open ? &counts->open : &counts->equal) += 1;
  graph_free(&graph);
}

/* A constant output is a weight and a Reshape. */
static const struct graph_tensor *constant_of(const struct graph *graph,
                                              const struct graph_tensor *output) {
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    if (&graph->tensors[node->outputs[0]] == output && strcmp(node->op, "Reshape") == 0 &&
        graph->tensors[node->inputs[0]].data)
      return &graph->tensors[node->inputs[0]];
  }
  return NULL;
}

static void look_at_values(const struct test_case *test, void *context) {
  struct counts *counts = context;
  struct graph graph;
  struct vinci_diag diag;
  bool open = false, wrong = false;
  if (read_case(test, counts->first_constant, &graph, &diag) != VINCI_OK) {
    counts->refused++;
    return;
  }
  for (size_t i = 0; i < test->model->graph->n_output && i < test->output_count; i++) {
    const struct graph_tensor *output = output_of(&graph, test, i);
    const struct graph_tensor *constant = constant_of(&graph, output);
    const Onnx__TensorProto *expected = test->outputs[i].tensor;
    open = open || !constant;
    wrong = wrong || (expected && output->shaped && !same_shape(output, expected)) ||
            (expected && constant && !same_values(test, constant, expected));
  }
  if (wrong)
    fprintf(stderr, "# wrong value: %s\n", test->path);
  *(wrong ? &counts->wrong : open ? &counts->open : &counts->equal) += 1;
  graph_free(&graph);
}

static void expect(void (*look_at)(const struct test_case *test, void *context),
                   size_t first_constant, struct counts expected) {
  struct counts counts = {.first_constant = first_constant};
  if (!cases_exist())
    skip();
  unsigned all = each_case(look_at, &counts);
  fprintf(stderr, "# %u models: %u equal, %u open, %u refused, %u wrong\n", all, counts.equal,
          counts.open, counts.refused, counts.wrong);
  assert_int_equal(counts.wrong, 0);
  assert_int_equal(counts.equal, expected.equal);
  assert_int_equal(counts.open, expected.open);
  assert_int_equal(counts.refused, expected.refused);
}

/* The counts are those of libonnx-testdata 1.12.0: 1,072 models. Refused are sequences, texts,
 * loops of a number that is an input, types that the chip does not have, and, when all inputs are
 * open, axes and sizes that are inputs. Open are operators of training, and results whose number of
 * elements depends on values.
 */
static void shapes_with_open_inputs(void **state) {
  (void)state;
  expect(look_at_shapes, PARTS_MAX, (struct counts){.equal = 825, .open = 49, .refused = 198});
}

/* Axes, sizes and bounds are mostly inputs behind the first. */
static void shapes_with_known_parameters(void **state) {
  (void)state;
  expect(look_at_shapes, 1, (struct counts){.equal = 912, .open = 40, .refused = 120});
}

/* Constant folding: everything is known. Open are operators that are not computed. */
static void values_of_constants(void **state) {
  (void)state;
  expect(look_at_values, 0, (struct counts){.equal = 518, .open = 450, .refused = 104});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_with_open_inputs),
      cmocka_unit_test(shapes_with_known_parameters),
      cmocka_unit_test(values_of_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
