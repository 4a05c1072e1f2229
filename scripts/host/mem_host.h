/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory technologies in Lua (scripts/mem): which there are, and how they become a
 * struct mem_spec. They lie beside soc/, see soc_host_data_dir.
 */
#ifndef VINCI_SCRIPTS_HOST_MEM_HOST_H
#define VINCI_SCRIPTS_HOST_MEM_HOST_H

#include "core/chip/mem.h"
#include "scripts/host/soc_host.h"

/* Loads a description; the caller frees *out with mem_host_free. */
VINCI_MUST_CHECK enum vinci_status mem_host_load(const char *name, const char *data_dir,
                                                 struct mem_spec **out, struct vinci_diag *diag);
void mem_host_free(struct mem_spec *mem);

/* All that can be loaded, sorted; those marked abstract are left out. */
VINCI_MUST_CHECK enum vinci_status mem_host_list(const char *data_dir, struct soc_names *out,
                                                 struct vinci_diag *diag);

#endif
