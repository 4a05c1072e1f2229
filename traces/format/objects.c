/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that name memory: tensors in GM, ranges of on-chip buffers. */
#include <string.h>

#include "traces/format/keys.h"

/* ---- tensor --------------------------------------------------------------- */

enum {
  TENSOR_NAME,
  TENSOR_DTYPE,
  TENSOR_SHAPE,
  TENSOR_IO,
  TENSOR_FILE,
  TENSOR_FORMAT,
  TENSOR_CACHE,
  TENSOR_TAIL,
  TENSOR_KEYS
};
static const struct trace_key tensor_keys[TENSOR_KEYS] = {
    {"name", true},  {"dtype", true},   {"shape", true},  {"io", true},
    {"file", false}, {"format", false}, {"cache", false}, {"tail", false}};

static const char *dtype_at(const void *context, size_t index) {
  (void)context;
  return dtype_name((enum dtype)index);
}

static const char *io_at(const void *context, size_t index) {
  static const char *const names[] = {[TENSOR_IN] = "in",
                                      [TENSOR_OUT] = "out",
                                      [TENSOR_INOUT] = "inout",
                                      [TENSOR_WORKSPACE] = "workspace"};
  (void)context;
  return names[index];
}

/* Layouts by their CANN names (Ascend C documentation, data layouts). */
static const char *const formats[] = {
    "ND",   "DN",      "NZ",       "ZZ",         "ZN",        "NCHW",        "NHWC",
    "HWCN", "NC1HWC0", "NDC1HWC0", "FRACTAL_NZ", "FRACTAL_Z", "FRACTAL_Z_3D"};

static const char *format_at(const void *context, size_t index) {
  (void)context;
  return formats[index];
}

/* As of SetL2CacheHint (Ascend C documentation). */
enum { CACHE_NORMAL, CACHE_DISABLE, CACHE_MODES };

static const char *cache_at(const void *context, size_t index) {
  (void)context;
  return index == CACHE_NORMAL ? "normal" : "disable";
}

/* "8x2048x2048" */
static enum vinci_status tensor_shape(struct trace_reader *reader,
                                      const struct trace_values *values,
                                      struct program_tensor *tensor) {
  const char *start = trace_value_text(reader, values, TENSOR_SHAPE);
  const char *at = start;
  uint64_t elements = 1, bits;
  do {
    const char *digits = at;
    uint64_t extent = 0;
    bool fits = true;
    for (; *at >= '0' && *at <= '9'; at++)
      fits = fits && !__builtin_mul_overflow(extent, 10u, &extent) &&
             !__builtin_add_overflow(extent, (uint64_t)(*at - '0'), &extent);
    size_t offset = trace_value_offset(values, TENSOR_SHAPE) + (size_t)(digits - start);
    if (at == digits || (fits && extent == 0) || (*at != 'x' && *at != '\0')) {
      trace_fail(reader, values->field[TENSOR_SHAPE], offset, "malformed shape \"%s\"",
                 trace_clip(start, strlen(start)).text);
      diag_hint(reader->diag, "extents of 1 and more, joined by x: 8x2048x2048");
      return VINCI_E_INPUT;
    }
    if (tensor->rank == TENSOR_RANK_MAX)
      return trace_fail(reader, values->field[TENSOR_SHAPE], offset,
                        "shape of more than %d dimensions", TENSOR_RANK_MAX);
    if (!fits || __builtin_mul_overflow(elements, extent, &elements))
      return trace_fail(reader, values->field[TENSOR_SHAPE], offset,
                        "the tensor's size does not fit 64 bits");
    tensor->shape[tensor->rank++] = extent;
  } while (*at++ == 'x');
  if (__builtin_mul_overflow(elements, dtype_bits(tensor->dtype), &bits))
    return FAIL_VALUE(reader, values, TENSOR_SHAPE, "the tensor's size does not fit 64 bits");
  tensor->bytes = bits / 8 + (bits % 8 != 0);
  return VINCI_OK;
}

