/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding of ONNX files, walked once: what the reader needs is copied into a small message for
 * protobuf-c, in which each raw_data says where in the file the values lie. Weights are therefore
 * never copied, and files may be longer than the 2 GiB that protobuf-c reads.
 */
#ifndef VINCI_NETWORKS_ONNX_WIRE_H
#define VINCI_NETWORKS_ONNX_WIRE_H

#include "core/base/diag.h"

/* What stands in place of raw_data: offset and length in the file. */
struct wire_place {
  uint64_t offset, length;
};

struct wire_slim {
  uint8_t *bytes; /* for free() */
  size_t length;
};

/* Whether bytes are, as far as their outermost message says, an ONNX model. */
bool wire_is_model(const uint8_t *bytes, size_t length);
/* Slims a ModelProto. name is for messages. The caller frees out->bytes. VINCI_E_INPUT for what is
 * no model and for what goes beyond the limits: nesting, nodes, fields. */
VINCI_MUST_CHECK enum vinci_status wire_slim_model(const char *name, const uint8_t *bytes,
                                                   size_t length, struct wire_slim *out,
                                                   struct vinci_diag *diag);
/* The same of a single TensorProto, as the .pb files of test data are. */
VINCI_MUST_CHECK enum vinci_status wire_slim_tensor(const char *name, const uint8_t *bytes,
                                                    size_t length, struct wire_slim *out,
                                                    struct vinci_diag *diag);

#endif
