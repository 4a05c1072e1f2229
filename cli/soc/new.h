/* SPDX-License-Identifier: Apache-2.0 */
/* vinci soc new. */
#ifndef VINCI_CLI_SOC_NEW_H
#define VINCI_CLI_SOC_NEW_H

#include "core/vinci.h"

/* Writes a description that starts from a base, to NAME.lua unless output says another file or "-".
 * Nothing is written over. */
VINCI_MUST_CHECK enum vinci_status soc_new(const char *name, const char *base, const char *data,
                                           const char *output, struct vinci_diag *diag);

#endif
