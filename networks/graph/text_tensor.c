/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor rows of a graph's text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "networks/graph/text.h"
#include "traces/format/text_fields.h"

/* "8x128"; "" is a scalar. */
static enum vinci_status take_shape(struct text_reader *reader, struct graph_tensor *tensor) {
  size_t field = text_find_key(reader, "shape");
  uint64_t shape[GRAPH_RANK_MAX], elements = 1;
  unsigned rank = 0;
  if (!field)
    return VINCI_OK;
  for (const char *at = text_value_of(reader, field); *at;) {
    if (rank == GRAPH_RANK_MAX)
      return text_fail(reader, field, "a shape of more than %d dimensions", GRAPH_RANK_MAX);
    if (!text_parse_size(at, &at, &shape[rank]) || (*at && *at != 'x') || (*at == 'x' && !at[1])) {
      enum vinci_status status =
          text_fail(reader, field, "shape is extents such as 8x128, not \"%s\"",
                    text_value_of(reader, field));
      if (*at == '{')
        diag_hint(reader->diag, "'vinci net serve --gears=1,4' runs a family of graphs, one for "
                                "each batch");
      return status;
    }
    at += *at == 'x';
    if (shape[rank] == 0 || shape[rank] > TEXT_BYTES_MAX / 8 / elements)
      return text_fail(reader, field, "shape %s has %s", text_value_of(reader, field),
                       shape[rank] ? "too many elements" : "no elements");
    elements *= shape[rank++];
  }
  graph_set_shape(tensor, shape, rank);
  return VINCI_OK;
}

static enum vinci_status take_memory(struct text_reader *reader, uint32_t index) {
  const char *name;
  enum vinci_status status = text_take(reader, "memory", "", &name);
  if (status != VINCI_OK || !*name)
    return status;
  uint32_t memory = graph_find_tensor(reader->graph, name);
  if (memory == GRAPH_NONE || memory == index)
    return text_fail(reader, text_find_key(reader, "memory"),
                     "no tensor \"%s\" stands before this row", name);
  reader->graph->tensors[index].memory = memory;
  return VINCI_OK;
}

/* A part of another tensor's memory. */
static enum vinci_status take_skip(struct text_reader *reader, struct graph_tensor *tensor) {
  bool given;
  enum vinci_status status =
      text_take_number(reader, "skip", TEXT_BYTES_MAX, &given, &tensor->skip);
  if (status != VINCI_OK || !given)
    return status;
  if (tensor->memory == GRAPH_NONE)
    return text_fail(reader, text_find_key(reader, "skip"),
                     "skip is for a tensor with memory=NAME");
  if (tensor->skip % GRAPH_ALIGNMENT_BYTES != 0)
    return text_fail(reader, text_find_key(reader, "skip"),
                     "skip is a multiple of %d bytes, not %llu", GRAPH_ALIGNMENT_BYTES,
                     (unsigned long long)tensor->skip);
  const struct graph_tensor *whole = &reader->graph->tensors[tensor->memory];
  if (whole->shaped && tensor->shaped && tensor->skip + graph_bytes(tensor) > graph_bytes(whole))
    return text_fail(
        reader, text_find_key(reader, "skip"), "%llu bytes behind %llu do not lie in \"%s\"",
        (unsigned long long)graph_bytes(tensor), (unsigned long long)tensor->skip, whole->name);
  return VINCI_OK;
}

static enum vinci_status take_offset(struct text_reader *reader, struct graph_tensor *tensor) {
  enum vinci_status status =
      text_take_number(reader, "offset", TEXT_BYTES_MAX, &tensor->placed, &tensor->offset);
  if (status == VINCI_OK && tensor->offset % GRAPH_ALIGNMENT_BYTES != 0)
    return text_fail(reader, text_find_key(reader, "offset"),
                     "offset is a multiple of %d bytes, not %llu", GRAPH_ALIGNMENT_BYTES,
                     (unsigned long long)tensor->offset);
  if (status == VINCI_OK && tensor->placed && tensor->memory != GRAPH_NONE)
    return text_fail(reader, text_find_key(reader, "offset"),
                     "a tensor in the memory of another has no "
                     "offset of its own");
  return status;
}

