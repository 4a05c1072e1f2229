/* SPDX-License-Identifier: Apache-2.0 */
/* Computed tensors against expected ones. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/machine/values.h"
#include "traces/values/tensors.h"

enum { CHUNK_ELEMENTS = 1 << 12, SHOWN_ELEMENTS = 5 };

/* A number of any type: integers exactly, others as double. */
struct number {
  bool is_integer;
  int64_t integer;
  double real;
};

static struct number from_integer(int64_t value) {
  return (struct number){.is_integer = true, .integer = value, .real = (double)value};
}

static struct number from_real(double value) { return (struct number){.real = value}; }

static struct number computed(enum dtype type, const uint8_t *bytes, uint64_t i) {
  switch (type) {
  case DTYPE_FP16:
    return from_real(fp16_to_fp32(load_u16(bytes + i * sizeof(uint16_t))));
  case DTYPE_BF16:
    return from_real(bf16_to_fp32(load_u16(bytes + i * sizeof(uint16_t))));
  case DTYPE_FP32:
  case DTYPE_HF32:
    return from_real(load_fp32(bytes + i * sizeof(float)));
  case DTYPE_FP8_E4M3:
    return from_real(number_decode(&number_fp8_e4m3, bytes[i]));
  case DTYPE_FP8_E5M2:
    return from_real(number_decode(&number_fp8_e5m2, bytes[i]));
  case DTYPE_INT4:
    return from_integer(int4_load(bytes, i));
  case DTYPE_INT8:
    return from_integer((int8_t)bytes[i]);
  case DTYPE_UINT8:
    return from_integer(bytes[i]);
  case DTYPE_INT16:
    return from_integer(load_i16(bytes + i * sizeof(int16_t)));
  case DTYPE_UINT16:
    return from_integer(load_u16(bytes + i * sizeof(uint16_t)));
  case DTYPE_INT32:
    return from_integer(load_i32(bytes + i * sizeof(int32_t)));
  case DTYPE_UINT32:
    return from_integer(load_u32(bytes + i * sizeof(uint32_t)));
  default:
    return from_integer(load_i64(bytes + i * sizeof(int64_t)));
  }
}

/* An element of a file that suits the type. */
static struct number expected(enum dtype type, const struct npy *npy, const uint8_t *bytes,
                              uint64_t i) {
  const uint8_t *item = bytes + i * npy->item_bytes;
  if (type == DTYPE_INT4)
    return from_integer((int8_t)*item);
  if (npy->kind != 'f')
    return computed(type, bytes, i);
  switch (npy->item_bytes) {
  case sizeof(uint16_t):
    return from_real(fp16_to_fp32(load_u16(item)));
  case sizeof(float):
    return from_real(load_fp32(item));
  default:
    return from_real(load_fp64(item));
  }
}

/* 0 when equal, as two NaN are; infinite when only one is a finite number. */
static double error_of(struct number got, struct number want) {
  if (got.is_integer && got.integer > want.integer)
    return (double)((uint64_t)got.integer - (uint64_t)want.integer);
  if (got.is_integer)
    return (double)((uint64_t)want.integer - (uint64_t)got.integer);
  if (got.real == want.real || (isnan(got.real) && isnan(want.real)))
    return 0;
  return isfinite(got.real) && isfinite(want.real) ? fabs(got.real - want.real) : INFINITY;
}

/* ---- the report ------------------------------------------------------------------------ */

struct report {
  const struct program_tensor *tensor;
  struct vinci_comparison comparison;
  char text[640];
  size_t used;
};

static void append_number(struct report *report, struct number number) {
  size_t left = sizeof report->text - report->used;
  int written = number.is_integer
                    ? snprintf(report->text + report->used, left, "%" PRId64, number.integer)
                    : snprintf(report->text + report->used, left, "%.9g", number.real);
  report->used += written > 0 && (size_t)written < left ? (size_t)written : 0;
}

static void append(struct report *report, const char *text) {
  size_t length = strlen(text);
  if (report->used + length >= sizeof report->text)
    return;
  memcpy(report->text + report->used, text, length + 1);
  report->used += length;
}

static void append_index(struct report *report, uint64_t element) {
  uint64_t index[TENSOR_RANK_MAX];
  for (unsigned i = report->tensor->rank; i-- > 0; element /= report->tensor->shape[i])
    index[i] = element % report->tensor->shape[i];
  append(report, "[");
  for (unsigned i = 0; i < report->tensor->rank; i++) {
    append(report, i ? "," : "");
    append_number(report, from_integer((int64_t)index[i]));
  }
  append(report, "]");
}

static void note_difference(struct report *report, uint64_t element, struct number got,
                            struct number want) {
  if (report->comparison.differing++ >= SHOWN_ELEMENTS)
    return;
  append(report, report->used ? "; " : "");
  append_index(report, element);
  append(report, " is ");
  append_number(report, got);
  append(report, ", expected ");
  append_number(report, want);
}

static enum vinci_status compare(struct report *report, const char *path, const struct npy *npy,
                                 FILE *in, const uint8_t *bytes, double atol, double rtol,
                                 struct vinci_diag *diag) {
  uint8_t chunk[CHUNK_ELEMENTS * sizeof(double)];
  enum dtype type = report->tensor->dtype;
  uint64_t elements = report->comparison.elements = tensor_elements(report->tensor);
  for (uint64_t first = 0; first < elements; first += CHUNK_ELEMENTS) {
    size_t count = (size_t)min_u64(elements - first, CHUNK_ELEMENTS);
    enum vinci_status status = tensor_read(in, path, chunk, npy->item_bytes, count, diag);
    if (status != VINCI_OK)
      return status;
    for (size_t i = 0; i < count; i++) {
      struct number got = computed(type, bytes, first + i);
      struct number want = expected(type, npy, chunk, i);
      double error = error_of(got, want);
      if (isfinite(error) && error > report->comparison.largest_error)
        report->comparison.largest_error = error;
      if (error > 0 && (isinf(error) || error > atol + rtol * fabs(want.real)))
        note_difference(report, first + i, got, want);
    }
  }
  return VINCI_OK;
}

enum vinci_status vinci_values_expect(const vinci_values *values, const char *name,
                                      const char *path, double atol, double rtol,
                                      struct vinci_comparison *out, struct vinci_diag *diag) {
  uint32_t index;
  struct npy npy;
  FILE *in;
  *out = (struct vinci_comparison){0};
  enum vinci_status status = values_find(values, name, &index, diag);
  if (status != VINCI_OK)
    return status;
  struct report report = {.tensor = &values->trace->tensors[index]};
  status = tensor_open(report.tensor, path, true, &npy, &in, diag);
  if (status != VINCI_OK)
    return status;
  status = compare(&report, path, &npy, in, values_bytes(values, index), atol, rtol, diag);
  fclose(in);
  *out = report.comparison;
  if (status != VINCI_OK || out->differing == 0)
    return status;
  return diag_error(diag, VINCI_E_MISMATCH,
                    "tensor \"%s\" differs from %s in %" PRIu64 " of %" PRIu64
                    " elements, by at most %.9g: %s%s",
                    name, path, out->differing, out->elements, out->largest_error, report.text,
                    out->differing > SHOWN_ELEMENTS ? "; ..." : "");
}
