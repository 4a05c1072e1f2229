/* SPDX-License-Identifier: Apache-2.0 */
/* Test data of the ONNX project (onnx_cases.h). */
#include "tests/networks/onnx_cases.h"

#include <dirent.h>
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

static const char top[] = "/usr/share/libonnx-testdata/data";

/* ---- one case ------------------------------------------------------------------------------- */

static size_t load_parts(const char *folder, const char *kind, struct part *parts) {
  size_t count = 0;
  for (; count < PARTS_MAX; count++) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", folder, kind, count);
    if (file_view_open(path, 1 << 24, &parts[count].file, NULL) != VINCI_OK)
      break;
    parts[count].tensor =
        onnx__tensor_proto__unpack(NULL, parts[count].file.length, parts[count].file.bytes);
  }
  return count;
}

static void free_parts(struct part *parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (parts[i].tensor)
      onnx__tensor_proto__free_unpacked(parts[i].tensor, NULL);
    file_view_close(&parts[i].file);
  }
}

static void pack_without_shapes(struct test_case *test) {
  Onnx__GraphProto *graph = test->model->graph;
  /* How many elements are not 0, or boxes are kept, is for the file to say. */
  bool data_decide =
      graph->n_node == 1 && (strcmp(graph->node[0]->op_type, "NonZero") == 0 ||
                             strcmp(graph->node[0]->op_type, "NonMaxSuppression") == 0);
  for (size_t i = 0; i < graph->n_output && !data_decide; i++) {
    Onnx__TypeProto *type = graph->output[i]->type;
    if (type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type->shape)
      continue;
    onnx__tensor_shape_proto__free_unpacked(type->tensor_type->shape, NULL);
    type->tensor_type->shape = NULL;
  }
  while (graph->n_value_info > 0)
    onnx__value_info_proto__free_unpacked(graph->value_info[--graph->n_value_info], NULL);
  test->bytes = malloc(onnx__model_proto__get_packed_size(test->model));
  assert_non_null(test->bytes);
  test->length = onnx__model_proto__pack(test->model, test->bytes);
}

static bool load_case(const char *folder, struct test_case *out) {
  char path[PATH_BYTES + 16];
  struct file_view file;
  *out = (struct test_case){0};
  snprintf(out->path, sizeof out->path, "%s", folder);
  snprintf(path, sizeof path, "%s/model.onnx", folder);
  if (file_view_open(path, 1 << 24, &file, NULL) != VINCI_OK)
    return false;
  out->model = onnx__model_proto__unpack(NULL, file.length, file.bytes);
  assert_non_null(out->model);
  file_view_close(&file);
  pack_without_shapes(out);
  out->input_count = load_parts(folder, "input", out->inputs);
  out->output_count = load_parts(folder, "output", out->outputs);
  return true;
}

static void free_case(struct test_case *test) {
  onnx__model_proto__free_unpacked(test->model, NULL);
  free_parts(test->inputs, test->input_count);
  free_parts(test->outputs, test->output_count);
  free(test->bytes);
}

/* ---- expected values ------------------------------------------------------------------------ */

enum { FLOAT = 1, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL = 9, FLOAT16, DOUBLE, UINT32 };

bool expected_at(const Onnx__TensorProto *tensor, bool bf16, size_t i, double *out) {
  const uint8_t *raw = tensor->raw_data.data;
  bool is_raw = tensor->has_raw_data;
  switch (tensor->data_type) {
  case FLOAT:
    *out = (double)(is_raw ? load_fp32(raw + 4 * i) : tensor->float_data[i]);
    return true;
  case INT64:
    *out = (double)(is_raw ? load_i64(raw + 8 * i) : tensor->int64_data[i]);
    return true;
  case INT32:
    *out = is_raw ? load_i32(raw + 4 * i) : tensor->int32_data[i];
    return true;
  case INT16:
    *out = is_raw ? load_i16(raw + 2 * i) : tensor->int32_data[i];
    return true;
  case UINT16:
    *out = is_raw ? load_u16(raw + 2 * i) : (uint16_t)tensor->int32_data[i];
    if (bf16)
      *out = (double)bf16_to_fp32((uint16_t)*out);
    return true;
  case BOOL:
  case UINT8:
    *out = is_raw ? raw[i] : (uint8_t)tensor->int32_data[i];
    return true;
  case INT8:
    *out = is_raw ? (int8_t)raw[i] : (int8_t)tensor->int32_data[i];
    return true;
  case UINT32:
    *out = is_raw ? load_u32(raw + 4 * i) : (uint32_t)tensor->uint64_data[i];
    return true;
  case FLOAT16:
    *out = (double)fp16_to_fp32(is_raw ? load_u16(raw + 2 * i) : (uint16_t)tensor->int32_data[i]);
    return true;
  default:
    return false;
  }
}

double value_at(enum dtype dtype, const uint8_t *data, size_t i) {
  switch (dtype) {
  case DTYPE_FP32:
    return (double)load_fp32(data + 4 * i);
  case DTYPE_BF16:
    return (double)bf16_to_fp32(load_u16(data + 2 * i));
  case DTYPE_FP16:
    return (double)fp16_to_fp32(load_u16(data + 2 * i));
  case DTYPE_INT64:
    return (double)load_i64(data + 8 * i);
  case DTYPE_INT32:
    return load_i32(data + 4 * i);
  case DTYPE_UINT32:
    return load_u32(data + 4 * i);
  case DTYPE_INT16:
    return load_i16(data + 2 * i);
  case DTYPE_UINT16:
    return load_u16(data + 2 * i);
  case DTYPE_INT8:
    return (int8_t)data[i];
  default:
    return data[i];
  }
}

