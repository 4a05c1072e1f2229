/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of unpacked messages, which tells a damaged message from memory that is short. */
#ifndef VINCI_NETWORKS_ONNX_UNPACK_H
#define VINCI_NETWORKS_ONNX_UNPACK_H

#include <stdbool.h>

#include <protobuf-c/protobuf-c.h>

struct unpack_memory {
  ProtobufCAllocator allocator; /* for unpack and free_unpacked */
  bool missing;                 /* an allocation has failed */
};

void unpack_memory_start(struct unpack_memory *memory);

#endif
