/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of ONNX files: where their values are, and elements of all types as numbers. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/number.h"
#include "networks/onnx/import.h"
#include "networks/onnx/wire.h"

/* ---- types ----------------------------------------------------------------------------------- */

const char *onnx_type_name(enum onnx_type type) {
  switch (type) {
#define X(id, number, name, bits, dtype)                                                           \
  case ONNX_##id:                                                                                  \
    return name;
    ONNX_TYPE_LIST(X)
#undef X
  default:
    return "unknown";
  }
}

unsigned onnx_type_bits(enum onnx_type type) {
  switch (type) {
#define X(id, number, name, bits, dtype)                                                           \
  case ONNX_##id:                                                                                  \
    return bits;
    ONNX_TYPE_LIST(X)
#undef X
  default:
    return 0;
  }
}

enum dtype onnx_type_dtype(enum onnx_type type) {
  switch (type) {
#define X(id, number, name, bits, dtype)                                                           \
  case ONNX_##id:                                                                                  \
    return dtype;
    ONNX_TYPE_LIST(X)
#undef X
  default:
    return DTYPE_COUNT;
  }
}

unsigned onnx_element_bytes(enum onnx_type type) {
  return onnx_type_bits(type) == 4 ? 1 : onnx_type_bits(type) / 8;
}

bool onnx_can_store(enum onnx_type type) {
  unsigned bits = onnx_type_bits(type);
  return bits >= 4 && bits <= 64 && type != ONNX_COMPLEX64 && type != ONNX_FLOAT8E4M3FNUZ &&
         type != ONNX_FLOAT8E5M2FNUZ;
}

bool onnx_type_is_float(enum onnx_type type) {
  return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_DOUBLE ||
         type == ONNX_BFLOAT16 || (type >= ONNX_FLOAT8E4M3FN && type <= ONNX_FLOAT8E5M2FNUZ) ||
         type == ONNX_FLOAT4E2M1;
}

uint64_t onnx_elements(const struct onnx_value *value) {
  uint64_t count = 1;
  for (unsigned i = 0; i < value->rank; i++)
    count *= value->shape[i];
  return count;
}

/* ---- elements -------------------------------------------------------------------------------- */

int64_t onnx_load_int(const struct onnx_value *value, uint64_t index) {
  const uint8_t *at = (const uint8_t *)value->data + index * onnx_element_bytes(value->type);
  switch (value->type) {
  case ONNX_INT4:
  case ONNX_INT8:
    return (int8_t)*at;
  case ONNX_UINT4:
  case ONNX_UINT8:
  case ONNX_BOOL:
    return *at;
  case ONNX_INT16:
    return load_i16(at);
  case ONNX_UINT16:
    return load_u16(at);
  case ONNX_INT32:
    return load_i32(at);
  case ONNX_UINT32:
    return load_u32(at);
  case ONNX_INT64:
  case ONNX_UINT64:
    return load_i64(at);
  default:
    return number_to_integer(onnx_load_real(value, index), ROUND_ZERO, INT64_MIN, INT64_MAX);
  }
}

/* OCP Microscaling Formats 1.0, 5.3.3 */
static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* To nearest, ties to an even code; larger numbers become the largest. NaN is 0. */
static uint8_t e2m1_of(double number) {
  double size = number < 0 ? -number : number;
  uint8_t code = 0;
  for (uint8_t next = 1; next < 8; next++) {
    double half = (e2m1[next - 1] + e2m1[next]) / 2;
    if (size > half || (size == half && next % 2 == 0))
      code = next;
  }
  return number < 0 ? code | 8 : code;
}

