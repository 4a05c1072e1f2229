/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of the memories, while a run keeps values. Instructions work on them through
 * their STEM_values functions; every range has been checked before (stream_check_access).
 */
#ifndef VINCI_CORE_VALUES_H
#define VINCI_CORE_VALUES_H

#include "core/inst.h"

/* What one core sees. Little-endian, as the hardware. */
struct value_core {
  uint8_t *bytes[SPACE_COUNT]; /* by space; an operand's address is an offset into it */
};

#endif
