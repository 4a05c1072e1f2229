/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a chip, soc_digest() of core/chip/soc.h, computed once for as long as nothing
 * changes. */
#ifndef VINCI_CORE_CHIP_SOC_DIGEST_H
#define VINCI_CORE_CHIP_SOC_DIGEST_H

#include "core/chip/soc.h"

/* Makes room for the digest in a SoC that is new. False when memory is short. */
bool soc_keep_digest(struct vinci_soc *soc);

#endif
