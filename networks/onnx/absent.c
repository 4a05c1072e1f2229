/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the reader of ONNX, where configure has not found what it is built from. */
#include "networks/onnx/onnx.h"

bool onnx_available(void) { return false; }

/* A first field ir_version (1), a number, is how models begin; no text begins so. */
bool onnx_is(const void *bytes, size_t length) {
  return length > 0 && *(const unsigned char *)bytes == 0x08;
}

enum vinci_status onnx_read(const char *name, const void *bytes, size_t length,
                            const struct onnx_options *options, struct graph *out,
                            struct vinci_diag *diag) {
  (void)bytes;
  (void)length;
  (void)options;
  *out = (struct graph){0};
  diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = name},
                "an ONNX model, and this vinci was built without its reader");
  diag_hint(diag, "install libonnx-dev, protobuf-c-compiler and libprotobuf-c-dev, then build "
                  "again");
  return VINCI_E_USAGE;
}