double onnx_load_real(const struct onnx_value *value, uint64_t index) {
  const uint8_t *at = (const uint8_t *)value->data + index * onnx_element_bytes(value->type);
  switch (value->type) {
  case ONNX_FLOAT:
    return (double)load_fp32(at);
  case ONNX_DOUBLE:
    return load_fp64(at);
  case ONNX_FLOAT16:
    return (double)fp16_to_fp32(load_u16(at));
  case ONNX_BFLOAT16:
    return (double)bf16_to_fp32(load_u16(at));
  case ONNX_UINT64:
    return (double)load_u64(at);
  case ONNX_FLOAT8E4M3FN:
    return (double)number_decode(&number_fp8_e4m3, *at);
  case ONNX_FLOAT8E5M2:
    return (double)number_decode(&number_fp8_e5m2, *at);
  case ONNX_FLOAT4E2M1:
    return *at & 8 ? -e2m1[*at & 7] : e2m1[*at & 7];
  case ONNX_INT4:
  case ONNX_UINT4:
  case ONNX_INT8:
  case ONNX_UINT8:
  case ONNX_BOOL:
  case ONNX_INT16:
  case ONNX_UINT16:
  case ONNX_INT32:
  case ONNX_UINT32:
  case ONNX_INT64:
    return (double)onnx_load_int(value, index);
  default: /* texts, other forms of 8 bits: of these no number is known */
    return 0;
  }
}

void onnx_store_int(void *data, enum onnx_type type, uint64_t index, int64_t number) {
  uint8_t *at = (uint8_t *)data + index * onnx_element_bytes(type);
  switch (onnx_type_is_float(type) ? 0 : onnx_type_bits(type)) {
  case 4: /* int4: the sign fills the byte */
    *at = (uint8_t)(type == ONNX_INT4 && (number & 8) ? number | 0xf0 : number & 15);
    break;
  case 8:
    *at = (uint8_t)(type == ONNX_BOOL ? number != 0 : number);
    break;
  case 16:
    store_u16(at, (uint16_t)number);
    break;
  case 32:
    store_u32(at, (uint32_t)number);
    break;
  case 64:
    store_i64(at, number);
    break;
  default:
    onnx_store_real(data, type, index, (double)number);
  }
}

void onnx_store_real(void *data, enum onnx_type type, uint64_t index, double number) {
  uint8_t *at = (uint8_t *)data + index * onnx_element_bytes(type);
  switch (type) {
  case ONNX_FLOAT:
    store_fp32(at, (float)number);
    break;
  case ONNX_DOUBLE:
    store_fp64(at, number);
    break;
  case ONNX_FLOAT16:
    store_u16(at, (uint16_t)number_encode(&number_fp16, number, ROUND_EVEN, false));
    break;
  case ONNX_BFLOAT16:
    store_u16(at, (uint16_t)number_encode(&number_bf16, number, ROUND_EVEN, false));
    break;
  case ONNX_FLOAT8E4M3FN:
    *at = (uint8_t)number_encode(&number_fp8_e4m3, number, ROUND_EVEN, true);
    break;
  case ONNX_FLOAT8E5M2:
    *at = (uint8_t)number_encode(&number_fp8_e5m2, number, ROUND_EVEN, true);
    break;
  case ONNX_FLOAT4E2M1:
    *at = e2m1_of(number);
    break;
  case ONNX_BOOL:
    *at = number != 0;
    break;
  case ONNX_UINT64:
    store_u64(at, number >= 0x1p63 ? (uint64_t)number : (uint64_t)(int64_t)number);
    break;
  default: /* not the types that onnx_can_store() refuses: onnx_store_int() would call this again */
    if (!onnx_type_is_float(type))
      onnx_store_int(data, type, index,
                     number_to_integer(number, ROUND_ZERO, INT64_MIN, INT64_MAX));
  }
}

/* ---- tensors of the file --------------------------------------------------------------------- */

