/* SPDX-License-Identifier: Apache-2.0 */
/* What reading, writing and comparing of tensors share. */
#ifndef VINCI_TRACES_VALUES_TENSORS_H
#define VINCI_TRACES_VALUES_TENSORS_H

#include "traces/values/npy.h"

/* The form a tensor is written in. */
struct npy tensor_npy(const struct program_tensor *tensor);
uint64_t tensor_elements(const struct program_tensor *tensor);
bool tensor_is_float(enum dtype type);
/* Opens a file that must have the tensor's shape and a suitable type; for expected values
 * of floating-point tensors any such type does. */
VINCI_MUST_CHECK enum vinci_status tensor_open(const struct program_tensor *tensor,
                                               const char *path, bool expected, struct npy *npy,
                                               FILE **in, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status tensor_read(FILE *in, const char *path, void *to,
                                               size_t item_bytes, size_t count,
                                               struct vinci_diag *diag);

#endif
