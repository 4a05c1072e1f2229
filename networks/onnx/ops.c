/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators. */
#include <stdlib.h>
#include <string.h>

#include "networks/onnx/rules.h"

#define onnx_fold_NONE NULL
static const struct onnx_op ops[] = {
#define ONNX_OP(name, inputs_min, rule, fold, stays)                                               \
  {#name, inputs_min, onnx_rule_##rule, onnx_fold_##fold, stays},
#include "networks/onnx/ops.def"
#undef ONNX_OP
};

static int by_name(const void *name, const void *op) {
  return strcmp(name, ((const struct onnx_op *)op)->name);
}

const struct onnx_op *onnx_op_find(const char *name) {
  return bsearch(name, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
}
