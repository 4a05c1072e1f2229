/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes: what the busy cycles of a pipe are spent on. The rows of core/result/causes.def, as an
 * enum and as a table.
 */
#ifndef VINCI_CORE_RESULT_CAUSE_H
#define VINCI_CORE_RESULT_CAUSE_H

#include <stdint.h>

#include "core/chip/soc.h"

enum cause {
#define CAUSE(id, ...) CAUSE_##id,
#include "core/result/causes.def"
  CAUSE_COUNT
};

/* Who spends cycles so. */
enum cause_unit { CAUSE_OF_SCALAR, CAUSE_OF_CUBE, CAUSE_OF_VECTOR, CAUSE_OF_COPY, CAUSE_OF_ALL };

/* How to turn the number of a chip against a cause. */
enum cause_turn { CAUSE_HALVE, CAUSE_DOUBLE, CAUSE_DOUBLE_ENDS };

/* Columns as in core/result/causes.def. */
struct cause_row {
  const char *key;
  enum cause_unit unit;
  const char *number;
  enum cause_turn turn;
  const char *text;
};

const struct cause_row *cause_row(enum cause cause);
/* Whether the pipe may spend cycles so. */
bool cause_is_of(enum cause cause, enum pipe pipe);

/* The path of a copy, the cost class of a vector instruction, the data type of a mad. */
enum { CAUSE_MEMBERS = 64, CAUSE_NO_MEMBER = CAUSE_MEMBERS - 1 };
_Static_assert((int)PATH_COUNT <= (int)CAUSE_NO_MEMBER &&
                   (int)VECTOR_CLASS_COUNT <= (int)CAUSE_NO_MEMBER &&
                   (int)DTYPE_COUNT <= (int)CAUSE_NO_MEMBER,
               "a member of a cause fits");

/*
 * The number of the chip to turn, with the member in place of '*': the index of the parameter, or
 * soc_param_count() when there is none. A vector class without an offset has its minimum instead.
 * In the flat model of memory, what comes from device memory has a rate of the path.
 */
size_t cause_param(const struct vinci_soc *soc, enum cause cause, unsigned member, bool flat);

#endif