/* A number; of floating point also nan, inf and -inf. */
static bool parse_value(const char *word, enum dtype dtype, double *out) {
  bool floating = dtype == DTYPE_FP32 || dtype == DTYPE_FP16 || dtype == DTYPE_BF16;
  if (decimal_parse(word, out))
    return true;
  *out = *word == '-' ? -INFINITY : strcmp(word, "nan") == 0 ? NAN : INFINITY;
  return floating &&
         (strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0);
}

/* "0.5 1 2": the elements of a small tensor. */
static enum vinci_status take_values(struct text_reader *reader, struct graph_tensor *tensor) {
  size_t field = text_find_key(reader, "values");
  uint64_t count = graph_elements(tensor);
  if (!field)
    return VINCI_OK;
  if (!tensor->shaped || count > GRAPH_TEXT_VALUES_MAX)
    return text_fail(reader, field, "values are for tensors of a shape, up to %d elements",
                     GRAPH_TEXT_VALUES_MAX);
  unsigned char *data = arena_alloc(&reader->graph->arena, count, sizeof(uint64_t));
  if (!data)
    return text_no_memory(reader);
  const char *at = text_value_of(reader, field), *word;
  for (uint64_t i = 0; i < count; i++) {
    double number;
    word = text_next_word(reader, &at);
    if (!word || !parse_value(word, tensor->dtype, &number))
      return text_fail(reader, field, "values are %llu numbers with blanks between",
                       (unsigned long long)count);
    if (!graph_put_number(tensor->dtype, data, i, number))
      return text_fail(reader, field, "values of %s are not read", dtype_name(tensor->dtype));
  }
  if (text_next_word(reader, &at))
    return text_fail(reader, field, "more than %llu values", (unsigned long long)count);
  tensor->data = data;
  return VINCI_OK;
}

static enum vinci_status take_types(struct text_reader *reader, struct graph_tensor *tensor) {
  static const char *const ios[] = {
#define X(id, name) name,
      GRAPH_IO_LIST(X)
#undef X
  };
  static const char *const types[] = {
#define X(id, name, bits) name,
      DTYPE_LIST(X)
#undef X
  };
  size_t type = 0, io = 0;
  const char *format;
  enum vinci_status status =
      text_take_word(reader, "dtype", NULL, (struct text_words){types, DTYPE_COUNT}, &type);
  if (status == VINCI_OK)
    status = text_take_word(reader, "io", "local", (struct text_words){ios, GRAPH_IO_COUNT}, &io);
  if (status == VINCI_OK)
    status = text_take(reader, "format", "ND", &format);
  if (status != VINCI_OK)
    return status;
  if (strlen(format) >= sizeof tensor->format)
    return text_fail(reader, text_find_key(reader, "format"), "format of more than %zu bytes",
                     sizeof tensor->format - 1);
  tensor->dtype = (enum dtype)type;
  tensor->io = (enum graph_io)io;
  snprintf(tensor->format, sizeof tensor->format, "%s", format);
  return VINCI_OK;
}

enum vinci_status text_tensor_row(struct text_reader *reader) {
  static const char *const keys[] = {"name",   "dtype",  "shape",  "io",  "format",
                                     "memory", "offset", "values", "skip"};
  const char *name;
  enum vinci_status status = text_take(reader, "name", NULL, &name);
  if (status != VINCI_OK)
    return status;
  if (strpbrk(name, text_not_in_names))
    return text_fail(reader, text_find_key(reader, "name"),
                     "a name has no blanks, commas or quotes");
  if (graph_find_tensor(reader->graph, name) != GRAPH_NONE)
    return text_fail(reader, text_find_key(reader, "name"), "second tensor \"%s\"", name);
  uint32_t index = graph_add_tensor(reader->graph, name);
  if (index == GRAPH_NONE)
    return text_no_memory(reader);
  status = take_types(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_shape(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_memory(reader, index);
  if (status == VINCI_OK)
    status = take_values(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_skip(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_offset(reader, &reader->graph->tensors[index]);
  return status == VINCI_OK
             ? text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys})
             : status;
}
