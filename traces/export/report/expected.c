/* SPDX-License-Identifier: Apache-2.0 */
/* Expected errors of durations, from the table that `make expected-errors` writes. */
#include "traces/export/report/expected.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/words.h"

enum { NS_PER_US = 1000, PS_PER_NS = 1000 };

static const char *const class_names[] = {
#define X(id, name, ops) name,
    EXPECTED_CLASS_LIST(X)
#undef X
};
static const char *const class_ops[] = {
#define X(id, name, ops) ops,
    EXPECTED_CLASS_LIST(X)
#undef X
};

static const struct expected_range ranges[EXPECTED_CLASS_COUNT] = {
#define EXPECTED(id, ...) [EXPECTED_##id] = {__VA_ARGS__},
#include "traces/export/report/expected.def"
#undef EXPECTED
};

const char *expected_class_name(enum expected_class class) { return class_names[class]; }
const struct expected_range *expected_range(enum expected_class class) { return &ranges[class]; }

/* Cube operators without a measured row. */
static const char unmeasured_ops[] =
    "conv2d_filter_norm|conv2d_input_masked|conv2d_moments|grouped_matmul|"
    "grouped_matmul_swiglu_quant|lightning_indexer|matmul_chain|mla_preprocess|quant_matmul|sparse_"
    "flash_attention|weight_quant_matmul";

enum expected_class expected_class_of(const char *op) {
  if (words_have(unmeasured_ops, op))
    return EXPECTED_CLASS_COUNT;
  for (unsigned class = 0; class < EXPECTED_CLASS_COUNT; class ++)
    if (words_have(class_ops[class], op))
      return (enum expected_class) class;
  return EXPECTED_VECTOR;
}

/* ---- what was not calibrated ---- */

static void add(struct expected_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct expected_error *error, const char *format, ...) {
  size_t used = strlen(error->outside);
  va_list arguments;
  va_start(arguments, format);
  used += (size_t)snprintf(error->outside + used, sizeof error->outside - used, "%s",
                           used > 0 ? "; " : "");
  if (used < sizeof error->outside)
    vsnprintf(error->outside + used, sizeof error->outside - used, format, arguments);
  va_end(arguments);
}

static bool is_changed(const struct vinci_soc *soc) {
  for (size_t i = 0; i < soc_param_count(); i++)
    if (soc->provenance[i].overridden)
      return true;
  return false;
}

static void tell_outside(const struct vinci_soc *soc, enum dtype dtype, uint64_t total_ps,
                         const struct expected_range *range, struct expected_error *error) {
  uint64_t ns = total_ps / PS_PER_NS;
  if (!words_have(range->socs, soc->name))
    add(error, "no row is of %s", soc->name);
  if (is_changed(soc))
    add(error, "numbers of the chip are changed");
  if (!words_have(range->dtypes, dtype_name(dtype)))
    add(error, "no row has %s", dtype_name(dtype));
  if (ns < range->least_ns || ns > range->most_ns)
    add(error, "rows take %s to %s us", decimal_ratio(range->least_ns, NS_PER_US, 2).text,
        decimal_ratio(range->most_ns, NS_PER_US, 2).text);
}

struct expected_error expected_error(const struct vinci_soc *soc, const char *op, enum dtype dtype,
                                     uint64_t total_ps) {
  struct expected_error error = {.class = ""};
  if (!op) {
    add(&error, "a trace names no operator");
    return error;
  }
  enum expected_class class = expected_class_of(op);
  if (class == EXPECTED_CLASS_COUNT) {
    add(&error, "no row is of an operator like %s", op);
    return error;
  }
  const struct expected_range *range = &ranges[class];
  error.class = class_names[class];
  if (range->rows == 0) {
    add(&error, "no row is of this class");
    return error;
  }
  error.rows = range->rows;
  error.median_permille = range->median_permille;
  error.p90_permille = range->p90_permille;
  tell_outside(soc, dtype, total_ps, range, &error);
  return error;
}
