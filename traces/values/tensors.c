/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors from and to .npy files. Each type has one form in files; bf16, which NumPy lacks, is
 * read from uint16 patterns, from void16 or rounded from float32, and written as uint16.
 */
#include "traces/values/tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/machine/values.h"

enum { CHUNK_ELEMENTS = 1 << 14 };

/* ---- types ---------------------------------------------------------------------------- */

struct npy tensor_npy(const struct program_tensor *tensor) {
  static const char kinds[DTYPE_COUNT] = {
      [DTYPE_FP16] = 'f',     [DTYPE_BF16] = 'u',    [DTYPE_FP32] = 'f',  [DTYPE_INT4] = 'i',
      [DTYPE_INT8] = 'i',     [DTYPE_UINT8] = 'u',   [DTYPE_INT16] = 'i', [DTYPE_UINT16] = 'u',
      [DTYPE_INT32] = 'i',    [DTYPE_UINT32] = 'u',  [DTYPE_INT64] = 'i', [DTYPE_HF32] = 'f',
      [DTYPE_FP8_E4M3] = 'u', [DTYPE_FP8_E5M2] = 'u'};
  unsigned bits = dtype_bits(tensor->dtype);
  struct npy npy = {
      .kind = kinds[tensor->dtype],
      .item_bytes = bits < BITS_PER_BYTE ? 1 : bits / BITS_PER_BYTE,
      .rank = tensor->rank,
  };
  memcpy(npy.shape, tensor->shape, sizeof npy.shape);
  return npy;
}

uint64_t tensor_elements(const struct program_tensor *tensor) {
  uint64_t count = 1;
  for (unsigned i = 0; i < tensor->rank; i++)
    count *= tensor->shape[i];
  return count;
}

bool tensor_is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32 || type == DTYPE_HF32 ||
         type == DTYPE_FP8_E4M3 || type == DTYPE_FP8_E5M2;
}

static bool same_type(const struct npy *a, const struct npy *b) {
  return a->kind == b->kind && a->item_bytes == b->item_bytes;
}

static bool fits_type(const struct program_tensor *tensor, const struct npy *npy, bool expected) {
  struct npy own = tensor_npy(tensor);
  if (same_type(&own, npy))
    return true;
  if (expected && tensor_is_float(tensor->dtype) && npy->kind == 'f' && npy->item_bytes > 1)
    return true;
  if (tensor->dtype == DTYPE_UINT8 && npy->kind == 'b') /* tensors of truth values are bytes */
    return npy->item_bytes == 1;
  return tensor->dtype == DTYPE_BF16 &&
         ((npy->kind == 'V' && npy->item_bytes == 2) || (npy->kind == 'f' && npy->item_bytes == 4));
}

enum vinci_status tensor_open(const struct program_tensor *tensor, const char *path, bool expected,
                              struct npy *npy, FILE **in, struct vinci_diag *diag) {
  enum vinci_status status = npy_open(path, npy, in, diag);
  if (status != VINCI_OK)
    return status;
  bool same_shape = npy->rank == tensor->rank &&
                    memcmp(npy->shape, tensor->shape, npy->rank * sizeof *npy->shape) == 0;
  if (same_shape && fits_type(tensor, npy, expected))
    return VINCI_OK;
  char have[256], want[256];
  struct npy own = tensor_npy(tensor);
  npy_describe(npy, have, sizeof have);
  npy_describe(&own, want, sizeof want);
  fclose(*in);
  *in = NULL;
  return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                       "the file holds %s; tensor \"%s\" of %s needs %s", have, tensor->name,
                       dtype_name(tensor->dtype), want);
}

enum vinci_status tensor_read(FILE *in, const char *path, void *to, size_t item_bytes, size_t count,
                              struct vinci_diag *diag) {
  if (fread(to, item_bytes, count, in) == count)
    return VINCI_OK;
  return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                       "the file ends before its last element");
}

/* ---- load ------------------------------------------------------------------------------- */

/* Elements in another form than that of memory: bf16 from float32, int4 from bytes. */
static enum vinci_status convert_chunk(const struct program_tensor *tensor, const char *path,
                                       uint8_t *bytes, uint64_t first, size_t count,
                                       const uint8_t *chunk, struct vinci_diag *diag) {
  for (size_t i = 0; i < count; i++) {
    if (tensor->dtype == DTYPE_BF16) {
      store_u16(bytes + (first + i) * sizeof(uint16_t),
                bf16_from_fp32(load_fp32(chunk + i * sizeof(float))));
      continue;
    }
    int value = (int8_t)chunk[i];
    if (value < -8 || value > 7)
      return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                           "element %" PRIu64 " is %d, int4 holds -8 to 7", first + i, value);
    int4_store(bytes, first + i, value);
  }
  return VINCI_OK;
}