static enum vinci_status fail(struct onnx_import *import, const Onnx__TensorProto *tensor,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum vinci_status fail(struct onnx_import *import, const Onnx__TensorProto *tensor,
                              const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return diag_error_at(import->diag, VINCI_E_INPUT, (struct diag_position){.path = import->name},
                       "tensor \"%.100s\": %s", tensor->name ? tensor->name : "", text);
}

static enum vinci_status take_shape(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                    struct onnx_value *out) {
  uint64_t elements = 1;
  if (tensor->n_dims > GRAPH_RANK_MAX)
    return fail(import, tensor, "%zu dimensions; this reader takes up to %d", tensor->n_dims,
                GRAPH_RANK_MAX);
  for (size_t i = 0; i < tensor->n_dims; i++) {
    uint64_t extent = (uint64_t)tensor->dims[i];
    if (tensor->dims[i] < 0 || (extent > 0 && elements > ONNX_ELEMENTS_MAX / extent))
      return fail(import, tensor, "dimension %zu is %lld, which is not possible", i,
                  (long long)tensor->dims[i]);
    elements *= extent;
    out->shape[i] = extent;
  }
  out->rank = (unsigned)tensor->n_dims;
  out->shaped = true;
  return VINCI_OK;
}

static const char *external_entry(const Onnx__TensorProto *tensor, const char *key) {
  for (size_t i = 0; i < tensor->n_external_data; i++)
    if (tensor->external_data[i]->key && strcmp(tensor->external_data[i]->key, key) == 0)
      return tensor->external_data[i]->value;
  return NULL;
}

/* A location may not lead out of the folder of the model: a model could read any file. */
static bool location_is_safe(const char *location) {
  if (!*location || *location == '/' || strchr(location, '\\'))
    return false;
  for (const char *at = location; *at;) {
    size_t length = strcspn(at, "/");
    if (length == 2 && at[0] == '.' && at[1] == '.')
      return false;
    at += length + (at[length] == '/');
  }
  return true;
}

/* The real path of a location below a folder, whether that leads out of the folder. False when
 * there is no such file. */
static bool resolve(const char *folder, const char *location, char path[static PATH_MAX],
                    bool *leaves) {
  char joined[PATH_MAX], root[PATH_MAX];
  if (!folder || snprintf(joined, sizeof joined, "%s/%s", folder, location) >= PATH_MAX ||
      !realpath(folder, root) || !realpath(joined, path))
    return false;
  size_t length = strlen(root);
  length -= root[length - 1] == '/';
  *leaves = strncmp(path, root, length) != 0 || path[length] != '/';
  return true;
}

/* A number among the entries of external data; one that is not there leaves *out. */
static enum vinci_status take_entry(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                    const char *key, uint64_t *out) {
  const char *text = external_entry(tensor, key);
  if (!text || decimal_whole(text, out))
    return VINCI_OK;
  return fail(import, tensor,
              "\"%s\" of its external data is \"%.40s\", not a whole number of bytes in decimal "
              "digits",
              key, text);
}

static void unmap(void *address, size_t bytes) { munmap(address, bytes); }

/* A file without the values is fine for time; a file that is too short is not the model's. */
static enum vinci_status take_external(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                       uint64_t bytes, struct onnx_value *out) {
  const char *location = external_entry(tensor, "location");
  uint64_t offset = 0, length = bytes;
  char path[PATH_MAX];
  enum vinci_status status = take_entry(import, tensor, "offset", &offset);
  if (status == VINCI_OK)
    status = take_entry(import, tensor, "length", &length);
  if (status != VINCI_OK)
    return status;
  if (length != bytes)
    return fail(import, tensor, "\"length\" of its external data is %llu, the tensor needs %llu",
                (unsigned long long)length, (unsigned long long)bytes);
  if (!location || !location_is_safe(location))
    return fail(import, tensor,
                "its values are in file \"%.80s\"; a location is a name below the "
                "folder of the model, without '..'",
                location ? location : "");
  bool leaves;
  if (!resolve(import->options->folder, location, path, &leaves))
    return VINCI_OK;
  if (leaves) {
    status = fail(import, tensor,
                  "its values are in file \"%.80s\", a link that leads out of the folder of the "
                  "model",
                  location);
    diag_hint(import->diag, "put the file itself beside the model");
    return status;
  }
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0)
    return VINCI_OK;
  bool whole = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  length = whole ? (uint64_t)info.st_size : 0;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset - offset % page;
  if (offset > length || bytes > length - offset) {
    status = fail(import, tensor,
                  "file \"%.80s\" has %llu bytes, the tensor needs %llu from byte "
                  "%llu",
                  location, (unsigned long long)length, (unsigned long long)bytes,
                  (unsigned long long)offset);
  } else if (bytes > 0) {
    size_t size = (size_t)(offset - start + bytes);
    void *address = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, (off_t)start);
    if (address == MAP_FAILED || !graph_keep(import->graph, address, size, unmap))
      status = onnx_no_memory(import);
    else
      out->data = (const uint8_t *)address + (offset - start);
    out->borrowed = true;
  }
  close(file);
  return status;
}

