/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of a user's library, for rows of lists. */
#ifndef VINCI_STUDIES_OPS_OPERATORS_H
#define VINCI_STUDIES_OPS_OPERATORS_H

#include "kernels/library/library.h"

struct ops_library {
  struct library library;
  struct library_operator *operators;
  size_t count;
  bool of_others; /* only operators that are unknown */
};
/* folders, data: as of library_open(). For ops_library_free(), also when it fails. */
VINCI_MUST_CHECK enum vinci_status ops_library_open(struct ops_library *out, const char *folders,
                                                    const char *data, struct vinci_diag *diag);
void ops_library_free(struct ops_library *library);
/* Whether vinci does not have an operator. */
bool ops_is_unknown(const char *op);
uint64_t ops_library_digest(const struct ops_library *library);

#endif
