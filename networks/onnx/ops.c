/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators. */
#include <stdlib.h>
#include <string.h>

#include "networks/onnx/rules/rules.h"

#define onnx_fold_NONE NULL
static const struct onnx_op ops[] = {
#define OPERATOR(name, read, kernel) {#name, read},
#define READ(inputs_min, rule, fold, stays) inputs_min, onnx_rule_##rule, onnx_fold_##fold, stays
#define READ_FUNCTION(real, whole) READ(1, unary, unary, false)
#define NOT_READ 0, NULL, NULL, false
#include "networks/graph/operators.def"
};

static int by_name(const void *name, const void *op) {
  return strcmp(name, ((const struct onnx_op *)op)->name);
}

const struct onnx_op *onnx_op_find(const char *name) {
  const struct onnx_op *op = bsearch(name, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
  return op && op->rule ? op : NULL;
}
