/* SPDX-License-Identifier: Apache-2.0 */
/* Rules and folds that the rows of ops.def name, and what the rules share. */
#ifndef VINCI_NETWORKS_ONNX_RULES_H
#define VINCI_NETWORKS_ONNX_RULES_H

#include "networks/onnx/import.h"

#define ONNX_RULE(name) enum vinci_status onnx_rule_##name(struct onnx_call *call);
#define ONNX_FOLD(name) bool onnx_fold_##name(struct onnx_call *call);

/* elementwise.c */
ONNX_RULE(unary)
ONNX_RULE(activation)
ONNX_RULE(truth)
ONNX_RULE(binary)
ONNX_RULE(compare)
ONNX_RULE(variadic)
ONNX_RULE(mod)
ONNX_RULE(prelu)
ONNX_RULE(where)
ONNX_RULE(clip)
ONNX_RULE(cast)
ONNX_RULE(cast_like)
ONNX_RULE(identity)
ONNX_RULE(dropout)
/* shapes.c */
ONNX_RULE(reshape)
ONNX_RULE(flatten)
ONNX_RULE(squeeze)
ONNX_RULE(unsqueeze)
ONNX_RULE(transpose)
ONNX_RULE(expand)
ONNX_RULE(tile)
ONNX_RULE(depth_to_space)
ONNX_RULE(space_to_depth)
/* made.c */
ONNX_RULE(constant)
ONNX_RULE(constant_of_shape)
ONNX_RULE(shape)
ONNX_RULE(size)
ONNX_RULE(range)
ONNX_RULE(eye_like)
ONNX_RULE(random)
ONNX_RULE(random_like)
ONNX_RULE(refused)
/* pieces.c */
ONNX_RULE(slice)
ONNX_RULE(split)
ONNX_RULE(concat)
ONNX_RULE(pad)
ONNX_RULE(cumsum)
ONNX_RULE(trilu)
ONNX_RULE(reverse)
/* gather.c */
ONNX_RULE(gather)
ONNX_RULE(gather_elements)
ONNX_RULE(gather_nd)
ONNX_RULE(scatter)
ONNX_RULE(scatter_nd)
ONNX_RULE(one_hot)
ONNX_RULE(topk)
ONNX_RULE(non_zero)
/* window.c */
ONNX_RULE(conv)
ONNX_RULE(conv_integer)
ONNX_RULE(qlinear_conv)
ONNX_RULE(conv_transpose)
ONNX_RULE(pool)
ONNX_RULE(global_pool)
/* norm.c */
ONNX_RULE(batch_norm)
ONNX_RULE(layer_norm)
ONNX_RULE(instance_norm)
ONNX_RULE(group_norm)
ONNX_RULE(lrn)
ONNX_RULE(lp_norm)
ONNX_RULE(softmax)
ONNX_RULE(reduce)
ONNX_RULE(arg)
/* matrix.c */
ONNX_RULE(matmul)
ONNX_RULE(matmul_integer)
ONNX_RULE(qlinear_matmul)
ONNX_RULE(gemm)
ONNX_RULE(recurrent)
ONNX_RULE(quantize)
ONNX_RULE(dequantize)
ONNX_RULE(dynamic_quantize)
ONNX_RULE(resize)
ONNX_RULE(upsample)
/* further.c */
ONNX_RULE(loss)
ONNX_RULE(grid_sample)
ONNX_RULE(roi_align)
ONNX_RULE(nms)
ONNX_RULE(mean_variance)
ONNX_RULE(einsum)
ONNX_RULE(det)
/* branch.c */
ONNX_RULE(if)

/* fold_math.c */
ONNX_FOLD(unary)
ONNX_FOLD(binary)
ONNX_FOLD(where)
ONNX_FOLD(cast)
ONNX_FOLD(clip)
ONNX_FOLD(range)
ONNX_FOLD(reduce)
ONNX_FOLD(cumsum)
ONNX_FOLD(matmul)
/* fold_move.c */
ONNX_FOLD(transpose)
ONNX_FOLD(expand)
ONNX_FOLD(tile)
ONNX_FOLD(slice)
ONNX_FOLD(split)
ONNX_FOLD(concat)
ONNX_FOLD(gather)
ONNX_FOLD(gather_elements)
ONNX_FOLD(gather_nd)
ONNX_FOLD(scatter_nd)
ONNX_FOLD(one_hot)
ONNX_FOLD(trilu)
ONNX_FOLD(eye)

#undef ONNX_RULE
#undef ONNX_FOLD

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
/* The memory of the values of an output that is folded. */
static inline void *onnx_data(const struct onnx_value *output) {
  return (void *)(uintptr_t)output->data; /* this reader has allocated the data */
}
/* The same elements in another shape: a constant with the same values, or a Reshape before the
 * layer of the call; NULL when memory is short. */
struct onnx_value *onnx_reshaped(struct onnx_call *call, struct onnx_value *value,
                                 const uint64_t *shape, unsigned rank);
/* Writes a value that is another shape of input 0: alias, constant or layer Reshape. */
VINCI_MUST_CHECK enum vinci_status onnx_reshape_to(struct onnx_call *call, const uint64_t *shape,
                                                   unsigned rank);

#endif
