/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a simulated duration is expected to be off: what the rows of the operator's class in the
 * calibration (`make accuracy`, tests/reference/silicon_calibration.csv) have shown.
 */
#ifndef VINCI_TRACES_EXPORT_EXPECTED_H
#define VINCI_TRACES_EXPORT_EXPECTED_H

#include "core/chip/soc.h"
#include "core/result/result.h"

/* Classes of operators whose errors are alike: id, name, operators. VECTOR has all others that the
 * vector unit alone computes; others have none. */
#define EXPECTED_CLASS_LIST(X)                                                                     \
  X(MATMUL, "matmul", "matmul|batch_matmul")                                                       \
  X(CONV, "convolution", "conv2d")                                                                 \
  X(CONV_BACK, "convolution, backward", "conv2d_backprop_input|conv2d_backprop_filter")            \
  X(MOVE, "data movement", "transdata|transpose|concat|slice|copy|gather|fill|pad")                \
  X(VECTOR, "vector", "")                                                                          \
  X(ATTENTION, "attention", "flash_attention|flash_attention_grad|paged_attention")

enum expected_class {
#define X(id, name, ops) EXPECTED_##id,
  EXPECTED_CLASS_LIST(X)
#undef X
      EXPECTED_CLASS_COUNT
};
const char *expected_class_name(enum expected_class class);
/* EXPECTED_CLASS_COUNT: none, no measured rows are of that kind. */
enum expected_class expected_class_of(const char *op);

/* What the rows of a class were, and how far the durations of the model are from theirs. */
struct expected_range {
  unsigned rows;
  unsigned median_permille, p90_permille; /* sizes of errors: half and 9 of 10 rows are within */
  const char *socs, *dtypes;              /* "Ascend910B2|Ascend910B4"; of the first tensor */
  uint64_t least_ns, most_ns;             /* measured durations */
};
const struct expected_range *expected_range(enum expected_class class);

enum { EXPECTED_OUTSIDE_BYTES = 160 };
struct expected_error {
  const char *class; /* "" without a class */
  unsigned rows, median_permille, p90_permille;
  char outside[EXPECTED_OUTSIDE_BYTES]; /* what was not calibrated; "" when all was */
};
/* Of a run of an operator, NULL where a trace names none, whose first tensor has this type. */
struct expected_error expected_error(const struct vinci_soc *soc, const char *op, enum dtype dtype,
                                     uint64_t total_ps);

#endif
