/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose memory model is chosen by what flat memory finds (memhier/DESIGN.md). */
#ifndef VINCI_CORE_SIM_AUTO_H
#define VINCI_CORE_SIM_AUTO_H

#include "core/sim/device.h"

/* vinci_run() with VINCI_MEMORY_AUTO. */
VINCI_MUST_CHECK enum vinci_status auto_run(const struct vinci_soc *soc,
                                            const struct vinci_trace *trace,
                                            const struct vinci_run_options *options,
                                            struct vinci_result **out, struct vinci_diag *diag);

#endif
