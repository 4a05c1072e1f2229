/* SPDX-License-Identifier: Apache-2.0 */
/* Rules and folds that the rows of networks/graph/operators.def name, and what the rules share. */
#ifndef VINCI_NETWORKS_ONNX_RULES_RULES_H
#define VINCI_NETWORKS_ONNX_RULES_RULES_H

#include "networks/onnx/import.h"

/* Declared by the rows; `grep onnx_rule_NAME` finds the file. */
#define OPERATOR(name, read, kernel) read
#define READ(inputs_min, rule, fold, stays)                                                        \
  enum vinci_status onnx_rule_##rule(struct onnx_call *call);                                      \
  bool onnx_fold_##fold(struct onnx_call *call);
#define READ_FUNCTION(real, whole) READ(1, unary, unary, false)
#define NOT_READ
#include "networks/graph/operators.def"
#undef OPERATOR
#undef READ
#undef READ_FUNCTION
#undef NOT_READ

/* ---- shared ---- */

/* The shape of operands after multidirectional broadcasting; false: they do not fit. */
bool onnx_broadcast(struct onnx_value *const *operands, uint32_t count,
                    uint64_t shape[static GRAPH_RANK_MAX], unsigned *rank);
/* "3x4x5" of a shape, for messages. */
struct onnx_shape_text {
  char text[96];
};
struct onnx_shape_text onnx_shape_text(const struct onnx_value *value);
/* A bit for each axis that a Reduce operator takes together. */
unsigned onnx_reduced_axes(struct onnx_call *call);
/* The product of extents from .. to - 1. */
uint64_t onnx_extent(const struct onnx_value *value, unsigned from, unsigned to);
/* An index of a known list, which may count from the end; false: outside. */
bool onnx_index_at(const struct onnx_value *indices, uint64_t i, uint64_t extent, uint64_t *out);
/* The element at which the part begins that a row of known indices chooses; the row names
 * dimensions from `from` on. */
bool onnx_place_of(const struct onnx_value *x, const struct onnx_value *indices, uint64_t row,
                   unsigned from, uint64_t depth, uint64_t *out);
/* The memory of the values of an output that is folded. */
static inline void *onnx_data(const struct onnx_value *output) {
  return (void *)(uintptr_t)output->data; /* this reader has allocated the data */
}
/* The same elements in another shape: a constant with the same values, or a Reshape before the
 * layer of the call; NULL when memory is short. */
struct onnx_value *onnx_reshaped(struct onnx_call *call, struct onnx_value *value,
                                 const uint64_t *shape, unsigned rank);
/* A known scalar of 8 or 1 bytes; NULL when memory is short. */
struct onnx_value *onnx_scalar(struct onnx_import *import, enum onnx_type type, int64_t number);
/* Values one behind the other along an axis, eight at a time; parts are overwritten. */
VINCI_MUST_CHECK enum vinci_status onnx_join(struct onnx_call *call, struct onnx_value **parts,
                                             uint64_t count, int64_t axis, struct onnx_value **out);
/* Writes a value that is another shape of input 0: alias, constant or layer Reshape. */
VINCI_MUST_CHECK enum vinci_status onnx_reshape_to(struct onnx_call *call, const uint64_t *shape,
                                                   unsigned rank);

#endif
