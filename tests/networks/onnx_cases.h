/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test data that the ONNX project made with numpy and PyTorch (Debian: libonnx-testdata):
 * models with inputs and expected outputs.
 */
#ifndef VINCI_TESTS_NETWORKS_ONNX_CASES_H
#define VINCI_TESTS_NETWORKS_ONNX_CASES_H

#include "core/base/file.h"
#include "networks/graph/graph.h"
#include "networks/onnx/onnx.h"
#include "networks/onnx/onnx.pb-c.h"

enum { PARTS_MAX = 32, PATH_BYTES = 512, NAME_BYTES = 320 };

struct part {
  struct file_view file;
  Onnx__TensorProto *tensor; /* NULL: not a tensor (a sequence, or nothing) */
};

struct test_case {
  char path[PATH_BYTES];
  Onnx__ModelProto *model;
  uint8_t *bytes; /* of the model without the shapes of its results, which are the question */
  size_t length;
  struct part inputs[PARTS_MAX], outputs[PARTS_MAX];
  size_t input_count, output_count;
};

/* Whether the test data are installed. */
bool cases_exist(void);
/* Calls look_at() for each model that has a folder of its own, in the order of the names; how many
 * there are. */
unsigned each_case(void (*look_at)(const struct test_case *test, void *context), void *context);

/* Reads the model with the shapes of its test inputs; those from first_constant on are constants
 * with the values of the test. */
enum vinci_status read_case(const struct test_case *test, size_t first_constant,
                            struct graph *graph, struct vinci_diag *diag);
/* The index of the test input that is the graph's input of a name; PARTS_MAX: none. */
size_t case_input(const struct test_case *test, const char *name);

/* Element i of an expected tensor; false: of a type or place that no test needs. */
bool expected_at(const Onnx__TensorProto *tensor, bool bf16, size_t i, double *out);
/* Element i of bytes of a type. */
double value_at(enum dtype dtype, const uint8_t *data, size_t i);
bool is_near(double got, double expected, double tolerance);
/* Type and extents as expected. */
bool same_shape(const struct graph_tensor *tensor, const Onnx__TensorProto *expected);

#endif