/* raw_data, which wire.c has replaced by the place of its bytes. */
static enum vinci_status take_raw(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                  uint64_t bytes, struct onnx_value *out) {
  struct wire_place place = {0};
  if (tensor->raw_data.len == sizeof place)
    memcpy(&place, tensor->raw_data.data, sizeof place);
  if (place.length != bytes)
    return fail(import, tensor, "%llu bytes of raw_data; its %s elements need %llu",
                (unsigned long long)place.length, onnx_type_name(out->type),
                (unsigned long long)bytes);
  out->data = import->file + place.offset;
  out->borrowed = true;
  return VINCI_OK;
}

/* Of the typed lists the one that holds this type; fp16 and bf16 are bits in int32_data. */
static size_t list_length(const Onnx__TensorProto *tensor, enum onnx_type type) {
  switch (type) {
  case ONNX_FLOAT:
    return tensor->n_float_data;
  case ONNX_DOUBLE:
    return tensor->n_double_data;
  case ONNX_INT64:
    return tensor->n_int64_data;
  case ONNX_UINT32:
  case ONNX_UINT64:
    return tensor->n_uint64_data;
  default:
    return tensor->n_int32_data;
  }
}

static void copy_element(const Onnx__TensorProto *tensor, enum onnx_type type, size_t i,
                         uint8_t *to) {
  switch (type) {
  case ONNX_FLOAT:
    store_fp32(to + 4 * i, tensor->float_data[i]);
    break;
  case ONNX_DOUBLE:
    store_fp64(to + 8 * i, tensor->double_data[i]);
    break;
  case ONNX_INT64:
    store_i64(to + 8 * i, tensor->int64_data[i]);
    break;
  case ONNX_UINT64:
  case ONNX_UINT32:
    onnx_store_int(to, type, i, (int64_t)tensor->uint64_data[i]);
    break;
  case ONNX_FLOAT16:
  case ONNX_BFLOAT16:
    store_u16(to + 2 * i, (uint16_t)tensor->int32_data[i]);
    break;
  default:
    if (onnx_type_bits(type) == 8)
      to[i] = (uint8_t)tensor->int32_data[i];
    else
      onnx_store_int(to, type, i, tensor->int32_data[i]);
  }
}

static enum vinci_status take_list(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                   uint64_t bytes, struct onnx_value *out) {
  uint64_t elements = onnx_elements(out);
  size_t listed = list_length(tensor, out->type);
  if (listed == 0 && elements > 0)
    return VINCI_OK; /* weights were taken out, as tools for shapes do */
  if (onnx_type_bits(out->type) == 4)
    elements = bytes; /* two to an entry */
  if (listed != elements)
    return fail(import, tensor, "%zu values are listed; its shape has %llu elements", listed,
                (unsigned long long)elements);
  uint8_t *data = arena_alloc(&import->arena, (size_t)bytes + 1, 1);
  if (!data)
    return onnx_no_memory(import);
  for (size_t i = 0; i < listed; i++)
    if (onnx_type_bits(out->type) == 4)
      data[i] = (uint8_t)tensor->int32_data[i];
    else
      copy_element(tensor, out->type, i, data);
  out->data = data;
  return VINCI_OK;
}

/* ---- numbers of 4 bits ----------------------------------------------------------------------- */

