/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator of protobuf-c, whose readers give NULL for a damaged message and for short memory.
 */
#include "networks/onnx/unpack.h"

#include <stdlib.h>

static void *give(void *data, size_t size) {
  struct unpack_memory *memory = data;
  void *given = malloc(size > 0 ? size : 1);
  memory->missing |= !given;
  return given;
}

static void take_back(void *data, void *given) {
  (void)data;
  free(given);
}

void unpack_memory_start(struct unpack_memory *memory) {
  *memory = (struct unpack_memory){{give, take_back, memory}, false};
}
