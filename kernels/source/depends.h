/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the vector instructions of a core, for barriers between them (sync.c). */
#ifndef VINCI_KERNELS_SOURCE_DEPENDS_H
#define VINCI_KERNELS_SOURCE_DEPENDS_H

#include "core/isa/inst.h"

/* What vector instructions behind the last barrier touch, and the instruction that waits for a
 * barrier (sync.c). */
enum { SOURCE_SYNC_ACCESSES = 64 };
struct source_sync_access {
  int64_t begin, end;
  bool write;
};
struct source_sync {
  struct source_sync_access access[SOURCE_SYNC_ACCESSES];
  unsigned count; /* so far; the list goes round */
  uint64_t code;  /* where the last instruction stands */
  bool held;
  uint16_t op;
  uint32_t row, line;
  int64_t arg[ISA_ARGS_MAX];
};

#endif