bool is_near(double got, double expected, double tolerance) {
  if (isnan(expected) || isinf(expected))
    return isnan(expected) ? isnan(got) : got == expected;
  return fabs(got - expected) <= tolerance + tolerance * fabs(expected);
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum dtype dtype_of(int type) {
  static const struct {
    int type;
    enum dtype dtype;
  } types[] = {{FLOAT, DTYPE_FP32},    {UINT8, DTYPE_UINT8}, {INT8, DTYPE_INT8},
               {UINT16, DTYPE_UINT16}, {INT16, DTYPE_INT16}, {INT32, DTYPE_INT32},
               {INT64, DTYPE_INT64},   {BOOL, DTYPE_UINT8},  {FLOAT16, DTYPE_FP16},
               {UINT32, DTYPE_UINT32}, {16, DTYPE_BF16}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == type)
      return types[i].dtype;
  return DTYPE_COUNT;
}

static bool is_initializer(const struct test_case *test, const char *name) {
  for (size_t i = 0; i < test->model->graph->n_initializer; i++)
    if (strcmp(test->model->graph->initializer[i]->name, name) == 0)
      return true;
  return false;
}

static bool is_open(const Onnx__ValueInfoProto *input) {
  if (input->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return false;
  const Onnx__TensorShapeProto *shape = input->type->tensor_type->shape;
  for (size_t i = 0; shape && i < shape->n_dim; i++)
    if (shape->dim[i]->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      return true;
  return !shape;
}

enum vinci_status read_case(const struct test_case *test, size_t first_constant,
                            struct graph *graph, struct vinci_diag *diag) {
  static char shapes[PARTS_MAX][NAME_BYTES];
  const char *words[PARTS_MAX];
  struct onnx_known known[PARTS_MAX];
  size_t word_count = 0, known_count = 0, part = 0;
  const Onnx__GraphProto *net = test->model->graph;
  for (size_t i = 0; i < net->n_input && part < test->input_count; i++) {
    const struct part *input = &test->inputs[part];
    if (is_initializer(test, net->input[i]->name) && test->input_count < net->n_input)
      continue;
    part++;
    if (!input->tensor || input->tensor->data_type == 0)
      continue;
    if (part > first_constant) {
      known[known_count++] =
          (struct onnx_known){net->input[i]->name, input->file.bytes, input->file.length};
      continue;
    }
    size_t used = (size_t)snprintf(shapes[word_count], NAME_BYTES, "%s=", net->input[i]->name);
    bool some = true;
    for (size_t d = 0; d < input->tensor->n_dims; d++) {
      used += (size_t)snprintf(shapes[word_count] + used, NAME_BYTES - used, "%s%lld", d ? "x" : "",
                               (long long)input->tensor->dims[d]);
      some = some && input->tensor->dims[d] > 0;
    }
    words[word_count] = shapes[word_count];
    word_count += some && is_open(net->input[i]) && !is_initializer(test, net->input[i]->name);
  }
  struct onnx_options options = {
      .shapes = {words, word_count}, .known = known, .known_count = known_count};
  *diag = (struct vinci_diag){0};
  return onnx_read(test->path, test->bytes, test->length, &options, graph, diag);
}

size_t case_input(const struct test_case *test, const char *name) {
  const Onnx__GraphProto *net = test->model->graph;
  size_t part = 0;
  for (size_t i = 0; i < net->n_input && part < test->input_count; i++) {
    if (is_initializer(test, net->input[i]->name) && test->input_count < net->n_input)
      continue;
    if (strcmp(net->input[i]->name, name) == 0)
      return part;
    part++;
  }
  return PARTS_MAX;
}

/* The files of bf16 outputs declare their 16 bits as uint16. */
bool same_shape(const struct graph_tensor *tensor, const Onnx__TensorProto *expected) {
  enum dtype dtype = dtype_of(expected->data_type);
  bool same = tensor->rank == expected->n_dims &&
              (tensor->dtype == dtype || (tensor->dtype == DTYPE_BF16 && dtype == DTYPE_UINT16));
  for (unsigned d = 0; same && d < tensor->rank; d++)
    same = tensor->shape[d] == (uint64_t)expected->dims[d];
  return same;
}

/* ---- all cases ------------------------------------------------------------------------------ */

bool cases_exist(void) {
  DIR *folder = opendir(top);
  if (folder)
    closedir(folder);
  return folder != NULL;
}

unsigned each_case(void (*look_at)(const struct test_case *test, void *context), void *context) {
  static const char *const kinds[] = {"node", "simple", "pytorch-operator", "pytorch-converted"};
  unsigned all = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    struct dirent **names;
    snprintf(folder, sizeof folder, "%s/%s", top, kinds[k]);
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
      static struct test_case test;
      int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
      if (names[i]->d_name[0] != '.' && length < (int)sizeof path && load_case(path, &test)) {
        all++;
        look_at(&test, context);
        free_case(&test);
      }
      free(names[i]);
    }
    if (count >= 0)
      free(names);
  }
  return all;
}