static enum vinci_status tensor_values(struct trace_reader *reader,
                                       const struct trace_values *values,
                                       struct program_tensor *tensor) {
  size_t dtype = 0, io = 0, format = 0, cache = CACHE_NORMAL;
  int64_t tail = 0;
  enum vinci_status status =
      trace_value_word(reader, values, TENSOR_DTYPE, "data type", dtype_at, DTYPE_COUNT, &dtype);
  if (status == VINCI_OK && !arch_has_dtype(reader->kernel->arch, (enum dtype)dtype))
    return FAIL_VALUE(reader, values, TENSOR_DTYPE, "%s has no data type \"%s\"",
                      arch_name(reader->kernel->arch), dtype_name((enum dtype)dtype));
  if (status == VINCI_OK && (dtype == DTYPE_FP4_E2M1 || dtype == DTYPE_FP4_E1M2))
    return FAIL_VALUE(
        reader, values, TENSOR_DTYPE,
        "tensors of %s are uint8 with two numbers to a byte, the first in the low half",
        dtype_name((enum dtype)dtype));
  tensor->dtype = (enum dtype)dtype;
  if (status == VINCI_OK)
    status = tensor_shape(reader, values, tensor);
  if (status == VINCI_OK)
    status =
        trace_value_word(reader, values, TENSOR_IO, "direction", io_at, TENSOR_WORKSPACE + 1, &io);
  tensor->io = (enum tensor_io)io;
  if (status == VINCI_OK && values->field[TENSOR_FILE] != 0)
    status = trace_value_copy(reader, values, TENSOR_FILE, &tensor->file);
  if (status == VINCI_OK && values->field[TENSOR_FORMAT] != 0)
    status = trace_value_word(reader, values, TENSOR_FORMAT, "layout", format_at,
                              sizeof formats / sizeof *formats, &format);
  if (status == VINCI_OK)
    tensor->format = formats[format];
  if (status == VINCI_OK && values->field[TENSOR_CACHE] != 0)
    status =
        trace_value_word(reader, values, TENSOR_CACHE, "cache mode", cache_at, CACHE_MODES, &cache);
  tensor->passes_l2 = cache == CACHE_DISABLE;
  if (status == VINCI_OK && values->field[TENSOR_TAIL] != 0)
    status = trace_value_number(reader, values, TENSOR_TAIL, 0, TENSOR_TAIL_MAX, &tail);
  tensor->tail = (uint64_t)tail;
  return status;
}

/* The same name in an earlier kernel is the same memory, and must look the same. */
static enum vinci_status tensor_share(struct trace_reader *reader,
                                      const struct trace_values *values,
                                      const struct program_tensor *earlier,
                                      struct program_tensor *tensor) {
  bool same = tensor->dtype == earlier->dtype && tensor->rank == earlier->rank &&
              tensor->tail == earlier->tail &&
              memcmp(tensor->shape, earlier->shape, sizeof tensor->shape) == 0;
  if (!same) {
    FAIL_VALUE(reader, values, TENSOR_NAME,
               "tensor \"%s\" has another type, shape or tail than in line %u", tensor->name,
               (unsigned)earlier->line);
    diag_hint(reader->diag, "one name is one piece of memory in all kernels of a trace");
    return VINCI_E_INPUT;
  }
  tensor->address = earlier->address;
  return VINCI_OK;
}

static enum vinci_status tensor_place(struct trace_reader *reader,
                                      const struct trace_values *values,
                                      struct program_tensor *tensor) {
  const uint64_t mask = PROGRAM_TENSOR_ALIGNMENT - 1;
  uint64_t capacity = soc_space_bytes(reader->soc, SPACE_GM);
  if (tensor->bytes > capacity)
    return FAIL_VALUE(reader, values, TENSOR_SHAPE,
                      "tensor \"%s\" has %llu bytes, %s has %llu of device memory", tensor->name,
                      (unsigned long long)tensor->bytes, reader->soc->name,
                      (unsigned long long)capacity);
  tensor->address = (reader->gm_end + mask) & ~mask; /* capacity is far below 2^64 */
  if (tensor->address > capacity || tensor->bytes + tensor->tail > capacity - tensor->address)
    return FAIL_VALUE(reader, values, TENSOR_SHAPE,
                      "the tensors up to \"%s\" take %llu bytes, %s has %llu of device memory",
                      tensor->name, (unsigned long long)(tensor->address + tensor->bytes),
                      reader->soc->name, (unsigned long long)capacity);
  reader->gm_end = tensor->address + tensor->bytes + tensor->tail;
  return VINCI_OK;
}

/* A tensor or buffer row stands between its kernel row and the first stream. */
static enum vinci_status declare_object(struct trace_reader *reader,
                                        const struct trace_values *values,
                                        struct trace_name **name) {
  /* "name" is the first key of both rows */
  return trace_name_declare(reader, values->field[0], trace_value_offset(values, 0), name);
}

static void bind_object(struct trace_reader *reader, struct trace_name *name, enum name_kind kind,
                        size_t index) {
  name->object_kind = (uint8_t)kind;
  name->object_kernel = (uint32_t)reader->kernels.count;
  name->object = (uint32_t)index;
}

