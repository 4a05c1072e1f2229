/* SPDX-License-Identifier: Apache-2.0 */
/* Modes of signals between cores (ffts_cross_core_sync, wait_flag_dev), and the flags of their ids.
 */
#ifndef VINCI_CORE_ISA_SIGNAL_FLAGS_H
#define VINCI_CORE_ISA_SIGNAL_FLAGS_H

#include "core/isa/inst.h"

enum cross_mode {
  CROSS_ALL,     /* the cores of the kind that have a block of the kernel, which get the signal */
  CROSS_PAIR,    /* the AIV of a block, which get the signal */
  CROSS_BLOCK,   /* the AIC of a block for its AIV, or its AIV for the AIC */
  CROSS_ONE = 4, /* the AIC for one of its AIV, or that one for the AIC; of dav-c310 */
  CROSS_MODES
};
/* Ids of the AIC in mode 4: from this on those of the second AIV. */
enum { CROSS_SECOND = 16 };

/* Flags of a core: an id of modes 0 to 2 is a flag, those of mode 4 lie behind, two for each id. */
static inline uint32_t signals_flags(const struct vinci_soc *soc) {
  return (soc->arch == ARCH_C310 ? 3 : 1) * (uint32_t)soc->cross_core_ids;
}
static inline uint32_t signals_flag(const struct vinci_soc *soc, int64_t mode, int64_t id) {
  return (uint32_t)(mode == CROSS_ONE ? soc->cross_core_ids + id : id);
}
static inline uint32_t signals_wait_flag(const struct vinci_soc *soc, const struct inst *wait) {
  return signals_flag(soc, wait->arg[CROSS_WAIT_MODE], wait->arg[CROSS_WAIT_ID]);
}
/* The other way: whether a flag is one of mode 4, and its id there or in modes 0 to 2. */
static inline bool signals_is_one(const struct vinci_soc *soc, uint32_t flag) {
  return flag >= soc->cross_core_ids;
}
static inline uint32_t signals_id(const struct vinci_soc *soc, uint32_t flag) {
  return flag - (signals_is_one(soc, flag) ? (uint32_t)soc->cross_core_ids : 0);
}
/* Ids of a mode; 0: the chip does not have the mode. */
static inline int64_t signals_ids(const struct vinci_soc *soc, int64_t mode) {
  if (mode != CROSS_ONE)
    return soc->cross_core_ids;
  return soc->arch == ARCH_C310 ? 2 * soc->cross_core_ids : 0;
}

#endif