static enum vinci_status load_converted(const struct program_tensor *tensor, const char *path,
                                        const struct npy *npy, FILE *in, uint8_t *bytes,
                                        struct vinci_diag *diag) {
  uint8_t chunk[CHUNK_ELEMENTS * sizeof(float)];
  uint64_t elements = tensor_elements(tensor);
  enum vinci_status status = VINCI_OK;
  for (uint64_t first = 0; first < elements && status == VINCI_OK; first += CHUNK_ELEMENTS) {
    size_t count = (size_t)min_u64(elements - first, CHUNK_ELEMENTS);
    status = tensor_read(in, path, chunk, npy->item_bytes, count, diag);
    if (status == VINCI_OK)
      status = convert_chunk(tensor, path, bytes, first, count, chunk, diag);
  }
  return status;
}

enum vinci_status vinci_values_load(vinci_values *values, const char *name, const char *path,
                                    struct vinci_diag *diag) {
  uint32_t index;
  struct npy npy;
  FILE *in;
  enum vinci_status status = values_find(values, name, &index, diag);
  if (status != VINCI_OK)
    return status;
  const struct program_tensor *tensor = &values->trace->tensors[index];
  status = tensor_open(tensor, path, false, &npy, &in, diag);
  if (status != VINCI_OK)
    return status;
  uint8_t *bytes = values_bytes(values, index);
  if (tensor->dtype == DTYPE_INT4 || (tensor->dtype == DTYPE_BF16 && npy.kind == 'f'))
    status = load_converted(tensor, path, &npy, in, bytes, diag);
  else
    status = tensor_read(in, path, bytes, npy.item_bytes, (size_t)tensor_elements(tensor), diag);
  fclose(in);
  values->is_loaded[index] = status == VINCI_OK;
  return status;
}

enum vinci_status vinci_values_set(vinci_values *values, const char *name, const void *data,
                                   uint64_t bytes, struct vinci_diag *diag) {
  uint32_t index;
  enum vinci_status status = values_find(values, name, &index, diag);
  if (status != VINCI_OK)
    return status;
  const struct program_tensor *tensor = &values->trace->tensors[index];
  if (bytes != tensor->bytes)
    return diag_error(diag, VINCI_E_INPUT,
                      "tensor \"%s\" has %" PRIu64 " bytes, and is given %" PRIu64, name,
                      tensor->bytes, bytes);
  if (bytes > 0)
    memcpy(values_bytes(values, index), data, (size_t)bytes);
  values->is_loaded[index] = true;
  return VINCI_OK;
}

/* A path in a trace counts from the trace's folder, one among a compiled kernel's arguments from
 * where its caller stands. */
static enum vinci_status load_beside(vinci_values *values, const struct program_tensor *tensor,
                                     struct vinci_diag *diag) {
  const char *trace = values->trace->path;
  const char *slash = values->trace->source ? NULL : strrchr(trace, '/');
  char path[PATH_MAX];
  size_t folder = slash && tensor->file[0] != '/' ? (size_t)(slash - trace) + 1 : 0;
  if (folder + strlen(tensor->file) >= sizeof path)
    return diag_error_at(diag, VINCI_E_INPUT, program_position(values->trace, tensor->line),
                         "the path of %s is too long", tensor->file);
  memcpy(path, trace, folder);
  memcpy(path + folder, tensor->file, strlen(tensor->file) + 1);
  return vinci_values_load(values, tensor->name, path, diag);
}

enum vinci_status vinci_values_load_files(vinci_values *values, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (uint32_t i = 0; i < values->trace->tensor_count && status == VINCI_OK; i++) {
    const struct program_tensor *tensor = &values->trace->tensors[i];
    if (tensor->file && values_is_input(values, i) && !values->is_loaded[i])
      status = load_beside(values, tensor, diag);
  }
  return status;
}

/* ---- save ------------------------------------------------------------------------------- */

static void write_elements(const struct program_tensor *tensor, const uint8_t *bytes, FILE *out) {
  if (tensor->dtype != DTYPE_INT4) {
    fwrite(bytes, 1, (size_t)tensor->bytes, out);
    return;
  }
  for (uint64_t i = 0; i < tensor_elements(tensor); i++)
    fputc(int4_load(bytes, i) & 0xff, out);
}

enum vinci_status vinci_values_save(const vinci_values *values, const char *name, const char *path,
                                    struct vinci_diag *diag) {
  uint32_t index;
  enum vinci_status status = values_find(values, name, &index, diag);
  if (status != VINCI_OK)
    return status;
  const struct program_tensor *tensor = &values->trace->tensors[index];
  char temporary[PATH_MAX];
  int length = snprintf(temporary, sizeof temporary, "%s.part", path);
  errno = ENAMETOOLONG;
  FILE *out = length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "wb") : NULL;
  bool written = false;
  if (out) {
    struct npy npy = tensor_npy(tensor);
    npy_write_header(&npy, out);
    write_elements(tensor, values_bytes(values, index), out);
    written = fflush(out) == 0 && !ferror(out);
    written = fclose(out) == 0 && written && rename(temporary, path) == 0;
  }
  if (written)
    return VINCI_OK;
  int error = errno;
  if (out)
    remove(temporary);
  return diag_error_at(diag, diag_status_of(error), (struct diag_position){.path = path},
                       "cannot write: %s", error ? strerror(error) : "write error");
}
