/* SPDX-License-Identifier: Apache-2.0 */
/* What the hardware has no defined answer to, and how that is told. */
#ifndef VINCI_CORE_CONTROL_MISUSE_H
#define VINCI_CORE_CONTROL_MISUSE_H

#include "core/chip/soc.h"
#include "core/isa/isa.h"

enum misuse_kind {
  MISUSE_FLAG_SET_TWICE,   /* the flag is set already, since a line */
  MISUSE_CROSS_UNTAKEN,    /* a core has as many signals of the id waiting as a counter holds */
  MISUSE_CROSS_AHEAD,      /* as many signals of the id wait for other senders */
  MISUSE_CROSS_NOT_MIXED,  /* mode 1 or 2 in a kernel of one stream */
  MISUSE_CROSS_AIC_PAIR,   /* mode 1 on an AIC */
  MISUSE_CROSS_NO_PARTNER, /* mode 4 with an id that belongs to no AIV of the block */
  MISUSE_NO_PATH,          /* the chip does not have the path of an instruction */
};

struct misuse {
  enum misuse_kind kind;
  uint32_t id;     /* of the flag or the signal */
  uint32_t mode;   /* of the signal */
  uint32_t line;   /* MISUSE_FLAG_SET_TWICE: of the set_flag before, else 0 */
  int64_t limit;   /* MISUSE_CROSS_UNTAKEN, _AHEAD: signals that a counter holds */
  enum pipe from;  /* MISUSE_FLAG_SET_TWICE: the pipe that sets the flag */
  enum pipe to;    /* and the pipe that waits for the flag */
  enum isa_op op;  /* MISUSE_NO_PATH */
  enum path path;  /* MISUSE_NO_PATH */
  const char *soc; /* MISUSE_NO_PATH: name of the chip */
};

/* Which paths exist is data of the chip, not of the instruction table. False with *misuse when the
 * chip lacks the path of an instruction. */
static inline bool path_exists(const struct vinci_soc *soc, enum isa_op op, enum path path,
                               struct misuse *misuse) {
  if (path == PATH_NONE || soc->path[path].mbytes_per_cycle > 0)
    return true;
  *misuse = (struct misuse){.kind = MISUSE_NO_PATH, .op = op, .path = path, .soc = soc->name};
  return false;
}

void misuse_text(const struct misuse *misuse, char *buffer, size_t size);

#endif
