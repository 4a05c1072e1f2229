/* SPDX-License-Identifier: Apache-2.0 */
/* Energy descriptions in Lua (scripts/energy). */
#ifndef VINCI_SCRIPTS_HOST_ENERGY_HOST_H
#define VINCI_SCRIPTS_HOST_ENERGY_HOST_H

#include "core/chip/energy.h"

/* Loads a description by name from a data folder; free with energy_host_free(). *out is NULL after
 * an error. */
VINCI_MUST_CHECK enum vinci_status energy_host_load(const char *name, const char *data_dir,
                                                    struct energy_spec **out,
                                                    struct vinci_diag *diag);
void energy_host_free(struct energy_spec *energy);

#endif