static bool new_bytes(struct onnx_import *import, uint64_t bytes, struct onnx_value *out) {
  if (!(out->bytes = onnx_new_value(import, out->name)))
    return false;
  out->bytes->type = ONNX_UINT8;
  out->bytes->shaped = out->bytes->constant = true;
  out->bytes->rank = 1;
  out->bytes->shape[0] = bytes;
  return true;
}

static bool is_in_bytes(enum onnx_type type) {
  return onnx_type_bits(type) == 4 || type == ONNX_FLOAT8E4M3FN || type == ONNX_FLOAT8E5M2;
}

/* The first number of a byte is in its lowest bits (ONNX, TensorProto). */
bool onnx_pack(struct onnx_import *import, struct onnx_value *value) {
  uint64_t elements = onnx_elements(value);
  const uint8_t *from = value->data;
  if (!is_in_bytes(value->type))
    return true;
  if (onnx_type_bits(value->type) == 8) {
    bool made = new_bytes(import, elements, value);
    if (made)
      value->bytes->data = from;
    return made;
  }
  uint8_t *to = arena_alloc(&import->arena, (size_t)(elements / 2 + 1), 1);
  if (!to || !new_bytes(import, (elements + 1) / 2, value))
    return false;
  for (uint64_t i = 0; i < elements; i += 2)
    to[i / 2] = (uint8_t)((from[i] & 15) | (i + 1 < elements ? from[i + 1] << 4 : 0));
  value->bytes->data = to;
  return true;
}

static enum vinci_status unpack(struct onnx_import *import, struct onnx_value *out) {
  uint64_t elements = onnx_elements(out);
  const uint8_t *from = out->data;
  out->data = NULL;
  out->borrowed = false;
  if (!from || elements > ONNX_FOLD_MAX)
    return VINCI_OK;
  uint8_t *to = arena_alloc(&import->arena, (size_t)elements + 1, 1);
  if (!to)
    return onnx_no_memory(import);
  for (uint64_t i = 0; i < elements; i++) {
    uint8_t code = from[i / 2] >> (i % 2 * 4) & 15;
    if (out->type == ONNX_INT4)
      onnx_store_int(to, out->type, i, code);
    else
      to[i] = code;
  }
  out->data = to;
  return VINCI_OK;
}

/* Numbers that are parts of a byte, or of floating point in a byte, are their bytes to others. */
static enum vinci_status take_bytes(struct onnx_import *import, uint64_t bytes,
                                    struct onnx_value *out) {
  if (!new_bytes(import, bytes, out))
    return onnx_no_memory(import);
  out->bytes->data = out->data;
  out->bytes->borrowed = out->borrowed;
  return onnx_type_bits(out->type) < 8 ? unpack(import, out) : VINCI_OK;
}

enum vinci_status onnx_take_tensor(struct onnx_import *import, const Onnx__TensorProto *tensor,
                                   struct onnx_value *out) {
  enum { EXTERNAL = 1 };
  enum vinci_status status = take_shape(import, tensor, out);
  if (status != VINCI_OK)
    return status;
  out->type = (enum onnx_type)tensor->data_type;
  out->constant = true;
  unsigned bits = onnx_type_bits(out->type);
  if (bits == 0 && out->type != ONNX_STRING)
    return fail(import, tensor, "element type %d, which is not a type of ONNX that is known here",
                (int)tensor->data_type);
  uint64_t bytes = (onnx_elements(out) * bits + 7) / 8;
  if (tensor->has_data_location && (int)tensor->data_location == EXTERNAL)
    status = take_external(import, tensor, bytes, out);
  else if (bits == 0 || bits > 64)
    return VINCI_OK; /* texts, complex numbers: never computed here */
  else
    status = tensor->has_raw_data ? take_raw(import, tensor, bytes, out)
                                  : take_list(import, tensor, bytes, out);
  return status == VINCI_OK && is_in_bytes(out->type) ? take_bytes(import, bytes, out) : status;
}