enum vinci_status trace_tensor_row(struct trace_reader *reader) {
  struct trace_values values;
  struct trace_name *name = NULL;
  struct program_tensor tensor = {.line = reader->line};
  enum vinci_status status = trace_keys(reader, tensor_keys, TENSOR_KEYS, &values);
  if (status == VINCI_OK)
    status = declare_object(reader, &values, &name);
  if (status != VINCI_OK)
    return status;
  tensor.name = name->text;
  status = tensor_values(reader, &values, &tensor);
  if (status != VINCI_OK)
    return status;
  if (name->memory != 0)
    status = tensor_share(reader, &values,
                          GROWING_AT(&reader->tensors, struct program_tensor, name->memory - 1),
                          &tensor);
  else
    status = tensor_place(reader, &values, &tensor);
  if (status != VINCI_OK)
    return status;
  struct program_tensor *at = GROWING_PUSH(&reader->tensors, struct program_tensor);
  if (!at)
    return trace_no_memory(reader);
  *at = tensor;
  name->memory = (uint32_t)reader->tensors.count;
  bind_object(reader, name, NAME_TENSOR, reader->tensors.count - 1);
  reader->kernel->tensor_count++;
  return VINCI_OK;
}

/* ---- buffer --------------------------------------------------------------- */

enum { BUFFER_NAME, BUFFER_SPACE, BUFFER_ADDRESS, BUFFER_SIZE, BUFFER_KEYS };
static const struct trace_key buffer_keys[BUFFER_KEYS] = {
    {"name", true}, {"space", true}, {"address", true}, {"size", true}};

/* On-chip spaces that operands name: GM is what tensors are for. */
static const char *space_at(const void *context, size_t index) {
  (void)context;
  return index == SPACE_GM || index == SPACE_IDX ? NULL : space_name((enum space)index);
}

static enum vinci_status buffer_range(struct trace_reader *reader,
                                      const struct trace_values *values,
                                      struct program_buffer *buffer) {
  int64_t address = 0, size = 0;
  uint64_t capacity = soc_space_bytes(reader->soc, buffer->space);
  const char *space = space_name(buffer->space);
  if (capacity == 0)
    return FAIL_VALUE(reader, values, BUFFER_SPACE, "%s has no %s", reader->soc->name, space);
  enum vinci_status status =
      trace_value_number(reader, values, BUFFER_ADDRESS, 0, INT64_MAX, &address);
  if (status == VINCI_OK)
    status = trace_value_number(reader, values, BUFFER_SIZE, 1, INT64_MAX, &size);
  if (status != VINCI_OK)
    return status;
  buffer->address = (uint64_t)address;
  buffer->bytes = (uint64_t)size;
  if (buffer->address % space_alignment(buffer->space) != 0)
    return FAIL_VALUE(reader, values, BUFFER_ADDRESS, "address %lld in %s is not a multiple of %u",
                      (long long)address, space, space_alignment(buffer->space));
  if (buffer->bytes > capacity || buffer->address > capacity - buffer->bytes)
    return FAIL_VALUE(reader, values, buffer->address < capacity ? BUFFER_SIZE : BUFFER_ADDRESS,
                      "buffer \"%s\" ends at byte %llu of %s, which has %llu", buffer->name,
                      (unsigned long long)(buffer->address + buffer->bytes), space,
                      (unsigned long long)capacity);
  return VINCI_OK;
}

enum vinci_status trace_buffer_row(struct trace_reader *reader) {
  struct trace_values values;
  struct trace_name *name = NULL;
  struct program_buffer buffer = {.line = reader->line};
  size_t space = 0;
  enum vinci_status status = trace_keys(reader, buffer_keys, BUFFER_KEYS, &values);
  if (status == VINCI_OK)
    status = declare_object(reader, &values, &name);
  if (status == VINCI_OK)
    status = trace_value_word(reader, &values, BUFFER_SPACE, "on-chip buffer", space_at,
                              SPACE_COUNT, &space);
  if (status != VINCI_OK)
    return status;
  buffer.name = name->text;
  buffer.space = (enum space)space;
  status = buffer_range(reader, &values, &buffer);
  if (status != VINCI_OK)
    return status;
  struct program_buffer *at = GROWING_PUSH(&reader->buffers, struct program_buffer);
  if (!at)
    return trace_no_memory(reader);
  *at = buffer;
  bind_object(reader, name, NAME_BUFFER, reader->buffers.count - 1);
  reader->kernel->buffer_count++;
  return VINCI_OK;
}
