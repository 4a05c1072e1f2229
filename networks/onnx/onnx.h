/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX models as graphs of layers: shapes of all tensors, everything that is known before a run
 * folded away, and one form for what the versions of ONNX write in several ways (GRAPH.md).
 *
 * Method: one pass in the order of the file. Each tensor has a type, a shape and, where it is
 * constant, its values; an operator's row (networks/graph/operators.def) says how its outputs
 * follow. Source of the rules: the ONNX operator specification, versions 7 to 23.
 */
#ifndef VINCI_NETWORKS_ONNX_ONNX_H
#define VINCI_NETWORKS_ONNX_ONNX_H

#include "networks/graph/graph.h"

/* Texts "NAME=VALUE". */
struct onnx_words {
  const char *const *items;
  size_t count;
};

struct onnx_options {
  struct onnx_words shapes; /* of inputs: "x=1x3x224x224", "x=" of a scalar */
  struct onnx_words dims;   /* of dimensions with a name: "batch=4" */
  struct onnx_words inputs; /* values of inputs, the same for all elements: "sr=16000" */
  /* Inputs whose values are known, as TensorProto messages; for tests. */
  const struct onnx_known {
    const char *input;
    const void *bytes;
    size_t length;
  } * known;
  size_t known_count;
  const char *folder; /* where external data lie; NULL: those tensors have no values */
};

/* Whether this build reads ONNX. */
bool onnx_available(void);
/* Whether bytes are an ONNX model. */
bool onnx_is(const void *bytes, size_t length);
/*
 * Reads a model; name is for messages. The data of tensors may lie in `bytes`, which have to
 * outlive the graph. On success the caller frees the graph. VINCI_E_INPUT names the node or tensor
 * and what to do; VINCI_E_USAGE is for options; VINCI_E_USAGE, too, when the build has no ONNX.
 */
VINCI_MUST_CHECK enum vinci_status onnx_read(const char *name, const void *bytes, size_t length,
                                             const struct onnx_options *options, struct graph *out,
                                             struct vinci_diag *diag);

#endif
