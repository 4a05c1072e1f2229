/* SPDX-License-Identifier: Apache-2.0 */
/* A memory built in code, for tests that want fixed numbers and no data files. */
#ifndef VINCI_TESTS_SUPPORT_HBM_SPECS_H
#define VINCI_TESTS_SUPPORT_HBM_SPECS_H

#include "core/chip/mem.h"

/* HBM2 at 2.0 Gbps, one pseudo-channel a controller: the reference runs' set A20. */
struct mem_spec hbm2_spec(void);

/* Mappings of the reference runs. */
#define HBM2_M1 "ro bg2 ba2 co5"
#define HBM2_M2 "ro ba2 co5 bg2"
#define HBM2_M3 "ro ba2 co4 bg2 co1"

#endif
